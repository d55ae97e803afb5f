// SPDX-License-Identifier: MIT
#include "testbench/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/advice/advice.h"
#include "testbench/report/flop_roofline.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr double busy = 0.6;     // a part in use for at least this share of the time bounds the kernel
constexpr double few_sms = 0.6;  // SMs with work for a smaller share of the time: too few blocks
constexpr double few_waves = 0.5;
constexpr double noticed = 0.05;  // smaller shares are no reason to change a parameter
constexpr std::size_t most_changes = 2;

/// A reason for changes, and the changes.
struct cause {
  double share;
  std::vector<change> changes;
};

// Orders changes by the most they could save: the share of the cause, and half of it for each further change of the
// same cause.
std::vector<change> by_weight(const std::vector<cause>& causes) {
  std::vector<std::pair<double, const change*>> weighed;
  for (const cause& c : causes) {
    double weight = c.share;
    for (const change& x : c.changes) {
      weighed.emplace_back(weight, &x);
      weight /= 2;
    }
  }
  std::stable_sort(weighed.begin(), weighed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<change> out;
  for (const auto& w : weighed) out.push_back(*w.second);
  return out;
}

// The first changes that name different parameters.
std::vector<change> pick(std::initializer_list<std::vector<change>> groups) {
  std::vector<change> out;
  for (const auto& changes : groups)
    for (const change& c : changes)
      if (out.size() < most_changes &&
          std::none_of(out.begin(), out.end(), [&](const change& o) { return o.key == c.key; }))
        out.push_back(c);
  return out;
}

std::vector<change> changes_for_waits(const std::vector<wait_share>& waiting, const json& kernel,
                                      const machine_parameters& m) {
  std::vector<cause> causes;
  for (const wait_share& w : waiting)
    if (w.share >= noticed) causes.push_back({w.share, changes_for_wait(w.name, kernel, m)});
  return by_weight(causes);
}

std::vector<change> changes_for_busy(const std::vector<resource_use>& used, const json& kernel,
                                     const machine_parameters& m) {
  std::vector<cause> causes;
  for (const resource_use& u : used)
    if (u.share >= busy) causes.push_back({u.share, changes_for_resource(u.name, kernel, m)});
  return by_weight(causes);
}

verdict bound_by_throughput(const std::vector<resource_use>& used, const std::string& most_used) {
  verdict v{"throughput", used[0].name, "Bound by throughput: " + used[0].name, {}, {}};
  v.reasons.push_back(most_used + "; a part at " + percent(busy) + " or more of its peak bounds the kernel.");
  if (used.size() > 1 && used[1].share >= noticed)
    v.reasons.push_back("Next is " + used[1].name + " with " + percent(used[1].share) + ".");
  return v;
}

verdict bound_by_launch(const json& kernel) {
  const auto cycles = [&](const char* key) { return grouped(static_cast<std::uint64_t>(number_at(kernel, {key}))); };
  return {"launch",
          "launch latency",
          "Bound by the launch",
          {cycles("launch_cycles") + " cycles passed before the first block started, " + cycles("cycles") +
           " until the last one ended."},
          {}};
}

// The mean share of the time in which the SMs that the kernel may use had warps of it.
double used_sms(const json& kernel, const machine_parameters& m) {
  const double used = number_at(kernel, {"metrics", "sm_efficiency"});
  return has(kernel, {"client_sms"}) ? used * m.number("gpu.sm_count") / number_at(kernel, {"client_sms"}) : used;
}

verdict bound_by_parallelism(const json& kernel, const machine_parameters& m, const std::string& most_used) {
  const bool of_client = has(kernel, {"client_sms"});
  return {"parallelism",
          "too few blocks",
          std::string("Bound by parallelism: too few blocks for ") + (of_client ? "its client's SMs" : "this GPU"),
          {fmt::format("{} held warps of the kernel for {} of its time; its grid is {:.2f} waves (one wave fills {}).",
                       of_client ? "The client's SMs" : "SMs", percent(used_sms(kernel, m)),
                       number_at(kernel, {"waves"}), of_client ? "them" : "the GPU"),
           "More and smaller blocks help, not more SMs.", most_used + "."},
          {}};
}

verdict bound_by_latency(const json& kernel, const machine_parameters& m, const std::vector<wait_share>& waiting,
                         const std::string& most_used) {
  const wait_share wait = waiting.empty() ? wait_share{"unknown", 0} : waiting[0];
  const std::string name = name_of_wait(wait.name);
  const double eligible =
      ratio(number_at(kernel, {"metrics", "eligible_warps_per_cycle"}), std::max(1.0, m.number("sm.sub_partitions")));
  return {"latency",
          wait.name,
          "Bound by latency: " + (name.empty() ? wait.name : name),
          {"Warps spent " + percent(wait.share) + " of their time in state " + wait.name + ".",
           fmt::format("A scheduler had {:.2f} eligible warps per cycle, and issued in {} of the cycles.", eligible,
                       percent(number_at(kernel, {"metrics", "issue_slot_utilization"}))),
           "No resource is near its limit: " + most_used + "."},
          {}};
}

}  // namespace

verdict judge(const json& kernel, const machine_parameters& m) {
  if (const std::string failure = failure_of(kernel); !failure.empty())
    return {"failed", "", "The program failed", {failure, "All figures are of what ran until then."}, {}};
  std::vector<resource_use> used = speed_of_light(kernel, m);
  if (number_at(kernel, {"metrics", "inst_executed"}) == 0 || number_at(kernel, {"cycles"}) == 0 || used.empty())
    return {"nothing", "", "Nothing ran", {"The kernel executed no instruction."}, {}};
  std::stable_sort(used.begin(), used.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  const std::vector<wait_share> waiting = waits(kernel);
  const std::string most_used = used[0].name + " used " + percent(used[0].share) + " of its peak";
  const std::vector<change> of_waits = changes_for_waits(waiting, kernel, m);
  if (used[0].share >= busy) {
    verdict v = bound_by_throughput(used, most_used);
    v.changes = pick({changes_for_busy(used, kernel, m), of_waits});
    return v;
  }
  if (number_at(kernel, {"launch_cycles"}) > number_at(kernel, {"cycles"})) {
    verdict v = bound_by_launch(kernel);
    v.changes = pick({changes_for_launch(m), of_waits});
    return v;
  }
  const bool few_blocks =
      used_sms(kernel, m) < few_sms || (has(kernel, {"waves"}) && number_at(kernel, {"waves"}) < few_waves);
  verdict v = few_blocks ? bound_by_parallelism(kernel, m, most_used) : bound_by_latency(kernel, m, waiting, most_used);
  v.changes = pick({of_waits});
  return v;
}

json judgement(const json& kernel, const machine_parameters& m) {
  const verdict v = judge(kernel, m);
  json out = {{"kind", v.kind},
              {"bound", v.bound},
              {"headline", v.headline},
              {"reasons", v.reasons},
              {"changes", json::array()}};
  for (const change& c : v.changes)
    out["changes"].push_back({{"options", options_of(c)}, {"from", value_text(c.from)}, {"why", c.why}});
  out["advice"] = json::array();
  for (const advice& a : advice_for(kernel, m))
    out["advice"].push_back({{"rule", a.rule},
                             {"place", a.place},
                             {"finding", a.finding},
                             {"remedy", a.remedy},
                             {"page", a.page},
                             {"speedup", a.speedup}});
  const std::vector<wait_share> waiting = waits(kernel);
  if (!waiting.empty()) out["longest_wait"] = {{"name", waiting[0].name}, {"share", waiting[0].share}};
  out["speed_of_light"] = json::array();
  for (const resource_use& u : speed_of_light(kernel, m))
    out["speed_of_light"].push_back(
        {{"name", u.name}, {"share", u.share}, {"used", u.used}, {"peak", u.peak}, {"unit", u.unit}});
  out["roofline"] = roofline(kernel, m);
  if (json flops = flop_roofline(kernel, m); !flops.is_null()) out["flop_roofline"] = std::move(flops);
  return out;
}

}  // namespace heddle::testbench
