// SPDX-License-Identifier: MIT
#include "heddle/sm/block_barriers.h"

#include <algorithm>

#include "heddle/simt/execute.h"

namespace heddle {

namespace {

// A barrier operand is uniform over the warp: the first active lane's value is used.
std::uint32_t uniform_value(const isa::operand& o, const simt::warp_state& w, simt::lane_mask mask) {
  switch (o.kind) {
    case isa::operand_kind::immediate: return static_cast<std::uint32_t>(o.value);
    case isa::operand_kind::reg:
      return o.reg == isa::rz ? 0 : w.regs[o.reg * isa::warp_size + static_cast<unsigned>(__builtin_ctz(mask))];
    case isa::operand_kind::constant:
      return static_cast<std::uint32_t>(simt::lane_value(o, w, static_cast<unsigned>(__builtin_ctz(mask))));
    default: return 0;
  }
}

}  // namespace

barrier_rules::barrier_rules(const gpu_config& config)
    : barriers(std::min(config.sm.barriers_per_block, 16u)),
      per_thread(config.sub_partition.divergence == choice::divergence::independent) {}

void block_barriers::open(unsigned warps, unsigned threads) {
  waiting_ = 0;
  waiters_ = 0;
  waits_at_.fill(0);
  barriers_.assign(most_barriers, barrier{});
  live_ = warps == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << warps) - 1;
  live_threads_ = threads;
}

// The order of the fields defines the layout of a saved context.
void block_barriers::exchange(simt::context_image& image) {
  image(live_);
  image(waiting_);
  image(live_threads_);
  image(waiters_);
  image(waits_at_);
  barriers_.resize(most_barriers);
  for (barrier& b : barriers_) {
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

bool block_barriers::try_complete(const barrier_rules& rules, unsigned number, barrier_outcome& o) {
  barrier& r = barriers_[number];
  bool done = r.arrived != 0;
  if (r.expected != 0) done = r.arrivals >= r.expected;
  else if (rules.per_thread) done = done && r.threads >= live_threads_;
  else done = done && (live_ & ~r.arrived) == 0;
  if (!done) return false;
  o.completed = true;
  o.release = r.waiting;
  o.barrier = number;
  o.count = r.count;
  o.threads = r.threads;
  waiters_ -= r.waiters;
  r = barrier{};
  waiting_ = 0;
  for (const barrier& other : barriers_) waiting_ |= other.waiting;
  return true;
}

bool block_barriers::stuck(const barrier_rules& rules) const {
  if (live_ == 0 || waiting_ == 0) return false;
  return rules.per_thread ? waiters_ >= live_threads_ : (live_ & ~waiting_) == 0;
}

barrier_outcome block_barriers::arrive(const barrier_rules& rules, unsigned warp, const isa::instruction& bar,
                                       const simt::warp_state& state, simt::lane_mask mask, std::string& error) {
  barrier_outcome o;
  const std::uint32_t number = uniform_value(bar.src[0], state, mask);
  if (number >= rules.barriers) {
    error = "barrier " + std::to_string(number) + " does not exist, a block has " + std::to_string(rules.barriers);
    return o;
  }
  const bool counted = bar.src[1].kind != isa::operand_kind::none;
  const std::uint32_t threads = counted ? uniform_value(bar.src[1], state, mask) : 0;
  if (counted && (threads == 0 || threads % isa::warp_size != 0)) {
    error = "barrier with a thread count of " + std::to_string(threads) + ", which is not a multiple of the warp size";
    return o;
  }
  barrier& r = barriers_[number];
  const std::uint64_t bit = std::uint64_t{1} << warp;
  const auto arriving = static_cast<unsigned>(__builtin_popcount(mask));
  r.expected = threads;
  if (!rules.per_thread) r.arrivals += isa::warp_size;
  else r.arrivals += arriving + ((r.arrived & bit) == 0 ? static_cast<unsigned>(__builtin_popcount(~state.live)) : 0);
  r.arrived |= bit;
  const simt::lane_mask p = state.predicates[bar.psrc[0].reg];
  r.count += static_cast<unsigned>(__builtin_popcount(mask & (bar.psrc[0].negate ? ~p : p)));
  r.threads += arriving;
  o.barrier = number;
  if (bar.sub != 1) {  // every form except arrive waits
    o.waits = true;
    r.waiting |= bit;
    r.waiters += arriving;
    waiting_ |= bit;
    waiters_ += arriving;
    waits_at_[warp] = static_cast<std::uint8_t>(number);
  }
  if (!try_complete(rules, number, o)) o.deadlock = stuck(rules);
  return o;
}

void block_barriers::exited(unsigned warp, simt::lane_mask lanes, bool last) {
  const std::uint64_t bit = std::uint64_t{1} << warp;
  const auto gone = static_cast<unsigned>(__builtin_popcount(lanes));
  live_threads_ -= gone;
  if (last) {
    live_ &= ~bit;
  } else {
    for (barrier& r : barriers_)
      if ((r.arrived & bit) != 0) r.arrivals += gone;
  }
}

barrier_outcome block_barriers::after_exit(const barrier_rules& rules) {
  barrier_outcome o;
  if (live_ == 0) return o;
  for (unsigned n = 0; n < rules.barriers && waiting_ != 0; ++n)
    if (barriers_[n].waiting != 0 && try_complete(rules, n, o)) return o;
  o.deadlock = stuck(rules);
  return o;
}

}  // namespace heddle
