// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

/// One place of a program at which something was found, with the first case of it.
struct finding {
  unsigned kind = 0;         // a bit of sanitize_kind
  std::string place;         // "kernel.cu:12", or of the PTX: "kernel.ptx:40:2"
  std::string what;          // one line
  std::string kernel;        // empty: no kernel's
  std::uint32_t launch = 0;  // number of the launch of the first case
  std::vector<std::string> details;
  std::uint64_t cases = 0;  // how often it was found
  bool at_least = false;    // some cases were not looked for
  // A race of a read and a write of global memory: the write. Otherwise none.
  const isa::program* program = nullptr;
  std::uint32_t writer = isa::no_target;
};

/// What was found, grouped by place.
class findings {
 public:
  /// Identifies a group: kind, program, and the indices of its instructions.
  using key = std::tuple<unsigned, const isa::program*, std::uint32_t, std::uint32_t, unsigned>;

  /// Counts one more case of a group. True: it is the first, and add() has to follow.
  bool counts(const key& k) {
    recent_group& r = recent_[(std::get<2>(k) * 31 + std::get<3>(k) * 7 + std::get<4>(k)) % recent_.size()];
    if (r.of == k && r.number < all_.size()) {
      ++all_[r.number].cases;
      return false;
    }
    const auto [entry, is_new] = numbers_.emplace(k, all_.size());
    if (!is_new) ++all_[entry->second].cases;
    r = {k, entry->second};
    return is_new;
  }
  /// Not all executions of some instructions, by index, were checked for races.
  void counts_in_part(const isa::program* p, const std::vector<std::uint8_t>& instructions);
  void add(finding f) {
    f.cases = 1;
    all_.push_back(std::move(f));
  }
  [[nodiscard]] const std::vector<finding>& all() const { return all_; }
  /// A write of global memory races with a read. `marks`: its thread has read the place before, and stores a value that
  /// does not depend on what it has read.
  void races_with_read(const isa::program* p, std::uint32_t write, std::uint32_t launch, bool marks,
                       std::uint32_t value);
  /// Whether all such writes so far were marks.
  [[nodiscard]] bool may_mark(const isa::program* p, std::uint32_t write) const {
    const auto known = writes_.find({p, write});
    return known == writes_.end() || known->second.marks;
  }
  /// Takes out the races of reads with writes that always mark, in each launch with one value.
  std::vector<finding> take_intended();
  /// Makes one of the findings of a source line that differ in the instruction alone, as in unrolled loops.
  void join_by_line();

 private:
  struct recent_group {
    key of{};
    std::size_t number = ~std::size_t{0};
  };
  std::map<key, std::size_t> numbers_;
  std::array<recent_group, 64> recent_{};  // of them, by the indices
  std::vector<finding> all_;
  struct marking_write {
    std::uint32_t launch, value;
    bool marks;
  };
  std::map<std::pair<const isa::program*, std::uint32_t>, marking_write> writes_;
};

/// "kernel.cu:12 in load(float const*)" where the source is known, otherwise "kernel.ptx:40:2".
std::string place_in_source(const isa::program& p, const isa::instruction& i);
/// "block (1,0,0), thread (3,0,0)".
std::string thread_text(const simt::launch_context& launch, std::uint64_t block, std::uint32_t thread);
std::string thread_text(const simt::dim3& grid, const simt::dim3& block_size, std::uint64_t block,
                        std::uint32_t thread);
/// "block (1,0,0)".
std::string block_text(const simt::launch_context& launch, std::uint64_t block);
/// "0x1000".
std::string hexadecimal(std::uint64_t value);

}  // namespace heddle
