// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/sweep/store/point_result.h"
#include "testbench/text/text_style.h"
#include "testbench/whatif/candidates.h"

namespace heddle::testbench {

/// What is to become smaller.
enum class aim : std::uint8_t { time, energy, product };

/// Time and energy of a run.
struct cost {
  double cycles = 0;   // of the job
  double seconds = 0;  // simulated
  double joules = 0;   // 0: no account of energy

  /// Of the metrics of a run.
  static cost of(const nlohmann::ordered_json& metrics);
  [[nodiscard]] double by(aim a) const;
};

/// A change that was tried.
struct tried_change {
  candidate change;
  point_status status = point_status::missing;
  std::string reason;  // why it is not done
  cost costs;

  [[nodiscard]] bool counts() const { return status == point_status::done; }
  /// It ended when it had taken as long as the machine as it is.
  [[nodiscard]] bool stopped() const { return status == point_status::stopped; }
};

/// All that was tried, as text and files.
struct whatif_result {
  std::string workload;
  std::string gpu;
  aim what = aim::time;
  cost base;
  std::vector<tried_change> tried;   // the best first; those that do not count last
  std::vector<candidate> not_tried;  // for lack of runs or minutes

  /// The part of the base that a change saves; below 0: it costs more.
  [[nodiscard]] double saved(const tried_change& t, aim a) const;
  void sort();
};

/// The `rows` best changes for a terminal, with bars.
std::string whatif_text(const whatif_result& r, std::size_t rows, const text_style& style);
/// Every change, as `tried` of metrics (docs/use/whatif.md).
nlohmann::ordered_json tried_json(const whatif_result& r);
/// Every change, a row each.
std::string whatif_csv(const whatif_result& r);
/// The `rows` best changes as bars.
std::string whatif_svg(const whatif_result& r, std::size_t rows);

}  // namespace heddle::testbench
