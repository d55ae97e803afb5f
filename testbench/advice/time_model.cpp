// SPDX-License-Identifier: MIT
#include "testbench/advice/time_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

using json = nlohmann::ordered_json;

namespace {

std::string text_at(const json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

place_sums sums_of(const json& line, const std::string& name) {
  place_sums p;
  p.name = name;
  p.texts = text_at(line, "text") + "\n";
  p.executed = number_at(line, {"executed"});
  p.thread_executed = number_at(line, {"thread_executed"});
  p.cycles = number_at(line, {"warp_cycles", "active"});
  const auto memory = line.find("memory");
  if (memory == line.end() || !memory->is_object()) return p;
  for (const auto& item : memory->items())
    if (item.value().is_number()) p.memory[item.key()] += item.value().get<double>();
  return p;
}

}  // namespace

double place_sums::count(const char* name_of) const {
  const auto found = memory.find(name_of);
  return found == memory.end() ? 0 : found->second;
}

void place_sums::add(const place_sums& other) {
  texts += other.texts;
  executed += other.executed;
  thread_executed += other.thread_executed;
  cycles += other.cycles;
  for (const auto& [count_name, n] : other.memory) memory[count_name] += n;
}

void time_model::add_line(const json& line, const std::string& file, std::map<std::string, std::size_t>& known) {
  if (!line.is_object()) return;
  const std::string source = text_at(line, "source"),
                    name =
                        source.empty() ? file + ":" + fmt::format("{}", number_at(line, {"line"})) : base_name(source);
  const auto [at, fresh] = known.emplace(name, places.size());
  lines.push_back(sums_of(line, name));
  if (fresh) places.push_back(lines.back());
  else places[at->second].add(lines.back());
}

time_model::time_model(const json& k, const machine_parameters& m) : kernel(k), machine(m) {
  std::map<std::string, std::size_t> known;
  if (const auto all = k.find("lines"); all != k.end() && all->is_array())
    for (const json& line : *all) add_line(line, text_at(k, "file"), known);
  for (const resource_use& u : speed_of_light(k, m)) uses_[u.name] = u.share;
  // An SM looks up one line in the L1, and one constant, in a cycle.
  const double cycles = number_at(k, {"cycles"}) * m.number("gpu.sm_count", 1);
  uses_["L1 look-ups"] = std::min(1.0, ratio(moved("l1_requests"), cycles));
  uses_["constant look-ups"] = std::min(1.0, ratio(moved("constant_reads"), cycles));
  for (const wait_share& w : waits(k)) states_[w.name] = w.share;
}

double time_model::moved(const char* count) const {
  double sum = 0;
  for (const place_sums& p : places) sum += p.count(count);
  return sum;
}

double time_model::use_of(const std::string& part) const {
  const auto found = uses_.find(part);
  return found == uses_.end() ? 0 : found->second;
}

double time_model::share_of(const std::string& state) const {
  const auto found = states_.find(state);
  return found == states_.end() ? 0 : found->second;
}

double time_model::busiest() const {
  double most = 0;
  for (const auto& [part, use] : uses_) most = std::max(most, use);
  return most;
}

double time_model::speedup(const relief& r) const {
  double bound = 0.01;
  for (const auto& [part, use] : uses_) {
    const auto found = r.parts.find(part);
    bound = std::max(bound, found == r.parts.end() ? use : use * (1 - found->second));
  }
  double lives = 1 - r.lifetime;
  for (const auto& [state, share] : r.states) lives -= share_of(state) * share;
  return std::max(1.0, 1 / std::max(bound, lives));
}

}  // namespace heddle::testbench
