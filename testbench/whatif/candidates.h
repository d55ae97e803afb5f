// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testbench {

/// A change of the machine that may make a workload faster.
struct candidate {
  /// advice: of the verdict on a kernel; twice, half, choice: one parameter; pair: two of the best together.
  enum class kind : std::uint8_t { advice, twice, half, choice, pair };
  kind what = kind::twice;
  std::vector<std::pair<std::string, std::string>> settings;  // key and value; the first is the one that is changed
  std::string from;                                           // value before, of a pair "a, b"
  std::string why;                                            // of advice
  bool sooner = true;  // of one parameter: in the direction that may make it faster

  /// "--set KEY=VALUE", once for each setting.
  [[nodiscard]] std::string options() const;
  /// "key: from -> to", of a pair both.
  [[nodiscard]] std::string text() const;
};
const char* name_of(candidate::kind k);

/// The changes to try: advice on the kernels of a run (`metrics`), then each parameter of the machine doubled or halved
/// in the direction that may make it faster (more lanes, fewer cycles), choices, and the other directions. Left out is
/// what the workload does not use, what has no effect or is illegal on this machine, and what is no property of a chip.
/// `gpu` and `overrides` are the machine of the run.
std::vector<candidate> candidates_of(const nlohmann::ordered_json& metrics, const std::string& gpu,
                                     const std::vector<std::string>& overrides);

/// Every two of these together, if they change different parameters.
std::vector<candidate> pairs_of(const std::vector<candidate>& best);

}  // namespace heddle::testbench
