// SPDX-License-Identifier: MIT
#include "sub_partition/instruction_cache.h"

#include <algorithm>

namespace heddle {

instruction_cache::instruction_cache(sc_core::sc_module_name name, const instruction_cache_parameters& parameters)
    : sc_module(name),
      parameters_(parameters),
      sets_(std::max(1u, parameters.size_bytes / (parameters.line_bytes * parameters.ways))),
      lines_(std::size_t{sets_} * parameters.ways) {}

instruction_cache::line* instruction_cache::find(std::uint64_t tag) {
  line* set = &lines_[(tag % sets_) * parameters_.ways];
  for (unsigned w = 0; w < parameters_.ways; ++w)
    if (set[w].tag == tag) return &set[w];
  return nullptr;
}

instruction_cache::line& instruction_cache::fill(std::uint64_t tag, cycle_t ready) {
  line* set = &lines_[(tag % sets_) * parameters_.ways];
  line* victim = std::min_element(set, set + parameters_.ways,
                                  [](const line& a, const line& b) { return a.used < b.used; });
  *victim = {tag, ready, ++clock_};
  return *victim;
}

cycle_t instruction_cache::look_up(std::uint64_t address, cycle_t cycle) {
  const std::uint64_t tag = address / parameters_.line_bytes;
  ++accesses;
  line* hit = find(tag);
  cycle_t ready = cycle;
  if (hit != nullptr) {
    hit->used = ++clock_;
    ready = std::max(cycle, hit->ready);
  } else {
    ++misses;
    ready = fill(tag, cycle + parameters_.miss_latency_cycles).ready;
  }
  // The prefetcher streams the following lines from the next level, one cycle apart.
  for (unsigned n = 1; n <= parameters_.prefetch_lines; ++n)
    if (find(tag + n) == nullptr) {
      ++prefetches;
      fill(tag + n, cycle + parameters_.miss_latency_cycles + n);
    }
  return ready;
}

void instruction_cache::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, accesses, base + ".accesses");
  sc_core::sc_trace(file, misses, base + ".misses");
}

}  // namespace heddle
