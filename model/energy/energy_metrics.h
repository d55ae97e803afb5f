// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

// clang-format off
/// Where energy is spent: X(enumerator, key). The units of an SM come first, then those that SMs share, then what is
/// spent by time and not by events.
#define HEDDLE_ENERGY_UNITS(X) \
  X(control, "control")                  /* fetch, decode, scheduling, dispatch */ \
  X(registers, "registers")              /* register file */                       \
  X(fp32, "fp32")                                                                  \
  X(integer, "int")                                                                \
  X(fp64, "fp64")                                                                  \
  X(half, "half")                                                                  \
  X(sfu, "sfu")                                                                    \
  X(tensor, "tensor")                                                              \
  X(ldst, "ldst")                                                                  \
  X(branch, "branch")                                                              \
  X(texture, "texture")                                                            \
  X(shared_memory, "shared_memory")                                                \
  X(constant_cache, "constant_cache")                                              \
  X(tlb, "tlb")                                                                    \
  X(l1, "l1")                                                                      \
  X(context, "context")                  /* contexts saved and restored: all SMs */ \
  X(interconnect, "interconnect")                                                  \
  X(l2, "l2")                                                                      \
  X(dram, "dram")                                                                  \
  X(active_sms, "active_sms")            /* SMs with warps: leakage and clock */   \
  X(idle_sms, "idle_sms")                                                          \
  X(constant, "constant")                /* the board, whatever the chip does */

/// What it is spent for: X(enumerator, key). Instructions by execution unit, with their part of control and registers.
#define HEDDLE_ENERGY_CLASSES(X) \
  X(fp32, "fp32")                                                        \
  X(integer, "int")                                                      \
  X(fp64, "fp64")                                                        \
  X(half, "half")                                                        \
  X(sfu, "sfu")                                                          \
  X(tensor, "tensor")                                                    \
  X(ldst, "ldst")                                                        \
  X(branch, "branch")                                                    \
  X(texture, "texture")                                                  \
  X(replays, "replays")      /* instructions issued again */             \
  X(memory, "memory")        /* all of the memory system */              \
  X(context, "context")      /* contexts saved and restored */
// clang-format on

enum class energy_unit : std::uint8_t {
#define HEDDLE_X(name, key) name,
  HEDDLE_ENERGY_UNITS(HEDDLE_X)
#undef HEDDLE_X
      count
};
enum class energy_class : std::uint8_t {
#define HEDDLE_X(name, key) name,
  HEDDLE_ENERGY_CLASSES(HEDDLE_X)
#undef HEDDLE_X
      count
};

template <class E>
using names_by = std::array<const char*, static_cast<std::size_t>(E::count)>;
/// Keys by enumerator, whatever the argument is.
const names_by<energy_unit>& names_of(energy_unit);
const names_by<energy_class>& names_of(energy_class);
inline const char* name_of(energy_unit u) { return names_of(u)[static_cast<std::size_t>(u)]; }
inline const char* name_of(energy_class c) { return names_of(c)[static_cast<std::size_t>(c)]; }

/// Joules by the enumerators of E.
template <class E>
struct joules_by {
  std::array<double, static_cast<std::size_t>(E::count)> values{};

  double& operator[](E e) { return values[static_cast<std::size_t>(e)]; }
  double operator[](E e) const { return values[static_cast<std::size_t>(e)]; }
  void add(const joules_by& other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  }
  [[nodiscard]] double sum() const {
    double all = 0;
    for (const double v : values) all += v;
    return all;
  }
  template <class V>
  void visit(V&& v) const {
    for (std::size_t i = 0; i < values.size(); ++i) v(name_of(static_cast<E>(i)), values[i]);
  }
};

/// Dynamic energy of some units, by unit and by what it was spent for.
struct energy_sums {
  joules_by<energy_unit> units;
  joules_by<energy_class> classes;

  void add(const energy_sums& other) {
    units.add(other.units);
    classes.add(other.classes);
  }
  void exchange(state_image& image) {
    image.sparse(units.values.data(), sizeof units.values);
    image.sparse(classes.values.data(), sizeof classes.values);
  }
  /// The memory system's energy belongs to no class of instructions, since loads of several classes share its counters.
  void add_memory(energy_unit u, double joules) {
    units[u] += joules;
    classes[energy_class::memory] += joules;
  }
};

/// The energy of an SM's units in a launch or a run.
struct sm_joules {
  unsigned sm = 0;
  double dynamic = 0;
  double requests = 0;  // to the interconnect: not of its units
  double total = 0;     // its static energy included
};

/// The energy of a launch or of a run over `seconds`, without that of each SM. Static energy is spent by time, dynamic
/// energy by events.
struct energy_total {
  double seconds = 0;
  double volts = 0;  // of the core at gpu.core_clock_mhz
  double mean_clock_mhz = 0;
  double least_clock_mhz = 0;          // the lowest; 0: there is no power cap
  std::uint64_t throttled_cycles = 0;  // at a lower clock than gpu.core_clock_mhz
  double total_joules = 0;
  double static_joules = 0;
  double after_end_joules = 0;       // of total_joules: a launch's dirty lines, written back after its end
  joules_by<energy_unit> by_unit;    // sums to total_joules
  joules_by<energy_class> by_class;  // sums to total_joules - static_joules
  double idle_sm_joules = 0;         // of each SM that did nothing

  /// energy.power_cap_watts is not 0.
  [[nodiscard]] bool capped() const { return least_clock_mhz > 0; }
  /// Over `seconds`, without what was spent after them.
  [[nodiscard]] double mean_watts() const { return seconds > 0 ? (total_joules - after_end_joules) / seconds : 0; }
  [[nodiscard]] double static_share() const { return total_joules > 0 ? static_joules / total_joules : 0; }
  [[nodiscard]] double energy_delay_product() const { return total_joules * seconds; }
};

struct energy_metrics : energy_total {
  bool known = false;  // energy.account
  unsigned sms = 0;
  std::vector<sm_joules> active_sms;  // ascending; each of the others has idle_sm_joules
  double active_cycles = 0;           // of these, with warps; at the configured clock
};

/// Energy in each interval of a run, of the chip and of each SM. The intervals' joules sum to those of the run.
struct energy_series {
  std::vector<double> joules;
  std::vector<double> watts;
  std::vector<double> clock_mhz;              // mean of the core; empty without a power cap
  std::vector<std::vector<double>> sm_watts;  // by SM
};

/// Dynamic energy of a kernel by instruction of its program, J.
struct instruction_joules {
  std::vector<double> of;
  std::vector<double> of_blocks;  // of what was asked for: executions of some blocks
};

/// The energy of a context switch.
struct switch_energy {
  bool known = false;
  double transfer_joules = 0;  // contexts saved and restored
  double repeated_joules = 0;  // what flushed blocks had spent: they begin again
  // Of the SM, while its blocks save and restore contexts: from the request to the last save, and from the first
  // restore to the resumption; and for as long as flushed blocks had run in the mean. Divided among kernels by their
  // blocks. Blocks that drain go on working.
  double static_joules = 0;

  [[nodiscard]] double total_joules() const { return transfer_joules + repeated_joules + static_joules; }
};

}  // namespace heddle
