// SPDX-License-Identifier: MIT
// Advice about registers that a limit keeps in local memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/carried_values.h"
#include "testbench/advice/line_registers.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

/// Loads and stores of spilled registers.
struct spill_code {
  double executed = 0, loads = 0, stores = 0;
  // In loops: warp-cycles of all code and those of `cycles`, and cycles of the units for what is no spill.
  double in_loops = 0, cycles_in_loops = 0, rest_in_loops = 0;
  double cycles = 0;       // warp-cycles of these, and of the waits for what they load
  double one_load = 0;     // of `cycles`, the longest wait of a store for what another load brings
  double first_loads = 0;  // warp-cycles of loads of the program outside loops
  double look_ups = 0, dram_sectors = 0;
  double loaded = 0, stored = 0;          // sectors from and to the L2
  double all_loaded = 0, all_stored = 0;  // of all code
  unsigned worst = 0;                     // line of the PTX
};

// The first instruction that names a register of the load at `k`: it waits for it.
std::size_t user_of(const machine_code& code, std::size_t k) {
  constexpr std::size_t near = 64;
  const std::set<std::string> loaded = operands_of(code.steps[k]).written;
  for (std::size_t i = k + 1; i < std::min(code.steps.size(), k + near); ++i)
    if (meets(operands_of(code.steps[i]).read, loaded)) return i;
  return code.steps.size();
}

// Of an instruction's waits for loads, those for the program's own loads of its basic block, which remain without
// spills: each takes its latency, less what the instructions in between take.
double waits_without_spills(const time_model& t, std::size_t user) {
  const std::vector<code_block>& blocks = t.code.blocks;
  const auto block = std::find_if(blocks.begin(), blocks.end(), [user](const code_block& b) { return user <= b.last; });
  if (block == blocks.end()) return 0;
  const machine_step& waiting = t.code.steps[user];
  const std::set<std::string> needed = operands_of(waiting).read;
  double longest = 0, between = 0;
  for (std::size_t k = user; k-- > block->first;) {
    const machine_step& step = t.code.steps[k];
    if (step.is("LDL") || step.is("STL")) continue;
    if (step.is("LDG") && meets(operands_of(step).written, needed) && user_of(t.code, k) == user)
      longest = std::max(longest, t.latency_of(step) - between);
    between += ratio(step.fixed, step.executed);
  }
  return std::min(waiting.loads, waiting.executed * longest);
}

spill_code find_spills(const time_model& t) {
  spill_code found;
  double most = 0;
  std::set<std::size_t> users;
  const double warps = number_at(t.kernel, {"warps"});
  const double interval = std::max(1.0, ratio(warp_threads, t.machine.number("fp32.lanes")));
  for (std::size_t k = 0; k < t.code.steps.size(); ++k) {
    const machine_step& step = t.code.steps[k];
    const bool load = step.is("LDL");
    (step.is("ST") ? found.all_stored : found.all_loaded) += step.l2_sectors;
    const bool is_spill = (load || step.is("STL")) && !t.is_local_access(step.line), loop = step.executed > 1.5 * warps;
    if (loop) found.in_loops += step.cycles();
    if (loop && !is_spill) found.rest_in_loops += step.executed * (step.is("F") ? interval : 1);
    if (!loop && !is_spill && step.is("LD")) found.first_loads += step.cycles();
    if (!is_spill) continue;
    const std::size_t user = load ? user_of(t.code, k) : t.code.steps.size();
    const bool waits = user < t.code.steps.size() && users.insert(user).second;
    const double cycles = step.cycles() + (waits ? t.code.steps[user].loads - waits_without_spills(t, user) : 0);
    // Stores wait for what loads of the program bring, batch by batch; without them all these loads overlap.
    if (!load) found.one_load = std::max(found.one_load, step.loads);
    if (loop) found.cycles_in_loops += cycles;
    (load ? found.loads : found.stores) += step.executed;
    found.executed += step.executed;
    found.cycles += cycles;
    found.look_ups += step.look_ups;
    (load ? found.loaded : found.stored) += step.l2_sectors;
    found.dram_sectors += step.dram_sectors;
    if (found.worst != 0 && cycles <= most) continue;
    most = cycles;
    found.worst = step.line;
  }
  return found;
}

std::string limit_of(const std::string& directive, double limit) {
  if (directive == "registers_per_thread")
    return fmt::format("the job's registers_per_thread ({:.0f}), which is -maxrregcount", limit);
  if (directive == ".maxnreg") return fmt::format(".maxnreg ({:.0f}), which is __maxnreg__", limit);
  if (directive == ".minnctapersm")
    return fmt::format(".minnctapersm, which is __launch_bounds__' second number ({:.0f} registers)", limit);
  if (directive == "chip") return fmt::format("the chip ({:.0f} registers a thread)", limit);
  return fmt::format("{}, which is __launch_bounds__ ({:.0f} registers)", directive, limit);
}

}  // namespace

void register_spills(const time_model& t, std::vector<advice>& to) {
  const double bytes = number_at(t.kernel, {"spills", "bytes"}), limit = number_at(t.kernel, {"spills", "limit"});
  const spill_code spills = find_spills(t);
  if (bytes == 0 || spills.executed == 0) return;
  relief r;
  r.parts["L1 look-ups"] = r.parts["L1"] = ratio(spills.look_ups, t.moved(line_count::l1_requests));
  r.parts["SMs to L2"] = ratio(spills.stored, spills.all_stored);
  r.parts["L2 to SMs"] = ratio(spills.loaded, spills.all_loaded);
  r.parts["DRAM"] = ratio(spills.dram_sectors, t.moved(line_count::dram_sectors));
  r.parts["issue slots"] = ratio(spills.executed, number_at(t.kernel, {"metrics", "inst_executed"}));
  r.parts["ldst"] = ratio(spills.executed, number_at(t.kernel, {"instructions", "ldst"}));
  // What is left of loops takes at least the cycles of the units for all warps.
  const double sharing =
      t.resident_blocks() * std::ceil(t.threads_of_a_block() / warp_threads) / t.machine.number("sm.sub_partitions");
  const double left = std::max(spills.in_loops - spills.cycles_in_loops, spills.rest_in_loops * sharing);
  const double saved = spills.cycles - spills.cycles_in_loops + std::max(0.0, spills.in_loops - left);
  // And loads before a loop take what the path from the L2 needs for them.
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double path = t.use_of("L2 to SMs") * (1 - r.parts["L2 to SMs"]) * all;
  const double first = std::max(spills.one_load, path - spills.first_loads);
  r.lifetime = ratio(saved - std::min(saved, first), all);
  // More registers may mean fewer blocks on an SM.
  const double needed = std::min(255.0, limit + std::ceil(bytes / 4));
  const double now = t.resident_blocks(), then = std::min(now, std::max(1.0, t.blocks_that_fit(needed)));
  r.blocks = ratio(then, now);
  const std::string from = limit_of(t.kernel["spills"].value("limit_of", std::string("chip")), limit);
  to.push_back({"register spills", t.place_of(spills.worst),
                fmt::format("{:.0f} bytes a thread are spilled to local memory by {}: {:.0f} loads and {:.0f} stores a "
                            "warp",
                            bytes, from, ratio(spills.loads, number_at(t.kernel, {"warps"})),
                            ratio(spills.stores, number_at(t.kernel, {"warps"}))),
                fmt::format("allow about {:.0f} registers, or keep fewer values at a time", needed), t.speedup(r)});
}

}  // namespace heddle::testbench
