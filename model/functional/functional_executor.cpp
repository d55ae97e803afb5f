// SPDX-License-Identifier: MIT
// The blocks of a launch: which are resident, in which order they run, and detection of deadlocks.
#include "heddle/functional/functional_executor.h"

#include <algorithm>
#include <iterator>

#include "heddle/config/error.h"
#include "heddle/functional/functional_block.h"
#include "heddle/hash/splitmix64.h"
#include "heddle/isa/set_bits.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sm/waiting_block.h"

namespace heddle {

namespace {

constexpr std::uint64_t block_quantum = 200'000;  // warp instructions of a block before other blocks run
constexpr std::uint64_t quiet_rounds = 16;        // rounds before states are compared: most waits are brief
constexpr unsigned most_lines = 64;               // lines about warps in a message

}  // namespace

functional_executor::functional_executor(const gpu_config& config, functional_memory& memory,
                                         const address_ranges& ranges, program_services& services)
    : config_(config), rules_(config), memory_(memory), ranges_(ranges), services_(services) {}

functional_executor::~functional_executor() = default;

functional_executor::outcome functional_executor::execute(const resident_launch& launch, std::uint64_t cycle) {
  launch_ = &launch;
  auto& p = programs_[launch.decoded.get()];
  if (!p) p = std::make_unique<functional_program>(launch.decoded, watcher_ != nullptr);
  program_ = p.get();
  program_->follow(false);
  block_demand d;
  d.threads = launch.threads_per_block();
  d.registers_per_thread = launch.program->registers;
  d.shared_bytes = launch.shared_bytes;
  d.barriers = launch.program->barriers;
  d.carveout_percent = launch.carveout_percent;
  blocks_per_sm_ = std::max(1u, compute(config_, d).blocks_per_sm);
  clock_ = std::max(cycle, clock_ + executed_);
  executed_ = 0;
  next_block_ = 0;
  watches_ = changed_ = false;
  quiet_ = 0;
  if (watcher_ != nullptr) watcher_->launch_begins(launch, memory_, rules_.per_thread);
  outcome o;
  try {
    run_blocks(launch);
    if (!resident_.empty()) o.how = ending::stopped;
  } catch (const functional_failure& f) {
    o.how = ending::failed;
    o.text = f.text;
    o.details = f.details;
  }
  resident_.clear();
  spare_.clear();
  clusters_.clear();
  launch_ = nullptr;
  o.warp_instructions = executed_;
  return o;
}

// As long as no block waits for another, one resident block is enough: its storage stays in the host's caches.
void functional_executor::run_blocks(const resident_launch& launch) {
  const std::uint64_t size = launch.cluster_blocks(), total = launch.grid.count() / size;
  const std::uint64_t room = std::max(size, blocks_per_sm_ * config_.gpu.sm_count / size * size);
  std::uint64_t wanted = 1;
  unsigned next_slot = 0;
  for (;;) {
    bool moved = false;
    for (; resident_.size() < std::min(wanted, room) && next_block_ < total; moved = true)
      start_cluster(next_block_++, next_slot);
    if (resident_.empty()) return;
    bool spun = false;
    for (std::size_t k = 0; k < resident_.size();) {
      if (observer_ != nullptr && observer_->wants_stop()) return;
      if (resident_[k]->ended) {
        ++k;
        continue;
      }
      bool ended = visit(*resident_[k]);
      for (unsigned many = 0; ended && size == 1 && next_block_ < total && many < 1024; ++many) {
        moved = true;
        if (watcher_ != nullptr) watcher_->block_ends(*resident_[k]);
        start(*resident_[k], next_block_++);
        ended = visit(*resident_[k]);
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
    wanted = std::max<std::uint64_t>(1, resident_.size()) * (spun ? 2 : 1) + (resident_.empty() ? 0 : 1);
    detect_recurrence(moved);
  }
}

// The blocks of a cluster are resident together. Without clusters each block is one.
void functional_executor::start_cluster(std::uint64_t number, unsigned& next_slot) {
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
      spare_.back()->slot = next_slot++;
    }
    block& b = *spare_.back();
    resident_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    b.siblings = c.get();
    if (c) c->blocks.push_back(&b);
    start(b, size == 1 ? number : simt::block_of_rank(l, first, rank));
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
  const auto gone = [&](const std::unique_ptr<block>& r) { return c != nullptr ? r->siblings == c : r.get() == &b; };
  const auto rest = std::stable_partition(resident_.begin(), resident_.end(), [&](const auto& r) { return !gone(r); });
  std::move(rest, resident_.end(), std::back_inserter(spare_));
  resident_.erase(rest, resident_.end());
  clusters_.erase(std::remove_if(clusters_.begin(), clusters_.end(), [c](const auto& x) { return x.get() == c; }),
                  clusters_.end());
  return true;
}

void functional_executor::start(block& b, std::uint64_t number) {
  const resident_launch& l = *launch_;
  const unsigned warps = l.warps_per_block(), threads = l.threads_per_block();
  const simt::dim3& g = l.grid;
  b.number = number;
  b.context.launch = &l;
  b.context.index = {static_cast<std::uint32_t>(number % g.x), static_cast<std::uint32_t>(number / g.x % g.y),
                     static_cast<std::uint32_t>(number / g.x / g.y)};
  b.shared.assign(std::max(l.shared_bytes, 1u), 0);
  b.context.shared = b.shared.data();
  b.context.shared_bytes = l.shared_bytes;
  b.context.cluster_rank = simt::rank_in_cluster(l, b.context.index);
  b.at_cluster_barrier = b.ended = false;
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
    x.done = x.waits = false;
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

// Runs the block's warps round robin. Returns true when the block has ended. Otherwise its quantum is used up, or all
// its warps wait or spin.
bool functional_executor::visit(block& b) {
  const std::uint64_t end = executed_ + block_quantum;
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
  throw functional_failure{std::move(f.text), std::move(details)};
}

std::vector<std::string> functional_executor::lane_places(const block& b, const warp& x) const {
  const isa::program& p = *program_->decoded->program;
  const std::uint32_t number = b.barriers.waits_at(x.state.warp_in_block);
  const bool waits = (b.barriers.waiting() >> x.state.warp_in_block & 1) != 0;
  return simt::lane_places_of(x.state, waits ? &number : nullptr,
                              [&p](std::uint32_t pc) { return isa::place_of(p, p.code[pc]); });
}

void functional_executor::fail_deadlocked(const block& b) {
  waiting_block w{launch_->launch_id, b.number, b.context.index, launch_->program.get(), true, {}};
  for (unsigned k = 0; k < b.warps.size(); ++k)
    if ((b.barriers.waiting() >> k & 1) != 0) w.warps.emplace_back(k, lane_places(b, b.warps[k]));
  throw functional_failure{describe_deadlock({w}), {}};
}

// As long as memory does not change, the state of all blocks determines what the next round does: a state that recurs
// recurs forever. The state that later ones are compared with is replaced at doubling distances (Brent's method).
void functional_executor::detect_recurrence(bool moved) {
  const bool quiet = watches_ && !moved && !changed_;
  watches_ = !moved;
  changed_ = false;
  if (!quiet) {
    quiet_ = 0;
    return;
  }
  if (++quiet_ < quiet_rounds) return;
  const std::uint64_t now = fingerprint();
  if (quiet_ > quiet_rounds && now == kept_) fail_as_deadlock();
  if (quiet_ == quiet_rounds || quiet_ >= 2 * kept_at_) {
    kept_ = now;
    kept_at_ = quiet_;
  }
}

std::uint64_t functional_executor::fingerprint() {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t word) { hash = hash_with(hash, word); };
  simt::context_image image;
  for (const auto& b : resident_) {
    for (const std::uint32_t word : b->registers) add(word);
    for (const std::uint8_t byte : b->shared) add(byte);
    for (const std::uint8_t byte : b->local) add(byte);
    image.write();
    b->barriers.exchange(image);
    b->cluster.exchange(image);
    for (warp& x : b->warps) {
      image(x.state);
      add(x.done * 2u + x.waits);
    }
    for (const std::uint32_t word : image.words()) add(word);
  }
  return hash;
}

void functional_executor::fail_as_deadlock() {
  std::string text =
      "deadlock: no block has begun or ended, no memory has changed, and all running warps loop without effect or wait at barriers";
  unsigned lines = 0, more = 0;
  for (const auto& b : resident_)
    for (const warp& x : b->warps) {
      if (x.done) continue;
      if (lines == most_lines) {
        ++more;
        continue;
      }
      ++lines;
      const simt::dim3& i = b->context.index;
      const std::string who = "\n  block (" + std::to_string(i.x) + "," + std::to_string(i.y) + "," +
                              std::to_string(i.z) + ") of kernel '" + launch_->program->kernel + "', warp " +
                              std::to_string(x.state.warp_in_block) + ", ";
      for (const std::string& place : lane_places(*b, x)) text += who + place;
    }
  if (more != 0) text += "\n  and " + std::to_string(more) + " more warps";
  throw functional_failure{std::move(text), {}};
}

}  // namespace heddle
