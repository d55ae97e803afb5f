// SPDX-License-Identifier: MIT
// Advice about accesses: how they lie in lines, banks and constants, and those that need not be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/carried_values.h"
#include "testbench/advice/line_registers.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

constexpr double line_bytes = 128;

double least_sectors(const place_sums& p) {
  return std::max(p.accesses, p.count(line_count::requested_bytes) / sector_bytes);
}

double least_passes(const place_sums& p, const time_model& t) {
  const double width = t.machine.number("shared_memory.banks") * t.machine.number("shared_memory.bank_bytes");
  return std::max(p.accesses, std::ceil(p.count(line_count::requested_bytes) / width));
}

}  // namespace

void relieve_memory_waits(relief& r, const time_model& t, bool coalesced) {
  double now = 0, then = 0;
  for (const char* part : {"L1 look-ups", "L1", "SMs to L2", "L2 to SMs", "DRAM", "DRAM rows"}) {
    now = std::max(now, t.use_of(part));
    then = std::max(then, t.left_of(part, r));
  }
  const double saved = ratio(now - then, now), beyond = 1 - t.loads_alone(coalesced);
  double less = saved * std::min(1.0, now / fully_busy), loads = saved;
  // Behind a part that is always busy warps wait only as long as they do not wait elsewhere: all of a queue goes if the
  // part is done sooner. What is found lies between that and a queue that shrinks as the work does. Coalesced accesses
  // wait for device memory next.
  const double queues = t.share_of(warp_stall::lg_throttle) + t.share_of(warp_stall::mio_throttle) +
                        t.share_of(warp_stall::drain),
               behind = queues + t.share_of(warp_stall::long_scoreboard) * beyond;
  if (!coalesced && now >= busy_part && queues > 0) {
    const double left = std::min(1.0, ratio(std::max(0.0, 1 - saved - (1 - behind)), behind));
    less = (less + 1 - left) / 2;
    loads = (loads + 1 - left) / 2;
  }
  for (const warp_stall state : {warp_stall::lg_throttle, warp_stall::mio_throttle, warp_stall::drain})
    r.states[state] = less;
  // What loads take beyond their latency they wait behind others, however seldom the path is busy in all of the time.
  r.states[warp_stall::long_scoreboard] = loads * beyond;
  // Who waits for room in the queue of the load/store unit waits for the look-ups of those before.
  r.states[warp_stall::lg_throttle] = std::max(less, r.parts["L1 look-ups"]);
  // Code that an SM reads from the L2 waits behind its data. The less busy the route is, the more remains of what
  // fetches take on an idle chip.
  const double ports = std::max(t.use_of("SMs to L2"), t.use_of("L2 to SMs"));
  if (ports < busy_part) return;
  for (const warp_stall state : {warp_stall::no_instruction, warp_stall::branch_resolving})
    r.states[state] = less * (1 - t.fetches_alone() * (1 - ports) / (1 - busy_part));
}

double speedup_by_memory(const relief& r, const time_model& t, std::initializer_list<const char*> parts) {
  double left = 0;
  for (const char* part : parts) left = std::max(left, t.left_of(part, r));
  return left > 0 ? std::min(t.speedup(r), std::max(1.0, fully_busy / left)) : t.speedup(r);
}

void relieve_load_store_queue(relief& r, const time_model& t, const char* part, double saved) {
  if (t.use_of(part) < busy_part) return;
  r.states[warp_stall::lg_throttle] =
      ratio(saved, t.moved(line_count::shared_passes) + t.moved(line_count::constant_reads) +
                       t.moved(line_count::l1_requests));
}

namespace {

/// Words that are coalesced once they are accessed as vectors, which have a rule of their own.
std::set<const place_sums*> words_of_coalesced_vectors(const time_model& t) {
  std::set<const place_sums*> words;
  for (const vector_of_words& v : vectors_of_words(t)) {
    const place_sums& first = *v.words.front();
    const double least = static_cast<double>(v.words.size()) * first.count(line_count::requested_bytes) / sector_bytes;
    if (first.count(line_count::l1_sectors) < worth_telling * least) words.insert(v.words.begin(), v.words.end());
  }
  return words;
}

/// Warp-cycles that loads of a line wait longer once they are coalesced. A thread that goes along neighbouring
/// addresses finds most of them in the L1; afterwards each access is to other lines, and compilers have four of them
/// in flight.
double waits_for_other_lines(const time_model& t, const place_sums& p, double relieved) {
  constexpr double loads_in_flight = 4;
  double longer = 0;
  for (const code_block& block : t.code.blocks) {
    double loads = 0, executed = 0, waits = 0, latency = 0, l1 = 0, l2 = 0;
    for (std::size_t k = block.first; k <= block.last; ++k) {
      const machine_step& step = t.code.steps[k];
      waits += step.loads;
      if (!step.is("LDG") || t.place_of(step.line) != p.name || step.executed == 0) continue;
      loads += 1;
      executed = std::max(executed, step.executed);
      l1 += step.l1_sectors;
      l2 += step.l2_sectors;
      if (step.l2_sectors > 0)
        latency = std::max(latency, t.round_trip(std::min(1.0, step.dram_sectors / step.l2_sectors)));
    }
    if (loads == 0) continue;
    const double least = loads * executed * ratio(least_sectors(p), p.accesses);
    const double now = std::min(1.0, ratio(l2, l1)), then = std::min(1.0, ratio(l2, least));  // misses of the L1
    const double wait = executed * std::ceil(loads / loads_in_flight) * latency * then;
    longer += std::max(0.0, then - now) * std::max(0.0, wait - waits * (1 - relieved));
  }
  return longer;
}

/// Stores that lie apart while loads do not, as of a transposition, are mended by a tile in shared memory: its loads do
/// not lie between stores any more. Each waits behind the stores before it, however seldom the path is busy in all of
/// the time, since warps store at once.
void relieve_loads_between_stores(relief& r, const time_model& t) {
  const double apart = t.loads_without({}), together = t.loads_without({"STG"});
  r.states[warp_stall::long_scoreboard] = 1 - together - (1 - apart) * (1 - r.parts["SMs to L2"]);
  const double tile =
      2 * t.machine.number("shared_memory.latency_cycles") + t.machine.number("sm.barrier_latency_cycles");
  r.lifetime -= ratio(tile * number_at(t.kernel, {"warps"}), number_at(t.kernel, {"warp_cycles", "active"}));
}

}  // namespace

void uncoalesced_accesses(const time_model& t, std::vector<advice>& to) {
  const std::set<const place_sums*> words = words_of_coalesced_vectors(t);
  const auto is = [&words](const place_sums& p) {
    return p.count(line_count::l1_sectors) >= worth_telling * least_sectors(p) && !p.contains(".local") &&
           words.count(&p) == 0;
  };
  for (const place_sums& p : joined(t, is)) {
    const double sectors = p.count(line_count::l1_sectors), accesses = p.accesses, least = least_sectors(p);
    relief r;
    const double look_ups = p.count(line_count::l1_requests);
    const double least_look_ups = std::max(accesses, least * sector_bytes / line_bytes);
    r.parts["L1 look-ups"] = ratio(look_ups - std::min(look_ups, least_look_ups), t.moved(line_count::l1_requests));
    const auto saved = [&](line_count c) {
      const double now = p.count(c);
      return ratio(now - std::min(now, least), t.moved(c));
    };
    r.parts["L1"] = saved(line_count::l1_hits);
    r.parts["SMs to L2"] = r.parts["L2 to SMs"] = saved(line_count::l2_sectors);
    r.parts["DRAM"] = saved(line_count::dram_sectors);
    const bool shifted = sectors < 1.6 * least;
    // Neighbouring sectors lie in one row.
    if (!shifted) r.parts["DRAM rows"] = ratio(p.count(line_count::dram_sectors), t.moved(line_count::dram_sectors));
    relieve_memory_waits(r, t, true);
    r.lifetime = -ratio(waits_for_other_lines(t, p, r.states[warp_stall::long_scoreboard]),
                        number_at(t.kernel, {"warp_cycles", "active"}));
    if (!shifted && p.contains("st.")) relieve_loads_between_stores(r, t);
    to.push_back(
        {shifted ? "misaligned access" : "uncoalesced access", p.name,
         fmt::format("{} sectors an access where {} would do", rounded(sectors / accesses), rounded(least / accesses)),
         shifted ? "let the first lane of a warp begin at a multiple of 128 bytes"
                 : "let neighbouring lanes access neighbouring addresses",
         speedup_by_memory(r, t)});
  }
}

void bank_conflicts(const time_model& t, std::vector<advice>& to) {
  const auto is = [&t](const place_sums& p) {
    return !is_atomic(p) && p.count(line_count::shared_passes) >= worth_telling * least_passes(p, t);
  };
  for (const place_sums& p : joined(t, is)) {
    const double passes = p.count(line_count::shared_passes), accesses = p.accesses, least = least_passes(p, t);
    const double all = t.moved(line_count::shared_passes), saved = ratio(passes - least, all);
    relief r;
    r.parts["shared memory"] = saved;
    r.states[warp_stall::mio_throttle] = saved;
    // Without a queue an access takes its latency, and a number of cycles for each further pass.
    const double latency = t.machine.number("shared_memory.latency_cycles"),
                 each = t.machine.number("shared_memory.conflict_cycles");
    const double alone =
        ratio(each * (passes - least), latency * accesses + each * (passes - accesses)) * ratio(passes, all);
    r.states[warp_stall::short_scoreboard] = r.states[warp_stall::barrier] =
        t.use_of("shared memory") >= busy_part ? saved : alone;
    relieve_load_store_queue(r, t, "shared memory", passes - least);
    to.push_back({"bank conflicts", p.name,
                  fmt::format("{} passes over the banks an access where {} would do", rounded(passes / accesses),
                              rounded(least / accesses)),
                  "pad rows, or permute columns, so that the lanes of a warp use different banks", t.speedup(r)});
  }
}

namespace {

/// Passes over the banks of an access of so many addresses in shared memory. If their number differs from access to
/// access, some lanes happen to have one address: they are the data's, and lie as random ones do. Otherwise they have
/// an order of their own, which can be laid out in different banks.
double passes_instead(double addresses, double banks) {
  if (std::abs(addresses - std::round(addresses)) < 0.001) return 1;
  const double each = ratio(addresses, banks);
  double random = 0, below = 0, of_bank = std::exp(-each);  // a bank has k addresses: Poisson
  for (unsigned k = 0; k < warp_threads; ++k) {
    below += of_bank;
    random += 1 - std::pow(std::min(1.0, below), banks);
    of_bank *= each / (k + 1);
  }
  return std::max(1.0, random);
}

}  // namespace

void constants_by_lane(const time_model& t, std::vector<advice>& to) {
  const auto is = [](const place_sums& p) { return p.count(line_count::constant_reads) >= 2 * p.accesses; };
  for (const place_sums& p : joined(t, is)) {
    const double reads = p.count(line_count::constant_reads), accesses = p.accesses;
    const double saved = ratio(reads - accesses, t.moved(line_count::constant_reads));
    relief r;
    r.parts["constant look-ups"] = saved;
    r.states[warp_stall::imc_miss] = saved;
    const double passes = accesses * passes_instead(ratio(reads, accesses), t.machine.number("shared_memory.banks"));
    const double less = reads - std::min(reads, passes);
    r.states[warp_stall::mio_throttle] = ratio(less, t.moved(line_count::constant_reads));
    relieve_load_store_queue(r, t, "constant look-ups", less);
    // Instead, an access takes the latency of shared memory, and its further passes.
    const double taken = accesses * t.machine.number("shared_memory.latency_cycles") +
                         (passes - accesses) * t.machine.number("shared_memory.conflict_cycles");
    const double instead =
        ratio(taken, number_at(t.kernel, {"warp_cycles", "active"}) * t.share_of(warp_stall::short_scoreboard));
    r.states[warp_stall::short_scoreboard] = saved * (1 - std::min(1.0, instead));
    // And each block copies the table first.
    const double copy = t.round_trip(1) + t.machine.number("sm.barrier_latency_cycles");
    r.lifetime = -ratio(copy * number_at(t.kernel, {"warps"}), number_at(t.kernel, {"warp_cycles", "active"}));
    to.push_back(
        {"constants by lane", p.name,
         fmt::format("{} different addresses an access, which are read one after another", rounded(reads / accesses)),
         "read what differs between lanes from global or shared memory", t.speedup(r)});
  }
}

namespace {

/// Accesses to local memory, and what else is not executed once a loop over it is unrolled and its arrays are
/// registers: what computes only their addresses, and the loop's own instructions.
struct local_accesses {
  place_sums all, stores, others;
  std::string worst;
};

/// Registers of values: what is loaded or stored, what is computed from loaded values, and what stored values and
/// addresses of other memory are computed from. Lines of PTX that became no machine instruction of their own are not
/// known, so the computation of an address from an index is not either.
std::set<std::string> registers_of_values(const std::vector<place_sums>& lines,
                                          const std::vector<registers_of_line>& registers) {
  std::set<std::string> loaded, stored;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].accesses == 0) continue;
    loaded.insert(registers[k].written.begin(), registers[k].written.end());
    for (const std::string& r : registers[k].read)
      if (registers[k].address.count(r) == 0 || !lines[k].contains(".local")) stored.insert(r);
  }
  for (std::size_t before = 0; before != loaded.size() + stored.size();) {
    before = loaded.size() + stored.size();
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const registers_of_line& r = registers[k];
      if (lines[k].accesses != 0) continue;
      if (meets(r.read, loaded)) loaded.insert(r.written.begin(), r.written.end());
      if (meets(r.written, stored)) stored.insert(r.read.begin(), r.read.end());
    }
  }
  loaded.insert(stored.begin(), stored.end());
  return loaded;
}

local_accesses find_local_accesses(const time_model& t) {
  local_accesses found;
  double most = 0, executed = 0;
  std::set<std::string> names;
  for (const place_sums& line : t.lines) {
    if (!line.contains(".local") || line.accesses == 0) continue;
    found.all.add(line);
    if (line.contains("st.local")) found.stores.add(line);
    names.insert(line.name);
    executed = std::max(executed, line.executed);
    if (line.count(line_count::l1_requests) <= most) continue;
    most = line.count(line_count::l1_requests);
    found.worst = line.name;
  }
  if (found.worst.empty()) return found;
  std::vector<registers_of_line> registers;
  for (const place_sums& line : t.lines) registers.push_back(registers_in(line.texts));
  const std::set<std::string> values = registers_of_values(t.lines, registers);
  const auto is_integer = [](const place_sums& line) {
    for (const char* type : {".s32", ".u32", ".b32", ".s64", ".u64", ".b64"})
      if (line.contains(type)) return true;
    return false;
  };
  for (std::size_t k = 0; k < t.lines.size(); ++k) {
    const place_sums& line = t.lines[k];
    if (line.accesses != 0 || line.executed < 0.9 * executed) continue;
    const bool loop = line.contains("bra") || line.contains("setp");
    const bool index = names.count(line.name) != 0 && is_integer(line) && !meets(registers[k].written, values);
    if (loop || index) found.others.add(line);
  }
  return found;
}

/// Of the waits for loads, 0 to 1.
struct load_waits {
  double local = 0;  // for values of local memory, and for registers that accesses to it have yet to read
  double alone = 0;  // of the others, what they would take on an idle chip
};

/// `part`: of local memory, if the machine code is not known.
load_waits waits_for_loads(const time_model& t, double part) {
  std::set<std::string> local, held;    // registers with values of local memory, and operands of accesses to it
  std::map<std::string, double> other;  // with other loaded values: warp-cycles that they take on an idle chip
  double sum = 0, own = 0, alone = 0;
  for (const machine_step& step : t.code.steps) {
    const operands o = operands_of(step);
    const bool is_load = step.is("LDL"), is_local = is_load || step.is("STL");
    double elsewhere = 0;
    for (const std::string& name : o.read)
      if (const auto from = other.find(name); from != other.end()) elsewhere = std::max(elsewhere, from->second);
    sum += step.loads;
    if (meets(o.read, local) || (elsewhere == 0 && meets(o.written, held))) {
      // In a loop over an array, the first iteration waits for the other value.
      alone += std::min(step.loads, elsewhere);
      own += step.loads - std::min(step.loads, elsewhere);
    } else {
      alone += std::min(step.loads, step.executed * t.round_trip());
    }
    for (const std::string& name : o.written) {
      local.erase(name);
      other.erase(name);
      held.erase(name);
      if (is_load) local.insert(name);
      else if (step.is("LD")) other[name] = step.executed * t.latency_of(step);
    }
    if (is_local) held.insert(o.read.begin(), o.read.end());
  }
  return sum > 0 ? load_waits{own / sum, alone / sum} : load_waits{part, 0};
}

}  // namespace

void local_memory(const time_model& t, std::vector<advice>& to) {
  const local_accesses local = find_local_accesses(t);
  if (local.worst.empty()) return;
  const double part = ratio(local.all.count(line_count::l1_requests), t.moved(line_count::l1_requests));
  double stored = 0;  // only stores carry data to the L2
  for (const place_sums& line : t.lines)
    if (line.contains("st.")) stored += line.count(line_count::l2_sectors);
  relief r;
  for (const char* p : {"L1 look-ups", "L1"}) r.parts[p] = part;
  r.parts["SMs to L2"] = ratio(local.stores.count(line_count::l2_sectors), stored);
  r.parts["L2 to SMs"] = ratio(local.all.count(line_count::l2_sectors), t.moved(line_count::l2_sectors));
  r.parts["DRAM"] = ratio(local.all.count(line_count::dram_sectors), t.moved(line_count::dram_sectors));
  // Registers have no indices that differ between threads: such an array goes to shared memory, one pass an access.
  const bool by_thread = has_local_arrays_by_thread(t.code);
  if (!by_thread) {
    const double executed = local.all.executed + local.others.executed;
    r.parts["issue slots"] = ratio(executed, number_at(t.kernel, {"metrics", "inst_executed"}));
    r.parts["ldst"] = ratio(local.all.executed, number_at(t.kernel, {"instructions", "ldst"}));
    r.parts["int"] = std::min(1.0, ratio(local.others.executed, number_at(t.kernel, {"instructions", "int"})));
  }
  // Who waits for other memory does so without arrays, too, but not behind their lines in the busiest unit of the
  // route.
  std::string busiest = "L1 look-ups";
  for (const char* p : {"SMs to L2", "L2 to SMs", "DRAM"})
    if (t.use_of(p) > t.use_of(busiest)) busiest = p;
  const double behind = r.parts[busiest] * t.use_of(busiest), all = number_at(t.kernel, {"warp_cycles", "active"});
  // What a store waits for the value that it stores, the next who reads the value will.
  double cycles = local.all.cycles + local.others.cycles - local.stores.waits(warp_stall::wait);
  for (const warp_stall state :
       {warp_stall::long_scoreboard, warp_stall::lg_throttle, warp_stall::mio_throttle, warp_stall::drain}) {
    cycles -= local.all.waits(state) + local.others.waits(state);
    const double own = std::min(1.0, ratio(local.all.waits(state), all * t.share_of(state)));
    r.states[state] = own + (1 - own) * behind;
  }
  load_waits loads = waits_for_loads(t, part);
  if (by_thread) {
    const double instead =
        (local.all.executed - local.stores.executed) * t.machine.number("shared_memory.latency_cycles");
    loads.local = std::max(0.0, loads.local - ratio(instead, all * t.share_of(warp_stall::long_scoreboard)));
    cycles = 0;
  }
  r.states[warp_stall::long_scoreboard] = loads.local + (1 - loads.local - loads.alone) * behind;
  r.lifetime = ratio(cycles, all);
  to.push_back({"local memory", local.worst,
                fmt::format("{:.0f} % of the lines looked up in the L1 are of arrays or spilled registers", 100 * part),
                by_thread
                    ? "its index differs between threads: keep the array in shared memory, a column for each thread"
                    : "index arrays by constants (unroll the loop), or let a thread have more registers",
                t.speedup(r)});
}

}  // namespace heddle::testbench
