// SPDX-License-Identifier: MIT
// Advice about threads that wait for each other: at barriers, and to change one address.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"
#include "testbench/advice/serial_work.h"

namespace heddle::testbench {

namespace {

// Warps that could go on instead of waiting at a barrier would join the queues of those that go on now, those of shared
// memory and of the instruction cache among them.
double share_that_remains(const time_model& t) {
  double queues = 0;
  for (const warp_stall state : {warp_stall::not_selected, warp_stall::math_pipe_throttle, warp_stall::mio_throttle,
                                 warp_stall::lg_throttle, warp_stall::tex_throttle, warp_stall::dispatch_stall,
                                 warp_stall::long_scoreboard, warp_stall::short_scoreboard, warp_stall::no_instruction})
    queues += t.share_of(state);
  return ratio(queues, queues + t.share_of(warp_stall::barrier));
}

}  // namespace

void barriers(const time_model& t, std::vector<advice>& to) {
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double gone = 1 - share_that_remains(t);
  double executed = 0;  // barriers
  for (const place_sums& line : t.lines)
    if (line.contains("bar")) executed += line.executed;
  const double apart = ratio(number_at(t.kernel, {"metrics", "inst_executed"}), executed);
  std::map<std::string, double> of_serial_work;  // which has a rule of its own
  for (const serial_section& s : serial_sections(t))
    for (const auto& [place, waits] : s.waits) of_serial_work[place] += waits;
  for (const place_sums& p : t.places) {
    const double waits = p.waits(warp_stall::barrier) - of_serial_work[p.name];
    if (waits <= 0) continue;
    double here = 0;
    for (const place_sums& line : t.lines)
      if (line.name == p.name && line.waits(warp_stall::barrier) > 0) here += line.executed;
    relief r;
    r.states[warp_stall::barrier] = gone * ratio(waits, all * t.share_of(warp_stall::barrier));
    const bool often = apart < few_instructions;
    to.push_back({"barriers", p.name,
                  fmt::format("a warp waits {} cycles there on average, {:.0f} % of its life; {:.0f} instructions lie "
                              "between two barriers",
                              rounded(ratio(waits, here)), 100 * ratio(waits, all), apart),
                  often ? "fewer barriers: shuffles and __syncwarp within a warp, more work between two of them"
                        : "divide the work before it evenly among the warps",
                  t.speedup(r)});
  }
}

namespace {

// What remains there comes no sooner than at 80 % of its peak.
const std::initializer_list<const char*> path_to_memory = {"L1 look-ups", "L1",   "SMs to L2",
                                                           "L2 to SMs",   "DRAM", "DRAM rows"};
constexpr double one_word = 0.9;       // passes of a lane
constexpr double one_of_slices = 1.6;  // to the mean: addresses of many counters are in all slices alike

/// Changes that the lanes make.
double changes(const place_sums& p) { return ratio(p.thread_executed, p.executed) * p.accesses; }

/// Sectors of global memory that atomics change: those that came from device memory. 0: it is not known.
double sectors_changed(const time_model& t) {
  double sectors = 0;
  for (const place_sums& line : t.lines)
    if (is_atomic(line)) sectors += line.count(line_count::dram_sectors);
  return sectors;
}

/// Sectors that a block changes if it adds up all these words in its shared memory first; 0: it cannot, or it would not
/// change half as many as now.
double sectors_of_few_words(const time_model& t) {
  constexpr double most_sectors = 1024;  // 32 KiB
  double now = 0;
  for (const place_sums& line : t.lines)
    if (line.count(line_count::atomic_addresses) > 0) now += line.count(line_count::l2_sectors);
  const double sectors = sectors_changed(t);
  return sectors <= most_sectors && 2 * sectors <= ratio(now, number_at(t.kernel, {"blocks"})) ? sectors : 0;
}

/// The largest use of a part of the path to the L2's slices by atomics of global memory.
double use_by_atomics(const time_model& t) {
  double look_ups = 0, sectors = 0;
  for (const place_sums& line : t.lines) {
    if (line.count(line_count::atomic_addresses) == 0) continue;
    look_ups += line.count(line_count::l1_requests);
    sectors += line.count(line_count::l2_sectors);
  }
  return std::max(
      {t.use_of("atomics"), t.use_of("L1 look-ups") * ratio(look_ups, t.moved(line_count::l1_requests)),
       std::max(t.use_of("SMs to L2"), t.use_of("L2 to SMs")) * ratio(sectors, t.moved(line_count::l2_sectors))});
}

/// Whether some lanes wait for others: several of a warp change one address, the addresses of all are in few slices, or
/// few words are changed so often that the path to the slices is busy.
bool lanes_wait(const time_model& t, const place_sums& p) {
  if (p.count(line_count::atomic_addresses) == 0) return false;
  double all = 0;
  for (const place_sums& line : t.lines) all += t.atomic_cycles(line);
  const double clock = ratio(t.machine.number("interconnect.clock_mhz"), t.machine.number("gpu.core_clock_mhz"));
  const double busiest = t.use_of("atomics") * number_at(t.kernel, {"cycles"}) * clock;
  const bool few_slices = busiest * l2_slices(t.machine) >= one_of_slices * all;
  return changes(p) >= 2 * p.count(line_count::atomic_addresses) || (few_slices && t.use_of("atomics") >= busy_part) ||
         (sectors_of_few_words(t) > 0 && use_by_atomics(t) >= busy_part);
}

/// Core cycles that a sum over a block takes: shuffles, a barrier, one thread that adds up the warps' sums, and the
/// code of it, which is fetched.
double sum_of_block(const time_model& t) {
  constexpr double instructions = 70;
  const machine_parameters& m = t.machine;
  const double add = m.number("fp32.latency_cycles"), warps = std::ceil(t.threads_of_a_block() / warp_threads);
  const double code =
      instructions * ratio(m.number("instruction_cache.instruction_bytes"), m.number("instruction_cache.line_bytes"));
  const bool is_near = m.number("instruction_cache.launch_prefetch_bytes") > 0;
  const double fetch = std::ceil(code / (1 + m.number("instruction_cache.prefetch_lines"))) *
                       (is_near ? m.number("instruction_cache.miss_latency_cycles") : t.round_trip());
  return std::log2(warp_threads) * (m.number("ldst.shuffle_latency_cycles") + add) +
         m.number("sm.barrier_latency_cycles") + 2 * m.number("shared_memory.latency_cycles") + warps * add + fetch;
}

/// Of the instructions whose registers a scoreboard guards until a unit has read or written them, the share of global
/// atomics: behind a busy slice they wait in the SM, with their registers.
double share_of_guarded(const time_model& t) {
  double atomics = 0, all = 0;
  for (const machine_step& step : t.code.steps) {
    const bool is_global = (step.is("ATOM") && !step.is("ATOMS")) || (step.is("RED") && !step.is("REDUX"));
    if (is_global) atomics += step.executed;
    for (const char* opcode : {"LDS", "STS", "ATOMS", "STG", "STL", "MUFU", "SHFL", "F2F", "F2I", "I2F"})
      if (step.is(opcode)) all += step.executed;
  }
  return ratio(atomics, atomics + all);
}

/// Core cycles of an SM for the same changes in its shared memory, where lanes that change words of one bank take a
/// pass each. Of 32 words at random, three or four lie in one bank.
double cycles_in_shared_memory(const time_model& t, const place_sums& p) {
  constexpr double of_one_bank = 2.5;  // beside the one of equal shares
  const double addresses = std::min(warp_threads, ratio(p.count(line_count::atomic_addresses), p.accesses));
  const double passes = warp_threads / std::max(1.0, addresses) + of_one_bank;
  return ratio(p.accesses, t.machine.number("gpu.sm_count")) * passes *
         std::max({1.0, t.machine.number("shared_memory.pass_cycles"),
                   t.machine.number("shared_memory.atomic_pass_cycles")});
}

void global_atomics(const time_model& t, const place_sums& p, std::vector<advice>& to) {
  double all = 0;
  for (const place_sums& line : t.lines) all += t.atomic_cycles(line);
  const double lanes = ratio(p.thread_executed, p.executed),
               addresses = ratio(p.count(line_count::atomic_addresses), p.accesses);
  // Once a block, of as many addresses as an access has now: each by a warp of its own, if there are enough.
  const bool by_warps = addresses * warp_threads <= t.threads_of_a_block();
  // Of more addresses, in shared memory.
  const double in_block = by_warps ? 0 : sectors_of_few_words(t);
  const double requests =
      std::max(in_block, by_warps ? addresses : ratio(p.count(line_count::l1_requests), p.accesses)) *
      number_at(t.kernel, {"blocks"});
  const double saved = 1 - std::min(1.0, ratio(requests, t.atomic_cycles(p)));
  relief r;
  // Code and other data that come from a busy slice wait behind its atomics.
  const double busy = saved * std::min(1.0, use_by_atomics(t) / fully_busy);
  for (const warp_stall state : {warp_stall::lg_throttle, warp_stall::mio_throttle, warp_stall::drain})
    r.states[state] = busy;
  r.states[warp_stall::short_scoreboard] = busy * share_of_guarded(t);
  r.states[warp_stall::imc_miss] = busy * (1 - t.constants_alone());
  for (const warp_stall state : {warp_stall::no_instruction, warp_stall::branch_resolving})
    r.states[state] = busy * (1 - t.fetches_alone());
  r.states[warp_stall::long_scoreboard] = busy * (1 - t.loads_without({"ATOM", "RED"}));
  // Warps that end one after another behind the slices do so no more. What is left comes when blocks end,
  // as far apart as they started, and finds what it changes in device memory.
  r.rest = busy;
  const double all_at_once = ratio(t.use_of("atomics") * requests, all * std::max(1.0, number_at(t.kernel, {"waves"})));
  r.end = std::max(0.0, all_at_once - t.time_of_starts()) +
          ratio(t.machine.number("memory.latency_cycles"), number_at(t.kernel, {"cycles"}));
  // Instead, each takes an addition, and a block adds up.
  const double added = p.executed * t.machine.number("fp32.latency_cycles");
  r.lifetime =
      -ratio(added + number_at(t.kernel, {"warps"}) * sum_of_block(t), number_at(t.kernel, {"warp_cycles", "active"}));
  r.parts["atomics"] = saved * ratio(t.atomic_cycles(p), all);
  r.parts["SMs to L2"] = saved * ratio(p.count(line_count::l2_sectors), t.moved(line_count::l2_sectors));
  r.parts["L2 to SMs"] = r.parts["SMs to L2"];
  r.parts["L1 look-ups"] = saved * ratio(p.count(line_count::l1_requests), t.moved(line_count::l1_requests));
  double speedup = speedup_by_memory(r, t, path_to_memory);
  if (in_block > 0)
    speedup = std::min(speedup, fully_busy * ratio(number_at(t.kernel, {"cycles"}), cycles_in_shared_memory(t, p)));
  to.push_back({"atomics by address", p.name,
                fmt::format("{} lanes of a warp change {}, {} of them one after another", rounded(lanes),
                            addresses < 1.05 ? std::string("one address") : rounded(addresses) + " addresses",
                            rounded(ratio(p.count(line_count::atomic_turns), p.accesses))),
                "add up within the warp (__reduce_add_sync, shuffles) and the block first, then one atomic a block",
                std::max(1.0, speedup)});
}

void shared_atomics(const time_model& t, const place_sums& p, std::vector<advice>& to) {
  const double passes = p.count(line_count::shared_passes), accesses = p.accesses;
  if (passes < 2 * accesses) return;
  const double all = t.moved(line_count::shared_passes), saved = ratio(passes - accesses, all);
  const double latency = t.machine.number("shared_memory.latency_cycles"),
               each = t.machine.number("shared_memory.atomic_interval_cycles");
  const double alone =
      ratio(each * (passes - accesses), latency * accesses + each * (passes - accesses)) * ratio(passes, all);
  relief r;
  r.parts["shared memory"] = saved;
  r.states[warp_stall::mio_throttle] = saved;
  r.states[warp_stall::short_scoreboard] = t.use_of("shared memory") >= busy_part ? saved : alone;
  relieve_load_store_queue(r, t, "shared memory", passes - accesses);
  // A sum of one word is kept in a register, and no atomic lies between loads any more.
  if (passes >= one_word * p.thread_executed)
    r.states[warp_stall::long_scoreboard] = std::max(0.0, t.loads_alone() - t.loads_without({"ATOM", "RED"}));
  // At a barrier warps wait for others, which have less to wait for themselves.
  double relieved = 0;
  for (const auto& [state, share] : r.states) relieved += share * t.share_of(state);
  r.states[warp_stall::barrier] = ratio(relieved, 1 - t.share_of(warp_stall::barrier));
  to.push_back({"atomics by address", p.name,
                fmt::format("{} passes over the banks an access: lanes that change one address take one each",
                            rounded(passes / accesses)),
                "add up within the warp first, or give each lane or warp a copy of the counters",
                speedup_by_memory(r, t, path_to_memory)});
}

}  // namespace

void atomics_by_address(const time_model& t, std::vector<advice>& to) {
  const auto is_shared = [](const place_sums& p) { return is_atomic(p) && p.contains(".shared"); };
  const auto is_global = [&t](const place_sums& p) {
    return is_atomic(p) && !p.contains(".shared") && lanes_wait(t, p);
  };
  for (const place_sums& p : joined(t, is_shared)) shared_atomics(t, p, to);
  for (const place_sums& p : joined(t, is_global)) global_atomics(t, p, to);
}

}  // namespace heddle::testbench
