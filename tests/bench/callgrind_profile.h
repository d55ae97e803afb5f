// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// The parts of the program that host time is divided among.
enum class part { function, issue, memory, kernel, observers, rest, count };

constexpr std::size_t part_count = static_cast<std::size_t>(part::count);
constexpr const char* part_names[] = {"function", "issue", "memory", "kernel", "observe", "rest"};

/// Instructions that the host executed, by part.
struct callgrind_profile {
  std::array<double, part_count> instructions{};
  [[nodiscard]] double total() const;
};

/// The part that a source file belongs to, by its folder; `count`: none, as of the standard library, whose instructions
/// belong to its callers. `object`: the program or shared library that the code lies in.
part part_of(const std::string& object, const std::string& file);

/// The folders, and beginnings of files' paths, that are told apart in the source tree.
std::vector<std::string> paths_of_parts();

/// Reads what valgrind's callgrind wrote with --compress-strings=no --compress-pos=no. Each instruction counts for the
/// source line that it was compiled from, so what was inlined counts for the folder that it comes from. Throws
/// std::runtime_error when the file is not there or says nothing.
callgrind_profile read_callgrind(const std::string& file);

}  // namespace bench
