// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::isa {

/// Which source lines a PTX module was compiled from: what its `.loc` and `.file` say (nvcc -lineinfo).
class source_map {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// A place in a source file. An inlined one lies in a function of its own, `function`, which `caller` calls.
  struct place {
    std::uint32_t file = 0;  // index of a file
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::uint32_t function = none;  // index of a function
    std::uint32_t caller = none;    // index of a place, smaller than this one's
  };
  /// From this PTX line on, the code is of a place, or (none) of an unknown one.
  struct range {
    std::uint32_t first_line = 0;
    std::uint32_t place = none;
  };

  std::vector<std::string> files;
  std::vector<std::string> functions;  // demangled
  std::vector<place> places;
  std::vector<range> ranges;  // by line

  /// The place of a PTX line; nullptr: unknown.
  [[nodiscard]] const place* at(std::uint32_t ptx_line) const;
  /// "kernel.cu:12"; empty if the place is unknown.
  [[nodiscard]] std::string short_text(std::uint32_t ptx_line) const;
  /// The same with the places that inlined code was called at: "vector.h:7, called at kernel.cu:12".
  [[nodiscard]] std::string short_stack(std::uint32_t ptx_line) const;
  /// "/home/me/kernel.cu:3 in load(float const*), called at /home/me/kernel.cu:12"; empty if the place is unknown.
  [[nodiscard]] std::string text(std::uint32_t ptx_line) const;
  /// Adds the map of a module whose lines follow those of this one.
  void append(const source_map& other);

 private:
  [[nodiscard]] std::string short_name(const place& p) const;
};

}  // namespace heddle::isa
