// SPDX-License-Identifier: MIT
// Ends of copies that an mbarrier tells of: st.async and red.async, and copies (cp.async) that their thread hands over
// to it. Such an end releases this copy alone.
#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"

namespace heddle::sanitize {

namespace {

std::shared_ptr<const fence_views> alone(fence_view&& view) {
  return std::make_shared<const fence_views>(1, std::make_shared<const fence_view>(std::move(view)));
}

}  // namespace

race_check::handed_copies& race_check::handed_by(place& p, unsigned warp) {
  if (p.handed.empty()) p.handed.resize(warps_per_block_);
  return p.handed[warp];
}

// cp.async.mbarrier.arrive: the phase of the mbarrier does not end before the copies. Their thread has not waited.
void race_check::hands_over(const watched_step& s) {
  place& p = place_of(s.block);
  if (p.of_threads.empty()) return;
  handed_copies& own = handed_by(p, s.warp.warp_in_block);
  if (own.log == nullptr) own.log = &all_logs_.emplace_back();
  std::vector<copy>& all = p.of_threads[s.warp.warp_in_block];
  if (uses_phases_ && p.handed_words.empty()) p.handed_words.resize(launch_->shared_bytes / 4 + 1);
  for (copy& k : all) {
    const simt::lane_mask now = k.lanes & s.mask & ~k.handed;
    if (now == 0) continue;
    k.handed |= now;
    fence_view view;
    view.block = s.block.number;
    view.copy = k.number;
    view.lanes = now;
    own.log->append(alone(std::move(view)), s.block.number, now_);
    own.last = {p.clock->first_warp() + k.warp, k.number, now, access_mark::copying};
    for (const span& x : k.spans)
      for (std::uint64_t at = x.address / 4; uses_phases_ && x.writes && at < (x.address + x.bytes + 3) / 4; ++at)
        p.handed_words[at] = true;
  }
  const auto done = [](const copy& k) { return (k.lanes & ~k.handed) == 0; };
  if (!signals_.any_waits()) all.erase(std::remove_if(all.begin(), all.end(), done), all.end());
  if (signals_.leaves_arrival(index_of(s.instruction))) learn(p.promised, {own.log, own.log->size()});
}

// At the begin of a phase: words that such copies write, as long as not all threads know the copies' ends.
void race_check::exclude_handed(place& p) {
  if (p.handed_words.empty()) return;
  const auto ended = [&](const handed_copies& h) { return h.last.number == 0 || p.clock->ordered(h.last, 0, 0); };
  if (std::all_of(p.handed.begin(), p.handed.end(), ended)) return p.handed_words.clear();
  for (std::size_t word = 0; word < p.handed_words.size(); ++word)
    if (p.handed_words[word]) (void)p.phase.copies_to(word * 4, 4);
}

void race_check::sends(const current& c, simt::lane_mask lanes) {
  handed_copies& own = handed_by(*c.at, c.warp);
  for (const unsigned lane : set_bits(lanes)) own.sent[lane] = now_;
}

// What arrivals tell of, before they complete a phase.
void race_check::arrives_at_mbarriers(const current& c, simt::lane_mask lanes) {
  const std::uint32_t index = c.mark.index();
  if (!c.holder->promised && !signals_.ends_sent(index) && !signals_.ends_copies(index)) return;
  const std::uint64_t* const addresses = c.access->addresses;
  for (simt::lane_mask left = lanes; left != 0;) {
    const std::uint64_t address = addresses[__builtin_ctz(left)];
    simt::lane_mask here = 0;
    for (const unsigned lane : set_bits(left))
      if (addresses[lane] == address) here |= 1u << lane;
    left &= ~here;
    sync_log& log = log_of(*c.holder, static_cast<std::uint32_t>(address));
    see_phase(*c.holder, log, static_cast<std::uint32_t>(address));
    release_ends(c, here, log);
  }
}

void race_check::release_ends(const current& c, simt::lane_mask lanes, sync_log& log) {
  const std::uint32_t index = c.mark.index();
  const std::uint64_t block = c.at->clock->block();
  const auto knowing = [&](const knowledge& known) {
    fence_view view;
    view.block = block;
    view.warp = c.warp;
    view.known = known;
    log.append(alone(std::move(view)), block, now_);
  };
  // The copies that a phase waits for end before it, by the arrival of any thread. Which mbarrier it is, is not known.
  if (const knowledge& promised = c.holder->promised; promised) {
    const void*& last = c.holder->promised_at[&log];
    if (last != promised.get()) knowing(promised);
    last = promised.get();
  }
  if (!signals_.ends_sent(index) && !signals_.ends_copies(index)) return;
  handed_copies& own = handed_by(*c.at, c.warp);
  if (signals_.ends_copies(index) && own.log != nullptr) {
    knowledge known;
    learn(known, {own.log, own.log->size()});
    knowing(known);
  }
  if (!signals_.ends_sent(index)) return;
  for (simt::lane_mask left = lanes; left != 0;) {
    fence_view view;
    view.block = block;
    view.copy = own.sent[__builtin_ctz(left)];
    for (const unsigned lane : set_bits(left))
      if (own.sent[lane] == view.copy) view.lanes |= 1u << lane;
    left &= ~view.lanes;
    if (view.copy != 0) log.append(alone(std::move(view)), block, now_);
  }
}

}  // namespace heddle::sanitize
