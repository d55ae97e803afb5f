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

// The innermost line of a .cu file: what is inlined from the toolkit's headers can be changed by no user.
std::string own_place(const json& line) {
  const std::string source = text_at(line, "source");
  const auto is_own = [](const std::string& place) { return place.find(".cu:") != std::string::npos; };
  const auto calls = line.find("called_at");
  if (is_own(source) || calls == line.end() || !calls->is_array()) return source;
  for (const json& call : *calls)
    if (call.is_string() && is_own(call.get<std::string>())) return call.get<std::string>();
  return source;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

place_sums sums_of(const json& line, const std::string& name) {
  place_sums p;
  p.name = name;
  p.texts = text_at(line, "text") + "\n";
  p.executed = number_at(line, {"executed"});
  p.thread_executed = number_at(line, {"thread_executed"});
  p.cycles = number_at(line, {"warp_cycles", "active"});
  if (const auto states = line.find("warp_states"); states != line.end() && states->is_object())
    for (const auto& item : states->items())
      if (item.value().is_number()) p.states[item.key()] += item.value().get<double>();
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

double place_sums::waits(const char* state) const {
  const auto found = states.find(state);
  return found == states.end() ? 0 : found->second;
}

void place_sums::add(const place_sums& other) {
  texts += other.texts;
  executed += other.executed;
  thread_executed += other.thread_executed;
  cycles += other.cycles;
  for (const auto& [count_name, n] : other.memory) memory[count_name] += n;
  for (const auto& [state, n] : other.states) states[state] += n;
}

void time_model::add_line(const json& line, const std::string& file, std::map<std::string, std::size_t>& known) {
  if (!line.is_object()) return;
  const std::string source = own_place(line), name = source.empty()
                                                         ? file + ":" + fmt::format("{}", number_at(line, {"line"}))
                                                         : base_name(source);
  const auto [at, fresh] = known.emplace(name, places.size());
  lines.push_back(sums_of(line, name));
  if (fresh) places.push_back(lines.back());
  else places[at->second].add(lines.back());
}

bool is_atomic(const place_sums& p) {
  for (const char* opcode : {"atom.", "red."})
    for (std::size_t at = p.texts.find(opcode); at != std::string::npos; at = p.texts.find(opcode, at + 1))
      if (at == 0 || p.texts[at - 1] == ' ' || p.texts[at - 1] == '\t' || p.texts[at - 1] == '\n') return true;
  return false;
}

double most_addresses(const place_sums& p) {
  constexpr double sector_bytes = 32;
  const double bytes = ratio(p.count("requested_bytes"), p.thread_executed);
  return std::max(1.0, ratio(p.count("l2_sectors"), p.executed) * ratio(sector_bytes, bytes));
}

bool share_addresses(const place_sums& p) {
  if (!is_atomic(p) || p.contains(".shared") || p.executed == 0) return false;
  return p.thread_executed >= 2 * most_addresses(p) * p.executed;
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
  uses_["atomics"] = std::min(1.0, ratio(all_atomic_cycles(), number_at(k, {"cycles"})));
  for (const wait_share& w : waits(k)) states_[w.name] = w.share;
}

double time_model::atomic_cycles(const place_sums& atomic) const {
  const double clock = ratio(machine.number("interconnect.clock_mhz"), machine.number("gpu.core_clock_mhz"));
  const double each = machine.number("l2.atomic_occupancy_cycles"), most = machine.number("l2.atomic_limit_cycles");
  double further = (ratio(atomic.thread_executed, atomic.executed) - 1) *
                   (each > 0 ? each : machine.number("l2.atomic_interval_cycles"));
  if (each == 0 && most > 0) further = std::min(further, most);
  return ratio(atomic.executed * (1 + further), clock);
}

double time_model::all_atomic_cycles() const {
  double sum = 0;
  for (const place_sums& line : lines)
    if (share_addresses(line)) sum += atomic_cycles(line);
  return sum;
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
