// SPDX-License-Identifier: MIT
// Advice about work of few threads between two barriers, or behind the last one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/block_times.h"
#include "testbench/advice/carried_values.h"
#include "testbench/advice/rules.h"
#include "testbench/advice/serial_work.h"

namespace heddle::testbench {

namespace {

constexpr double few_threads = 8;          // of a warp
constexpr double few_of_block = 0.125;     // of a block's threads
constexpr double long_without_loop = 100;  // instructions
constexpr double few_values = 8;           // that are loaded and stored

bool is_one_of(const machine_step& step, std::initializer_list<const char*> opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(), [&step](const char* opcode) { return step.is(opcode); });
}

bool is_access(const machine_step& step) {
  return (step.is("LD") && !step.is("LDC")) || (step.is("ST") && !step.is("STL"));
}

// What waits in a queue for memory, shared memory included, and what does for other units.
bool is_of_memory(const machine_step& step) { return step.is("LD") || step.is("ST") || step.is("SHFL"); }

/// Sums over the steps of a section.
struct section_sums {
  double executed = 0, cycles = 0, accesses = 0, of_memory = 0, shared = 0, look_ups = 0, fp32 = 0, integers = 0;
  bool divides = true;  // no step that others see at once, or that ends some of the threads
  bool loops = false;
  bool loads_global = false;
};

section_sums sums_of(const machine_code& code, const std::set<std::size_t>& blocks) {
  section_sums s;
  for (const std::size_t block : blocks) {
    for (const std::size_t next : code.blocks[block].next)
      s.loops = s.loops || (blocks.count(next) != 0 && next <= block);
    for (std::size_t k = code.blocks[block].first; k <= code.blocks[block].last; ++k) {
      const machine_step& step = code.steps[k];
      s.executed += step.executed;
      s.cycles += step.cycles();
      if (is_access(step)) s.accesses += step.executed;
      if (is_of_memory(step)) s.of_memory += step.executed;
      if (step.is("LDS") || step.is("STS")) s.shared += step.executed;
      s.loads_global = s.loads_global || step.is("LDG") || step.is("LD.");
      s.look_ups += step.look_ups;
      if (is_one_of(step, {"FADD", "FMUL", "FFMA", "FSETP"})) s.fp32 += step.executed;
      if (is_one_of(step, {"IADD", "IMAD", "ISETP", "LOP", "SH", "LEA"})) s.integers += step.executed;
      s.divides = s.divides && !is_one_of(step, {"ATOM", "RED", "MEMBAR", "BAR", "NANOSLEEP"}) &&
                  !(step.is("EXIT") && step.text[0] == '@');
    }
  }
  return s;
}

// The barrier at which the paths from a branch meet, or soon after; steps.size(): none.
std::size_t barrier_behind(const machine_code& code, std::size_t meeting) {
  constexpr std::size_t near = 16;
  if (meeting >= code.blocks.size()) return code.steps.size();
  const std::size_t first = code.blocks[meeting].first;
  for (std::size_t k = first; k < std::min(code.steps.size(), first + near); ++k) {
    if (code.steps[k].is("BAR")) return k;
    if (code.steps[k].is("BRA") || code.steps[k].is("EXIT")) break;
  }
  return code.steps.size();
}

/// The rest of the kernel once a section's instructions are not in its queues any more.
class queues_without {
 public:
  queues_without(const time_model& t, const serial_section& s, const section_sums& sums) : code_(t.code), section_(s) {
    double all = 0, of_memory = 0;
    for (const machine_step& step : code_.steps) {
      all += step.executed;
      if (is_of_memory(step)) of_memory += step.executed;
    }
    all_ = ratio(sums.executed, all);
    of_memory_ = ratio(sums.of_memory, of_memory);
  }

  // Warp-cycles that end: of queues, and at barriers before which warps were apart because of queues. `at`: of the
  // barriers, by step.
  double ended(std::vector<std::pair<std::size_t, double>>& at) const {
    double ended = 0, left = 0;
    for (std::size_t k = 0; k < code_.steps.size(); ++k) {
      if (is_inside(k)) continue;
      const machine_step& step = code_.steps[k];
      const double part = is_of_memory(step) ? of_memory_ : all_;
      ended += part * step.queues;
      left += (1 - part) * step.queues;
      if (!step.is("BAR")) continue;
      if (k != section_.barrier) {
        at.emplace_back(k, std::max(all_, of_memory_) * std::max(0.0, step.barriers - left));
        ended += at.back().second;
      }
      left = 0;
    }
    return ended;
  }

 private:
  [[nodiscard]] bool is_inside(std::size_t step) const {
    return std::any_of(section_.blocks.begin(), section_.blocks.end(), [&](std::size_t block) {
      return code_.blocks[block].first <= step && step <= code_.blocks[block].last;
    });
  }

  const machine_code& code_;
  const serial_section& section_;
  double all_ = 0, of_memory_ = 0;  // the section's part of instructions
};

// Whole warps do the same in fewer instructions.
void relieve_parts(const time_model& t, serial_section& s, const section_sums& sums, double lanes) {
  const double gone = 1 - lanes / warp_threads;
  s.parts["issue slots"] = gone * ratio(sums.executed, number_at(t.kernel, {"metrics", "inst_executed"}));
  s.parts["fp32"] = gone * ratio(sums.fp32, number_at(t.kernel, {"instructions", "fp32"}));
  s.parts["int"] = gone * std::min(1.0, ratio(sums.integers, number_at(t.kernel, {"instructions", "int"})));
  s.parts["ldst"] = gone * ratio(sums.accesses, number_at(t.kernel, {"instructions", "ldst"}));
  s.parts["shared memory"] = gone * ratio(sums.shared, t.moved(line_count::shared_passes));
  s.parts["L1 look-ups"] = gone * ratio(sums.look_ups, t.moved(line_count::l1_requests));
}

// Divided, it takes its part of the time, a load if there is one, and steps that bring the parts together.
void weigh(const time_model& t, serial_section& s, const section_sums& sums, double passes) {
  const double block = t.threads_of_a_block(), warps = std::ceil(block / warp_threads);
  const double step = t.machine.number("shared_memory.latency_cycles") + t.machine.number("fp32.latency_cycles");
  s.cycles = ratio(sums.cycles, passes);
  s.then = std::min(s.cycles, s.cycles * s.threads / block + std::log2(block / s.threads) * step +
                                  (sums.loads_global ? t.round_trip() : 0));
  const double part = 1 - ratio(s.then, s.cycles);
  if (s.ends_kernel) {
    std::vector<std::pair<std::size_t, double>> at;
    const double ended = ratio(queues_without(t, s, sums).ended(at), number_at(t.kernel, {"warps"}));
    s.of_block = std::min(0.99, part * ratio(s.cycles + ended, block_times(t).block));
    for (const auto& [k, cycles] : at) s.waits[t.place_of(t.code.steps[k].line)] += part * cycles;
    return;
  }
  const machine_step& barrier = t.code.steps[s.barrier];
  const double waits = part * std::min(barrier.barriers, sums.cycles * (warps - 1));
  s.waits[t.place_of(barrier.line)] += waits;
  std::vector<std::pair<std::size_t, double>> others;
  s.saved = part * sums.cycles + waits + part * queues_without(t, s, sums).ended(others);
  for (const auto& [k, cycles] : others) s.waits[t.place_of(t.code.steps[k].line)] += part * cycles;
}

// The section that some threads go through behind a block of the code, and where the others wait; empty: there is none.
serial_section section_behind(const machine_code& code, std::size_t block) {
  serial_section s;
  const code_block& b = code.blocks[block];
  s.branch = b.last;
  s.barrier = code.steps.size();
  s.ends_kernel = b.next.size() == 1 && code.steps[b.last].is("EXIT");
  if (b.next.size() < 2 && !s.ends_kernel) return s;
  const std::size_t end = s.ends_kernel ? code.blocks.size() : code.meeting(block);
  if (!s.ends_kernel) s.barrier = barrier_behind(code, end);
  if (!s.ends_kernel && (s.barrier == code.steps.size() || code.steps[s.barrier].barriers == 0)) return s;
  for (const std::size_t next : b.next)
    if (next != end) s.blocks.merge(code.reached(next, end));
  if (s.blocks.count(block) != 0) s.blocks.clear();
  return s;
}

}  // namespace

std::vector<serial_section> serial_sections(const time_model& t) {
  std::vector<serial_section> found;
  const machine_code& code = t.code;
  for (std::size_t block = 0; block < code.blocks.size(); ++block) {
    serial_section s = section_behind(code, block);
    if (s.blocks.empty()) continue;
    const machine_step& first = code.steps[code.blocks[*s.blocks.begin()].first];
    const double passes = first.executed, lanes = ratio(first.lanes, passes);
    s.threads = ratio(first.lanes, s.ends_kernel ? number_at(t.kernel, {"blocks"})
                                                 : ratio(code.steps[s.barrier].lanes, t.threads_of_a_block()));
    if (passes == 0 || lanes > few_threads || s.threads > few_of_block * t.threads_of_a_block()) continue;
    const section_sums sums = sums_of(code, s.blocks);
    const double instructions = ratio(sums.executed, passes);
    if (!sums.divides || instructions < (sums.loops ? few_instructions : long_without_loop)) continue;
    if (sums.accesses < few_values * passes || follows_loaded_values(code, s.blocks)) continue;
    weigh(t, s, sums, passes);
    relieve_parts(t, s, sums, lanes);
    found.push_back(std::move(s));
  }
  return found;
}

void serial_work(const time_model& t, std::vector<advice>& to) {
  for (const serial_section& s : serial_sections(t)) {
    relief r;
    r.parts = s.parts;
    r.lifetime = s.ends_kernel ? s.of_block : ratio(s.saved, number_at(t.kernel, {"warp_cycles", "active"}));
    const double most = std::max(1.0, ratio(fully_busy, t.busiest(r)));
    to.push_back(
        {"serial work", t.place_of(t.code.steps[s.branch].line),
         fmt::format(
             "{} of {:.0f} threads work{} for {:.0f} cycles, and the others {}; divided among all it would take "
             "about {:.0f}",
             rounded(s.threads), t.threads_of_a_block(), s.threads < 1.05 ? "s" : "", s.cycles,
             s.ends_kernel ? "have ended, but no other block gets their places" : "wait at the barrier behind it",
             s.then),
         "give each thread a part, and bring the parts together by shuffles", std::min(most, t.speedup(r))});
  }
}

}  // namespace heddle::testbench
