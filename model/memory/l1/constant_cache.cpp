// SPDX-License-Identifier: MIT
#include "heddle/memory/l1/constant_cache.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/instruction.h"
#include "heddle/isa/set_bits.h"
#include "heddle/memory/common/lookup_latency.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

constant_cache::constant_cache(sc_core::sc_module_name name, const gpu_config& config)
    : sc_module(name),
      access_socket({"access_socket", this}),
      line_bytes_(std::max(1u, config.constant_cache.line_bytes)),
      sets_(std::max(1u, config.constant_cache.size_bytes / line_bytes_ / std::max(1u, config.constant_cache.ways))),
      ways_(config.constant_cache.size_bytes / line_bytes_ / sets_),
      hit_latency_(cycles_after_lookup(config.constant_cache.latency_cycles, config)),
      miss_latency_(std::max(hit_latency_, cycles_after_lookup(config.constant_cache.miss_latency_cycles, config))),
      lines_(std::size_t{sets_} * ways_) {
  access_socket.bind(*this);
}

unsigned constant_cache::look_up(std::uint32_t launch, unsigned bank, std::uint64_t offset, std::uint64_t cycle) {
  constant_cache_counters& c = counters[launch];
  ++c.accesses;
  const std::uint64_t number = offset / line_bytes_;
  line* const set = lines_.data() + (number + bank) % sets_ * ways_;
  line* victim = nullptr;
  for (line* l = set; l != set + ways_; ++l) {
    if (l->used != 0 && l->number == number && l->launch == launch && l->bank == bank) {
      l->used = ++clock_;
      const unsigned wait = l->filled > cycle ? static_cast<unsigned>(l->filled - cycle) : 0;
      if (wait <= hit_latency_) {
        ++c.hits;
        return hit_latency_;
      }
      ++c.pending_hits;
      return wait;
    }
    if (victim == nullptr || l->used < victim->used) victim = l;
  }
  ++c.misses;
  ++misses_;
  if (victim != nullptr) *victim = {number, cycle + miss_latency_, ++clock_, launch, bank};
  return miss_latency_;
}

void constant_cache::b_transport(on_chip_access& access, sc_core::sc_time&) {
  const lsu_transaction& t = *access.transaction;
  const std::uint32_t launch = t.launch->launch_id;
  const unsigned bank = t.instruction != nullptr ? t.instruction->sub : 0;
  ++counters[launch].requests;
  access.passes = 0;
  access.first_cycle = access.ready_cycle = access.cycle;
  std::uint32_t rest = t.constant_mask;
  while (rest != 0) {
    const std::uint64_t address = t.addresses()[__builtin_ctz(rest)];
    for (const unsigned lane : set_bits(rest)) {
      if (t.addresses()[lane] == address) rest &= ~(1u << lane);
    }
    const std::uint64_t at = access.cycle + access.passes++;
    access.ready_cycle = std::max(access.ready_cycle, at + look_up(launch, bank, address, at));
  }
  access.free_cycle = access.cycle + access.passes;
}

void constant_cache::invalidate() { std::fill(lines_.begin(), lines_.end(), line{}); }

void constant_cache::check_invariants() const {
  for (std::uint32_t l = 0; l < counters.end(); ++l) {
    const constant_cache_counters* c = counters.find(l);
    invariant(c == nullptr || c->accesses == c->hits + c->misses + c->pending_hits,
              "constant cache: accesses differ from hits + misses + pending hits");
  }
}

void constant_cache::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, misses_, std::string(name()) + ".misses");
}

void constant_cache::exchange(state_image& image) {
  image.part(name());
  image.each(lines_);
  image(clock_, misses_, counters);
}

}  // namespace heddle
