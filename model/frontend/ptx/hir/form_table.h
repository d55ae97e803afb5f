// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::ptx {

/// A form of some instructions: `operations` are their names, separated by '|'. `words` are slots, separated by blanks:
/// words of which one stands in the slot, separated by '|'; '?' before a slot that may stay empty, '.' before types.
/// Types stand in this order, the other words in any. Operations without a row have a decoder of their own. `operands`
/// are what its operands have to be, separated by blanks: a type (`t` and `s` the instruction's first and second, `w`
/// twice the first, `d` the first as set has it, whose bf16 results are bits, `a` an address, or a name), `{t}` as many
/// as .v2 and the like say, `[]` a place in memory, `#` a literal, `label`, `list` of them. Before it `=`: a
/// destination. Behind it `?` may be missing, `|x` with a second destination of type x (`|x?` or without), `_` may be
/// discarded, `+` a wider register will do, `~` a variable's name will, `%` a special register will, `*` whatever mov
/// takes will, `!` no literal will; `&` stands where there is a boolean
/// operation, `^` where there is .L2::cache_hint. "...": the instruction's decoder looks at them.
struct form_row {
  const char* operations;
  const char* words;
  const char* operands;
};

/// All forms that Heddle runs. Source: the "Syntax" of each instruction in the PTX ISA 9.0.
const std::vector<form_row>& form_table();

}  // namespace heddle::ptx
