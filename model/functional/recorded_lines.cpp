// SPDX-License-Identifier: MIT
#include "heddle/functional/recorded_lines.h"

#include <algorithm>

#include "heddle/isa/operation.h"
#include "heddle/isa/set_bits.h"

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

untimed_warp::untimed_warp(const simt::launch_context& l, std::uint64_t block, std::uint64_t together,
                           std::uint32_t warp)
    : launch(l) {
  const std::uint64_t resident = block % together;
  const std::uint64_t slot = (resident / l.sm_count * l.warps_per_block() + warp) % l.warps_per_sm;
  place = resident % l.sm_count * l.warps_per_sm + slot;
}

void untimed_warp::access(touched_lines& lines, const std::uint64_t addresses[32], const lanes_by_space& lanes,
                          unsigned bytes, line_use use) const {
  lines.add(addresses, lanes.global, bytes, use);
  constexpr unsigned word_bytes = 4;
  alignas(64) std::uint64_t places[isa::warp_size];
  for (unsigned n = 0; lanes.local != 0 && n < bytes; n += word_bytes) {
    for (const unsigned l : set_bits(lanes.local)) places[l] = launch.local_address(place, addresses[l] + n, l);
    lines.add(places, lanes.local, std::min(bytes, word_bytes), use);
  }
}

std::vector<line_touch> lines_of(const isa::recorded_block& block, const decoded_program& program,
                                 const simt::launch_context& launch, std::uint64_t number, std::uint64_t together) {
  touched_lines lines;
  const auto add = [&](const untimed_warp& w, const isa::recorded_segment& part, const isa::execution_record& r) {
    if ((r.instruction & isa::step::precedes) != 0 || r.addresses == 0 || r.mask == 0) return;
    const decoded_instruction& d = program.code[r.instruction & isa::step::index];
    const isa::instruction& i = *d.instruction;
    const bool accesses = d.kind == issue_kind::memory && d.access != lsu_kind::constant_load;
    if (!accesses || i.mem_space == isa::space::shared) return;
    alignas(64) std::uint64_t addresses[isa::warp_size] = {};
    part.addresses(r, addresses);
    const lanes_by_space lanes = divide_by_space(i.mem_space, r.mask, addresses);
    w.access(lines, addresses, lanes, d.access_bytes, use_of(i));
  };
  for (std::uint32_t warp = 0; warp < launch.warps_per_block(); ++warp) {
    const untimed_warp w(launch, number, together, warp);
    for (std::uint64_t position = 0;;) {
      const std::shared_ptr<const isa::recorded_segment> part = block.segment(warp, position);
      if (part == nullptr) break;
      for (const isa::execution_record* r = part->first; r != part->last; ++r) add(w, *part, *r);
      position = part->position + static_cast<std::uint64_t>(part->last - part->first);
      if (part->ends || part->first == part->last) break;
    }
  }
  return lines.take();
}

}  // namespace heddle
