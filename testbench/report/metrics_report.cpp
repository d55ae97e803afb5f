// SPDX-License-Identifier: MIT
#include "testbench/report/metrics_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/config/parameter_table.h"
#include "heddle/metrics/json.h"
#include "testbench/report/compact_lines.h"
#include "testbench/report/report_page.h"
#include "testbench/report/verdict.h"
#include "testbench/text/json_tree.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;
using kind = json_value::kind;

// An example with an element of every kind; it defines the type of each value in a metrics file.
json example() {
  run_metrics m;
  m.stopped = "SIGINT";
  m.snapshot = true;
  m.preempt_requests.after_the_end = 1;
  kernel_metrics k;
  k.occupancy_limiters = {""};
  k.over_time.achieved_occupancy = k.over_time.active_sms = {0};
  line_metrics line;
  line.text = " ";
  line.accesses = 1;
  k.lines = {line};
  instruction_metrics one;
  one.text = " ";
  one.executed = one.thread_executed = one.flops = one.replays = one.bank_conflicts = one.accesses = 1;
  one.joules = 1;
  k.code = {one};
  m.sources = {{" ", 1, {" "}}};
  k.energy.known = true;
  k.energy.least_clock_mhz = 1;
  k.energy.sms = 1;
  k.client_name = " ";
  m.kernels = {k};
  client_metrics client;
  client.slice = " ";
  client.alone_cycles = 1;
  m.clients = {client};
  context_switch_metrics c;
  c.blocks = {0};
  c.block_modes = {""};
  c.warp_ids = c.restored_warp_ids = {0};
  c.energy.known = true;
  m.context_switches = {c};
  sm_metrics s;
  s.sub_partitions = {sub_partition_metrics()};
  s.warp_slots = {warp_slot_metrics()};
  s.occupancy_over_time = {0};
  s.inst_executed_over_time = {0};
  m.sms = {s};
  m.intervals = {{0}, {0}, {0}, {0}, {warp_state_counts()}};
  m.energy = k.energy;
  m.power = {{0}, {0}, {0}, {{0}}};
  json all = json::parse(to_json(m));
  all["tried"] = json::array(
      {{{"kind", ""}, {"change", ""}, {"options", ""}, {"status", ""}, {"cycles_before", 0}, {"cycles", 0}}});
  all["gpu"]["config"] = json::object();  // the set of parameters differs between versions
  return all;
}

// Members that the page needs; all others may be missing in files of other versions.
const std::set<std::string> needed = {"schema",
                                      "gpu",
                                      "cycles",
                                      "kernels",
                                      "sms",
                                      "gpu.name",
                                      "gpu.config",
                                      "kernels[].name",
                                      "kernels[].launch",
                                      "kernels[].start_cycle",
                                      "kernels[].end_cycle",
                                      "kernels[].cycles",
                                      "kernels[].grid",
                                      "kernels[].block",
                                      "kernels[].metrics",
                                      "kernels[].warp_cycles",
                                      "kernels[].warp_states",
                                      "kernels[].instructions",
                                      "kernels[].memory",
                                      "kernels[].theoretical_occupancy",
                                      "kernels[].occupancy_limiters"};

const char* name_of(const json& j) {
  return j.is_object()    ? "an object"
         : j.is_array()   ? "a list"
         : j.is_string()  ? "a text"
         : j.is_boolean() ? "true or false"
                          : "a number";
}

bool is_like(const json_value& v, const json& j) {
  switch (v.what) {
    case kind::null: return j.is_number();  // JSON writes NaN and infinities as null
    case kind::boolean: return j.is_boolean();
    case kind::number: return j.is_number();
    case kind::string: return j.is_string();
    case kind::array: return j.is_array();
    case kind::object: return j.is_object();
  }
  return false;
}

[[noreturn]] void refuse_at(const json_value& v, const std::string& file, const std::string& what) {
  throw input_error(file + ":" + std::to_string(v.line) + ":" + std::to_string(v.column) + ": " + what);
}

// Counts, cycles and ratios are not negative, and a 64-bit count is the largest number.
void check_number(const json_value& v, const std::string& path, const std::string& file) {
  constexpr double most = 18446744073709551615.0;
  const bool of_list = path.size() > 2 && path.compare(path.size() - 2, 2, "[]") == 0;
  const bool is_needed = needed.count(of_list ? path.substr(0, path.size() - 2) : path) != 0;
  double number = 0;
  if (v.what == kind::null ? is_needed : !parse_float(v.text, number) || !(number >= 0 && number <= most))
    refuse_at(v, file,
              "'" + path + "' is " + (v.what == kind::null ? "null" : v.text) +
                  ", expected a number from 0 to 18446744073709551615");
}

void check(const json_value& v, const json& like, const std::string& path, const std::string& file) {
  if (!is_like(v, like)) refuse_at(v, file, "'" + path + "' is not what metrics have there, expected " + name_of(like));
  if (like.is_number()) check_number(v, path, file);
  if ((path == "kernels[].grid" || path == "kernels[].block") && v.items.size() != like.size())
    refuse_at(
        v, file,
        "'" + path + "' has " + std::to_string(v.items.size()) + " numbers, expected " + std::to_string(like.size()));
  if (v.what == kind::array && !like.empty())
    for (const json_value& item : v.items) check(item, like[0], path + "[]", file);
  if (v.what != kind::object) return;
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& item : like.items())
    if (const json_value* found = v.find(item.key())) check(*found, item.value(), prefix + item.key(), file);
    else if (needed.count(prefix + item.key()) != 0)
      refuse_at(v, file, "expected metrics of Heddle, '" + prefix + item.key() + "' is missing");
}

json values_of(const gpu_config& config) {
  json_writer w;
  w.begin_object();
  write_parameters(w, config);
  w.end_object();
  return json::parse(valid_utf8(w.text()));
}

json meanings() {
  json all = json::object();
  for (const parameter& p : parameters()) all[p.name()] = without_links(p.description);
  return all;
}

// The parameters of the shipped GPU; null if there is none of that name or it cannot be read.
json preset_of(const json& gpu) {
  const auto name = gpu.value("name", std::string());
  const auto shipped = shipped_gpus();
  if (std::find(shipped.begin(), shipped.end(), name) == shipped.end()) return nullptr;
  try {
    return values_of(load_config(name));
  } catch (const input_error&) {
    return nullptr;
  }
}

// Parameters that differ from those of the shipped GPU but have no effect: the reason by name.
json without_effect(const json& values, const json& preset) {
  json all = json::object();
  if (!preset.is_object()) return all;
  gpu_config config;
  for (const parameter_reference& p : parameters_of(config)) {
    const auto found = values.find(p.about->name());
    if (found != values.end()) set_text(p, value_text(*found));
  }
  for (const auto& item : values.items()) {
    if (!preset.contains(item.key()) || preset[item.key()] == item.value()) continue;
    const std::string why = why_without_effect(config, item.key());
    if (!why.empty()) all[item.key()] = why;
  }
  return all;
}

// What `heddle whatif` has found when it tried the change; null: it was not tried.
json outcome_of(const json& change, const json& metrics) {
  for (const json& t : metrics.value("tried", json::array()))
    if (t.value("options", std::string()) == change["options"]) return t;
  return nullptr;
}

// The verdicts of the rules on each kernel.
json judgements(const json& metrics) {
  const machine_parameters machine(metrics["gpu"]["config"]);
  json all = json::array();
  for (const json& kernel : metrics["kernels"]) {
    json judged = judgement(kernel, machine);
    for (json& change : judged["changes"])
      if (json found = outcome_of(change, metrics); !found.is_null()) change["tried"] = std::move(found);
    all.push_back(std::move(judged));
  }
  return all;
}

// The name of a run in the page; for an incomplete run it says so.
std::string title_of(const std::string& name, const json& content) {
  const auto cycle = [&](const char* key) {
    const auto found = content.find(key);
    return found != content.end() && found->is_number_unsigned() ? grouped(found->get<std::uint64_t>()) : "?";
  };
  if (content.contains("stopped"))
    return name + " (stopped by " + content.value("stopped", std::string()) + " in cycle " + cycle("stopped_cycle") +
           ": what ran until then)";
  if (content.contains("snapshot_cycle"))
    return name + " (snapshot in cycle " + cycle("snapshot_cycle") + ": the run went on)";
  if (content.contains("sampled"))
    return name + " (of the blocks that were simulated: the cycles of all are under \"sampled\" in the metrics)";
  return name;
}

}  // namespace

void check_metrics(const named_metrics& metrics) {
  const json_value root = parse_json(metrics.text, metrics.name);
  const json_value* schema = root.find("schema");
  if (root.what != kind::object || schema == nullptr || schema->what != kind::string)
    refuse_at(root, metrics.name, "expected metrics of Heddle (\"schema\": \"heddle.metrics/1\"), or a sweep's store");
  if (schema->text != "heddle.metrics/1")
    refuse_at(*schema, metrics.name, "got schema '" + printable(schema->text) + "', expected 'heddle.metrics/1'");
  check(root, example(), "", metrics.name);
}

std::string report_of_metrics(const std::vector<named_metrics>& metrics) {
  json page = {
      {"schema", "heddle.report/1"}, {"version", HEDDLE_VERSION}, {"kind", "metrics"}, {"files", json::array()}};
  for (const named_metrics& m : metrics) {
    json content = json::parse(valid_utf8(m.text));
    json file = {{"name", valid_utf8(title_of(m.name, content))},
                 {"judged", judgements(content)},
                 {"preset", preset_of(content["gpu"])}};
    file["without_effect"] = without_effect(content["gpu"]["config"], file["preset"]);
    compact_lines(file, content);
    file["metrics"] = std::move(content);
    page["files"].push_back(std::move(file));
  }
  page["parameters"] = meanings();
  return page.dump();
}

}  // namespace heddle::testbench
