// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/metrics/code_metrics.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/run_metrics.h"
#include "testbench/report/source_quotes.h"

namespace heddle::testbench {

/// PTX of the modules of a run.
class module_texts {
 public:
  /// The text of a module by its file name; null: no such module.
  [[nodiscard]] virtual const std::string* module_text(const std::string& file) const = 0;

 protected:
  ~module_texts() = default;
};

/// Details of the launches of a GPU, with the text of their sources.
class launch_details final : public kernel_details {
 public:
  struct options {
    detail how_much = detail::lines;
    bool whole_sources = false;  // sources() is wanted, too
    bool other_sources = true;   // files that the PTX names may be read
  };
  /// `g`, `energy`, which is of that GPU, and `modules` outlive it.
  launch_details(const gpu& g, energy_account& energy, const module_texts& modules, options o);

  void fill(kernel_metrics& k) override;
  /// Adds the text of the sources to a kernel that has its details.
  void quote(kernel_metrics& k);
  [[nodiscard]] std::vector<source_lines> sources() const override { return quotes_.sources(); }

 private:
  const gpu& gpu_;
  energy_account& energy_;
  const module_texts& modules_;
  const options options_;
  program_texts texts_;
  source_quotes quotes_;
};

}  // namespace heddle::testbench
