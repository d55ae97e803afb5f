// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/config/parameters.h"

namespace heddle {

/// The core voltage of a run: energy.volts or, if that is 0, what follows from the core clock.
double core_volts(const gpu_config& config);
/// The same at another core clock.
double core_volts(const gpu_config& config, double clock_mhz);
/// The core voltage for which the figures of the [energy] section hold.
double reference_volts(const energy_parameters& e);

/// The power of an SM without events at a core clock to that at the reference clock: the part that leaks goes with the
/// voltage, that of the clock with frequency and the square of the voltage.
double static_ratio(const gpu_config& config, double clock_mhz);

/// The [energy] section at the core clock and voltage of the run: energies of the chip go with the square of the
/// voltage, powers of SMs with static_ratio(). Device memory and the board have supplies of their own. Energies of
/// operands and data are those at the run's operand_activity.
energy_parameters prices_of(const gpu_config& config);

constexpr double joules_per_pj = 1e-12;
constexpr double joules(double events, double pj) { return events * pj * joules_per_pj; }
/// A count as a number. Counts are below 2^63, so that the processor has an instruction for it.
constexpr double number_of(std::uint64_t count) { return static_cast<double>(static_cast<std::int64_t>(count)); }
constexpr double joules(std::uint64_t events, double pj) { return joules(number_of(events), pj); }

}  // namespace heddle
