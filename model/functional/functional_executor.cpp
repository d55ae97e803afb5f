// SPDX-License-Identifier: MIT
// The blocks of a launch: which are resident, and in which order they run.
#include "heddle/functional/functional_executor.h"

#include <algorithm>
#include <iterator>

#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/fault_text.h"

namespace heddle {

namespace {

constexpr std::uint64_t block_quantum = 200'000;  // warp instructions of a block before other blocks run
// Warp instructions of a launch before other threads take part: they wake in the time of some hundred.
constexpr std::uint64_t executed_alone = 16'384;
constexpr std::uint64_t no_pause = ~std::uint64_t{0};
// Clusters that a thread takes at a time: few enough that all threads end at about the same time.
constexpr std::uint64_t ranges_per_thread = 16, most_at_once = 64;

}  // namespace

functional_executor::functional_executor(const gpu_config& config, functional_memory& memory,
                                         const address_ranges& ranges, program_services& services)
    : config_(config), rules_(config), memory_below_(memory), memory_(memory), ranges_(ranges), services_(services) {}

functional_executor::outcome functional_executor::execute(const resident_launch& launch, std::uint64_t cycle,
                                                          std::uint64_t from, line_follower* follower) {
  follower_ = follower;
  clock_ = std::max(cycle, clock_ + executed_);
  const functional_memory::hold held(
      memory_below_, memory_below_.any_distant() && (observer_ == nullptr || !observer_->others_may_write()));
  auto& p = programs_[launch.decoded.get()];
  if (!p) p = std::make_unique<functional_program>(launch.decoded, watcher_ != nullptr);
  p->follow(false);
  const std::uint64_t total = launch.grid.count() / launch.cluster_blocks();
  const std::uint64_t left = total - from;
  const bool shares = p->independent_blocks && threads_ > 1 && left > 1;
  begin(launch, *p, own_supply_);
  own_supply_.open(from, total,
                   shares ? std::clamp<std::uint64_t>(left / (threads_ * ranges_per_thread), 1, most_at_once) : total);
  if (watcher_ != nullptr) watcher_->launch_begins(launch, memory_, rules_.per_thread);
  outcome o;
  try {
    if (shares) pause_at_ = executed_alone;
    run_blocks();
    if (executed_ >= pause_at_) {
      pause_at_ = no_pause;
      if (own_supply_.has_more()) share_launch();
      run_blocks();
    }
    if (own_supply_.error()) std::rethrow_exception(own_supply_.error());
    if (own_supply_.failed()) throw own_supply_.failure();
    if (own_supply_.stopped()) o.how = ending::stopped;
  } catch (const functional_failure& f) {
    o.how = ending::failed;
    o.text = f.text;
    o.details = f.details;
    o.cause = f.cause;
    executed_ = 0;  // how many higher blocks have run depends on the threads
  }
  end_launch();
  o.warp_instructions = executed_;
  o.most_of_block = most_of_block_;
  return o;
}

void functional_executor::begin(const resident_launch& launch, functional_program& program, block_supply& supply) {
  launch_ = &launch;
  program_ = &program;
  supply_ = &supply;
  apart_ = program.independent_blocks;
  caller_ = std::this_thread::get_id();
  memory_.forget();
  block_demand d;
  d.threads = launch.threads_per_block();
  d.registers_per_thread = launch.program->registers;
  d.shared_bytes = launch.shared_bytes;
  d.barriers = launch.program->barriers;
  d.carveout_percent = launch.carveout_percent;
  blocks_per_sm_ = std::max(1u, compute(config_, d).blocks_per_sm);
  executed_ = most_of_block_ = 0;
  next_ = {};
  wanted_ = 1;
  next_slot_ = 0;
  pause_at_ = no_pause;
  watches_ = changed_ = false;
  quiet_ = leaps_ = 0;
  timed_ = false;
}

void functional_executor::end_launch() {
  resident_.clear();
  spare_.clear();
  clusters_.clear();
  launch_ = nullptr;
}

// True if the launch has another cluster to execute here: next_.begin.
bool functional_executor::has_next() {
  return next_.begin < next_.end ? supply_->needed(next_.begin) : supply_->take(next_);
}

// As long as no block waits for another, one resident block is enough: its storage stays in the host's caches. Returns
// when nothing is left to do here, or with resident blocks if it pauses, is to stop, or all blocks wait for others.
void functional_executor::run_blocks() {
  const std::uint64_t size = launch_->cluster_blocks();
  const std::uint64_t room = std::max(size, blocks_per_sm_ * config_.gpu.sm_count / size * size);
  while (executed_ < pause_at_) {
    bool moved = supply_->failed() && drop_needless();
    for (; resident_.size() < std::min(wanted_, room) && has_next(); moved = true) start_cluster(next_.begin++);
    if (resident_.empty()) return;
    bool spun = false;
    for (std::size_t k = 0; k < resident_.size();) {
      if (is_to_stop()) return;
      if (!concurrent_) memory_below_.renew_held();
      if (resident_[k]->ended) {
        ++k;
        continue;
      }
      bool ended = attempt(*resident_[k]);
      for (unsigned many = 0; ended && size == 1 && many < 1024 && executed_ < pause_at_ && has_next(); ++many) {
        moved = true;
        if (watcher_ != nullptr) watcher_->block_ends(*resident_[k]);
        start(*resident_[k], next_.begin++);
        ended = attempt(*resident_[k]);
      }
      if (ended) {
        moved = true;
        const std::uint32_t rank = resident_[k]->context.cluster_rank;
        k = end(*resident_[k]) ? k - rank : k + 1;
      } else {
        spun |= resident_[k]->spun;
        ++k;
      }
    }
    wanted_ = std::max<std::uint64_t>(1, resident_.size()) * (spun ? 2 : 1) + (resident_.empty() ? 0 : 1);
    if (recurs(moved) && !survives_recurrence()) return;
  }
}

bool functional_executor::is_to_stop() {
  // The observer is asked on the thread that called.
  if (observer_ != nullptr && std::this_thread::get_id() == caller_ && observer_->wants_stop()) supply_->stop();
  return supply_->stopped();
}

// A visit. The failure of an independent block ends the launch for the blocks with higher numbers alone.
bool functional_executor::attempt(block& b) {
  const std::uint64_t before = executed_;
  const auto visited = [&] {
    const bool ended = visit(b);
    b.executed += executed_ - before;
    if (ended && follower_ != nullptr) report_lines(b);
    most_of_block_ = std::max(most_of_block_, b.executed);
    return ended;
  };
  if (!apart_) return visited();
  try {
    return visited();
  } catch (functional_failure& f) {
    supply_->fail(b.cluster_number, std::move(f));
    return false;
  }
}

// Drops the resident blocks that a failure makes pointless. True: there were some.
bool functional_executor::drop_needless() {
  const auto needed = [this](const std::unique_ptr<block>& b) { return supply_->needed(b->cluster_number); };
  return move_to_spare(std::stable_partition(resident_.begin(), resident_.end(), needed));
}

// The blocks of a cluster are resident together. Without clusters each block is one.
void functional_executor::start_cluster(std::uint64_t number) {
  const resident_launch& l = *launch_;
  const std::uint32_t size = l.cluster_blocks();
  const simt::dim3 of{l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z};
  const simt::dim3 first{static_cast<std::uint32_t>(number % of.x * l.cluster.x),
                         static_cast<std::uint32_t>(number / of.x % of.y * l.cluster.y),
                         static_cast<std::uint32_t>(number / of.x / of.y * l.cluster.z)};
  std::unique_ptr<functional_cluster> c;
  if (size > 1) c = std::make_unique<functional_cluster>();
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    if (spare_.empty()) {
      spare_.push_back(std::make_unique<block>());
      spare_.back()->slot = next_slot_++;
    }
    block& b = *spare_.back();
    resident_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    b.siblings = c.get();
    if (c) c->blocks.push_back(&b);
    start(b, size == 1 ? number : simt::block_of_rank(l, first, rank));
    b.cluster_number = number;
  }
  if (c) clusters_.push_back(std::move(c));
}

// The block has ended. True: it and its cluster are no longer resident.
bool functional_executor::end(block& b) {
  if (watcher_ != nullptr) watcher_->block_ends(b);
  b.ended = true;
  const functional_cluster* const c = b.siblings;
  if (c != nullptr)
    for (const block* other : c->blocks)
      if (!other->ended) return false;
  const auto stays = [&](const std::unique_ptr<block>& r) { return c != nullptr ? r->siblings != c : r.get() != &b; };
  move_to_spare(std::stable_partition(resident_.begin(), resident_.end(), stays));
  return true;
}

// The blocks from `from` on are no longer resident, nor are their clusters. False: there are none.
bool functional_executor::move_to_spare(std::vector<std::unique_ptr<block>>::iterator from) {
  if (from == resident_.end()) return false;
  const auto gone = [&](const std::unique_ptr<functional_cluster>& c) {
    return std::any_of(from, resident_.end(), [&](const auto& r) { return r->siblings == c.get(); });
  };
  clusters_.erase(std::remove_if(clusters_.begin(), clusters_.end(), gone), clusters_.end());
  std::move(from, resident_.end(), std::back_inserter(spare_));
  resident_.erase(from, resident_.end());
  return true;
}

void functional_executor::start(block& b, std::uint64_t number) {
  const resident_launch& l = *launch_;
  const unsigned warps = l.warps_per_block(), threads = l.threads_per_block();
  const simt::dim3& g = l.grid;
  b.number = b.cluster_number = number;
  b.executed = 0;
  b.context.launch = &l;
  b.context.index = {static_cast<std::uint32_t>(number % g.x), static_cast<std::uint32_t>(number / g.x % g.y),
                     static_cast<std::uint32_t>(number / g.x / g.y)};
  b.shared.assign(std::max(l.shared_bytes, 1u), 0);
  b.context.shared = b.shared.data();
  b.context.shared_bytes = l.shared_bytes;
  b.context.cluster_rank = simt::rank_in_cluster(l, b.context.index);
  b.at_cluster_barrier = b.ended = b.yields = false;
  b.context.sm_id = b.slot % config_.gpu.sm_count;
  b.barriers.open(warps, threads);
  b.cluster.open(threads);
  const std::size_t row = isa::warp_size, registers = std::max(l.program->stored_registers(), 1u) * row;
  b.registers.assign(warps * registers + 16, 0);
  const auto address = reinterpret_cast<std::uintptr_t>(b.registers.data());
  std::uint32_t* const first = b.registers.data() + ((address + 63) / 64 * 64 - address) / sizeof(std::uint32_t);
  const std::size_t local = std::size_t{(l.program->local_bytes + 3) / 4} * 4 * isa::warp_size;
  b.local.resize(warps * local);
  b.warps.resize(warps);
  for (unsigned k = 0; k < warps; ++k) {
    warp& x = b.warps[k];
    x.done = x.waits = x.yielded = false;
    x.atomics = 0;
    x.products = 0;
    x.local = b.local.data() + k * local;
    simt::warp_state& w = x.state;
    w.regs = first + k * registers;
    w.predicates.fill(0);
    w.predicates[isa::pt] = simt::all_lanes;
    w.block = &b.context;
    w.warp_in_block = k;
    w.slot = (b.slot / config_.gpu.sm_count * warps + k) % config_.sm.max_warps;
    const unsigned lanes = std::min(threads - k * isa::warp_size, isa::warp_size);
    w.start(lanes == isa::warp_size ? simt::all_lanes : (1u << lanes) - 1, rules_.per_thread);
  }
  if (watcher_ != nullptr) watcher_->block_begins(b);
}

// Under a watcher, before an atomic: blocks that spin see what others have written before, and not yet what this one
// tells. So a barrier of the grid does not seem to order what is between it and the next one. Of many atomics of a warp
// one in 64: accesses that nothing orders cost the watcher more.
bool functional_executor::yields(block& b, warp& x) {
  constexpr std::uint32_t always = 4, then_one_in = 64;
  if (std::exchange(x.yielded, false)) return false;
  const std::uint32_t k = x.atomics++;
  const auto spins = [&](const std::unique_ptr<block>& o) {
    const auto goes_on = [](const warp& w) { return !w.done && !w.waits; };  // not at a barrier
    return o->cluster_number != b.cluster_number && !o->ended && o->spun &&
           std::any_of(o->warps.begin(), o->warps.end(), goes_on);
  };
  x.yielded = (k < always || k % then_one_in == 0) && resident_.size() > 1 &&
              std::any_of(resident_.begin(), resident_.end(), spins);
  b.yields = b.yields || x.yielded;
  return x.yielded;
}

// Runs the block's warps round robin. Returns true when the block has ended. Otherwise its quantum is used up, or all
// its warps wait or spin.
bool functional_executor::visit(block& b) {
  const std::uint64_t end = std::min(executed_ + block_quantum, pause_at_);
  b.spun = false;
  for (;;) {
    bool moved = false, live = false;
    for (warp& x : b.warps) {
      if (!x.done && !x.waits) {
        const pause p = run(b, x);
        x.done = p == pause::exited;
        x.waits = p == pause::waits;
        moved |= p != pause::spins;
      }
      live |= !x.done;
    }
    if (!live) return true;
    if (std::exchange(b.yields, false)) return false;
    if (!moved) {
      b.spun = true;
      return false;
    }
    if (executed_ >= end) return false;
  }
}

// Resumes the warps that a completed barrier releases; a reducing barrier gives each its result.
void functional_executor::release(block& b, const barrier_outcome& o) {
  for (const unsigned in_block : set_bits(o.release)) {
    warp& x = b.warps[in_block];
    simt::warp_state& w = x.state;
    if (!w.independent) {
      simt::write_reduction(program_->decoded->program->code[w.pc], w, w.active, o.count, o.threads);
      simt::advance(w);
      x.waits = false;
      continue;
    }
    for (const simt::lane_path& p : w.paths)
      if (p.wait == simt::path_wait::barrier && p.wanted == o.barrier)
        simt::write_reduction(program_->decoded->program->code[p.pc], w, p.mask, o.count, o.threads);
    simt::leave_barrier(w, o.barrier);
    simt::run_next(w);
    x.waits = w.active == 0;
  }
}

void functional_executor::fail(const block& b, const simt::warp_state& w, const isa::instruction& i, unsigned lane,
                               const std::string& what, fault_details details) {
  simt::fault_text f = simt::describe_fault(*launch_, b.context.index, w.thread(lane), i, what);
  details.at = f.front;
  const bool constant = isa::info(i.op).access == isa::access_kind::constant_load;
  throw functional_failure{
      std::move(f.text),
      std::move(details),
      {constant ? failure_cause::kind::constant : failure_cause::kind::other,
       static_cast<std::uint32_t>(&i - launch_->program->code.data()), w.thread(lane), b.number, what}};
}

}  // namespace heddle
