// SPDX-License-Identifier: MIT
#include "testbench/advice/time_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "testbench/advice/carried_values.h"
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
  p.accesses = number_at(line, {"memory", "accesses"});
  if (const auto states = line.find("warp_states"); states != line.end() && states->is_object())
    for (const auto& item : states->items())
      if (warp_stall s{}; item.value().is_number() && find_stall(item.key(), s))
        p.states[s] += item.value().get<double>();
  const auto memory = line.find("memory");
  if (memory == line.end() || !memory->is_object()) return p;
  for (const auto& item : memory->items())
    if (item.value().is_number()) p.memory[item.key()] += item.value().get<double>();
  return p;
}

// A channel opens a row at most each t_rrd, or as many as in t_faw, once a bank has closed the one before: with all
// banks in use, each waits for its own a part of t_rc on average.
double use_of_rows(const json& kernel, const machine_parameters& m) {
  const double closed = m.number("dram.t_rc_cycles"), banks = m.number("dram.banks") * m.number("dram.ranks");
  const double bank = closed > 0 ? closed : m.number("dram.t_ras_cycles") + m.number("dram.t_rp_cycles");
  const double each = std::max(m.number("dram.t_rrd_cycles"), m.number("dram.t_faw_cycles") / 4) + ratio(bank, banks);
  const double clock = ratio(m.number("dram.clock_mhz"), m.number("gpu.core_clock_mhz"));
  return std::min(1.0, ratio(each * number_at(kernel, {"memory", "dram", "row_misses"}),
                             number_at(kernel, {"cycles"}) * clock * m.number("memory.channels")));
}

// L2 cycles for which the atomics of a line occupy atomic units.
double unit_cycles(const place_sums& atomic, const machine_parameters& m) {
  const double each = m.number("l2.atomic_occupancy_cycles"), most = m.number("l2.atomic_limit_cycles");
  if (atomic.count(line_count::atomic_addresses) == 0) return 0;
  const double requests = atomic.count(line_count::l1_requests);
  double further = ratio(atomic.count(line_count::atomic_turns) - requests, requests) *
                   (each > 0 ? each : m.number("l2.atomic_interval_cycles"));
  if (each == 0 && most > 0) further = std::min(further, most);
  return std::max(requests * (1 + further), atomic.count(line_count::l2_sectors) * m.number("l2.atomic_sector_cycles"));
}

}  // namespace

double place_sums::count(line_count c) const {
  const auto found = memory.find(name_of(c));
  return found == memory.end() ? 0 : found->second;
}

double place_sums::waits(warp_stall s) const {
  const auto found = states.find(s);
  return found == states.end() ? 0 : found->second;
}

void place_sums::add(const place_sums& other) {
  texts += other.texts;
  executed += other.executed;
  thread_executed += other.thread_executed;
  cycles += other.cycles;
  accesses += other.accesses;
  for (const auto& [count_name, n] : other.memory) memory[count_name] += n;
  for (const auto& [state, n] : other.states) states[state] += n;
}

void time_model::add_line(const json& line, const std::string& file, std::map<std::string, std::size_t>& known) {
  if (!line.is_object()) return;
  const std::string source = own_place(line), name = source.empty()
                                                         ? file + ":" + fmt::format("{}", number_at(line, {"line"}))
                                                         : base_name(source);
  const auto [at, fresh] = known.emplace(name, places.size());
  by_number_.emplace(static_cast<unsigned>(number_at(line, {"line"})), lines.size());
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

time_model::time_model(const json& k, const machine_parameters& m) : kernel(k), machine(m), code(k) {
  std::map<std::string, std::size_t> known;
  if (const auto all = k.find("lines"); all != k.end() && all->is_array())
    for (const json& line : *all) add_line(line, text_at(k, "file"), known);
  for (const resource_use& u : speed_of_light(k, m)) uses_[u.name] = u.share;
  // An SM looks up one line in the L1, and one constant, in a cycle.
  const double cycles = number_at(k, {"cycles"}) * m.number("gpu.sm_count");
  uses_["L1 look-ups"] = std::min(1.0, ratio(moved(line_count::l1_requests), cycles));
  uses_["constant look-ups"] = std::min(1.0, ratio(moved(line_count::constant_reads), cycles));
  const double clock = ratio(m.number("interconnect.clock_mhz"), m.number("gpu.core_clock_mhz"));
  // The array of a slice takes its time for each sector that its atomics change, too.
  double units = 0, slices = 0;
  for (const place_sums& line : lines) {
    units += unit_cycles(line, m);
    slices += atomic_cycles(line);
  }
  const double busiest = number_at(k, {"busiest_atomic_unit_cycles"}) * std::max(1.0, ratio(slices, units));
  uses_["atomics"] = std::min(1.0, ratio(busiest, number_at(k, {"cycles"}) * clock));
  uses_["DRAM rows"] = use_of_rows(k, m);
  for (const wait_share& w : waits(k))
    if (warp_stall s{}; find_stall(w.name, s)) states_[s] = w.share;
  ends_ = std::min(
      1.0, time_of_starts() + ratio(m.number("cwd.dispatch_latency_cycles") + round_trip(), number_at(k, {"cycles"})));
  const double life = ratio(number_at(k, {"warp_cycles", "active"}), number_at(k, {"warps"}));
  in_life_ = std::min(1.0, ratio(std::max(1.0, std::ceil(number_at(k, {"waves"}))) * life, number_at(k, {"cycles"})));
}

double time_model::atomic_cycles(const place_sums& atomic) const {
  const double written = machine.number("l2.write_interval_cycles") * atomic.count(line_count::l2_sectors);
  return atomic.count(line_count::atomic_addresses) == 0 ? 0 : std::max(unit_cycles(atomic, machine), written);
}

double time_model::round_trip(double dram_share) const {
  return round_trip() + dram_share * machine.number("memory.latency_cycles");
}

double time_model::round_trip() const {
  return machine.number("l2.latency_cycles") *
         ratio(machine.number("gpu.core_clock_mhz"), machine.number("interconnect.clock_mhz"));
}

double time_model::loads_alone(bool coalesced) const { return loads_without({}, coalesced); }

double time_model::latency_of(const machine_step& load, bool coalesced) const {
  if (load.executed == 0) return 0;
  const double look_ups = load.look_ups / load.executed, sectors = std::max(1.0, ratio(load.l1_sectors, load.look_ups));
  // An access waits for its last line, so one from afar is enough.
  const auto share = [&](double from) {
    return std::min(1.0, coalesced ? ratio(from, load.l1_sectors) : from / sectors / load.executed);
  };
  const double missed = share(load.l2_sectors), read = share(load.dram_sectors);
  return (1 - missed) * machine.number("l1.latency_cycles") + missed * round_trip(std::min(1.0, ratio(read, missed))) +
         (coalesced ? 0 : std::max(0.0, look_ups - 1));
}

double time_model::loads_alone(const code_block& block, bool overlap, bool coalesced) const {
  struct origin {
    unsigned depth = 0;  // loads one after another that the value needs
    double ready = 0;    // when the last of them has come, in cycles of a warp from the begin of the block
  };
  std::map<std::string, origin> values;  // by register
  std::map<unsigned, double> longest;    // by depth
  double sum = 0, now = 0;
  for (std::size_t k = block.first; k <= block.last; ++k) {
    const machine_step& step = code.steps[k];
    if (step.executed == 0) continue;
    const operands o = operands_of(step);
    origin from;
    for (const std::string& name : o.read)
      if (const auto value = values.find(name); value != values.end()) {
        from.depth = std::max(from.depth, value->second.depth);
        from.ready = std::max(from.ready, value->second.ready);
      }
    const double latency = from.depth == 0 ? round_trip() : std::max(0.0, from.ready - now);  // 0: of a load before
    const double wait = std::min(step.loads, step.executed * latency);
    sum += wait;
    longest[from.depth] = std::max(longest[from.depth], wait);
    now += (step.fixed + wait) / step.executed;
    if (step.is("LDG")) from = {from.depth + 1, now + latency_of(step, coalesced)};
    for (const std::string& name : o.written) values[name] = from;
  }
  if (!overlap) return sum;
  sum = 0;
  for (const auto& [depth, wait] : longest) sum += wait;
  return sum;
}

std::vector<code_block> time_model::blocks_without(std::initializer_list<const char*> opcodes) const {
  const auto has_one = [&](const code_block& block) {
    for (std::size_t k = block.first; k <= block.last; ++k)
      for (const char* opcode : opcodes)
        if (code.steps[k].executed > 0 && code.steps[k].is(opcode)) return true;
    return false;
  };
  std::vector<code_block> all;
  for (std::size_t at = 0; at < code.blocks.size(); ++at) {
    std::size_t end = at;  // of the shortest loop that begins here
    for (std::size_t last = at + 1; last < code.blocks.size() && end == at; ++last)
      for (const std::size_t next : code.blocks[last].next)
        if (next == at) end = last;
    const code_block loop{code.blocks[at].first, code.blocks[end].last, {}};
    const bool joined = end != at && has_one(loop);
    all.push_back(joined ? loop : code.blocks[at]);
    if (joined) at = end;
  }
  return all;
}

double time_model::loads_without(std::initializer_list<const char*> opcodes, bool coalesced) const {
  double now = 0, least = 0;
  for (const code_block& block : blocks_without(opcodes)) {
    bool apart = false;
    for (std::size_t k = block.first; k <= block.last; ++k) {
      const machine_step& step = code.steps[k];
      now += step.loads;
      apart = apart || std::any_of(opcodes.begin(), opcodes.end(), [&step](const char* o) { return step.is(o); });
    }
    least += loads_alone(block, apart, coalesced);
  }
  return ratio(least, now);
}

double time_model::constants_alone() const {
  double now = 0, least = 0;
  for (const machine_step& step : code.steps) {
    now += step.constants;
    least += std::min(step.constants, step.executed * machine.number("constant_cache.miss_latency_cycles"));
  }
  return ratio(least, now);
}

std::vector<double> time_model::times_of_code_lines() const {
  const double each =
      ratio(machine.number("instruction_cache.line_bytes"), machine.number("instruction_cache.instruction_bytes"));
  std::vector<double> times;
  for (std::size_t k = 0; k < code.steps.size(); ++k) {
    const machine_step& step = code.steps[k];
    const auto at = static_cast<std::size_t>(static_cast<double>(k) / each);
    if (at >= times.size()) times.resize(at + 1, 0);
    if (step.executed == 0) continue;
    times[at] += std::max(1.0, ratio(step.fixed, step.executed));
  }
  return times;
}

double time_model::fetches_alone() const {
  const auto prefetched = static_cast<std::size_t>(machine.number("instruction_cache.prefetch_lines"));
  const std::vector<double> times = times_of_code_lines();
  double alone = 0, end = 0;  // of the line before
  std::vector<double> begun(times.size(), 0);
  for (std::size_t at = 0; at < times.size(); ++at) {
    if (times[at] == 0) continue;
    // A line is prefetched when the first of the lines before it is begun.
    std::size_t first = at;
    while (first > 0 && at - first < prefetched && times[first - 1] > 0) --first;
    begun[at] = std::max(end, (first == at ? end : begun[first]) + round_trip());
    alone += begun[at] - end;
    end = begun[at] + times[at];
  }
  const double now = (share_of(warp_stall::no_instruction) + share_of(warp_stall::branch_resolving)) *
                     number_at(kernel, {"warp_cycles", "active"});
  return std::min(1.0, ratio(alone * number_at(kernel, {"warps"}), now));
}

double time_model::time_of_starts() const {
  const double sms = machine.number("gpu.sm_count");
  const double blocks = std::min(number_at(kernel, {"blocks"}), number_at(kernel, {"blocks_per_sm"}) * sms);
  return ratio(machine.number("cwd.dispatch_interval_cycles") * blocks, number_at(kernel, {"cycles"}));
}

double time_model::threads_of_a_block() const {
  double threads = 1;
  for (const json& d : kernel.value("block", json::array())) threads *= d.is_number() ? d.get<double>() : 1;
  return threads;
}

double time_model::resident_blocks() const {
  const double each = std::ceil(ratio(number_at(kernel, {"blocks"}), machine.number("gpu.sm_count")));
  return std::max(1.0, std::min(number_at(kernel, {"blocks_per_sm"}), each));
}

double time_model::blocks_that_fit(double registers) const {
  const auto up = [](double v, double unit) { return std::ceil(v / std::max(1.0, unit)) * std::max(1.0, unit); };
  const double all = machine.number("sm.registers"), unit = machine.number("sm.register_allocation_unit");
  const double warps = std::ceil(threads_of_a_block() / warp_threads), bare = registers * warp_threads;
  if (machine.config().sm.register_allocation == choice::register_allocation::block)
    return std::floor(ratio(all, up(up(warps, machine.number("sm.warp_allocation_granularity")) * bare, unit)));
  const double parts = machine.number("sm.sub_partitions");
  return std::floor(std::floor(ratio(all / parts, up(bare, unit))) * parts / warps);
}

std::size_t time_model::index_of(unsigned line) const {
  const auto found = by_number_.find(line);
  return found == by_number_.end() ? lines.size() : found->second;
}

std::string time_model::place_of(unsigned line) const {
  const auto found = by_number_.find(line);
  return found == by_number_.end() ? "" : lines[found->second].name;
}

bool time_model::is_local_access(unsigned line) const {
  const auto found = by_number_.find(line);
  if (found == by_number_.end()) return false;
  const place_sums& at = lines[found->second];
  return at.contains(".local") || at.contains(".param") || at.contains("call") || at.contains("ret;");
}

bool time_model::differ(double number) const {
  const auto differs = [number](double executed) {
    const double iterations = ratio(executed, number);
    return std::abs(iterations - std::round(iterations)) >= 0.01;
  };
  if (code.steps.empty())
    return std::any_of(lines.begin(), lines.end(), [&](const place_sums& p) { return differs(p.executed); });
  return std::any_of(code.steps.begin(), code.steps.end(), [&](const machine_step& s) { return differs(s.executed); });
}

// If all have as much to do, they end one after another all the same, behind each other in queues.
bool time_model::warps_differ() const { return differ(number_at(kernel, {"warps"})); }

// A short branch that few take makes no block longer than others.
bool time_model::has_equal_blocks() const {
  constexpr double noticed = 0.05;
  double all = 0, unequal = 0;
  for (const machine_step& step : code.steps) {
    const double each = ratio(step.executed, number_at(kernel, {"blocks"}));
    all += step.cycles();
    if (std::abs(each - std::round(each)) >= 0.01) unequal += step.cycles();
  }
  return !code.steps.empty() && unequal < noticed * all && !has_loops_by_thread(code);
}

bool time_model::has_equal_warps() const {
  return !code.steps.empty() && !warps_differ() && !has_loops_by_thread(code);
}

double time_model::moved(line_count c) const {
  double sum = 0;
  for (const place_sums& p : places) sum += p.count(c);
  return sum;
}

double time_model::use_of(const std::string& part) const {
  const auto found = uses_.find(part);
  return found == uses_.end() ? 0 : found->second;
}

double time_model::share_of(warp_stall state) const {
  const auto found = states_.find(state);
  return found == states_.end() ? 0 : found->second;
}

double time_model::left_of(const std::string& part, const relief& r) const {
  auto found = r.parts.find(part);
  if (found == r.parts.end() && part == "DRAM rows") found = r.parts.find("DRAM");
  return use_of(part) * (1 - (found == r.parts.end() ? 0 : found->second));
}

double time_model::busiest(const relief& r) const {
  double most = 0;
  for (const auto& [part, use] : uses_) most = std::max(most, left_of(part, r));
  return most;
}

double time_model::speedup(const relief& r) const {
  const double bound = std::max(0.001, busiest(r));
  double lives = 1 - r.lifetime, queues = 0;
  for (const auto& [state, share] : r.states) lives -= share_of(state) * share;
  for (const auto& [state, share] : states_) {
    const auto found = r.states.find(state);
    if (is_queue(state)) queues += found == r.states.end() ? share : share * (1 - found->second);
  }
  queues = std::clamp(lives, 0.0, queues);
  lives = queues + (lives - queues) / r.blocks;
  double rest = std::min(lives, 1 - r.rest);
  if (busiest() >= fully_busy) rest = std::min(rest, bound / busiest());
  const double then = ends_ + r.end + (1 - ends_) * (in_life_ * lives + (1 - in_life_) * rest);
  return std::max(1.0, 1 / std::max(bound, then));
}

}  // namespace heddle::testbench
