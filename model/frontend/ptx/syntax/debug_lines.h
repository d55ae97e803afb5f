// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "heddle/isa/source_map.h"

namespace heddle::ptx {

/// Collects what the directives .loc and .file and the section .debug_str of a module say, in the order of the text,
/// and makes the module's source map of it.
class debug_lines {
 public:
  struct position {
    std::uint32_t file = 0;  // the number that .file gives it
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };

  void file(std::uint32_t number, std::string name) { names_.emplace(number, std::move(name)); }
  /// Code from PTX line `ptx_line` on is of `where`.
  void at(std::uint32_t ptx_line, position where);
  /// It is of `where` in the function whose name is the string `label`, whose call at `call` was inlined.
  void inlined(std::uint32_t ptx_line, position where, const std::string& label, position call);
  /// Code from this line on is of an unknown place.
  void unknown(std::uint32_t ptx_line);
  /// A string of the section .debug_str.
  void text(const std::string& label, std::string value) { strings_.emplace(label, std::move(value)); }

  /// Nullptr: the module has no such directives.
  [[nodiscard]] std::shared_ptr<const isa::source_map> map() const;

 private:
  /// file, line, column, function, caller
  using key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

  std::uint32_t place(position where, std::uint32_t function, std::uint32_t caller);
  void begin(std::uint32_t ptx_line, std::uint32_t place);

  isa::source_map map_;  // with the numbers of .file in place of indices
  std::map<key, std::uint32_t> places_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> latest_;  // place of a position
  std::map<std::string, std::uint32_t> labels_;
  std::map<std::uint32_t, std::string> names_;
  std::map<std::string, std::string> strings_;
};

}  // namespace heddle::ptx
