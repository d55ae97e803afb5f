// SPDX-License-Identifier: MIT
#include "sm/barrier_unit.h"

#include <algorithm>

namespace heddle {

namespace {

// A barrier operand is uniform over the warp: the first active lane's value stands for all.
std::uint32_t uniform_value(const isa::operand& o, const simt::warp_state& w, simt::lane_mask mask) {
  switch (o.kind) {
    case isa::operand_kind::immediate: return static_cast<std::uint32_t>(o.value);
    case isa::operand_kind::reg:
      return o.reg == isa::rz ? 0 : w.regs[o.reg * isa::warp_size + static_cast<unsigned>(__builtin_ctz(mask))];
    default: return 0;
  }
}

}  // namespace

barrier_unit::barrier_unit(sc_core::sc_module_name name, const gpu_config& config)
    : sc_module(name),
      barriers_(std::min(config.sm.barriers_per_block, 16u)),
      per_thread_(config.sub_partition.divergence == choice::divergence::independent),
      blocks_(config.sm.max_blocks) {}

void barrier_unit::open(unsigned cta_slot, unsigned warps, unsigned threads) {
  block& b = blocks_[cta_slot];
  b = block{};
  b.live = warps == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << warps) - 1;
  b.live_threads = threads;
}

// Taken apart as a whole, so that a new member is saved too.
void barrier_unit::exchange(unsigned cta_slot, simt::context_image& image) {
  auto& [live, waiting, live_threads, waiters, waits_at, barriers] = blocks_[cta_slot];
  image(live);
  image(waiting);
  image(live_threads);
  image(waiters);
  image(waits_at);
  for (barrier& b : barriers) {
    auto& [arrived, waiting_warps, expected, arrivals, waiting_threads, count, threads] = b;
    image(arrived);
    image(waiting_warps);
    image(expected);
    image(arrivals);
    image(waiting_threads);
    image(count);
    image(threads);
  }
}

bool barrier_unit::try_complete(block& b, unsigned number, outcome& o) {
  barrier& r = b.barriers[number];
  bool done = r.arrived != 0;
  if (r.expected != 0)
    done = r.arrivals >= r.expected;
  else if (per_thread_)
    done = done && r.threads >= b.live_threads;
  else
    done = done && (b.live & ~r.arrived) == 0;
  if (!done) return false;
  ++completed;
  o.release = r.waiting;
  o.barrier = number;
  o.count = r.count;
  o.threads = r.threads;
  b.waiters -= r.waiters;
  r = barrier{};
  b.waiting = 0;
  for (const barrier& other : b.barriers) b.waiting |= other.waiting;
  return true;
}

bool barrier_unit::stuck(const block& b) const {
  if (b.live == 0 || b.waiting == 0) return false;
  return per_thread_ ? b.waiters >= b.live_threads : (b.live & ~b.waiting) == 0;
}

barrier_unit::outcome barrier_unit::arrive(unsigned cta_slot, unsigned warp, const isa::instruction& bar,
                                           const simt::warp_state& state, simt::lane_mask mask, std::string& error) {
  outcome o;
  block& b = blocks_[cta_slot];
  const std::uint32_t number = uniform_value(bar.src[0], state, mask);
  if (number >= barriers_) {
    error = "barrier " + std::to_string(number) + " does not exist, a block has " + std::to_string(barriers_);
    return o;
  }
  const bool counted = bar.src[1].kind != isa::operand_kind::none;
  const std::uint32_t threads = counted ? uniform_value(bar.src[1], state, mask) : 0;
  if (counted && (threads == 0 || threads % isa::warp_size != 0)) {
    error = "barrier with a thread count of " + std::to_string(threads) + ", which is not a multiple of the warp size";
    return o;
  }
  barrier& r = b.barriers[number];
  const std::uint64_t bit = std::uint64_t{1} << warp;
  const auto came = static_cast<unsigned>(__builtin_popcount(mask));
  r.expected = threads;
  if (!per_thread_)
    r.arrivals += isa::warp_size;
  else
    r.arrivals += came + ((r.arrived & bit) == 0 ? static_cast<unsigned>(__builtin_popcount(~state.live)) : 0);
  r.arrived |= bit;
  const simt::lane_mask p = state.predicates[bar.psrc[0].reg];
  r.count += static_cast<unsigned>(__builtin_popcount(mask & (bar.psrc[0].negate ? ~p : p)));
  r.threads += came;
  o.barrier = number;
  if (bar.sub != 1) {   // all forms but arrive wait
    o.waits = true;
    r.waiting |= bit;
    r.waiters += came;
    b.waiting |= bit;
    b.waiters += came;
    b.waits_at[warp] = static_cast<std::uint8_t>(number);
  }
  if (!try_complete(b, number, o)) o.deadlock = stuck(b);
  return o;
}

void barrier_unit::exited(unsigned cta_slot, unsigned warp, simt::lane_mask lanes, bool last) {
  block& b = blocks_[cta_slot];
  const std::uint64_t bit = std::uint64_t{1} << warp;
  const auto gone = static_cast<unsigned>(__builtin_popcount(lanes));
  b.live_threads -= gone;
  if (last) {
    b.live &= ~bit;
  } else {
    for (barrier& r : b.barriers)
      if ((r.arrived & bit) != 0) r.arrivals += gone;
  }
}

barrier_unit::outcome barrier_unit::after_exit(unsigned cta_slot) {
  outcome o;
  block& b = blocks_[cta_slot];
  if (b.live == 0) return o;
  for (unsigned n = 0; n < barriers_ && b.waiting != 0; ++n)
    if (b.barriers[n].waiting != 0 && try_complete(b, n, o)) return o;
  o.deadlock = stuck(b);
  return o;
}

void barrier_unit::trace(sc_core::sc_trace_file* file) const {
  for (std::size_t s = 0; s < blocks_.size(); ++s)
    sc_core::sc_trace(file, blocks_[s].waiting, std::string(name()) + ".block" + std::to_string(s) + "_waiting");
}

}  // namespace heddle
