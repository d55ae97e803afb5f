// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/functional/execution_watcher.h"
#include "heddle/simt/warp/execute_function.h"

namespace heddle::sanitize {

/// Where a value comes from that has no meaning: bytes that were never written, or a lane that has exited.
struct valueless_source {
  std::uint32_t index = isa::no_target;  // of the load or shuffle
  std::uint32_t thread = 0;              // of the block, which executed it
  std::uint64_t place = 0;               // address of the first such byte; or that lane
  bool lane = false;                     // of a lane
};

/// Registers and predicates of which a warp executes instructions in their place: a copy that may be changed.
class spare_warp {
 public:
  spare_warp();
  /// As `w`, with registers that are not set.
  simt::warp_state& as(const simt::warp_state& w);
  [[nodiscard]] std::uint32_t* reg(unsigned number) { return registers_ + std::size_t{number} * isa::warp_size; }

 private:
  static constexpr std::size_t alignment = 64;
  std::vector<std::uint32_t> memory_;
  std::uint32_t* registers_;
  simt::warp_state state_;
};

/// Follows bits without a value through the registers of a warp. An instruction is executed again with other bits in
/// their place: a bit of the result that changes has no value either. So what is masked or shifted out does not count.
/// Memcheck follows bits so (Seward and Nethercote, USENIX 2005).
class value_check {
 public:
  [[nodiscard]] bool empty() const { return lacking_.none(); }
  void clear() {
    lacking_.reset();
    rows_.clear();
  }
  /// `swaps`: the program compares and swaps words; so an equality with a part that was never written decides nothing.
  void begin(bool swaps) { swaps_ = swaps; }
  /// These bits of a lane's register have no value from now on. True: no others of the warp lacked one.
  bool lacks(unsigned reg, unsigned lane, std::uint32_t bits, const valueless_source& from);
  /// An instruction is about to execute, by this function (null: not one of registers alone). Returns the source of a
  /// value that it must not use: computed with it, and stored, taken for an address or to decide; of a lane: also
  /// stored as it is. Null: none.
  const valueless_source* executes(const watched_step& s, simt::execute_function execute, spare_warp& spare);

 private:
  using lane_words = std::array<std::uint32_t, isa::warp_size>;
  /// What the lanes of a register lack.
  struct row {
    lane_words moved{};         // bits that were only loaded and moved
    lane_words computed{};      // bits that depend on some without a value
    simt::lane_mask alone = 0;  // whose moved ones were taken out of their word: the others are not of it any more
    std::array<valueless_source, isa::warp_size> from;  // of lanes that lack some
    [[nodiscard]] std::uint32_t all(unsigned lane) const { return moved[lane] | computed[lane]; }
    [[nodiscard]] bool any() const {
      std::uint32_t bits = 0;
      for (unsigned lane = 0; lane < isa::warp_size; ++lane) bits |= all(lane);
      return bits != 0;
    }
    void take(unsigned lane, const row& of) {
      moved[lane] = of.moved[lane];
      computed[lane] = of.computed[lane];
      alone = (alone & ~(1u << lane)) | (of.alone & 1u << lane);
      if (all(lane) != 0) from[lane] = of.from[lane];
    }
    void reset() {
      moved = computed = {};
      alone = 0;
    }
  };
  struct origin {
    const row* of;
    unsigned lane;
  };
  /// Registers by their number, then predicates.
  static constexpr unsigned first_predicate = 256, places = first_predicate + 8;
  [[nodiscard]] const row* find(unsigned place) const { return lacking_[place] ? rows_[place].get() : nullptr; }
  row& lacking_row(unsigned place);
  void find_sources(const isa::instruction& i);
  const valueless_source* decides(const watched_step& s) const;
  const valueless_source* used_by_memory(const watched_step& s);
  const valueless_source* used(const isa::operand& o, simt::lane_mask lanes, std::uint32_t bits, bool moved) const;
  void forget_results(const watched_step& s);
  [[nodiscard]] bool is_of_swap(const isa::instruction& i) const;
  void blur(const watched_step& s);
  simt::warp_state& copied(const watched_step& s, spare_warp& spare) const;
  simt::warp_state& filled(const watched_step& s, unsigned filling, spare_warp& spare) const;
  [[nodiscard]] origin origin_of(unsigned lane) const;
  lane_words kept_bits(const watched_step& s, simt::execute_function execute, spare_warp& spare) const;
  void find_moved(const watched_step& s, const lane_words* kept, row& result) const;
  [[nodiscard]] bool is_moved(const watched_step& s, unsigned lane) const;
  void execute_filled(const watched_step& s, simt::execute_function execute, spare_warp& spare, unsigned words);
  void compute(const watched_step& s, simt::execute_function execute, spare_warp& spare);
  void put(unsigned place, simt::lane_mask lanes, const row& values);
  void forget(unsigned place, simt::lane_mask lanes);

  std::bitset<places> lacking_;             // which of these lack some value
  std::vector<std::unique_ptr<row>> rows_;  // of those; others may have one that is not used
  std::vector<unsigned> sources_;           // those that the instruction reads and that lack a value
  std::vector<lane_words> first_;           // its results with the first of the fillings,
  std::vector<row> results_;                // and what lacks a value in them: registers, then predicates
  bool swaps_ = false;
  valueless_source found_;
};

}  // namespace heddle::sanitize
