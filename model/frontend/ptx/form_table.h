// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::ptx {

/// A form of some instructions: `operations` are their names, separated by '|'. `words` are slots, separated by blanks: words of which one
/// stands in the slot, separated by '|'; '?' before a slot that may stay empty, '.' before types. Types stand in this order, the other
/// words in any. Operations without a row have a decoder of their own.
struct form_row {
  const char* operations;
  const char* words;
};

/// All forms that Heddle runs. Source: the "Syntax" of each instruction in the PTX ISA 9.0.
const std::vector<form_row>& form_table();

}  // namespace heddle::ptx
