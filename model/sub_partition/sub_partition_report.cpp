// SPDX-License-Identifier: MIT
// Diagnostics of a sub-partition: invariants, positions of its warps, waveform.
#include <fmt/format.h>
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/partition_signals.h"
#include "heddle/sub_partition/sub_partition.h"
#include "heddle/tlm/kernel/trace_window.h"

namespace heddle {

void sub_partition::check_invariants() const {
  invariant(credits_ <= config_.ldst.queue_entries, "the load/store unit returned a credit twice");
  std::uint64_t selected = 0;
  for (std::uint32_t launch = 0; launch < counters.end(); ++launch) {
    const issue_totals c = counters.at(launch).totals();
    std::uint64_t cycles = 0, stalls = 0;
    for (const auto v : c.warp_cycles) cycles += v;
    for (const auto v : c.warp_stalls) stalls += v;
    // A warp's active cycles are added when it leaves, its states as they change; resident warps are added here.
    std::uint64_t active = c.active_warp_cycles;
    for (std::uint64_t a = active_; a != 0; a &= a - 1) {
      const warp_slot& w = slots_[static_cast<unsigned>(__builtin_ctzll(a))];
      if (w.launch->launch_id == launch) active += w.mark - w.placed_at;
    }
    invariant(cycles == active, "warp-cycle states do not partition active warp-cycles");
    invariant(stalls == active, "warp stall states do not partition active warp-cycles");
    invariant(c.inst_issued1 + 2 * c.inst_issued2 >= c.inst_executed, "fewer instructions issued than executed");
    invariant(pairing_ != pairing::none || c.inst_issued2 == 0,
              "more instructions issued in a cycle than the issue width");
    selected += c.warp_cycles[static_cast<unsigned>(warp_cycle::selected)];
  }
  invariant(selected <= clock_.cycle() + 1, "more warps were selected than there were cycles");
}

std::string sub_partition::position(unsigned slot) const { return place_of(slot, *slots_[slot].next->instruction); }

// PTX has lines and columns; machine code has addresses.
std::string sub_partition::place_of(unsigned slot, const isa::instruction& i) const {
  const warp_slot& w = slots_[slot];
  if (w.step == nullptr) return w.launch->program->file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column);
  return fmt::format("{}, at 0x{:x}", w.launch->program->file, i.line);
}

std::vector<std::string> sub_partition::standing(unsigned slot, unsigned barrier) const {
  const warp_slot& w = slots_[slot];
  const std::uint32_t number = barrier;
  if (w.step != nullptr)  // a trace-driven warp's state has no lanes
    return {(w.phase == warp_phase::at_barrier ? "waits at barrier " + std::to_string(barrier) + ", " : "stands at ") +
            position(slot)};
  return simt::standing_of(w.state, w.phase == warp_phase::at_barrier ? &number : nullptr,
                           [&](std::uint32_t pc) { return place_of(slot, *w.program->code[pc].instruction); });
}

const partition_signals& sub_partition::watch(cycle_t first, cycle_t last) const {
  if (!signals_) signals_ = std::make_unique<partition_signals>(*this, clock_.domain());
  signals_->only_in(first, last);
  return *signals_;
}

void sub_partition::watch_for(const sc_core::sc_trace_file* file) const {
  const auto* const window = dynamic_cast<const trace_window*>(file);
  watch(window != nullptr ? window->first : 0, window != nullptr ? window->last : never);
}

std::string sub_partition::owner(unsigned slot) const {
  const warp_slot& w = slots_[slot];
  const simt::dim3& b = w.state.block->index;
  return "block (" + std::to_string(b.x) + "," + std::to_string(b.y) + "," + std::to_string(b.z) + ") of kernel '" +
         w.launch->program->kernel + "'";
}

void sub_partition::trace(sc_core::sc_trace_file* file) const {
  watch_for(file);
  const std::string base(name());
  sc_core::sc_trace(file, signals_->issued, base + ".issued");
  sc_core::sc_trace(file, signals_->replaying, base + ".replaying");
  for (unsigned k = 0; k < std::min<std::size_t>(config_.sub_partition.issue_width, signals_->slots.size()); ++k) {
    const std::string slot = base + ".issue" + std::to_string(k);
    sc_core::sc_trace(file, signals_->slots[k].warp, slot + "_warp");
    sc_core::sc_trace(file, signals_->slots[k].pc, slot + "_pc");
    sc_core::sc_trace(file, signals_->slots[k].operation, slot + "_operation");
    sc_core::sc_trace(file, signals_->slots[k].lanes, slot + "_lanes");
  }
  sc_core::sc_trace(file, active_, base + ".active", static_cast<int>(slots_.size()));
  sc_core::sc_trace(file, credits_, base + ".lsu_credits");
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const std::string warp = base + ".warp" + std::to_string(s);
    sc_core::sc_trace(file, signals_->states[s], warp + "_state");
    sc_core::sc_trace(file, slots_[s].state.pc, warp + "_pc");
    sc_core::sc_trace(file, slots_[s].state.active, warp + "_active_lanes");
  }
  for (const sc_core::sc_object* child : get_child_objects()) child->trace(file);
}

}  // namespace heddle
