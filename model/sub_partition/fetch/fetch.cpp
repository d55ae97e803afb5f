// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/fetch/fetch.h"

#include <algorithm>

#include "heddle/isa/set_bits.h"

namespace heddle {

fetch::hot_state::hot_state(const gpu_config& config, unsigned slots)
    : buffers(slots),
      instruction_bytes(config.instruction_cache.instruction_bytes),
      line_shift(static_cast<unsigned>(__builtin_ctz(config.instruction_cache.line_bytes))),
      is_short(config.sub_partition.instruction_buffer_entries <
               std::max(ample_entries(config.sub_partition), config.sub_partition.issue_width)) {}

fetch::fetch(const part_name& name, const gpu_config& config, instruction_cache& cache, unsigned slots)
    : module_part(name),
      hot_(config, slots),
      cache_(cache),
      line_bytes_(config.instruction_cache.line_bytes),
      latency_cycles_(config.sub_partition.fetch_latency_cycles),
      entries_(config.sub_partition.instruction_buffer_entries),
      freed_(std::size_t{slots} * entries_),
      next_entry_(slots),
      launches_(slots),
      redirected_(slots) {}

cycle_t fetch::enter(unsigned slot, std::uint64_t line, cycle_t cycle) {
  hot_.buffers[slot] = {line, cache_.look_up(line * line_bytes_, cycle, launches_[slot])};
  redirected_[slot] = false;
  const std::uint64_t bit = std::uint64_t{1} << slot;
  if (hot_.buffers[slot].available == never) waiting_ |= bit;
  else waiting_ &= ~bit;
  return hot_.buffers[slot].available;
}

cycle_t fetch::redirect(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle) {
  ++redirects;
  const cycle_t there = enter(slot, line_of(code_address, pc), cycle);
  if (there != never) return refill(slot, there);
  redirected_[slot] = true;
  return never;
}

// Fills the slot's empty buffer from its line, which is there in cycle `there`.
cycle_t fetch::refill(unsigned slot, cycle_t there) {
  hot_.buffers[slot].available = there + latency_cycles_;
  if (hot_.is_short) std::fill_n(freed_.begin() + slot * entries_, entries_, there);
  return hot_.buffers[slot].available;
}

std::uint64_t fetch::arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) {
  std::uint64_t slots = 0;
  for (const unsigned slot : set_bits(waiting_)) {
    buffer& b = hot_.buffers[slot];
    const std::uint64_t first = b.line * line_bytes_;
    if (first >= address + bytes || address >= first + line_bytes_) continue;
    b.available = cycle;
    if (redirected_[slot]) refill(slot, cycle);
    slots |= std::uint64_t{1} << slot;
  }
  waiting_ &= ~slots;
  return slots;
}

void fetch::free_entry(unsigned slot, cycle_t cycle) {
  freed_[slot * entries_ + next_entry_[slot]] = cycle;
  if (++next_entry_[slot] == entries_) next_entry_[slot] = 0;
}

void fetch::exchange(state_image& image) {
  image.each(hot_.buffers);
  image.each(freed_);
  image.each(next_entry_);
  image.each(launches_);
  image(waiting_, redirected_, redirects);
}

void fetch::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, redirects, name() + ".redirects");
  sc_core::sc_trace(file, buffered, name() + ".buffered", static_cast<int>(hot_.buffers.size()));
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle
