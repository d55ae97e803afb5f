// SPDX-License-Identifier: MIT
// Barriers in divergent code. A barrier for whole warps (bar, barrier.aligned) must be executed by all threads of a
// warp together; threads that have exited do not count. A thread that leaves the kernel early, before any barrier, is
// one of those, whenever it exits.
#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/launch_watcher.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/sanitize/values/code_paths.h"

namespace heddle::sanitize {

namespace {

// In lock step: the lanes among `missing` whose next instruction is not their exit.
simt::lane_mask going_on(const simt::warp_state& w, const isa::program& p, simt::lane_mask missing) {
  simt::lane_mask rest = 0;
  for (auto e = w.stack.rbegin(); e != w.stack.rend(); ++e) {
    const simt::lane_mask here = e->mask & missing;
    missing &= ~here;
    if (e->pc < p.code.size() && p.code[e->pc].op != isa::opcode::exit) rest |= here;
  }
  return rest;
}

}  // namespace

void launch_watcher::arrives(const watched_step& s, std::uint32_t barrier) {
  ++steps_;
  if (partial_) bypasses(s);
  if (checks_races_) races_.arrives(s, barrier);
  if ((kinds_ & sanitize_kind::sync) == 0) return;
  warp_record& w = record_of(s);
  const simt::lane_mask missing = s.warp.live & ~s.mask;
  w.met_barrier |= s.mask;
  blocks_meetings(s);
  if (s.instruction.op != isa::opcode::bar || !s.instruction.aligned || missing == 0) return;
  if (!independent_) {
    const simt::lane_mask others = going_on(s.warp, *launch_->program, missing) | (missing & w.met_barrier);
    if (others != 0) report_divergent(s, s.instruction, s.mask, others, "do not reach it");
    return;
  }
  partial_arrival& p = w.waiting[barrier];
  const isa::instruction& earlier = launch_->program->code[p.index];
  if (p.lanes != 0 && p.index != index_of(s.instruction))
    report_divergent(s, earlier, p.lanes, s.mask, "wait at another one");
  p.lanes |= s.mask;
  p.index = index_of(s.instruction);
  partial_ = true;
}

// Lanes execute an instruction while others of their warp wait at a barrier that lies before it.
void launch_watcher::bypasses(const watched_step& s) {
  warp_record& w = record_of(s);
  const std::uint32_t index = index_of(s.instruction);
  for (const auto& [number, p] : w.waiting) {
    const simt::lane_mask others = s.mask & ~p.lanes;
    if (p.lanes == 0 || others == 0 || index <= p.index || s.instruction.op == isa::opcode::bar) continue;
    report_divergent(s, launch_->program->code[p.index], p.lanes, others, "have gone past it");
  }
}

void launch_watcher::lanes_exit(const watched_step& s) {
  if (!s.warp.paths.empty()) leaves_meetings(s);
  if (!partial_) return;
  const warp_record& w = record_of(s);
  for (const auto& [number, p] : w.waiting) {
    const simt::lane_mask others = s.mask & ~p.lanes & w.met_barrier;
    if (p.lanes == 0 || others == 0) continue;
    report_divergent(s, launch_->program->code[p.index], p.lanes, others, "exit");
  }
}

void launch_watcher::barrier_completes(const functional_block& block, std::uint32_t barrier, std::uint64_t released) {
  if (checks_races_) races_.completes(block, barrier, released);
  if (!partial_) return;
  place& p = places_[block.slot];
  for (warp_record& w : p.warps) w.waiting.erase(barrier);
}

// Failures that are findings, too.
void launch_watcher::failed(const failure_cause& c) {
  using cause = failure_cause::kind;
  const unsigned kind = c.what == cause::constant ? sanitize_kind::memory : sanitize_kind::sync;
  if ((kinds_ & kind) == 0 || c.what == cause::other || c.instruction >= launch_->program->code.size()) return;
  if (!found_.counts({kind, launch_->program.get(), c.instruction, 0, 6})) return;
  finding f;
  f.kind = kind;
  f.place = place_in_source(*launch_->program, launch_->program->code[c.instruction]);
  f.kernel = launch_->program->kernel;
  f.launch = launch_->launch_id;
  f.what = c.what == cause::constant  ? c.text
           : c.what == cause::barrier ? "deadlock: a block waits at barriers, and none of them can complete"
                                      : "deadlock: all warps loop without effect, or wait at barriers";
  f.details.push_back(thread_text(*launch_, c.block, c.thread));
  found_.add(std::move(f));
}

void launch_watcher::report_divergent(const watched_step& s, const isa::instruction& barrier,
                                      simt::lane_mask at_barrier, simt::lane_mask others, const char* others_do) {
  if (!found_.counts({sanitize_kind::sync, launch_->program.get(), index_of(barrier), 0, 0})) return;
  finding f = finding_at(sanitize_kind::sync, {s.block, s.warp, barrier, s.mask});
  const auto first = [](simt::lane_mask m) { return static_cast<unsigned>(__builtin_ctz(m)); };
  f.what = "barrier in divergent code: threads of a warp do not execute it together";
  f.details.push_back(thread_text(*launch_, s.block.number, s.warp.thread(first(at_barrier))) + " and " +
                      std::to_string(__builtin_popcount(at_barrier) - 1) + " more of its warp wait at it");
  std::string rest = thread_text(*launch_, s.block.number, s.warp.thread(first(others))) + " and " +
                     std::to_string(__builtin_popcount(others) - 1) + " more of its warp " + others_do;
  if (&s.instruction != &barrier) rest += ", at " + place_in_source(*launch_->program, s.instruction);
  f.details.push_back(std::move(rest));
  found_.add(std::move(f));
}

// Shuffles, votes and __syncwarp that some of the lanes named by the member mask never execute. Lanes that have exited
// by then do not count; so lanes count if they first access memory where the waiting lanes have yet to come, and exit
// then.

// Lanes access memory while others wait for them.
void launch_watcher::passes_meetings(const watched_step& s) {
  if ((kinds_ & sanitize_kind::sync) == 0 || !independent_) return;
  const std::uint32_t index = index_of(s.instruction);
  for (const simt::lane_path& p : s.warp.paths) {
    const simt::lane_mask lanes = p.wanted & s.mask;
    if (p.wait != simt::path_wait::lanes || p.granted || lanes == 0) continue;
    const auto [follows, is_new] = follows_.emplace(std::uint64_t{p.pc} << 32 | index, false);
    if (is_new) follows->second = always_follows(*launch_->program, p.pc, index);
    if (follows->second) record_of(s).passed[p.pc] |= lanes;
  }
}

void launch_watcher::leaves_meetings(const watched_step& s) {
  if ((kinds_ & sanitize_kind::sync) == 0 || !independent_) return;
  const auto& passed = record_of(s).passed;
  for (const simt::lane_path& p : s.warp.paths) {
    if (p.wait != simt::path_wait::lanes || p.granted) continue;
    const auto found = passed.find(p.pc);
    const simt::lane_mask others = found == passed.end() ? 0 : found->second & p.wanted & s.mask;
    if (others != 0) report_absent(s, p.pc, p.mask, p.wanted, others, "have gone past it, and exit");
  }
}

// Lanes wait at a barrier of whole warps, while others wait for them at a meeting that lies before it: neither ends.
void launch_watcher::blocks_meetings(const watched_step& s) {
  if (!independent_ || s.instruction.op != isa::opcode::bar || !s.instruction.aligned) return;
  const std::uint32_t index = index_of(s.instruction);
  for (const simt::lane_path& p : s.warp.paths) {
    if (p.wait != simt::path_wait::lanes || p.granted || (p.wanted & s.mask) == 0) continue;
    if (!always_follows(*launch_->program, p.pc, index)) continue;
    report_absent(s, p.pc, p.mask, p.wanted, p.wanted & s.mask,
                  "wait at a barrier behind it, at " + place_in_source(*launch_->program, s.instruction));
  }
}

// All lanes that are named have come, but some of them to another instruction: a shuffle meets a __syncwarp, say. Then
// each goes on without the others.
void launch_watcher::meets_others(const watched_step& s, simt::lane_mask named) {
  const isa::program& program = *launch_->program;
  for (const simt::lane_path& p : s.warp.paths) {
    const simt::lane_mask others = p.mask & named & ~s.mask;
    if (!p.granted || others == 0 || p.pc >= program.code.size()) continue;
    const isa::instruction& there = program.code[p.pc];
    if (there.op == s.instruction.op || there.line == s.instruction.line) continue;
    // A __syncwarp takes nothing from the others.
    const bool takes = s.instruction.op != isa::opcode::nop;
    report_absent(s, takes ? index_of(s.instruction) : p.pc, takes ? s.mask : p.mask, named,
                  takes ? others : s.mask & named,
                  "execute another one, at " + place_in_source(program, takes ? there : s.instruction));
  }
}

void launch_watcher::report_absent(const watched_step& s, std::uint32_t meeting, simt::lane_mask waiting,
                                   simt::lane_mask named, simt::lane_mask others, const std::string& others_do) {
  if (!found_.counts({sanitize_kind::sync, launch_->program.get(), meeting, 0, 2})) return;
  finding f = finding_at(sanitize_kind::sync, {s.block, s.warp, launch_->program->code[meeting], waiting});
  f.what = "synchronisation of lanes that its member mask names and that do not execute it";
  const auto text = [&](simt::lane_mask lanes) {
    return thread_text(*launch_, s.block.number, s.warp.thread(static_cast<unsigned>(__builtin_ctz(lanes)))) + " and " +
           std::to_string(__builtin_popcount(lanes) - 1) + " more of its warp ";
  };
  f.details.push_back(text(waiting) + "wait for the lanes " + hexadecimal(named));
  f.details.push_back(text(others) + others_do);
  found_.add(std::move(f));
}

}  // namespace heddle::sanitize
