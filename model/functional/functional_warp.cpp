// SPDX-License-Identifier: MIT
// Executes instructions of a warp until it waits, exits, spins or has used up its quantum.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/isa/matrix.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/device_runtime.h"

namespace heddle {

namespace {

constexpr unsigned spin_iterations = 64;        // iterations of loops that may wait for others, before others run
constexpr std::uint64_t warp_quantum = 20'000;  // instructions of a warp in other loops, before others run

inline void step_on(simt::warp_state& w) {
  if (__builtin_expect(w.pc + 1 == w.reconverge, 0)) return simt::advance(w);
  ++w.pc;
}

// Whether the instruction closes a group of products of a warpgroup.
inline unsigned closes_products(const isa::instruction& i) {
  return i.op == isa::opcode::wgcommit || (isa::is_warpgroup_product(i.op) && (i.sub & isa::gmma::commits) != 0);
}

}  // namespace

functional_executor::pause functional_executor::run(block& b, warp& x) {
  simt::warp_state& w = x.state;
  functional_step* const steps = program_->steps.data();
  const std::uint32_t patience = config_.sub_partition.convergence_patience_iterations;
  const std::uint64_t end = executed_ + warp_quantum;
  unsigned iterations = spin_iterations;
  try {
    for (;;) {
      functional_step& s = steps[w.pc];
      const simt::lane_mask mask = s.guarded ? simt::guarded(s.guard, w) : w.active;
      ++executed_;
      functional_kind kind = s.kind;
      if (__builtin_expect(kind == functional_kind::followed, 0)) kind = followed(b, w, s, mask);
      switch (kind) {
        case functional_kind::plain:
          if (mask != 0) s.execute(*s.decoded->instruction, w, mask);
          break;
        case functional_kind::load:
          if (mask != 0) load(b, x, s, mask);
          break;
        case functional_kind::store:
          if (mask != 0) store(b, x, s, mask);
          break;
        case functional_kind::shared:
          if (mask != 0) shared(b, x, s, mask);
          break;
        case functional_kind::branch:
          simt::branch(*s.decoded->instruction, w, mask);
          if (s.edge == back_edge::none || mask == 0) continue;
          if (w.independent) simt::take_back_edge(w, s.edge == back_edge::waits, patience);
          if (s.edge == back_edge::waits && --iterations == 0) return pause::spins;
          if (executed_ >= end) return pause::quantum;
          continue;
        case functional_kind::other: {
          const pause p = other(b, x, s, mask);
          if (p != pause::none) return p;
          continue;
        }
        case functional_kind::followed: break;  // its usual kind
      }
      step_on(w);
    }
  } catch (const program_error& e) {
    fail(b, w, program_->decoded->program->code[w.pc], bad_lane_, e.what());
  }
}

// The launch's clock advances by one cycle per executed instruction.
void functional_executor::set_clock_values(simt::warp_state& w) const {
  w.cycle = clock_ + executed_;
  w.clock_low = static_cast<std::uint32_t>(w.cycle);
  w.time_ns = static_cast<std::uint64_t>(static_cast<double>(w.cycle) * 1000.0 / config_.gpu.core_clock_mhz);
}

// True if the instruction can execute on the lanes of `mask`; false if they must wait for other lanes that it names.
// Waiting lanes execute the instruction again later.
bool functional_executor::lanes_present(simt::warp_state& w, const isa::instruction& i, simt::lane_mask mask) {
  if (w.granted) {
    w.granted = false;
    return true;
  }
  if (w.active == w.live || mask == 0) return true;
  const simt::lane_mask named = simt::named_lanes(*simt::member_operand(i), w, mask);
  if ((named & ~mask) == 0) return true;
  simt::wait_for_lanes(w, mask, named);
  return false;
}

functional_executor::pause functional_executor::other(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const decoded_instruction& d = *s.decoded;
  const isa::instruction& i = *d.instruction;
  if (s.synchronises && !lanes_present(w, i, mask)) return w.active == 0 ? pause::waits : pause::none;
  if (d.kind == issue_kind::product_wait && mask != 0 && !products_begun(b, x, i.sub)) return pause::spins;
  if (watcher_ != nullptr && mask != 0 && isa::is_atomic(i.op) && yields(b, x)) return pause::spins;
  if (watcher_ != nullptr) mask = watched(b, x, s, mask);
  x.products += closes_products(i);
  switch (d.kind) {
    case issue_kind::barrier:
      if (mask == 0) break;
      return at_barrier(b, x, i, mask);
    case issue_kind::exit:
      if (mask == 0) break;
      return exit(b, x, mask);
    case issue_kind::memory:
      if (mask == 0) break;
      if (s.unwatched == functional_kind::load) load(b, x, s, mask);
      else if (s.unwatched == functional_kind::store) store(b, x, s, mask);
      else if (s.unwatched == functional_kind::shared) shared(b, x, s, mask);
      else if (d.unit == isa::unit::texture) texture(b, x, s, mask);
      else if (i.op == isa::opcode::ldgsts) copy(b, x, s, mask);
      else any_access(b, x, s, mask);
      break;
    case issue_kind::sleep:
      simt::advance(w);
      if (mask == 0) return pause::none;
      // A thread may sleep for any time, however short: other lanes run first.
      return w.independent && simt::yield_to_other_path(w) ? pause::none : pause::spins;
    case issue_kind::system_call:
      changed_ = true;
      system_call(
          services_, [&](unsigned lane) { return memory_of(x, lane); }, i, w, mask, bad_lane_);
      break;
    case issue_kind::trap:
      if (mask != 0) trap(b, x, i, static_cast<unsigned>(__builtin_ctz(mask)));
      break;
    case issue_kind::bulk_copy: bulk_copies(b, x, s, mask); break;
    case issue_kind::fence:
    case issue_kind::copy_commit:
    case issue_kind::copy_wait:
    case issue_kind::product_commit:
    case issue_kind::product_fence:
    case issue_kind::product_wait:
    case issue_kind::register_change: break;
    case issue_kind::product:
    case issue_kind::arithmetic:
    case issue_kind::branch:
      if (s.reads_time) {
        timed_ = true;
        set_clock_values(w);
      }
      if (mask != 0) s.execute(i, w, mask);
      break;
  }
  simt::advance(w);
  return pause::none;
}

// A product is the work of four warps, and complete when all have begun it. True if the groups that the warp waits for
// can be complete, with `left` of its newest ones in flight.
bool functional_executor::products_begun(const block& b, const warp& x, unsigned left) const {
  constexpr unsigned warps = 4;
  const std::uint64_t needed = x.products - std::min<std::uint64_t>(left, x.products);
  const std::size_t first = x.state.warp_in_block / warps * warps;
  for (std::size_t k = first; k < std::min(first + warps, b.warps.size()); ++k)
    if (!b.warps[k].done && b.warps[k].products < needed) return false;
  return true;
}

void functional_executor::trap(block& b, warp& x, const isa::instruction& i, unsigned lane) {
  fail(b, x.state, i, lane, simt::trap_text(i), assertion_details(memory_of(x, lane), i, x.state, lane));
}

functional_executor::pause functional_executor::at_barrier(block& b, warp& x, const isa::instruction& i,
                                                           simt::lane_mask mask) {
  if (i.op == isa::opcode::syncs) return mbarrier_wait(x, i, mask);
  if (i.op == isa::opcode::acqbulk || i.op == isa::opcode::preexit) {  // launches are executed one after another
    simt::advance(x.state);
    return pause::none;
  }
  if (i.op != isa::opcode::bar) return at_cluster_barrier(b, x, i, mask);
  simt::warp_state& w = x.state;
  std::string error;
  const barrier_outcome o = b.barriers.arrive(rules_, w.warp_in_block, i, w, mask, error);
  if (!error.empty()) fail(b, w, i, static_cast<unsigned>(__builtin_ctz(mask)), error);
  if (o.waits && w.independent) simt::wait_at_barrier(w, mask, o.barrier);
  if (o.deadlock) fail_deadlocked(b);
  completes(b, o);
  x.waits = o.waits && (!w.independent || w.active == 0);
  if (o.release != 0) release(b, o);
  if (!o.waits) simt::advance(w);
  return x.waits ? pause::waits : pause::none;
}

void functional_executor::completes(block& b, const barrier_outcome& o) {
  if (watcher_ != nullptr && o.completed) watcher_->barrier_completes(b, o.barrier, o.release);
}

functional_executor::pause functional_executor::exit(block& b, warp& x, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  if (watcher_ != nullptr) watcher_->lanes_exit({b, w, program_->decoded->program->code[w.pc], mask});
  simt::exit_lanes(w, mask);
  if (!w.independent && w.live != 0) return pause::none;
  x.waits = w.live != 0 && w.active == 0;
  b.barriers.exited(w.warp_in_block, mask, w.live == 0);
  if (launch_->program->cluster_barrier) {
    b.cluster.exited(w.warp_in_block, w.live == 0 ? simt::all_lanes : mask);
    release_cluster(b);
  }
  // One exit may complete several barriers.
  for (;;) {
    const barrier_outcome o = b.barriers.after_exit(rules_);
    if (o.deadlock) fail_deadlocked(b);
    completes(b, o);
    if (o.release == 0) break;
    release(b, o);
  }
  return w.live == 0 ? pause::exited : x.waits ? pause::waits : pause::none;
}

}  // namespace heddle
