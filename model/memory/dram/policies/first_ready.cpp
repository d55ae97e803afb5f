// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <vector>

#include "heddle/memory/dram/policies/dram_scheduler.h"

namespace heddle {

/// First ready, first come, first served (Rixner et al., ISCA 2000): column commands before activates before
/// precharges, and the oldest of a kind first. A bank is opened or closed for its oldest request without a row hit, and
/// closed only when no ready request hits its row. While the oldest request starves, its bank is reserved for it, and
/// so is the direction of the data bus once its row is open.
class first_ready : public dram_scheduler {
 public:
  explicit first_ready(const dram_parameters& parameters) : wanted_(parameters.banks) {}

  dram_choice select(const dram_queue& queue, cycle_t now) override;

 private:
  enum class kind : std::uint8_t { column, activate, precharge, none };
  struct candidate {
    kind what = kind::none;
    std::size_t index = 0;
    cycle_t next = never;
  };

  static void consider(candidate& best, kind what, std::size_t index, cycle_t earliest, cycle_t now);
  static void consider_next(candidate& best, const dram_queue& queue, std::size_t index, cycle_t now);
  void consider_columns(candidate& best, const dram_queue& queue, const bool (&blocked)[2], cycle_t now) const;
  void consider_rows(candidate& best, const dram_queue& queue, cycle_t now);

  std::vector<std::uint8_t> wanted_;  // by bank, during a choice: claimed, or reserved for a starving request
};

namespace {
constexpr std::uint8_t claimed = 1;
constexpr std::uint8_t reserved = 2;
}  // namespace

void first_ready::consider(candidate& best, kind what, std::size_t index, cycle_t earliest, cycle_t now) {
  if (earliest > now) {
    best.next = std::min(best.next, earliest);
  } else if (what < best.what) {
    // Column before activate before precharge. Requests are considered in order of arrival, so the oldest of a kind
    // wins.
    best.what = what;
    best.index = index;
  }
}

// Considers the next command of a request, whatever other requests need.
void first_ready::consider_next(candidate& best, const dram_queue& queue, std::size_t index, cycle_t now) {
  const dram_request& r = queue[index];
  const dram_command next = queue.next(r);
  const kind what = next == dram_command::act   ? kind::activate
                    : next == dram_command::pre ? kind::precharge
                                                : kind::column;
  consider(best, what, index, queue.earliest(next, r.bank), now);
}

dram_choice first_ready::select(const dram_queue& queue, cycle_t now) {
  candidate best;
  std::fill(wanted_.begin(), wanted_.end(), std::uint8_t{0});
  bool blocked[2] = {false, false};  // column commands of reads, of writes
  if (queue.starving()) {
    consider_next(best, queue, 0, now);
    if (best.what != kind::none) return {best.index, never};
    const dram_request& oldest = queue[0];
    wanted_[oldest.bank] = claimed | reserved;
    blocked[!oldest.write] = oldest.hit;
  }
  consider_columns(best, queue, blocked, now);
  if (best.what == kind::none && queue.ready() != queue.hits()) consider_rows(best, queue, now);
  if (best.what == kind::none) return {dram_choice::none, best.next};
  return {best.index, never};
}

// Considers column commands, which have priority over all others; the oldest goes first.
void first_ready::consider_columns(candidate& best, const dram_queue& queue, const bool (&blocked)[2],
                                   cycle_t now) const {
  if (queue.hits() == 0) return;
  const cycle_t bus = queue.bus_free();
  if (bus > now) {
    best.next = std::min(best.next, bus);
    return;
  }
  for (std::size_t i = 0; i < queue.ready(); ++i) {
    const dram_request& r = queue[i];
    if (!r.hit || (wanted_[r.bank] & reserved) != 0 || blocked[r.write]) continue;
    consider(best, kind::column, i, queue.earliest(r.write ? dram_command::wr : dram_command::rd, r.bank), now);
    if (best.what == kind::column) return;
  }
}

// Considers, for each bank's oldest request without a row hit, opening its row or closing one that no ready request
// hits.
void first_ready::consider_rows(candidate& best, const dram_queue& queue, cycle_t now) {
  std::size_t left = queue.ready() - queue.hits();
  for (std::size_t i = 0; left != 0 && best.what != kind::activate; ++i) {
    const dram_request& r = queue[i];
    if (r.hit) continue;
    --left;
    if ((wanted_[r.bank] & claimed) != 0) continue;
    wanted_[r.bank] |= claimed;
    if (!queue.is_open(r.bank)) consider(best, kind::activate, i, queue.earliest(dram_command::act, r.bank), now);
    else if (queue.hits(r.bank) == 0)
      consider(best, kind::precharge, i, queue.earliest(dram_command::pre, r.bank), now);
  }
}

template <>
std::unique_ptr<dram_scheduler> create_dram_scheduler<choice::dram_scheduler::fr_fcfs>(
    const dram_parameters& parameters) {
  return std::make_unique<first_ready>(parameters);
}

}  // namespace heddle
