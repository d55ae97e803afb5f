// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/fetch/fetch.h"

#include <algorithm>

namespace heddle {

fetch::fetch(sc_core::sc_module_name name, const gpu_config& config, instruction_cache& cache, unsigned slots)
    : sc_module(name),
      cache_(cache),
      instruction_bytes_(config.instruction_cache.instruction_bytes),
      line_bytes_(config.instruction_cache.line_bytes),
      line_shift_(static_cast<unsigned>(__builtin_ctz(line_bytes_))),
      latency_cycles_(config.sub_partition.fetch_latency_cycles),
      entries_(config.sub_partition.instruction_buffer_entries),
      short_(entries_ < std::max(ample_entries(config.sub_partition), config.sub_partition.issue_width)),
      buffers_(slots),
      freed_(std::size_t{slots} * entries_),
      next_entry_(slots) {}

cycle_t fetch::enter(unsigned slot, std::uint64_t line, cycle_t cycle) {
  buffers_[slot] = {line, cache_.look_up(line * line_bytes_, cycle)};
  return buffers_[slot].available;
}

cycle_t fetch::redirect(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle) {
  ++redirects;
  const cycle_t available = enter(slot, line_of(code_address, pc), cycle) + latency_cycles_;
  buffers_[slot].available = available;
  if (short_)
    std::fill_n(freed_.begin() + slot * entries_, entries_, available - latency_cycles_);  // all entries are empty
  return available;
}

void fetch::free_entry(unsigned slot, cycle_t cycle) {
  freed_[slot * entries_ + next_entry_[slot]] = cycle;
  if (++next_entry_[slot] == entries_) next_entry_[slot] = 0;
}

void fetch::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, redirects, std::string(name()) + ".redirects");
  sc_core::sc_trace(file, buffered, std::string(name()) + ".buffered", static_cast<int>(buffers_.size()));
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle
