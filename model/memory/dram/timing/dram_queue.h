// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

#include "heddle/memory/dram/timing/dram_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A request in a channel's queue.
struct dram_request {
  tlm::tlm_generic_payload* payload = nullptr;
  cycle_t ready = 0;  // after the controller's request latency
  std::uint64_t row = 0;
  unsigned bank = 0;
  unsigned bursts = 0;  // column commands that are left
  std::uint32_t launch = 0;
  bool write = false;
  bool activated = false;  // its row was activated for this request
  bool started = false;    // some of its bursts have been read or written
  bool hit = false;        // it is ready and its row is open
  void exchange(state_image& image) {
    image(payload, ready, row, bank, bursts, launch, write, activated, started, hit);
  }
};

/// The queue of a channel and its banks' open rows, as schedulers see them: the ready requests in order of arrival, and
/// when the next command of each may issue.
class dram_queue {
 public:
  dram_queue(const dram_parameters& parameters, const dram_timing& timing);

  /// Ready requests. Request 0 is the oldest.
  [[nodiscard]] std::size_t ready() const { return ready_; }
  const dram_request& operator[](std::size_t i) const { return entries_[i]; }
  /// Ready requests whose row is open: of all banks, of a bank.
  [[nodiscard]] std::size_t hits() const { return all_hits_; }
  [[nodiscard]] unsigned hits(unsigned bank) const { return banks_[bank].hits; }
  [[nodiscard]] bool is_open(unsigned bank) const { return banks_[bank].open; }
  /// The open row.
  [[nodiscard]] std::uint64_t row(unsigned bank) const { return banks_[bank].row; }
  /// The command that a request needs next: activate, precharge, or its column command.
  [[nodiscard]] dram_command next(const dram_request& r) const {
    if (r.hit) return r.write ? dram_command::wr : dram_command::rd;
    return banks_[r.bank].open ? dram_command::pre : dram_command::act;
  }
  /// Earliest cycle of a command of a bank, by the standard's constraints.
  [[nodiscard]] cycle_t earliest(dram_command c, unsigned bank) const { return timing_.earliest(c, bank); }
  /// Earliest cycle of any column command.
  [[nodiscard]] cycle_t bus_free() const { return timing_.bus_free(); }
  /// The oldest request has waited longer than dram.starvation_cycles.
  [[nodiscard]] bool starving() const { return starving_; }
  [[nodiscard]] unsigned banks() const { return static_cast<unsigned>(banks_.size()); }

  // For the channel.
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  dram_request& at(std::size_t i) { return entries_[i]; }
  void push(const dram_request& r) { entries_.push_back(r); }
  /// Requests take part in scheduling from the cycle in which they are ready. They become ready in order of arrival,
  /// since the controller's request latency is the same for all.
  void admit(cycle_t now);
  /// When the next request becomes ready.
  [[nodiscard]] cycle_t next_ready() const { return ready_ < entries_.size() ? entries_[ready_].ready : never; }
  void set_starving(bool starving) { starving_ = starving; }
  void open(unsigned bank, std::uint64_t row);
  void close(unsigned bank);
  void close_all();
  /// No request of the bank is a hit until it is closed.
  void hold_back(unsigned bank);
  void erase(std::size_t i);
  [[nodiscard]] const std::uint32_t& open_banks() const { return open_banks_; }
  /// The payloads have been named.
  void exchange(state_image& image);

 private:
  struct bank_state {
    std::uint64_t row = 0;
    unsigned hits = 0;
    bool open = false;
    bool held_back = false;
    void exchange(state_image& image) { image(row, hits, open, held_back); }
  };
  [[nodiscard]] bool hits_now(const dram_request& r) const {
    const bank_state& b = banks_[r.bank];
    return b.open && b.row == r.row && !b.held_back;
  }
  void find_hits(unsigned bank);

  const dram_timing& timing_;
  std::vector<bank_state> banks_;
  std::vector<dram_request> entries_;  // in order of arrival
  std::size_t ready_ = 0;              // the first ready_ entries are ready
  std::size_t all_hits_ = 0;
  std::uint32_t open_banks_ = 0;
  bool starving_ = false;
};

}  // namespace heddle
