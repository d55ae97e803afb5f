// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/stream/recording_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "heddle/simt/execute.h"
#include "heddle/sub_partition/warp/copy_groups.h"

namespace heddle {

void warp_steps::add_addresses(const std::uint64_t* by_lane) {
  isa::executed_step& r = steps.back();
  if (r.mask == 0) return;
  const auto first = addresses.size();
  r.addresses = static_cast<std::uint32_t>(first + 1);
  for (const unsigned lane : set_bits(r.mask)) addresses.push_back(by_lane[lane]);
  const std::size_t lanes = addresses.size() - first;
  if (lanes < 3) return;
  const std::uint64_t* const a = addresses.data() + first;
  for (std::size_t k = 2; k < lanes; ++k)
    if (a[k] - a[k - 1] != a[1] - a[0]) return;
  addresses.resize(first + 2);
  r.addresses |= even;
}

void warp_steps::add_target(simt::lane_mask lanes, simt::lane_mask reading, const std::uint64_t* by_lane) {
  const isa::executed_step copy = steps.back();
  steps.back() = {copy.instruction | isa::step::target, reading, lanes, 0};
  add_addresses(by_lane);
  steps.push_back(copy);
}

void warp_steps::give() {
  recorder->take(*this);
  steps.clear();
  addresses.clear();
}

void recording_stream::begin(warp_slot& w) const {
  executed_stream::begin(w);
  w.steps = recorder_.begun(*w.launch, *w.state.block, w.state.warp_in_block);
  if (w.steps != nullptr) w.counted = true;
}

bool recording_stream::lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  const warp_slot& w = s_.warps[slot];
  const std::uint32_t pc = w.state.pc;
  const simt::lane_mask active = w.state.active;
  const bool present = executed_stream::lanes_present(slot, mask, cycle);
  if (!present && w.steps != nullptr) w.steps->add(pc | isa::step::waits, mask, active);
  return present;
}

void recording_stream::issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const {
  warp_slot& w = s_.warps[slot];
  if ((w.state.live & ~mask) == 0 && w.steps != nullptr) recorder_.ended(*std::exchange(w.steps, nullptr));
  executed_stream::issue_exit(slot, mask, cycle, latency);
}

void recording_stream::issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  const warp_slot& w = s_.warps[slot];
  const isa::instruction& bar = *w.next->instruction;
  if (w.steps != nullptr && mask != 0 && isa::computes_barrier(bar)) {
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    const auto value = [&](const isa::operand& o) {
      return o.kind == isa::operand_kind::none ? 0 : simt::lane_value(o, w.state, first) & 0xffffffffu;
    };
    std::uint64_t both[isa::warp_size];
    std::fill(std::begin(both), std::end(both), value(bar.src[1]) << 32 | value(bar.src[0]));
    w.steps->add_addresses(both);
  }
  executed_stream::issue_barrier(slot, mask, cycle);
}

bool recording_stream::yields(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  const bool yields = executed_stream::yields(slot, mask, cycle);
  warp_steps* const steps = s_.warps[slot].steps;
  if (yields && steps != nullptr) steps->mark(isa::step::yields);
  return yields;
}

bool recording_stream::addresses(unsigned slot, simt::lane_mask mask, lsu_transaction& t) const {
  if (!executed_stream::addresses(slot, mask, t)) return false;
  warp_steps* const steps = s_.warps[slot].steps;
  if (steps != nullptr) steps->add_addresses(t.own_addresses);
  return true;
}

bool recording_stream::copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const {
  if (!executed_stream::copy_target_of(slot, t, to)) return false;
  warp_steps* const steps = s_.warps[slot].steps;
  if (steps != nullptr) steps->add_target(to.lanes, t.global_mask, to.offsets);
  return true;
}

bool recording_stream::branch(warp_slot& w, simt::lane_mask mask) const {
  const bool diverges = executed_stream::branch(w, mask);
  if (diverges && w.steps != nullptr) w.steps->mark(isa::step::diverges);
  return diverges;
}

}  // namespace heddle
