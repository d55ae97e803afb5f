// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/sass_trace/code/code_entry.h"
#include "heddle/frontend/sass_trace/code/opcode_table.h"

namespace heddle::sass_trace {

/// The distinct instructions of a kernel, identified by the text of their lines. Entries are added while a trace is
/// read for the first time; freeze() then orders them by program counter.
class code_table {
 public:
  explicit code_table(generation g) : generation_(g) {}

  /// The entry at `pc` whose fields are a prefix of `text`; null: none so far.
  [[nodiscard]] const code_entry* find(std::uint32_t pc, std::string_view text) const {
    for (std::uint32_t k = first_at(pc); k != none; k = links_[k]) {
      const code_entry& e = entries_[k];
      const std::size_t n = e.fields.size();
      if (e.pc == pc && text.size() >= n && text.compare(0, n, e.fields) == 0 && (text.size() == n || text[n] == ' '))
        return &e;
    }
    return nullptr;
  }
  /// Adds an instruction. Throws input_error if there are more than any kernel has.
  const code_entry& add(const static_fields& f, std::string_view fields, std::string_view tail);
  /// Renumbers the entries in the order of their program counters; the numbers are final. Returns the new number of
  /// each old one.
  std::vector<std::uint32_t> freeze();
  [[nodiscard]] bool frozen() const { return frozen_; }
  /// The entries in the order of their numbers once frozen, otherwise in the order of appearance.
  [[nodiscard]] std::vector<const code_entry*> ordered() const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Memory that it takes, about.
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t near = 1u << 13;  // program counters below 8 * near are found without hashing

  [[nodiscard]] std::uint32_t first_at(std::uint32_t pc) const {
    if (pc / 8 < by_pc_.size()) return by_pc_[pc / 8];
    const auto it = far_.find(pc);
    return it == far_.end() ? none : it->second;
  }

  generation generation_;
  std::vector<code_entry> entries_;
  std::vector<std::uint32_t> links_;  // next entry with the same program counter
  std::vector<std::uint32_t> by_pc_;  // as far as entries lie near; the others are in far_
  std::unordered_map<std::uint32_t, std::uint32_t> far_;
  bool frozen_ = false;
};

}  // namespace heddle::sass_trace
