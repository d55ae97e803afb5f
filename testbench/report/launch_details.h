// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/metrics/code_metrics.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/run_metrics.h"
#include "testbench/report/source_quotes.h"

namespace heddle::testbench {

/// Details of the launches of a GPU, with the text of their sources.
class launch_details final : public kernel_details {
 public:
  struct options {
    detail how_much = detail::lines;
    bool whole_sources = false;                                 // sources() is wanted, too
    bool other_sources = true;                                  // files that the PTX names may be read
    std::function<const std::string*(const std::string&)> ptx;  // the text of a module by its file name; null: unknown
  };
  /// `g` and `energy`, which is of that GPU, outlive it.
  launch_details(const gpu& g, energy_account& energy, options o);

  void fill(kernel_metrics& k) override;
  /// Adds the text of the sources to a kernel that has its details.
  void quote(kernel_metrics& k);
  [[nodiscard]] std::vector<source_lines> sources() const override { return quotes_.sources(); }

 private:
  const gpu& gpu_;
  energy_account& energy_;
  const options options_;
  program_texts texts_;
  source_quotes quotes_;
};

}  // namespace heddle::testbench
