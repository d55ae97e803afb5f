// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/energy/energy_metrics.h"
#include "heddle/energy/instruction_energy.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class gpu;

/// The energy of a GPU's launches, computed from the units' counters when it is asked for: the units themselves do
/// nothing for it. All figures are up to now. `g` must outlive it.
class energy_account {
 public:
  explicit energy_account(const gpu& g);

  struct sums {
    joules_by<energy_unit> units;
    joules_by<energy_class> classes;
    void add(const sums& other) {
      units.add(other.units);
      classes.add(other.classes);
    }
  };

  /// Dynamic energy of a launch in one SM, its requests to the interconnect included.
  [[nodiscard]] sums in_sm(std::uint32_t launch, unsigned sm);
  /// Dynamic energy of a launch in the L2 and device memory.
  [[nodiscard]] sums beside_sms(std::uint32_t launch) const;
  /// Of contexts saved and restored in SMs: those of one launch, or of all.
  [[nodiscard]] double contexts_of(std::uint32_t launch) const;
  [[nodiscard]] double all_contexts() const;

  /// A launch that took so many cycles. Where launches overlap, each has the static energy of its own time.
  [[nodiscard]] energy_metrics of_launch(std::uint32_t launch, std::uint64_t cycles);
  /// All launches, from cycle 0 to `end`.
  [[nodiscard]] energy_metrics of_run(cycle_t end);
  /// Dynamic energy of a launch by instruction of its program. What the memory system spends is divided among the
  /// instructions that use it: by the bytes that their lanes ask for.
  [[nodiscard]] std::vector<double> by_instruction(std::uint32_t launch);
  [[nodiscard]] switch_energy of_switch(std::uint64_t bytes_saved, std::uint64_t bytes_restored,
                                        std::uint64_t sm_cycles) const;

  [[nodiscard]] const energy_parameters& prices() const { return prices_; }
  [[nodiscard]] double seconds(std::uint64_t cycles) const { return static_cast<double>(cycles) * cycle_seconds_; }

 private:
  const std::vector<instruction_energy>& instructions_of(std::uint32_t launch, unsigned sm);
  void add_instructions(sums& to, std::uint32_t launch, unsigned sm);
  void add_memory(sums& to, std::uint32_t launch, unsigned sm) const;
  void finish(energy_metrics& m, const sums& shared, std::uint64_t cycles, std::uint64_t active_cycles) const;

  const gpu& gpu_;
  const energy_parameters prices_;
  const double cycle_seconds_;
  std::vector<std::unique_ptr<std::vector<instruction_energy>>> programs_;  // by launch
};

/// Throws internal_error if the energies of units, of SMs and of classes do not sum to the same.
void check_sums(const energy_metrics& m);

}  // namespace heddle
