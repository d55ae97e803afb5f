// SPDX-License-Identifier: MIT
// heddle energy-fit: an [energy] section from measured power.
#include <cstdio>
#include <filesystem>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "testbench/energy/energy_fit.h"
#include "testbench/files/file_roles.h"
#include "testbench/files/result_files.h"
#include "testbench/options/log.h"
#include "testbench/options/option_parser.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

option_parser options_of_energy_fit() {
  option_parser p("energy-fit", "energy-fit MEASUREMENTS.csv [-o FILE.ini] [options]",
                  "Fits the energies of a chip to kernels whose power and events were measured, by non-negative least "
                  "squares.");
  p.operands("MEASUREMENTS.csv");
  p.group("Options");
  p.value("gpu", "NAME|FILE.ini", "the chip that was measured (default: v100)");
  p.value("terms", "KEY[+KEY][,KEY...]",
          "the figures to fit, keys of [energy]; those joined by + have one value (default: each event of the table "
          "alone, and the powers but idle_sm_watts)");
  p.value("given", "KEY=VALUE[,KEY=VALUE...]", "figures that are known: their energy is not fitted");
  p.value("output,o", "FILE.ini", "write a configuration file: the chip as its base, and an [energy] section");
  p.flag("quiet", "no table on stdout");
  p.flag("help,h", "this text");
  p.note("The page model/energy.md describes the columns of the table and what is computed.");
  p.example("energy-fit tests/hardware/energy/v100_power.csv --gpu v100 -o mine.ini", "25 kernels on a V100");
  return p;
}

int energy_fit_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_energy_fit();
  if (p.parse(arguments)) {
    std::fputs(p.help().c_str(), stdout);
    return 0;
  }
  if (p.positionals().empty()) p.fail("expected a table of measurements");
  const std::string gpu = p.has("gpu") ? p.text("gpu") : "v100";
  const std::string& table = p.positionals()[0];
  const gpu_config chip = load_config(gpu);
  const unsigned sm_count = chip.gpu.sm_count;
  // A file is named as seen from anywhere: --output may be in another folder.
  const bool is_file = gpu.find('/') != std::string::npos || ends(gpu, ".ini");
  const std::string base = is_file ? std::filesystem::absolute(gpu).string() : gpu;
  result_files files;
  if (p.has("output")) {
    file_roles roles;
    roles.add_input(table, "measurements");
    roles.add_output(p.text("output"), "--output");
  }
  const power_measurements measured = read_measurements(table, sm_count);
  const std::vector<fit_term> terms = fit_terms(p.has("terms") ? p.text("terms") : "", measured);
  const std::vector<given_figure> given =
      p.has("given") ? given_figures(p.text("given"), terms) : std::vector<given_figure>();
  const energy_fit fit = fit_energies(measured, terms, given, sm_count);
  for (const std::string& warning : fit_warnings(fit, measured)) message_log::warning(warning);
  if (p.has("output"))
    files.add(p.text("output"), fit_section(fit, measured, base, chip.energy.leakage_share), "--output");
  files.commit();
  if (!p.has("quiet")) std::fputs(fit_table(fit).c_str(), stdout);
  return 0;
}

}  // namespace heddle::testbench
