// SPDX-License-Identifier: MIT
#include "testbench/command_line.h"

#include <cstdio>
#include <cstring>
#include <new>
#include <systemc>

#include "config/error.h"
#include "testbench/info_commands.h"
#include "testbench/log.h"
#include "testbench/replay_command.h"
#include "testbench/report/report_command.h"
#include "testbench/run_command.h"
#include "testbench/sweep/sweep_command.h"
#include "testbench/text.h"

namespace heddle::testbench {

namespace {

struct command {
  const char* name;
  const char* usage;
  const char* purpose;
  int (*run)(const std::vector<std::string>&);
};

constexpr command commands[] = {
    {"run", "run JOB.json [options]", "simulate the launches of a job file", run_command},
    {"", "run --kernel FILE.ptx[:ENTRY] ...", "simulate one launch, no file needed", nullptr},
    {"replay", "replay KERNELSLIST [options]", "simulate Accel-Sim SASS traces", replay_command},
    {"occupancy", "occupancy --gpu G --threads T --regs R", "the occupancy calculator", occupancy_command},
    {"gpus", "gpus [--json]", "the shipped GPUs and their main figures", gpus_command},
    {"config", "config --gpu G [--set K=V]...", "the effective configuration as an INI file", config_command},
    {"disasm", "disasm FILE.ptx[:ENTRY] [--gpu G]", "the machine program of a kernel", disasm_command},
    {"report", "report FILE... -o REPORT.html", "one page of metrics files, or of a sweep's store", report_command},
    {"sweep", "sweep SWEEP.ini [options]", "many points, on this machine or a cluster", sweep_command},
};

void print_help() {
  std::puts(
      "usage: heddle COMMAND ...\nA cycle-level model of a GPU's streaming multiprocessors that runs CUDA kernels "
      "(PTX).\n\nCommands:");
  for (const command& c : commands) std::printf("  heddle %-40s%s\n", c.usage, c.purpose);
  std::puts("\nheddle COMMAND --help tells a command's options; heddle --version the version.");
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const command& c : commands) {
    if (*c.name) names.push_back(c.name);
  }
  if (arguments.empty()) throw input_error("expected a command: " + join(names, ", ") + "\n(see heddle --help)");
  const std::string& name = arguments[0];
  if (name == "--help" || name == "--version") {
    if (arguments.size() > 1) throw input_error("unexpected argument '" + arguments[1] + "' after " + name);
    if (name == "--help") {
      print_help();
    } else {
      std::puts("heddle " HEDDLE_VERSION);
    }
    return 0;
  }
  for (const command& c : commands) {
    if (*c.name && name == c.name) return c.run({arguments.begin() + 1, arguments.end()});
  }
  throw input_error(std::string(name[0] == '-' ? "unknown option '" : "unknown command '") + name + "'" +
                    suggestion(name, names) + ", expected one of " + join(names, ", ") + "\n(see heddle --help)");
}

int internal_fault(const std::string& what) {
  message_log::error("internal fault: " + what);
  std::fputs(
      "This is a fault in Heddle itself, not in your input. Please report it to its developers, with the command,\n"
      "the files that it reads, the lines above and what heddle --version says.\n",
      stderr);
  return 3;
}

int guarded(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const input_error& e) {
    message_log::error(e.what());
    return 2;
  } catch (const program_error& e) {
    message_log::error(e.what());
    return 1;
  } catch (const std::bad_alloc&) {
    message_log::error("out of memory on this machine; a smaller job or GPU needs less");
    return 2;
  } catch (const sc_core::sc_report& e) {
    if (std::strcmp(e.get_msg_type(), "/heddle/input") == 0) {
      message_log::error(e.get_msg());
      return 2;
    }
    return internal_fault(std::string(e.get_msg_type()) + ": " + e.get_msg() +
                          (e.get_process_name() ? std::string(" (in ") + e.get_process_name() + ")" : ""));
  } catch (const std::exception& e) {
    return internal_fault(e.what());
  }
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  message_log::install(log_level::warning);
  int code = guarded(arguments);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    message_log::error("cannot write to standard output");
    if (code == 0) code = 2;
  }
  message_log::flush();
  return code;
}

}  // namespace heddle::testbench
