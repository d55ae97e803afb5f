// SPDX-License-Identifier: MIT
// Blocks that never end: how they are recognised and described.
#include <algorithm>
#include <utility>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/hash/splitmix64.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sm/waiting_block.h"

namespace heddle {

namespace {

constexpr std::uint64_t quiet_rounds = 16;  // rounds before states are compared: most waits are brief
constexpr unsigned most_lines = 64;         // lines about warps in a message

}  // namespace

std::vector<std::string> functional_executor::lane_places(const block& b, const warp& x) const {
  const isa::program& p = *program_->decoded->program;
  const std::uint32_t number = b.barriers.waits_at(x.state.warp_in_block);
  const bool waits = (b.barriers.waiting() >> x.state.warp_in_block & 1) != 0;
  return simt::lane_places_of(x.state, waits ? &number : nullptr,
                              [&p](std::uint32_t pc) { return isa::place_of(p, p.code[pc]); });
}

void functional_executor::fail_deadlocked(const block& b) {
  waiting_block w{launch_->launch_id, b.number, b.context.index, launch_->program.get(), true, {}};
  for (const unsigned k : set_bits(b.barriers.waiting())) w.warps.emplace_back(k, lane_places(b, b.warps[k]));
  const std::string text = describe_deadlock({w});
  const bool known = !w.warps.empty() && !b.warps.empty();
  const simt::warp_state& first = b.warps[known ? w.warps.front().first : 0].state;
  throw functional_failure{text, {}, {failure_cause::kind::barrier, first.pc, first.thread(0), b.number, {}}};
}

// Waits for a time end early: if nothing changes for long but the time, it leaps. True: it has leapt far, and still
// nothing has changed.
bool functional_executor::waits_beyond_time() {
  constexpr std::uint64_t most_doublings = 24, most_leaps = 4096;
  const std::uint64_t patience = std::uint64_t{1} << (watcher_ != nullptr ? 21 : 24);
  if (executed_ - quiet_from_ < patience) return false;
  const std::uint64_t leap = patience << std::min(leaps_, most_doublings);
  clock_ += leap + leap / 3;  // also in the low word
  return ++leaps_ > most_leaps;
}

// As long as memory does not change, the state of all blocks determines what the next round does: a state that recurs
// recurs forever. The state that later ones are compared with is replaced at doubling distances (Brent's method).
bool functional_executor::recurs(bool moved) {
  const bool quiet = watches_ && !moved && !changed_;
  watches_ = !moved;
  changed_ = false;
  if (!quiet) {
    could_write_ = true;
    quiet_ = leaps_ = 0;
    timed_ = false;
    return false;
  }
  if (++quiet_ == 1) {
    quiet_from_ = executed_;
    if (watcher_ != nullptr) watcher_->waits_begin();
  }
  if (timed_) return waits_beyond_time();
  if (quiet_ < quiet_rounds) return false;
  const std::uint64_t now = fingerprint();
  if (quiet_ > quiet_rounds && now == kept_) return true;
  if (quiet_ == quiet_rounds || quiet_ >= 2 * kept_at_) {
    kept_ = now;
    kept_at_ = quiet_;
  }
  return false;
}

// The resident blocks will never end by themselves. False: they stay, as those of other threads may be what they wait
// for. Of independent blocks, the lowest one has failed.
bool functional_executor::survives_recurrence() {
  if (observer_ != nullptr) {
    const bool may_write = observer_->others_may_write();
    // What they have written last is still to be seen.
    if (std::exchange(could_write_, may_write) || may_write) {
      quiet_ = leaps_ = 0;
      timed_ = false;
      return true;
    }
  }
  if (!apart_) throw functional_failure{deadlock_text(nullptr), {}, spinning_cause()};
  if (concurrent_) return false;
  const auto lower = [](const auto& a, const auto& b) { return a->cluster_number < b->cluster_number; };
  const std::uint64_t lowest = (*std::min_element(resident_.begin(), resident_.end(), lower))->cluster_number;
  supply_->fail(lowest, {deadlock_text(&lowest), {}, spinning_cause()});
  return true;
}

failure_cause functional_executor::spinning_cause() const {
  for (const auto& b : resident_)
    for (const warp& x : b->warps)
      if (!x.done) return {failure_cause::kind::spinning, x.state.pc, x.state.thread(0), b->number, {}};
  return {failure_cause::kind::spinning, 0, 0, 0, {}};
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

// About all resident blocks, or about those of one cluster.
std::string functional_executor::deadlock_text(const std::uint64_t* cluster) const {
  std::string text =
      "deadlock: no block has begun or ended, no memory has changed, and all running warps loop without effect or wait at barriers";
  unsigned lines = 0, more = 0;
  for (const auto& b : resident_)
    for (const warp& x : b->warps) {
      if (x.done || (cluster != nullptr && b->cluster_number != *cluster)) continue;
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
  return text;
}

}  // namespace heddle
