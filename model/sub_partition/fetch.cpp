// SPDX-License-Identifier: MIT
#include "sub_partition/fetch.h"

namespace heddle {

fetch::fetch(sc_core::sc_module_name name, const gpu_config& config, instruction_cache& cache, unsigned slots)
    : sc_module(name),
      cache_(cache),
      instruction_bytes_(config.instruction_cache.instruction_bytes),
      line_bytes_(config.instruction_cache.line_bytes),
      latency_cycles_(config.sub_partition.fetch_latency_cycles),
      line_(slots, ~std::uint64_t{0}),
      available_(slots, 0) {}

cycle_t fetch::enter(unsigned slot, std::uint64_t line, cycle_t cycle) {
  line_[slot] = line;
  available_[slot] = cache_.look_up(line * line_bytes_, cycle);
  return available_[slot];
}

cycle_t fetch::redirect(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle) {
  ++redirects;
  const std::uint64_t line = (code_address + std::uint64_t{pc} * instruction_bytes_) / line_bytes_;
  available_[slot] = enter(slot, line, cycle) + latency_cycles_;
  return available_[slot];
}

void fetch::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, redirects, std::string(name()) + ".redirects");
}

}  // namespace heddle
