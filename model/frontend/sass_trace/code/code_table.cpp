// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/code/code_table.h"

#include <algorithm>
#include <numeric>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/code/translate.h"

namespace heddle::sass_trace {

namespace {
constexpr std::size_t most_instructions = std::size_t{1} << 20;
}

const code_entry& code_table::add(const static_fields& f, std::string_view fields, std::string_view tail) {
  if (frozen_)
    throw input_error("an instruction that the first reading did not find: the file was changed while in use");
  if (entries_.size() >= most_instructions)
    throw input_error("more than " + std::to_string(most_instructions) +
                      " different instructions, which no kernel has");
  code_entry e = translate(generation_, f);
  e.fields = fields;
  e.tail = tail;
  e.index = static_cast<std::uint32_t>(entries_.size());
  links_.push_back(first_at(f.pc));
  if (f.pc / 8 >= near) far_[f.pc] = e.index;
  else {
    if (f.pc / 8 >= by_pc_.size()) by_pc_.resize(f.pc / 8 + 1, none);
    by_pc_[f.pc / 8] = e.index;
  }
  entries_.push_back(std::move(e));
  return entries_.back();
}

std::vector<std::uint32_t> code_table::freeze() {
  std::vector<std::uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return entries_[a].pc < entries_[b].pc; });
  std::vector<std::uint32_t> numbers(entries_.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) numbers[order[k]] = entries_[order[k]].index = k;
  frozen_ = true;
  return numbers;
}

std::size_t code_table::bytes() const {
  std::size_t all = sizeof(code_table) + by_pc_.capacity() * sizeof(std::uint32_t);
  all += entries_.capacity() * (sizeof(code_entry) + sizeof(std::uint32_t));
  for (const code_entry& e : entries_) all += e.opcode.capacity() + e.fields.capacity() + e.tail.capacity();
  return all;
}

std::vector<const code_entry*> code_table::ordered() const {
  std::vector<const code_entry*> all(entries_.size());
  for (const code_entry& e : entries_) all[e.index] = &e;
  return all;
}

}  // namespace heddle::sass_trace
