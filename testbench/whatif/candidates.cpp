// SPDX-License-Identifier: MIT
#include "testbench/whatif/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/config/parameter_table.h"
#include "testbench/report/changes.h"
#include "testbench/report/verdict.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;
using kind = candidate::kind;

// Sections that are no machine's, or whose parameters are energies.
constexpr const char* other_sections[] = {"energy", "tlm", "host_link"};
// Choices that name or replace a whole machine.
constexpr const char* other_choices[] = {"gpu.compute_capability", "dram.preset", "dram.standard", "memory.model"};

bool is_smaller_better(parameter_unit u) {
  return u == parameter_unit::cycles || u == parameter_unit::l2_cycles || u == parameter_unit::dram_cycles ||
         u == parameter_unit::us;
}

/// What a run used of the machine.
class used_parts {
 public:
  explicit used_parts(const json& metrics) : switches_(!metrics.value("context_switches", json::array()).empty()) {
    for (const json& k : metrics.value("kernels", json::array())) {
      clusters_ = clusters_ || k.contains("cluster");
      copies_ = copies_ || k.value("memory", json::object()).contains("bulk");
      const json counts = k.value("instructions", json::object());
      for (const auto& [unit, count] : counts.items())
        if (count.is_number() && count.get<double>() > 0) units_.insert(unit);
        else unused_.insert(unit);
    }
  }
  [[nodiscard]] bool has(const std::string& section) const {
    if (section == "context") return switches_;
    if (section == "cluster") return clusters_;
    if (section == "tma") return copies_;
    return unused_.count(section) == 0 || units_.count(section) != 0;
  }

 private:
  bool switches_;
  bool clusters_ = false;
  bool copies_ = false;                   // bulk ones
  std::set<std::string> units_, unused_;  // sections of execution units
};

/// Makes changes of one parameter after the other.
class parameter_changes {
 public:
  parameter_changes(const json& metrics, std::string gpu, std::vector<std::string> overrides)
      : machine_(metrics.at("gpu").at("config")),
        used_(metrics),
        gpu_(std::move(gpu)),
        overrides_(std::move(overrides)),
        config_(load_config(gpu_, overrides_)),
        known_(all_changes(machine_)) {}

  /// `sooner`: in the direction that may be faster; otherwise in the other one.
  [[nodiscard]] std::vector<candidate> numbers(bool sooner) const {
    std::vector<candidate> all;
    for (const parameter& p : parameters()) {
      if (!p.is_number() || p.is_list || !may_change(p)) continue;
      const bool doubles = is_smaller_better(p.unit) != sooner;
      gpu_config config = config_;
      double now = 0;
      if (!parse_float(text_of(p, config), now) || !(now > 0)) continue;
      const bool whole = std::holds_alternative<unsigned*>(p.in(config));
      double to = doubles ? now * 2 : now / 2;
      if (whole) to = std::floor(to);
      if (to > 0 && to != now && p.range.holds(to))
        add(all, doubles ? kind::twice : kind::half, p, fmt::format("{:.10g}", to));
    }
    for (candidate& c : all) c.sooner = sooner;
    return all;
  }

  [[nodiscard]] std::vector<candidate> choices() const {
    std::vector<candidate> all;
    for (const parameter& p : parameters()) {
      gpu_config config = config_;
      const bool is_switch = std::holds_alternative<bool*>(p.in(config));
      if ((!p.is_choice() && !is_switch) || !may_change(p)) continue;
      const std::vector<std::string> names = is_switch ? std::vector<std::string>{"true", "false"} : p.choices;
      for (const std::string& name : names)
        if (name != text_of(p, config)) add(all, kind::choice, p, name);
    }
    return all;
  }

  [[nodiscard]] candidate advised(const change& c) const {
    candidate made{kind::advice, {{c.key, value_text(c.to)}}, value_text(c.from), c.why};
    for (const auto& [key, value] : c.also) made.settings.emplace_back(key, value_text(value));
    return made;
  }

  /// Whether the machine can be built with these settings.
  [[nodiscard]] bool is_legal(const candidate& c) const {
    std::vector<std::string> all = overrides_;
    for (const auto& [key, value] : c.settings) all.push_back(key + "=" + value);
    try {
      load_config(gpu_, all);
      return true;
    } catch (const input_error&) {
      return false;
    }
  }

 private:
  [[nodiscard]] bool may_change(const parameter& p) const {
    const auto is = [](const auto& list, const std::string& name) {
      return std::find(std::begin(list), std::end(list), name) != std::end(list);
    };
    if (p.source == parameter_source::setting || p.source == parameter_source::power) return false;
    if (is(other_sections, p.section) || is(other_choices, p.name())) return false;
    return used_.has(p.section) && why_without_effect(config_, p.name()).empty();
  }

  void add(std::vector<candidate>& to, kind what, const parameter& p, const std::string& value) const {
    gpu_config config = config_;
    candidate c{what, {{p.name(), value}}, text_of(p, config), ""};
    // A rule of the report knows what must change with it.
    for (const change& k : known_)
      if (k.key == p.name() && value_text(k.to) == value)
        for (const auto& [key, v] : k.also) c.settings.emplace_back(key, value_text(v));
    if (is_legal(c)) to.push_back(std::move(c));
  }

  machine_parameters machine_;
  used_parts used_;
  std::string gpu_;
  std::vector<std::string> overrides_;
  gpu_config config_;
  std::vector<change> known_;
};

}  // namespace

const char* name_of(candidate::kind k) {
  switch (k) {
    case kind::advice: return "advice";
    case kind::twice: return "twice";
    case kind::half: return "half";
    case kind::choice: return "choice";
    case kind::pair: return "pair";
  }
  return "";
}

std::string candidate::options() const {
  std::string text;
  for (const auto& [key, value] : settings) text += (text.empty() ? "--set " : " --set ") + key + "=" + value;
  return text;
}

std::string candidate::text() const {
  if (what == kind::pair) return from;
  return settings.front().first + ": " + from + " -> " + settings.front().second;
}

std::vector<candidate> candidates_of(const json& metrics, const std::string& gpu,
                                     const std::vector<std::string>& overrides) {
  const parameter_changes changes(metrics, gpu, overrides);
  const machine_parameters machine(metrics.at("gpu").at("config"));
  std::vector<candidate> all;
  std::set<std::string> seen;
  const auto take = [&](candidate c) {
    if (changes.is_legal(c) && seen.insert(c.options()).second) all.push_back(std::move(c));
  };
  for (const json& kernel : metrics.value("kernels", json::array()))
    for (const change& c : judge(kernel, machine).changes) take(changes.advised(c));
  for (candidate& c : changes.numbers(true)) take(std::move(c));
  for (candidate& c : changes.choices()) take(std::move(c));
  for (candidate& c : changes.numbers(false)) take(std::move(c));
  return all;
}

std::vector<candidate> pairs_of(const std::vector<candidate>& best) {
  std::vector<candidate> all;
  for (std::size_t a = 0; a < best.size(); ++a)
    for (std::size_t b = a + 1; b < best.size(); ++b) {
      candidate c{kind::pair, best[a].settings, best[a].text() + ", " + best[b].text(), ""};
      std::set<std::string> keys;
      for (const auto& [key, value] : best[a].settings) keys.insert(key);
      const bool apart = std::none_of(best[b].settings.begin(), best[b].settings.end(),
                                      [&](const auto& s) { return keys.count(s.first) != 0; });
      if (!apart) continue;
      c.settings.insert(c.settings.end(), best[b].settings.begin(), best[b].settings.end());
      all.push_back(std::move(c));
    }
  return all;
}

}  // namespace heddle::testbench
