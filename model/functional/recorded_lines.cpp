// SPDX-License-Identifier: MIT
#include "heddle/functional/recorded_lines.h"

#include "heddle/functional/lanes_by_space.h"
#include "heddle/isa/operation.h"

namespace heddle {

line_use use_of(const isa::instruction& i) {
  switch (isa::info(i.op).access) {
    case isa::access_kind::atomic:
    case isa::access_kind::reduction: return line_use::changes;
    case isa::access_kind::store:
    case isa::access_kind::surface_store: return line_use::writes;
    default: return line_use::reads;
  }
}

std::vector<line_touch> lines_of(const isa::recorded_block& block, const resident_launch& launch) {
  touched_lines lines;
  const auto add = [&](const isa::recorded_segment& part, const isa::execution_record& r) {
    if ((r.instruction & isa::step::precedes) != 0 || r.addresses == 0 || r.mask == 0) return;
    const decoded_instruction& d = launch.decoded->code[r.instruction & isa::step::index];
    const isa::instruction& i = *d.instruction;
    const bool accesses = d.kind == issue_kind::memory && d.access != lsu_kind::constant_load;
    if (!accesses || (i.mem_space != isa::space::global && i.mem_space != isa::space::generic)) return;
    alignas(64) std::uint64_t addresses[isa::warp_size] = {};
    part.addresses(r, addresses);
    lines.add(addresses, divide_by_space(i.mem_space, r.mask, addresses).global, d.access_bytes, use_of(i));
  };
  for (std::uint32_t warp = 0; warp < launch.warps_per_block(); ++warp)
    for (std::uint64_t position = 0;;) {
      const std::shared_ptr<const isa::recorded_segment> part = block.segment(warp, position);
      if (part == nullptr) break;
      for (const isa::execution_record* r = part->first; r != part->last; ++r) add(*part, *r);
      position = part->position + static_cast<std::uint64_t>(part->last - part->first);
      if (part->ends || part->first == part->last) break;
    }
  return lines.take();
}

}  // namespace heddle
