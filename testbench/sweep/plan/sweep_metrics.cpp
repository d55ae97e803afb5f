// SPDX-License-Identifier: MIT
// Which metrics a sweep file may name: those that some point can have.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/sweep/plan/launch_axes.h"
#include "testbench/sweep/plan/metric_path.h"
#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

// An upper bound of the kernels that a job's operations launch.
std::uint64_t launches_of(const std::vector<operation>& operations) {
  constexpr std::uint64_t endless = 1'000'000'000;
  std::uint64_t count = 0;
  for (const operation& op : operations) {
    if (op.what == operation::kind::kernel) ++count;
    if (op.what == operation::kind::repeat)
      count += std::min(launches_of(op.body), endless) * std::min(op.max, endless);
    count = std::min(count, endless);
  }
  return count;
}

bool can_switch_context(const std::vector<operation>& operations) {
  return std::any_of(operations.begin(), operations.end(),
                     [](const operation& op) { return op.priority != 0 || can_switch_context(op.body); });
}

}  // namespace

// The maximum over all points; a point with fewer elements has no value for the others.
list_lengths sweep_plan::metric_lengths() const {
  list_lengths most = {{"kernels.*.grid", 3}, {"kernels.*.block", 3}, {"kernels", 0}, {"context_switches", 0}};
  const auto raise = [&most](const char* list, std::uint64_t number) { most[list] = std::max(most[list], number); };
  bool switches = false;
  for (const sweep_axis& a : file_.axes) switches = switches || a.name == "launch.priority";
  for (const auto& [name, w] : workloads_) {
    raise("kernels", launches_of(w.what.operations));
    switches = switches || !w.what.preemptions.empty() || can_switch_context(w.what.operations);
  }
  if (switches) most.erase("context_switches");
  const auto of_parameter = [&](const char* list, const std::string& parameter) {
    bool is_axis = false;
    for (const sweep_axis& a : file_.axes) {
      if (a.name != parameter) continue;
      is_axis = true;
      for (const std::string& value : a.values) {
        std::uint64_t number = 0;
        if (parse_unsigned(value, number)) raise(list, number);
      }
    }
    for (const auto& [name, values] : gpus_) {
      std::uint64_t number = 0;
      if (!is_axis && parse_unsigned(values.base(parameter), number)) raise(list, number);
    }
  };
  of_parameter("sms", "gpu.sm_count");
  of_parameter("sms.*.sub_partitions", "sm.sub_partitions");
  of_parameter("sms.*.warp_slots", "sm.max_warps");
  return most;
}

void sweep_plan::check_metrics() const {
  const list_lengths most = metric_lengths();
  for (const std::string& path : file_.metrics) {
    const std::string wrong = wrong_metric_path(path, most);
    if (!wrong.empty() || path.rfind("host", 0) == 0 || path.rfind("gpu", 0) == 0) {
      throw input_error(file_.settings_where.at("metrics") + ": metrics: '" + printable(path) +
                        "': " + (wrong.empty() ? "is no result of a point" : wrong));
    }
  }
}

}  // namespace heddle::testbench
