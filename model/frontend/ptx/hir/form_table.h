// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::ptx {

/// A form of some instructions. `operations` are their names, separated by '|'. `words` are slots, separated by
/// blanks; each slot lists alternative words, separated by '|'. '?' before a slot marks it as optional, '.' marks
/// types. Types must be in this order, the other words may be in any order. Operations without a row have a decoder of
/// their own.
/// `operands` are the required operands, separated by blanks: a type (`t` and `s` the instruction's first and second
/// type, `w` twice as wide as the first, `d` the first as set has it, whose bf16 results are bits, `a` an address, or
/// a type name), `{t}` a vector of as many elements as .v2 and the like say, `[]` a memory operand, `#` a literal,
/// `label`, `list` a list of labels.
/// A prefix `=` marks a destination. Suffixes: `?` optional, `|x` with a second destination of type x (`|x?`
/// optionally), `_` may be discarded, `+` a wider register is allowed, `~` the name of a variable is allowed, `%` a
/// special register is allowed, `*` anything that mov takes is allowed, `!` no literal is allowed, `&` present only
/// with a boolean operation, `^` present only with .L2::cache_hint. "...": checked by the instruction's own decoder.
struct form_row {
  const char* operations;
  const char* words;
  const char* operands;
};

/// All forms that Heddle supports. Source: the "Syntax" of each instruction in the PTX ISA 9.0.
const std::vector<form_row>& form_table();

}  // namespace heddle::ptx
