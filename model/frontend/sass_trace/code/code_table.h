// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/sass_trace/code/opcode_table.h"
#include "heddle/isa/instruction.h"

namespace heddle::sass_trace {

/// The part of an instruction line that is the same each time the instruction runs.
struct static_fields {
  std::uint32_t pc = 0;
  std::string opcode;                 // with all modifiers
  std::vector<std::uint8_t> results;  // vector registers
  std::vector<std::uint8_t> operands;
  unsigned bytes = 0;          // per lane; 0: no memory instruction
  std::int64_t immediate = 0;  // the first one written
};

/// An instruction of a traced kernel.
struct code_entry {
  std::uint32_t pc = 0;
  std::string opcode;
  isa::instruction instruction;
  isa::op_class timing = isa::op_class::int_add;
  bool known = true;           // false: the opcode is not in its generation's table
  bool has_addresses = false;  // its lines hold addresses
  std::uint32_t index = 0;     // in the code
  std::string fields;          // text of its lines from the number of results to the bytes per lane
  std::string tail;            // text behind that, of an instruction without addresses
};

/// The distinct instructions of a kernel, found by the text of their lines. It learns them while a trace is read for
/// the first time; freeze() then orders them by their place in the program.
class code_table {
 public:
  explicit code_table(generation g) : generation_(g) { by_pc_.fill(none); }

  /// The entry at `pc` with whose fields `text` begins; null: none so far.
  const code_entry* find(std::uint32_t pc, std::string_view text) const {
    for (std::uint32_t k = first_at(pc); k != none; k = links_[k]) {
      const code_entry& e = entries_[k];
      const std::size_t n = e.fields.size();
      if (e.pc == pc && text.size() >= n && text.compare(0, n, e.fields) == 0 && (text.size() == n || text[n] == ' '))
        return &e;
    }
    return nullptr;
  }
  /// A new instruction. Throws input_error when there are more than any kernel has.
  const code_entry& add(const static_fields& f, std::string_view fields, std::string_view tail);
  /// Numbers the entries in the order of their places in the program; they keep these numbers. Returns the new one of
  /// each number.
  std::vector<std::uint32_t> freeze();
  bool frozen() const { return frozen_; }
  /// The entries in the order of their numbers, once frozen; in the order of appearance before.
  std::vector<const code_entry*> ordered() const;
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t near = 1u << 13;  // places below 8 * near are found without hashing

  std::uint32_t first_at(std::uint32_t pc) const {
    if (pc / 8 < near) return by_pc_[pc / 8];
    const auto it = far_.find(pc);
    return it == far_.end() ? none : it->second;
  }

  generation generation_;
  std::vector<code_entry> entries_;
  std::vector<std::uint32_t> links_;  // next entry at the same place
  std::array<std::uint32_t, near> by_pc_;
  std::unordered_map<std::uint32_t, std::uint32_t> far_;
  bool frozen_ = false;
};

}  // namespace heddle::sass_trace
