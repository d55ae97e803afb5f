// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// One attempt at allocation: virtual registers joined by copies form groups, groups take places.
class interval_scan {
 public:
  /// `predicates`: place the predicates, else the 32-bit registers. `limit`: registers there are.
  interval_scan(const machine_function& f, const unit_map& units, const std::vector<segments>& live, bool predicates,
                unsigned limit);

  /// Nothing is placed in this register.
  void reserve(unsigned physical) { reserved_ = physical; }

  /// Joins registers that copies connect if their live ranges do not conflict.
  void join_copies();

  /// Places every group. Registers in spilled() must go to memory before a new attempt. False: one group that may not
  /// be spilled does not fit.
  bool place(const std::vector<char>& unspillable);

  /// After all groups were placed: places them anew in up to `registers` registers. The criteria, in this order: few
  /// instructions read two of their sources from one of `banks` banks; no instruction writes a register that a load, a
  /// store or another access shortly before it may still have to read, or to write without a reader; few registers are
  /// used. If the groups do not fit, the previous placement stays.
  void spread(unsigned banks, unsigned registers);

  [[nodiscard]] const std::vector<std::uint32_t>& spilled() const { return spilled_; }
  /// First physical register of a virtual one; no_register: it has no place (never live, or spilled).
  [[nodiscard]] std::uint32_t place_of(std::uint32_t reg) const;
  [[nodiscard]] unsigned used() const { return used_; }

 private:
  struct group {
    std::uint8_t width = 0;
    std::vector<segments> words;
    std::vector<std::uint32_t> members;
    std::uint32_t start = 0xffffffffu;
    std::uint32_t last = 0;
    std::uint32_t base = no_register;
    std::vector<segments> held;  // by word: where an earlier instruction may still have to read or write it
    double weight = 0;           // reads and writes, by loop depth
  };
  /// An instruction reads word `own` of a group beside word `other_word` of another one.
  struct bank_conflict {
    std::uint32_t other;
    unsigned own, other_word;
    double weight;
  };

  bool try_join(std::uint32_t a, unsigned a_part, std::uint32_t b, unsigned b_part);
  [[nodiscard]] bool fits(const group& g, unsigned base) const;
  void mark_late_reads();
  [[nodiscard]] bool rested(const group& g, unsigned base) const;
  void occupy(group& g, unsigned base);
  void release(group& g);
  bool find_place(group& g);
  [[nodiscard]] std::vector<std::uint32_t> by_start() const;
  [[nodiscard]] std::vector<std::vector<bank_conflict>> bank_conflicts() const;
  double place_apart(const std::vector<std::uint32_t>& order,
                     const std::vector<std::vector<bank_conflict>>& bank_conflicts, unsigned banks, unsigned registers);
  void count_used();
  [[nodiscard]] std::uint32_t victim(const group& wanted, const std::vector<char>& unspillable) const;
  [[nodiscard]] bool may_spill(const group& g, const std::vector<char>& unspillable) const;

  const machine_function& f_;
  const bool predicates_;
  const unsigned limit_;
  std::vector<std::uint32_t> group_of_;  // register -> group
  std::vector<std::uint8_t> offset_;     // register -> word in its group
  std::vector<group> groups_;
  std::vector<segments> occupied_;     // per physical register
  std::vector<segments> held_;         // likewise
  std::vector<std::uint32_t> active_;  // groups that may reach the place being filled, in the order of their starts
  std::vector<std::uint32_t> spilled_;
  unsigned used_ = 0;
  unsigned reserved_ = no_register;

  static constexpr std::uint32_t held_positions = 16;  // of eight instructions
};

}  // namespace heddle::ptx
