// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/metrics/run_metrics.h"

namespace heddle::testbench {

/// Adds the text of PTX and CUDA sources to metrics.
class source_quotes {
 public:
  /// `whole`: sources() is wanted, too.
  explicit source_quotes(bool whole) : whole_(whole) {}

  /// Adds the text of the PTX lines in the kernel's metrics. Null: it is not known.
  void quote_ptx(kernel_metrics& k, const std::string* ptx);
  /// Adds the text of the lines that the PTX was compiled from, where the files are still there: at the path that the
  /// PTX names, or beside it.
  void quote_sources(kernel_metrics& k);
  /// What the kernels' lines are lines of, with the lines around them.
  [[nodiscard]] std::vector<source_lines> sources() const;

 private:
  struct quoted_file {
    std::string text;
    std::uint32_t first = UINT32_MAX;  // line that is needed
    std::uint32_t last = 0;
  };
  void keep(const std::string& name, const std::string& text, std::uint32_t first, std::uint32_t last);
  const std::string* text_of(const std::string& file, const std::string& folder);

  bool whole_;
  std::map<std::string, quoted_file> kept_;  // by `source` or `file` of the metrics
  std::map<std::string, std::string> read_;  // texts of CUDA sources by path; empty: not readable
};

}  // namespace heddle::testbench
