// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

/// Choice parameters: one enumeration each, made from the rows of parameter_list.h, and `words_of` it: the enumerators
/// as text, separated by commas. Those of a table (HEDDLE_TABLED) have no enumerators but the first; named() finds
/// them.
namespace heddle::choice {

#define HEDDLE_NAMES(...) __VA_ARGS__
#define HEDDLE_TEXT_OF(...) #__VA_ARGS__
#define HEDDLE_ENUMERATOR(name, ...) name,
#define HEDDLE_WORD(name, ...) #name ","

#define HEDDLE_CHOICE(enumeration, key, value, names, source, sentence) \
  enum class enumeration : std::uint8_t { HEDDLE_NAMES names };         \
  inline std::string words_of(enumeration) { return HEDDLE_TEXT_OF names; }
#define HEDDLE_LISTED(enumeration, key, value, list, source, sentence) \
  enum class enumeration : std::uint8_t { list(HEDDLE_ENUMERATOR) };   \
  inline std::string words_of(enumeration) { return list(HEDDLE_WORD); }
#define HEDDLE_TABLED(enumeration, first, key, value, source, sentence) \
  enum class enumeration : std::uint8_t { first };                      \
  std::string words_of(enumeration);
#include "heddle/config/parameter_list.h"

#undef HEDDLE_NAMES
#undef HEDDLE_TEXT_OF
#undef HEDDLE_ENUMERATOR
#undef HEDDLE_WORD

/// The position of a word in a list separated by commas. Throws input_error if the list lacks it.
std::uint8_t position_of(const std::string& word, const std::string& words);
/// The enumerator of that name. Throws input_error if there is none.
template <class E>
E named(const std::string& word) {
  return static_cast<E>(position_of(word, words_of(E{})));
}

}  // namespace heddle::choice
