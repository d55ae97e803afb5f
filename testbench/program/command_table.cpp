// SPDX-License-Identifier: MIT
#include "testbench/program/command_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/suggestion.h"
#include "testbench/correlate/correlate_command.h"
#include "testbench/exec/server/exec_command.h"
#include "testbench/program/places.h"
#include "testbench/report/report_command.h"
#include "testbench/run/replay_command.h"
#include "testbench/run/run_command.h"
#include "testbench/sampling/sample_command.h"
#include "testbench/sweep/sweep_command.h"
#include "testbench/text/text.h"
#include "testbench/text/text_style.h"
#include "testbench/whatif/whatif_command.h"

namespace heddle::testbench {

// The commands in the order of the help: X(name, {what follows "heddle ", its purpose}...). The source file of a
// command defines options_of_NAME(), its table of options, and NAME_command(), which runs it. A '_' is a '-' for users.
// clang-format off
#define HEDDLE_COMMANDS(X) \
  X(run, {"run JOB.json [options]", "simulate the launches of a job file"}, \
    {"run --kernel FILE.ptx[:ENTRY] ...", "simulate one launch, no file needed"}) \
  X(view, {"view JOB.json --line FILE:LINE ...", "the cycles in which a line waits most"}) \
  X(exec, {"exec [options] -- PROGRAM ...", "run a CUDA program on a simulated GPU"}) \
  X(replay, {"replay KERNELSLIST [options]", "simulate Accel-Sim SASS traces"}) \
  X(resume, {"resume CHECKPOINT [options]", "go on with a run from its checkpoint"}) \
  X(occupancy, {"occupancy --gpu G --block X ...", "the occupancy calculator"}) \
  X(gpus, {"gpus [--json]", "the shipped GPUs and their main figures"}) \
  X(config, {"config --gpu G [--set K=V]...", "a GPU's whole configuration as an INI file"}) \
  X(disasm, {"disasm FILE.ptx[:ENTRY] [--gpu G]", "the machine program of a kernel"}) \
  X(report, {"report FILE... -o REPORT.html", "one page of metrics, or of a sweep's store"}) \
  X(sweep, {"sweep SWEEP.ini [options]", "many points, on this machine or a cluster"}) \
  X(sample, {"sample KERNELSLIST|FILE.csv [options]", "a long workload's time from few launches"}) \
  X(whatif, {"whatif JOB.json [options]", "which change of the machine saves most"}) \
  X(correlate, {"correlate FILE.csv... [options]", "measurements of real chips beside Heddle's"}) \
  X(energy_fit, {"energy-fit FILE.csv [options]", "energies of a chip from measured power"}) \
  X(help, {"help [COMMAND]", "this text, or a command's options"}) \
  X(version, {"version", "the version, and where things are"}) \
  X(completion, {"completion bash|zsh|fish", "what makes a shell complete all of this"}) \
  X(man, {"man [COMMAND]", "the manual pages"})
// clang-format on

#define HEDDLE_X(name, ...)          \
  option_parser options_of_##name(); \
  int name##_command(const std::vector<std::string>& arguments);
HEDDLE_COMMANDS(HEDDLE_X)
#undef HEDDLE_X

namespace {

std::string as_typed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

const std::vector<command>& command_table() {
  static const std::vector<command> table = {
#define HEDDLE_X(name, ...) {as_typed(#name), {__VA_ARGS__}, options_of_##name, name##_command},
      HEDDLE_COMMANDS(HEDDLE_X)
#undef HEDDLE_X
  };
  return table;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const command& c : command_table()) names.push_back(c.name);
  return names;
}

const command& command_named(const std::string& name) {
  for (const command& c : command_table())
    if (name == c.name) return c;
  const std::vector<std::string> names = command_names();
  throw input_error(std::string(name[0] == '-' ? "unknown option '" : "unknown command '") + printable(name) +
                    "', expected one of " + join(names, ", ") + suggestion(name, names) + " (see heddle --help)");
}

std::string program_help() {
  constexpr int usage_width = 36;
  const text_style style = stdout_style();
  std::string text =
      style.bold("usage:") +
      " heddle COMMAND ...\nA cycle-level model of a GPU's streaming multiprocessors that runs CUDA kernels\n(PTX).\n\n" +
      style.bold("Commands:") + "\n";
  for (const command& c : command_table())
    for (const auto& [usage, purpose] : c.uses) text += fmt::format("  {:<{}}{}\n", usage, usage_width, purpose);
  text += "\nheddle COMMAND --help lists a command's options; heddle --version prints the version.\n";
  if (const std::string folder = docs_folder(); !folder.empty())
    text += "The pages are in " + folder + "; use/first_hour.md begins.\n";
  return text;
}

}  // namespace heddle::testbench
