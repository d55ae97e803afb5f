// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "heddle/observe/line_watch.h"
#include "testbench/files/result_files.h"
#include "testbench/options/options.h"
#include "testbench/views/view.h"

namespace heddle::testbench {

/// Of `heddle view`: looks for the worst moment of a line, and writes it as JSON.
class line_view : public view {
 public:
  line_view(const run_options& o, gpu& g, result_files& files);

  /// Throws input_error if the line has no code, with the nearest lines that have.
  void begin(const std::vector<const isa::program*>& programs) override;
  void finish(const std::string& mark) override;

  /// A moment as finish() has written it.
  static line_moment read(const std::string& text);

 private:
  const line_request asked_;
  const code_line line_;
  result_files& files_;
  line_watch watch_;
};

/// Of these lines up to `most` that are nearest to `line`, ascending: "41, 44 and 45".
std::string nearest_lines(const std::set<std::uint32_t>& lines, std::uint32_t line, std::size_t most);

}  // namespace heddle::testbench
