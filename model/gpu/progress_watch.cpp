// SPDX-License-Identifier: MIT
#include "heddle/gpu/progress_watch.h"

#include <algorithm>
#include <cstdio>

#include "heddle/simt/bulk/arrival_test.h"

namespace heddle {

namespace {

constexpr unsigned least_samples = 64;  // enough for everything in flight at the start of the window to arrive
constexpr unsigned most_samples = 512;
constexpr unsigned most_lines = 64;  // lines about warps in a report

// Sampling distances, varied so that no loop's length divides them all: cycles, then active cycles. A loop that waits
// for memory does not move in inactive cycles, so distances in cycles alone would sample it in one place only.
cycle_t distance(unsigned sample) { return 101 + sample * sample % 97; }
unsigned busy_distance(unsigned sample) { return sample % 29; }

// Waits at mbarriers are limited in time, so the program waits in a loop. Where the warp waits in such a loop; empty:
// it is in none.
std::string mbarrier_wait_of(const warp_slot& w) {
  const auto& code = w.program->code;
  std::size_t end = w.state.pc;
  const auto goes_back = [&](const isa::instruction& i) { return i.op == isa::opcode::bra && i.target <= w.state.pc; };
  while (end < code.size() && !goes_back(*code[end].instruction)) ++end;
  if (end == code.size()) return "";
  const simt::lane_mask lanes = w.state.active != 0 ? w.state.active : w.state.live;
  for (std::size_t k = code[end].instruction->target; k < end; ++k) {
    const isa::instruction& i = *code[k].instruction;
    if (i.op != isa::opcode::syncs || lanes == 0) continue;
    unsigned bad_lane = 0;
    char text[80];
    std::snprintf(text, sizeof text, "waits in a loop at the mbarrier at shared address 0x%x, ",
                  static_cast<unsigned>(simt::test_arrival(i, w.state, lanes, bad_lane).address));
    return text + w.stream->place_of(w, i);
  }
  return "";
}

}  // namespace

progress_watch::progress_watch(clock_domain& clock, const gpu_config& config, const grid_distributor& cwd,
                               sc_core::sc_vector<sm>& sms, sc_core::sc_vector<l2_cache>& slices,
                               grid_observer& observer)
    : clock_(clock),
      cwd_(cwd),
      sms_(sms),
      slices_(slices),
      observer_(observer),
      patience_(config.gpu.watchdog_cycles),
      next_(patience_) {
  clock_.observe(*this);
}

void progress_watch::after_cycle() {
  const cycle_t cycle = clock_.cycle();
  if (cycle < next_) return;
  if (busy_ != 0) {
    --busy_;
    return;
  }
  const bool work_is_pending = cycle <= host_acts_ || cwd_.waits_for_time(cycle);
  if (cwd_.idle() || work_is_pending || samples_ == 0 || moved_ != blocks_moved() || changes_ != memory_changes()) {
    // A window starts when no block has moved since the last check.
    const bool quiet = !cwd_.idle() && !work_is_pending && moved_ == blocks_moved();
    begin_window(cycle);
    samples_ = quiet ? 1 : 0;
    next_ = cycle + (quiet ? distance(0) : patience_);
    return;
  }
  const verdict v = sample();
  if (v == verdict::ended) {
    next_ = never;
    observer_.program_fault(report(cycle));
    return;
  }
  next_ = cycle + distance(samples_);
  busy_ = busy_distance(samples_);
  if (v == verdict::open && ++samples_ < most_samples) return;
  samples_ = 0;
  next_ = cycle + patience_;
}

void progress_watch::begin_window(cycle_t cycle) {
  moved_ = blocks_moved();
  changes_ = memory_changes();
  unchanged_since_ = cycle;
  warps_.clear();
}

// Counts blocks that were placed on an SM, completed, switched out or restored.
std::uint64_t progress_watch::blocks_moved() const {
  std::uint64_t n = cwd_.blocks_submitted() + cwd_.blocks_completed();
  for (const grid_record& g : cwd_.grids()) n += g.dispatched;
  for (const auto& c : cwd_.context_switches()) n += c->saved + c->resumed;
  return n;
}

std::uint64_t progress_watch::memory_changes() const {
  std::uint64_t n = 0;
  for (const l2_cache& slice : slices_)
    for (std::uint32_t l = 0; l < slice.counters().end(); ++l)
      if (const l2_counters* c = slice.counters().find(l)) n += c->writes + c->atomic_changes;
  for (const sm& s : sms_)
    for (std::uint32_t l = 0; l < s.shared_memory.counters.end(); ++l)
      if (const shared_memory_counters* c = s.shared_memory.counters.find(l))
        n += c->store_requests + c->atomic_changes;
  return n;
}

progress_watch::verdict progress_watch::sample() {
  std::size_t at = 0;
  bool all = true, any = false;
  for (sm& s : sms_)
    for (sub_partition& p : s.partitions)
      for (unsigned slot = 0; slot < p.slots(); ++slot, ++at) {
        if (at == warps_.size()) warps_.emplace_back();
        const warp_slot& w = p.at(slot);
        const warp_phase phase = w.phase;
        if (phase == warp_phase::empty) continue;
        // The warp exits or is switched out, or follows a recording, which has an end.
        if (phase == warp_phase::exited || phase == warp_phase::stopped || w.stream->recorded())
          return verdict::changes;
        any = true;
        all &= note(warps_[at], p.contexts.fingerprint(slot), w.fetch_at, phase == warp_phase::at_barrier);
      }
  return all && any && samples_ >= least_samples ? verdict::ended : verdict::open;
}

// True if the warp will do nothing that it has not done before. If its state equals that of the last sample, it has
// either not moved or returned to it, as a branch to itself does; only in the latter case has it issued something.
bool progress_watch::note(history& h, std::uint64_t state, cycle_t settled, bool waits) {
  const bool same = !h.states.empty() && h.states.back() == state;
  h.waits = waits && (h.states.empty() || same);
  if (!h.returned && !h.states.empty() && settled != h.settled)
    h.returned = std::find(h.states.begin(), h.states.end(), state) != h.states.end();
  h.settled = settled;
  if (!same) h.states.push_back(state);
  return h.returned || h.waits;
}

std::string progress_watch::report(cycle_t cycle) const {
  std::string text =
      "deadlock: since cycle " + std::to_string(unchanged_since_) +
      " no block has begun or ended, no memory has changed, and all running warps loop without effect or wait at"
      " barriers (cycle " +
      std::to_string(cycle) + ")" + cwd_.waiting_blocks_text();
  std::size_t at = 0;
  unsigned lines = 0, more = 0;
  for (const sm& s : sms_)
    for (const sub_partition& p : s.partitions)
      for (unsigned slot = 0; slot < p.slots(); ++slot, ++at) {
        const warp_slot& w = p.at(slot);
        if (w.phase == warp_phase::empty) continue;
        if (lines == most_lines) {
          ++more;
          continue;
        }
        ++lines;
        const unsigned warp = slot * s.config_.sm.sub_partitions + p.index();
        const std::string who =
            "\n  sm " + std::to_string(s.id()) + " warp " + std::to_string(warp) + ", " + owner_of(w) + ", ";
        if (warps_[at].returned && w.phase != warp_phase::at_barrier) {
          const std::string wait = mbarrier_wait_of(w);
          text += who + (wait.empty() ? "loops at " + position_of(w) : wait);
          continue;
        }
        for (const std::string& place : s.lane_places(warp)) text += who + place;
      }
  if (more != 0) text += "\n  and " + std::to_string(more) + " more warps";
  return text;
}

void progress_watch::exchange(state_image& image) {
  image.part("progress watch");
  image(warps_, next_, unchanged_since_, moved_, changes_, samples_, busy_);
}

}  // namespace heddle
