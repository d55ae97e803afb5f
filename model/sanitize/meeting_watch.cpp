// SPDX-License-Identifier: MIT
// Shuffles, votes and __syncwarp that some of the lanes named by the member mask never execute. Lanes that have exited
// by then do not count; so lanes on their way to an exit must not be taken for others: lanes are, if they first access
// memory where the waiting lanes have yet to come.
#include "heddle/functional/functional_block.h"
#include "heddle/sanitize/code_paths.h"
#include "heddle/sanitize/launch_watcher.h"
#include "heddle/sanitize/sanitize_kinds.h"

namespace heddle::sanitize {

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
    if (others == 0) continue;
    const isa::instruction& meeting = launch_->program->code[p.pc];
    if (!found_.counts({sanitize_kind::sync, launch_->program.get(), p.pc, 0, 2})) continue;
    finding f = finding_at(sanitize_kind::sync, {s.block, s.warp, meeting, p.mask});
    f.what = "synchronisation of lanes that its member mask names and that do not execute it";
    const auto text = [&](simt::lane_mask lanes) {
      return thread_text(*launch_, s.block.number, s.warp.thread(static_cast<unsigned>(__builtin_ctz(lanes)))) +
             " and " + std::to_string(__builtin_popcount(lanes) - 1) + " more of its warp ";
    };
    f.details.push_back(text(p.mask) + "wait for the lanes " + hexadecimal(p.wanted));
    f.details.push_back(text(others) + "have gone past it, and exit");
    found_.add(std::move(f));
  }
}

}  // namespace heddle::sanitize
