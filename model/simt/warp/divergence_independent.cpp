// SPDX-License-Identifier: MIT
// Divergence with a program counter per lane (independent thread scheduling). Lanes with the same pc form a path; one
// path of the warp runs, the others are listed in warp_state::paths. A diverging branch opens a frame whose lanes meet
// at the reconvergence point, as with the stack. Reconvergence affects performance only: if waiting there would
// deadlock, the lanes continue.
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/control_flow.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/lane_paths.h"
#include "heddle/simt/warp/lanes.h"

namespace heddle::simt {

namespace detail {

// The newest path is selected first, so that inner frames complete before outer ones continue, as with the stack.
void settle_independent(warp_state& w) {
  for (;;) {
    if (w.active != 0) {
      if (w.pc != w.reconverge) return;
      const lane_mask lanes = w.active;
      w.active = 0;
      arrive(w, w.frame, lanes);
    }
    // If all other lanes wait, for instance at a barrier, they may wait for the lanes at a reconvergence point.
    if (take_newest(w) || (abandon_innermost(w) && take_newest(w))) continue;
    w.frame = no_frame;
    w.reconverge = isa::no_target;
    w.granted = false;
    return;
  }
}

bool branch_independent(const isa::instruction& i, warp_state& w, lane_mask taken) {
  const lane_mask rest = w.active & ~taken;
  const std::uint32_t next = w.pc + 1;
  if (taken != 0 && i.calls()) {
    w.frame = open_frame(w, i.reconverge, i.reconverge + 1);
    w.reconverge = i.reconverge;
    w.pc = i.target;
    return false;
  }
  if (taken == 0 || rest == 0 || i.target == next) {
    w.pc = taken != 0 ? i.target : next;
    settle_independent(w);
    return false;
  }
  // A branch whose paths do not join before the end of the program reconverges where the enclosing one does.
  if (i.reconverge != isa::no_target && i.reconverge != w.reconverge) {
    w.frame = open_frame(w, i.reconverge, i.reconverge);
    w.reconverge = i.reconverge;
  }
  w.pc = next;
  w.active = rest;
  if (i.target != w.reconverge) add_path(w, {i.target, taken, w.frame, path_wait::nothing, false, 0});
  else arrive(w, w.frame, taken);
  settle_independent(w);
  return true;
}

void exit_independent(warp_state& w, lane_mask mask) {
  w.live &= ~mask;
  w.active &= ~mask;
  if (w.active != 0) ++w.pc;
  remove_lanes(w, mask);
  grant_lanes(w);
  settle_independent(w);
}

}  // namespace detail

void take_back_edge(warp_state& w, bool waits, std::uint32_t patience) {
  if (w.paths.empty() && w.frames.empty()) return;
  if (waits) {
    for (std::uint32_t k = 0; k < w.frames.size(); ++k)
      if (w.frames[k].arrived != 0 && ++w.frames[k].back_edges >= patience) abandon(w, k);
  }
  if (waits || ++w.back_edges >= plain_back_edges) {
    w.back_edges = 0;
    yield_to_other_path(w);
  }
}

bool yield_to_other_path(warp_state& w) {
  if (!may_any_run(w)) return false;
  add_path(w, {w.pc, w.active, w.frame, path_wait::nothing, w.granted, 0});
  take_oldest(w);
  detail::settle_independent(w);
  return true;
}

void run_next(warp_state& w) {
  if (w.active == 0) detail::settle_independent(w);
}

namespace {

// The lanes of `mask`, which are active, become a path that waits at pc; the others continue after it.
void stop(warp_state& w, lane_mask mask, path_wait wait, std::uint32_t wanted) {
  w.paths.push_back({w.pc, mask, w.frame, wait, false, wanted});
  w.active &= ~mask;
  if (w.active != 0) ++w.pc;
}

}  // namespace

void wait_at_barrier(warp_state& w, lane_mask mask, std::uint32_t number) {
  stop(w, mask, path_wait::barrier, number);
  detail::settle_independent(w);
}

void leave_barrier(warp_state& w, std::uint32_t number) {
  std::vector<lane_path> waiting;
  for (std::size_t k = 0; k < w.paths.size();) {
    if (w.paths[k].wait == path_wait::barrier && w.paths[k].wanted == number) {
      waiting.push_back(w.paths[k]);
      w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      ++k;
    }
  }
  for (const lane_path& p : waiting) add_path(w, {p.pc + 1, p.mask, p.frame, path_wait::nothing, false, 0});
}

const isa::operand* member_operand(const isa::instruction& i) {
  const isa::member_mask members = isa::info(i.op).members;
  const bool all = i.op == isa::opcode::vote && i.sub == static_cast<unsigned>(isa::vote_mode::activemask);
  if (members == isa::member_mask::no || all) return nullptr;
  return &i.src[static_cast<std::size_t>(members)];
}

lane_mask named_lanes(const isa::operand& members, const warp_state& w, lane_mask mask) {
  if (members.kind == isa::operand_kind::none) return mask;
  if (!members.is_reg()) mask &= ~mask + 1;  // all lanes name the same
  std::uint32_t scratch[warp_size];
  const std::uint32_t* m = fetch_modified<modifiers::integer>(members, w, scratch);
  lane_mask named = 0;
  for (const unsigned lane : set_bits(mask)) named |= m[lane];
  return named & w.live;
}

lane_mask lanes_naming_alike(const isa::operand& members, const warp_state& w, lane_mask mask) {
  if (!members.is_reg()) return mask;
  std::uint32_t scratch[warp_size];
  const std::uint32_t* m = fetch_modified<modifiers::integer>(members, w, scratch);
  const std::uint32_t first = m[__builtin_ctz(mask)];
  lane_mask alike = 0;
  for (const unsigned lane : set_bits(mask))
    if (((m[lane] ^ first) & w.live) == 0) alike |= 1u << lane;
  return alike;
}

void wait_for_lanes(warp_state& w, lane_mask mask, lane_mask named) {
  stop(w, mask, path_wait::lanes, named);
  grant_lanes(w);
  detail::settle_independent(w);
}

}  // namespace heddle::simt
