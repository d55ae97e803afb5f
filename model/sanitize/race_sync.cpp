// SPDX-License-Identifier: MIT
// What orders accesses: fences, barriers, and strong accesses of one word.
#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/shadow/lane_groups.h"
#include "heddle/simt/scalar/arrival.h"

namespace heddle::sanitize {

namespace {

std::uint64_t live_warps(const functional_block& b) {
  std::uint64_t live = 0;
  for (std::size_t k = 0; k < b.warps.size(); ++k)
    if (b.warps[k].state.live != 0) live |= std::uint64_t{1} << k;
  return live;
}

}  // namespace

sync_log& race_check::new_log() {
  if (free_logs_.empty()) return all_logs_.emplace_back();
  sync_log& log = *free_logs_.back();
  free_logs_.pop_back();
  return log;
}

// Those of the block that has ended, of which no other knows.
void race_check::free_logs(place& p) {
  if (orders_blocks() || !p.clock) return;
  for (const auto& [word, log] : p.clock->logs) {
    *log = sync_log();
    free_logs_.push_back(log);
  }
  p.clock->logs.clear();
}

sync_log& race_check::log_of(place& holder, std::uint32_t offset) {
  sync_log*& log = holder.clock->logs[offset / 4];
  if (log == nullptr) {
    log = &new_log();
    log->in_cluster = reaches_cluster_;
  }
  return *log;
}

// A phase that has ended since the mbarrier was seen last ended after all releases so far.
void race_check::see_phase(const place& holder, sync_log& log, std::uint32_t offset) const {
  if (std::size_t{offset} + 8 > launch_->shared_bytes) return;
  const bool phase = (holder.block->context.shared[offset + 7] & simt::arrival::phase >> 56) != 0;
  if (log.has_phases && phase != log.phase) log.ended = log.size();
  log.has_phases = true;
  log.phase = phase;
}

// Strong reads know what strong writes to the same word have released. Lanes that all do one of the two at the same
// word do it at once.
void race_check::synchronise(const current& c, simt::lane_mask lanes) {
  const isa::instruction& i = c.access->instruction;
  const bool arrival = is_arrival(i), writes = c.mark.is(access_mark::writes);
  const bool reads = !writes || (c.mark.is(access_mark::atomic) && !arrival);
  for (simt::lane_mask left = lanes; left != 0;) {
    const simt::lane_mask now = reads && writes ? left & -left : alike(c.access->addresses, left);
    left &= ~now;
    const std::uint64_t address = c.access->addresses[__builtin_ctz(now)];
    sync_log* const log = find_log(c, address, arrival);
    // Of loads, those that acquire have a fence behind them. Atomics need none: CUDA's samples do without.
    if (reads && log != nullptr && i.op != isa::opcode::ld)
      c.at->clock->acquires(c.warp, now, *log, log->known_now(), now_);
    else if (reads && log != nullptr)
      for (const unsigned lane : set_bits(now)) c.at->clock->sees(c.warp, lane, *log, log->known_now());
    if (writes) release(c, now, address, log);
  }
}

// The log of the word; null: there is none.
sync_log* race_check::find_log(const current& c, std::uint64_t address, bool arrival) {
  if (c.log != nullptr && c.log_address == address) return c.log;
  const auto offset = static_cast<std::uint32_t>(address);
  const bool at_mbarrier = c.in_shared && (arrival || c.access->instruction.op == isa::opcode::syncs);
  const auto found_in = [](const auto& logs, auto word) -> sync_log* {
    const auto found = logs.find(word);
    return found == logs.end() ? nullptr : found->second;
  };
  sync_log* log = nullptr;
  if (at_mbarrier) log = &log_of(*c.holder, offset);
  else log = c.in_shared ? found_in(c.holder->clock->logs, offset / 4) : found_in(logs_, address / 4);
  if (log != nullptr && c.in_shared && (at_mbarrier || log->has_phases)) see_phase(*c.holder, *log, offset);
  c.log = log;
  c.log_address = address;
  return log;
}

// `log`: of the address, null: there is none yet.
void race_check::release(const current& c, simt::lane_mask lanes, std::uint64_t address, sync_log* log) {
  block_clock& clock = *c.at->clock;
  if (c.in_shared && reaches_cluster_ && clock.cluster_knows(c.warp)) return;
  for (const unsigned lane : set_bits(lanes)) {
    auto views = clock.releases(c.warp, lane);
    if (views) {
      if (log == nullptr) {
        log = c.in_shared ? &log_of(*c.holder, static_cast<std::uint32_t>(address)) : &all_logs_.emplace_back();
        if (!c.in_shared) logs_[address / 4] = log;
      }
      log->append(std::move(views), clock.block(), now_);
    }
    if (clock.releases_alike(c.warp)) return;
  }
}

void race_check::fences(const watched_step& s) {
  ++now_;
  place_of(s.block).clock->fence(s.warp.warp_in_block, s.mask, s.instruction.sub == 0, now_);
}

// Lanes that have exited since the last barrier of the block do not meet the others.
void race_check::lanes_meet(const watched_step& s, const lane_meeting& m) {
  block_clock& clock = *place_of(s.block).clock;
  const std::uint32_t warp = s.warp.warp_in_block;
  const std::uint64_t threads = launch_->block.count(), first = s.warp.thread(0);
  const simt::lane_mask begun = threads >= first + isa::warp_size ? simt::all_lanes : (1u << (threads - first)) - 1;
  const simt::lane_mask live = s.warp.live | (begun & ~clock.ended(warp));
  if (m.tile == 0 || live != s.warp.live || !clock.tiles_meet(warp, m.tile, now_))
    for (const lane_meeting::group& g : m.groups)
      clock.lanes_meet(warp, (g.named | g.naming) & s.warp.live, live, now_++);
  else ++now_;
}

sync_log& race_check::cluster_log(const functional_block& block) {
  sync_log*& log = cluster_logs_[block_of_rank(*launch_, block.context.index, 0)];
  if (log == nullptr) {
    log = &all_logs_.emplace_back();
    log->has_phases = log->in_cluster = log->of_barrier = true;
  }
  return *log;
}

// An arrival at the barrier of a cluster releases what a fence before it covers.
void race_check::arrives(const watched_step& s, std::uint32_t barrier) {
  ++now_;
  block_clock& clock = *place_of(s.block).clock;
  const std::uint32_t warp = s.warp.warp_in_block;
  if (barrier != simt::cluster_barrier) {
    const bool counted = s.instruction.op == isa::opcode::bar && s.instruction.src[1].kind != isa::operand_kind::none;
    return clock.arrives(barrier, warp, counted, now_);
  }
  sequence up_to = 0;
  auto views = clock.releases(warp, s.mask, up_to);
  clock.arrives(barrier, warp, false, up_to);
  if (!views->empty()) cluster_log(s.block).append(std::move(views), s.block.number, now_);
}

void race_check::awaits_cluster(const watched_step& s) {
  ++now_;
  const sync_log& log = cluster_log(s.block);
  block_clock& clock = *place_of(s.block).clock;
  clock.acquires(s.warp.warp_in_block, s.mask, log, log.ended, now_);
  if (s.mask == s.warp.live) clock.waits_for_cluster(s.warp.warp_in_block);
}

// All blocks of a cluster complete its barrier before any of their threads goes on.
void race_check::completes(const functional_block& block, std::uint32_t barrier, std::uint64_t released) {
  block_clock& clock = *place_of(block).clock;
  const bool of_cluster = barrier == simt::cluster_barrier;
  clock.completes(barrier, released, live_warps(block), of_cluster ? &cluster_log(block) : nullptr, now_);
  if (of_cluster) {
    sync_log& log = cluster_log(block);
    log.ended = log.size();
    for (const unsigned warp : set_bits(released))
      clock.acquires(warp, block.warps[warp].state.live, log, log.ended, now_);
  }
  for (const unsigned warp : set_bits(released)) clock.set_ended(warp, ~block.warps[warp].state.live);
  if (uses_phases_ && clock.block_sync() == now_) begin_phase(place_of(block));
  ++now_;
}

}  // namespace heddle::sanitize
