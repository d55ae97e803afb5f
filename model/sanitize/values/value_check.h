// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
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
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void clear() { rows_.clear(); }
  /// `swaps`: the program compares and swaps words; so an equality with a part that was never written decides nothing.
  void begin(bool swaps) { swaps_ = swaps; }
  /// These bits of a lane's register have no value from now on.
  void lacks(unsigned reg, unsigned lane, std::uint32_t bits, const valueless_source& from);
  /// An instruction is about to execute, by this function (null: not one of registers alone). Returns the source of a
  /// value that it must not use: computed with it, and stored, taken for an address or to decide; of a lane: also
  /// stored as it is. Null: none.
  const valueless_source* executes(const watched_step& s, simt::execute_function execute, spare_warp& spare);

 private:
  struct part {
    std::uint32_t moved = 0;     // bits that were only loaded and moved
    std::uint32_t computed = 0;  // bits that depend on some without a value
    valueless_source from;
    bool alone = false;  // the moved ones were taken out of their word: the others are not of it any more
    [[nodiscard]] std::uint32_t all() const { return moved | computed; }
  };
  using row = std::array<part, isa::warp_size>;
  static constexpr unsigned first_predicate = 256;  // behind the registers

  [[nodiscard]] const row* find(unsigned reg) const;
  [[nodiscard]] std::vector<unsigned> sources(const isa::instruction& i) const;
  const valueless_source* decides(const watched_step& s) const;
  const valueless_source* used_by_memory(const watched_step& s);
  const valueless_source* used(const isa::operand& o, simt::lane_mask lanes, std::uint32_t bits, bool moved) const;
  void forget_results(const watched_step& s);
  [[nodiscard]] bool is_of_swap(const isa::instruction& i) const;
  void blur(const watched_step& s);
  simt::warp_state& filled(const watched_step& s, const std::vector<unsigned>& lacking, unsigned filling,
                           spare_warp& spare) const;
  [[nodiscard]] part source_of(const std::vector<unsigned>& lacking, unsigned lane) const;
  std::vector<std::uint32_t> kept_bits(const watched_step& s, simt::execute_function execute, spare_warp& spare) const;
  void find_moved(const watched_step& s, const std::vector<unsigned>& lacking, const std::vector<std::uint32_t>& kept,
                  row& result) const;
  void compute(const watched_step& s, simt::execute_function execute, spare_warp& spare);
  void put(unsigned reg, simt::lane_mask lanes, const row& values);

  std::unordered_map<unsigned, row> rows_;  // by register
  bool swaps_ = false;
  valueless_source found_;
};

}  // namespace heddle::sanitize
