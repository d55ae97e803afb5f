// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/fetch/immediate_constants.h"

#include <algorithm>

namespace heddle {

immediate_constants::immediate_constants(const part_name& name, const constant_cache_parameters& parameters)
    : module_part(name),
      parameters_(parameters),
      sets_(std::max(1u, parameters.size_bytes / (parameters.line_bytes * parameters.ways))),
      lines_(std::size_t{sets_} * parameters.ways) {}

cycle_t immediate_constants::access(std::uint32_t launch, unsigned bank, std::uint32_t offset, cycle_t cycle) {
  const std::uint64_t tag = (std::uint64_t{launch} << 4 | bank) << 32 | offset / parameters_.line_bytes;
  ++accesses;
  // Most operands are in the line used last (kernel parameters).
  if (tag == last_tag_) return std::max(cycle, last_ready_);
  line* set = &lines_[(tag ^ (tag >> 32)) % sets_ * parameters_.ways];
  line* found = std::find_if(set, set + parameters_.ways, [&](const line& l) { return l.tag == tag; });
  if (found == set + parameters_.ways) {
    ++misses;
    found = std::min_element(set, set + parameters_.ways, [](const line& a, const line& b) { return a.used < b.used; });
    *found = {tag, cycle + parameters_.miss_latency_cycles, 0};
  }
  found->used = ++clock_;
  last_tag_ = tag;
  last_ready_ = found->ready;
  return std::max(cycle, found->ready);
}

void immediate_constants::exchange(state_image& image) {
  image.each(lines_);
  image(last_tag_, last_ready_, clock_, accesses, misses);
}

void immediate_constants::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  sc_core::sc_trace(file, accesses, base + ".accesses");
  sc_core::sc_trace(file, misses, base + ".misses");
}

}  // namespace heddle
