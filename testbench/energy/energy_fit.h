// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/energy/power_measurements.h"

namespace heddle::testbench {

/// One unknown of a fit: parameters of [energy] that have the same value.
using fit_term = std::vector<std::string>;

/// The unknowns of "constant_watts,shared_pj,l1_read_hit_pj+l1_read_miss_pj"; empty text: each event of the table
/// alone, and the powers but that of idle SMs, since an SM has warps or has not. Throws input_error for energies that
/// the table does not determine.
std::vector<fit_term> fit_terms(const std::string& text, const power_measurements& m);

/// A figure that is known from elsewhere.
struct given_figure {
  std::string key;
  double value = 0;  // W or pJ
};
/// Those of "dram_read_pj=300,l2_read_hit_pj=54": any figures of [energy]. Throws input_error for what `terms` has and
/// for values that are no numbers of 0 or more.
std::vector<given_figure> given_figures(const std::string& text, const std::vector<fit_term>& terms);

/// How well a fit reproduces one kernel.
struct fitted_kernel {
  std::string name;
  double measured_watts = 0;
  double fitted_watts = 0;
  double left_out_watts = 0;  // by a fit over the other kernels

  [[nodiscard]] double fitted_error() const { return fitted_watts / measured_watts - 1; }
  [[nodiscard]] double left_out_error() const { return left_out_watts / measured_watts - 1; }
};

struct energy_fit {
  std::vector<fit_term> terms;
  std::vector<double> values;  // W or pJ, by term
  std::vector<given_figure> given;
  std::vector<fitted_kernel> kernels;
  std::vector<fit_term> arbitrary;  // terms that the kernels do not tell apart from others
  std::vector<fit_term> absent;     // terms that no kernel has events of

  /// Means of the absolute relative errors.
  [[nodiscard]] double fitted_mean() const;
  [[nodiscard]] double left_out_mean() const;
};

/// Non-negative least squares of the relative errors of power, of which `given` is a part as far as the table has their
/// events. Throws input_error unless
/// there are more kernels than terms.
energy_fit fit_energies(const power_measurements& m, const std::vector<fit_term>& terms,
                        const std::vector<given_figure>& given, unsigned sm_count);

/// What the measurements do not determine, a sentence each; often none.
std::vector<std::string> fit_warnings(const energy_fit& fit, const power_measurements& m);

/// A table in Markdown with a row for each kernel and the means.
std::string fit_table(const energy_fit& fit);
/// A configuration file: `base`, and an [energy] section in which what was not fitted is 0, but for the share of the
/// base, which measurements at one clock do not tell.
std::string fit_section(const energy_fit& fit, const power_measurements& m, const std::string& base,
                        double leakage_share);

}  // namespace heddle::testbench
