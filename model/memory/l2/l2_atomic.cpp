// SPDX-License-Identifier: MIT
// The atomics of an L2 slice.
#include <algorithm>
#include <cstring>

#include "heddle/memory/l2/l2_slice.h"
#include "heddle/memory/l2/shared_cell.h"
#include "heddle/simt/execute.h"

namespace heddle {

namespace {

/// What an atomic did to its line.
struct cell_changes {
  byte_mask bytes;       // of the cells that it changed
  unsigned changed = 0;  // times that a cell did
  unsigned most = 1;     // lanes of one cell
};

/// Performs the atomic on `line`, whose bytes the host may change, too, if they are `shared`.
cell_changes change_cells(atomic_request& a, std::uint8_t* line, bool shared) {
  const auto op = static_cast<isa::atomic_op>(a.operation);
  const auto type = static_cast<isa::dtype>(a.type);
  const unsigned size = isa::size_of(type);
  std::uint8_t uses[line_bytes] = {};
  cell_changes c;
  for (unsigned i = 0; i < a.count; ++i) {
    std::uint64_t value = 0;
    a.result[i] = change_cell(line + a.offset[i], size, shared, [&](std::uint64_t old) {
      return value = simt::global_atomic_result(op, type, old, a.operand[i], a.swap[i]);
    });
    if (std::memcmp(&a.result[i], &value, size) != 0) c.bytes |= byte_mask::run(a.offset[i], size), ++c.changed;
    c.most = std::max<unsigned>(c.most, ++uses[a.offset[i]]);
  }
  return c;
}

/// The same of cells of 16 bytes.
cell_changes change_wide_cells(atomic_request& a, std::uint8_t* line, bool shared) {
  const auto op = static_cast<isa::atomic_op>(a.operation);
  std::uint8_t uses[line_bytes] = {};
  cell_changes c;
  for (unsigned i = 0; i < a.count; ++i) {
    const simt::wide_cell operand{a.operand[i], a.operand_high[i]}, swap{a.swap[i], a.swap_high[i]};
    simt::wide_cell value;
    const simt::wide_cell old = change_wide_cell(line + a.offset[i], shared, [&](simt::wide_cell before) {
      return value = simt::atomic_result(op, before, operand, swap);
    });
    a.result[i] = old.low;
    a.result_high[i] = old.high;
    if (!(old == value)) c.bytes |= byte_mask::run(a.offset[i], sizeof old), ++c.changed;
    c.most = std::max<unsigned>(c.most, ++uses[a.offset[i]]);
  }
  return c;
}

}  // namespace

void l2_slice::perform_atomic(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot, cycle_t now) {
  atomic_request& a = *d.atomic;
  std::uint8_t* line = line_of(d, slot);
  const bool shared = line != hot_.lines.data(slot);
  const cell_changes c = a.wide ? change_wide_cells(a, line, shared) : change_cells(a, line, shared);
  const unsigned most = c.most;
  if (is_distant(d)) move_distant(true, d.line_address, c.bytes, slot);
  line_store::state& s = hot_.lines.at(slot);
  s.dirty |= d.bytes;
  s.launch = d.launch;
  if (d.system) write_back(slot);
  counters_[d.launch].atomic_lanes += a.count;
  counters_[d.launch].atomic_changes += c.changed;
  // Lanes with the same cell pass through the atomic unit one after another, lanes with different cells of a sector in
  // parallel, sectors one after another.
  auto taken = static_cast<cycle_t>((most - 1) * parameters_.atomic_interval_cycles + 0.5);
  if (most > 1) taken += parameters_.atomic_contention_cycles;
  if (parameters_.atomic_limit_cycles != 0) taken = std::min<cycle_t>(taken, parameters_.atomic_limit_cycles);
  const cycle_t start = std::max(now, hot_.atomic_free);
  const cycle_t lanes_busy = parameters_.atomic_occupancy_cycles == 0
                                 ? taken + 1
                                 : 1 + static_cast<cycle_t>((most - 1) * parameters_.atomic_occupancy_cycles + 0.5);
  const cycle_t sectors_busy =
      atomic_sector_.take(static_cast<unsigned>(__builtin_popcount(d.bytes.touched_sectors())));
  const cycle_t due = start + std::max(taken, sectors_busy == 0 ? 0 : sectors_busy - 1);
  hot_.atomic_free = start + std::max(lanes_busy, sectors_busy);
  counters_[d.launch].atomic_cycles += hot_.atomic_free - start;
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  if (far_latency_ != 0) copies_[slot] = 0;
  if (due <= now && hot_.atomics.empty() && !is_far(d.request)) hot_.port.answer(p);
  else hot_.atomics.push({&p, due});
}

}  // namespace heddle
