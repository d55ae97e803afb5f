// SPDX-License-Identifier: MIT
#include "testbench/live/break_point.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "testbench/sweep/plan/metric_path.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

break_point::break_point(const std::map<std::string, std::string>& parameters) {
  if (parameters.size() != 1) throw input_error("expected one of cycle, line and condition");
  const auto& [name, value] = *parameters.begin();
  if (name == "line") take_line(value);
  else if (name == "condition") take_condition(value);
  else if (name == "cycle") take_cycle(value);
  else throw input_error("expected one of cycle, line and condition");
}

void break_point::take_cycle(const std::string& value) {
  std::uint64_t cycle = 0;
  if (!parse_unsigned(value, cycle)) throw input_error("cycle: expected a number");
  cycle_ = cycle;
  text_ = "cycle " + std::to_string(cycle);
}

void break_point::take_line(const std::string& text) {
  what_ = kind::line;
  text_ = text;
  const std::size_t colon = text.rfind(':');
  std::uint64_t line = 0;
  if (colon == std::string::npos || colon == 0 || !parse_unsigned(text.substr(colon + 1), line) || line == 0 ||
      line > 0xffffffffu)
    throw input_error("line: expected FILE:LINE");
  line_.file = text.substr(0, colon);
  line_.line = static_cast<std::uint32_t>(line);
}

void break_point::take_condition(const std::string& text) {
  what_ = kind::condition;
  text_ = text;
  std::istringstream in(text);
  std::string value, more;
  char* end = nullptr;
  errno = 0;
  const bool three = static_cast<bool>(in >> path_ >> compare_ >> value) && !(in >> more);
  if (three) value_ = std::strtod(value.c_str(), &end);
  const char* const known[] = {"<", "<=", ">", ">=", "==", "!="};
  if (!three || *end != '\0' || !std::isfinite(value_) ||
      std::find(std::begin(known), std::end(known), compare_) == std::end(known))
    throw input_error("condition: expected METRIC COMPARISON NUMBER, as in 'kernels.0.metrics.ipc > 1.5'");
  if (const std::string wrong = wrong_metric_path(path_, {}); !wrong.empty())
    throw input_error("condition: " + path_ + ": " + wrong);
}

const std::vector<bool>& break_point::of_line(const decoded_program& program) {
  const auto [at, fresh] = instructions_.try_emplace(&program);
  if (fresh)
    for (const auto& i : program.code) at->second.push_back(line_.holds(*program.program, i.instruction->line));
  return at->second;
}

bool break_point::line_issued(const gpu& g) {
  for (unsigned k = 0; k < g.sm_count(); ++k)
    for (const sub_partition& p : g.sm_at(k).partitions) {
      const last_issue& last = p.issue.last();
      if (last.cycle != g.cycle() || last.count == 0) continue;
      const warp_slot& w = p.at(last.warp / static_cast<unsigned>(g.sm_at(k).partitions.size()));
      if (w.program == nullptr) continue;  // it has left with this instruction
      const std::vector<bool>& in_line = of_line(*w.program);
      for (unsigned n = 0; n < last.count; ++n)
        if (last.pc + n < in_line.size() && in_line[last.pc + n]) return true;
    }
  return false;
}

bool break_point::holds(const std::string& metrics) const {
  const auto all = nlohmann::json::parse(metrics);
  std::string pointer = "/" + path_;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const nlohmann::json::json_pointer place(pointer);
  if (!all.contains(place) || !all.at(place).is_number()) return false;
  const double now = all.at(place).get<double>();
  if (compare_ == "<") return now < value_;
  if (compare_ == "<=") return now <= value_;
  if (compare_ == ">") return now > value_;
  if (compare_ == ">=") return now >= value_;
  return (now == value_) == (compare_ == "==");
}

}  // namespace heddle::testbench
