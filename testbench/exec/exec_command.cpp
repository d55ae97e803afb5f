// SPDX-License-Identifier: MIT
#include "testbench/exec/exec_command.h"

#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "heddle/config/error.h"
#include "testbench/exec/cuda_server.h"
#include "testbench/exec/free_names.h"
#include "testbench/exec/shell_words.h"
#include "testbench/options/log.h"
#include "testbench/options/options.h"
#include "testbench/run/run_command.h"
#include "testbench/run/summary.h"
#include "testbench/text/text.h"

extern char** environ;

namespace heddle::testbench {

namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libheddle_cuda.so";

/// The folder of Heddle's CUDA libraries: beside the program in a build tree, below its lib folder in an installed
/// one. Throws input_error.
std::string library_folder() {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder : {self / "cuda", self / HEDDLE_CUDA_FOLDER})
    if (fs::is_regular_file(folder / library_name, ignored)) return fs::weakly_canonical(folder, ignored).string();
  throw input_error(std::string(library_name) + " is missing: expected it in " + (self / "cuda").string() + " or " +
                    (self / HEDDLE_CUDA_FOLDER).lexically_normal().string());
}

/// The value of a path variable with this value prepended.
std::string before(const char* variable, const std::string& value) {
  const char* rest = std::getenv(variable);
  return rest != nullptr && *rest != '\0' ? value + ":" + rest : value;
}

pid_t start(const std::vector<std::string>& program, const std::string& address) {
  const std::string folder = library_folder();
  ::setenv("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", folder).c_str(), 1);
  ::setenv("LD_PRELOAD", before("LD_PRELOAD", folder + "/" + library_name).c_str(), 1);
  ::setenv("HEDDLE_SOCKET", address.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& a : program) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) throw input_error("'" + program[0] + "' cannot be started: " + std::strerror(error));
  ::unsetenv("LD_PRELOAD");
  return process;
}

const std::string* source_of(const cuda_machine& m, const std::string& file) {
  const auto found = m.sources.find(file);
  return found != m.sources.end() ? &found->second : nullptr;
}

void tell_of_functional(const run_options& o, const host_queues& queues) {
  const host_queues::functional_totals& f = queues.functional();
  if (!o.chosen.all() && !o.chosen.none && queues.launches() == 0)
    message_log::warning("none of " + std::to_string(f.launches) +
                         " launches is one that --launches and --kernel-name choose: nothing was simulated in detail");
  if (f.launches == 0 || o.quiet) return;
  std::fprintf(stderr, "%u %s executed functionally: %.1f million warp instructions in %.2f s\n", f.launches,
               f.launches == 1 ? "launch was" : "launches were", static_cast<double>(f.warp_instructions) / 1e6,
               f.seconds);
}

// Writes the results like a run, but on stderr: stdout belongs to the program.
void write_results(const run_options& o, cuda_machine& m, const cuda_server& server, const std::string& name) {
  run_outcome outcome;
  machine& chip = m.chip;
  if (server.failure().empty() && server.stop_signal() == 0 && !server.was_left_alone())
    chip.run_for(sc_core::sc_time(1, sc_core::SC_MS));  // pending write-backs complete
  chip.chip().settle_accounts();
  chip.chip().check_invariants();
  outcome.failure = server.failure();
  outcome.metrics = chip.final_metrics(m.positions, [&m](const std::string& file) { return source_of(m, file); });
  // Streams may overtake each other, so the launch order can differ from the order of calls.
  auto& kernels = outcome.metrics.kernels;
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const kernel_metrics& a, const kernel_metrics& b) { return a.launch < b.launch; });
  if (server.was_left_alone()) {
    outcome.metrics.stopped = "the end of its program";
    outcome.metrics.cut_cycle = chip.clock().cycle();
  }
  if (server.stop_signal() != 0) {
    outcome.metrics.stopped = name_of_signal(server.stop_signal());
    outcome.metrics.cut_cycle = chip.clock().cycle();
    outcome.stop_signal = server.stop_signal();
  }
  chip.write_files(outcome, name);
  tell_of_functional(o, m.queues);
  const bool nothing = m.queues.launches() == 0 && m.queues.functional().launches != 0 && outcome.failure.empty();
  if (!o.quiet && !nothing) std::fputs(summary_text(outcome, style_of(STDERR_FILENO)).c_str(), stderr);
}

[[noreturn]] void leave(int code) {
  // Skips the destructors: SystemC would destroy its modules one by one.
  std::fflush(nullptr);
  message_log::flush();
  ::_exit(code);
}

run_options options_of_environment(const std::string& program) {
  const char* text = std::getenv("HEDDLE_OPTIONS");
  std::vector<std::string> arguments = shell_words(text != nullptr ? text : "", "HEDDLE_OPTIONS");
  arguments.insert(arguments.end(), {"--", program});
  run_options o;
  std::string help;
  try {
    if (parse_exec(arguments, o, help)) throw input_error("--help is for the command line");
  } catch (const input_error& e) {
    throw input_error(std::string("HEDDLE_OPTIONS: ") + e.what());
  }
  return o;
}

// Prints the shell commands with which programs started from the shell use Heddle's library.
void tell_environment(const std::vector<std::string>& arguments) {
  std::string options;
  for (const std::string& a : arguments)
    if (a != "--environment") options += (options.empty() ? "" : " ") + shell_quoted(a);
  const std::string folder = library_folder();
  std::printf("export LD_PRELOAD=%s\nexport LD_LIBRARY_PATH=%s\nexport HEDDLE_OPTIONS=%s\n",
              shell_quoted(before("LD_PRELOAD", folder + "/" + library_name)).c_str(),
              shell_quoted(before("LD_LIBRARY_PATH", folder)).c_str(), shell_quoted(options).c_str());
}

}  // namespace

int exec_command(const std::vector<std::string>& arguments) {
  run_options o;
  std::string help;
  if (parse_exec(arguments, o, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  const std::vector<std::string>& program = o.arguments;
  message_log::install(o.level);
  run_signals signals;
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  if (o.environment) {
    tell_environment(arguments);
    return 0;
  }
  check_result_files(o, job{}, std::move(roles));
  cuda_server server(
      o, [&] { return std::make_unique<cuda_machine>(o, config); }, signals);
  const pid_t process = start(program, server.address());
  signals.note_stops();
  const int code = server.serve(process);
  if (server.used() == nullptr) {
    message_log::warning("'" + program[0] + "' has called nothing of CUDA: there is nothing to report");
  } else {
    write_results(o, *server.used(), server, program[0]);
  }
  leave(code);
}

// Runs in a simulator that was started by the library within a program. Descriptor 3 is the lifeline socket to that
// program.
int attach_command() {
  // It stays open until this process has ended, and with it has said what is wrong: the program ends then, too.
  constexpr int line = 3;
  ucred who{};
  socklen_t bytes = sizeof who;
  if (::getsockopt(line, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0)
    throw input_error(std::string(attach_request) + " is for CUDA programs with libheddle_cuda.so under them");
  const std::string name = name_of_program(who.pid);
  run_options o = options_of_environment(name);
  message_log::install(o.level);
  run_signals signals;
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  free_names names(o, who.pid, name);
  check_result_files(o, job{}, std::move(roles));
  cuda_server server(
      o, [&] { return std::make_unique<cuda_machine>(o, config); }, signals);
  signals.note_stops();
  const std::string address = server.address() + "\n";
  if (::send(line, address.data(), address.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(address.size())) return 1;
  server.serve_line(line);
  if (server.used() != nullptr) write_results(o, *server.used(), server, name);
  names.keep();
  leave(0);
}

}  // namespace heddle::testbench
