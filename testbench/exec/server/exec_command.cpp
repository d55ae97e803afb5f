// SPDX-License-Identifier: MIT
#include "testbench/exec/server/exec_command.h"

#include <dlfcn.h>
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
#include "heddle/config/message.h"
#include "testbench/exec/remote_memory.h"
#include "testbench/exec/server/cuda_server.h"
#include "testbench/exec/server/free_names.h"
#include "testbench/files/executable.h"
#include "testbench/options/log.h"
#include "testbench/options/options.h"
#include "testbench/record/run_recorder.h"
#include "testbench/run/run_command.h"
#include "testbench/run/summary.h"
#include "testbench/sanitize/sanitize_text.h"
#include "testbench/text/shell_words.h"
#include "testbench/text/text.h"

#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
extern "C" void __asan_init();
#endif

namespace heddle::testbench {

namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libheddle_cuda.so";
constexpr int refused_by_library = 2;  // exit code of a program that the library ends with a message of its own

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

/// The run time of AddressSanitizer, followed by a colon, where this program and with it the CUDA library is
/// built with it. It is preloaded first: most programs bring none.
std::string sanitizer_library() {
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
  Dl_info about;
  if (::dladdr(reinterpret_cast<void*>(&__asan_init), &about) != 0 && about.dli_fname != nullptr)
    return fs::weakly_canonical(about.dli_fname).string() + ":";
#endif
  return "";
}

/// The libraries that are loaded before those of the program. The loader takes spaces for the ends of names there; it
/// finds a bare name by LD_LIBRARY_PATH, which may have spaces. Throws input_error.
std::string preloaded(const std::string& folder) {
  if (folder.find_first_of(":;") != std::string::npos)
    throw input_error("the folder '" + printable(folder) + "' has a ':' or ';' in its name: no program can load " +
                      library_name + " from there");
  const bool is_bare = folder.find_first_of(" \t\n") != std::string::npos;
  return sanitizer_library() + (is_bare ? "" : folder + "/") + library_name;
}

/// The library is loaded before that of AddressSanitizer, which otherwise ends a program for it. The user's own choice
/// comes later, and counts.
std::string asan_options() {
  const char* own = std::getenv("ASAN_OPTIONS");
  std::string allowed = "verify_asan_link_order=0";
  // A program's own leaks are not Heddle's. Each library has its own operator new, over one malloc.
  if (!sanitizer_library().empty()) allowed += ":detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1";
  return own != nullptr && *own != '\0' ? allowed + ":" + own : allowed;
}

/// The value of a path variable with this value prepended.
std::string before(const char* variable, const std::string& value) {
  const char* rest = std::getenv(variable);
  return rest != nullptr && *rest != '\0' ? value + ":" + rest : value;
}

/// The file that posix_spawnp() starts; a name without '/' is looked up in PATH. Empty: none.
std::string file_of_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code ignored;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, ignored)) return file;
  }
  return "";
}

pid_t start(const std::vector<std::string>& program, const std::string& address) {
  const std::string folder = library_folder();
  ::setenv("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", folder).c_str(), 1);
  ::setenv("LD_PRELOAD", before("LD_PRELOAD", preloaded(folder)).c_str(), 1);
  ::setenv("ASAN_OPTIONS", asan_options().c_str(), 1);
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

void report_functional_launches(const run_options& o, const host_queues& queues) {
  const host_queues::functional_totals& f = queues.functional();
  if (!o.chosen.all() && !o.chosen.none && queues.launches() == 0)
    message_log::warning("none of " + std::to_string(f.launches) +
                         " launches is one that --launches and --kernel-name choose: nothing was simulated in detail");
  if (f.launches == 0 || o.quiet) return;
  std::fprintf(stderr, "%u %s executed functionally: %.1f million warp instructions in %.2f s\n", f.launches,
               f.launches == 1 ? "launch was" : "launches were", static_cast<double>(f.warp_instructions) / 1e6,
               f.seconds);
}

// Writes the results like a run, but on stderr: stdout belongs to the program. False: a trace was wanted, and there is
// none.
bool write_results(const run_options& o, cuda_machine& m, const cuda_server& server, const std::string& name) {
  run_outcome outcome;
  machine& chip = m.chip;
  if (!server.is_broken() && server.stop_signal() == 0 && !server.was_left_alone()) chip.drain();
  chip.chip().settle_accounts();
  chip.chip().check_invariants();
  outcome.failure = server.failure();
  outcome.metrics = chip.final_metrics();
  for (kernel_metrics& k : outcome.metrics.kernels)
    if (const auto why = m.failed.find(k.launch); why != m.failed.end())
      k.failed = why->second.substr(0, why->second.find('\n'));
  // Streams may overtake each other, so the launch order can differ from the order of calls.
  auto& kernels = outcome.metrics.kernels;
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const kernel_metrics& a, const kernel_metrics& b) { return a.launch < b.launch; });
  if (server.was_left_alone()) {
    outcome.metrics.stopped = "the end of its program";
    outcome.metrics.cut_cycle = chip.clock().cycle();
  }
  if (server.ended_programs()) {
    outcome.metrics.stopped = "--end-after";
    outcome.metrics.cut_cycle = chip.clock().cycle();
  }
  if (server.stop_signal() != 0) {
    outcome.metrics.stopped = name_of_signal(server.stop_signal());
    outcome.metrics.cut_cycle = chip.clock().cycle();
    outcome.stop_signal = server.stop_signal();
  }
  chip.write_files(outcome, name);
  report_functional_launches(o, m.queues);
  const bool nothing = m.queues.launches() == 0 && m.queues.functional().launches != 0 && outcome.failure.empty();
  if (!o.quiet && !nothing) std::fputs(summary_text(outcome, style_of(STDERR_FILENO)).c_str(), stderr);
  return !outcome.untraced;
}

// Makes the machine of a run. A view of chosen modules needs it before the program starts, and so does the page of the
// run: a name that no module has, or a port that is in use, is reported then.
std::function<std::unique_ptr<cuda_machine>()> maker_of_machine(const run_options& o, const gpu_config& config,
                                                                std::unique_ptr<cuda_machine>& made) {
  if (!o.vcd_file.empty() || !o.pipeline_file.empty() || o.serves) made = std::make_unique<cuda_machine>(o, config);
  return [&] { return made ? std::move(made) : std::make_unique<cuda_machine>(o, config); };
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
  if (std::find(arguments.begin(), arguments.end(), "--") != arguments.end())
    throw input_error("HEDDLE_OPTIONS: unexpected argument '--', expected options without a program");
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

// The outputs that can be judged before a program starts: a name with %p or %n in its folder has none yet, and a
// relative one may belong to another folder.
run_options with_known_outputs(run_options o) {
  for (std::string* file : {&o.metrics_file, &o.report_file, &o.sanitize_file, &o.vcd_file, &o.timeline_file,
                            &o.pipeline_file, &o.record_folder}) {
    std::error_code ignored;
    const bool is_pattern = file->find('/', std::min(file->find('%'), file->size())) != std::string::npos;
    const bool is_relative = fs::path(*file).is_relative() && *file != "-" && !fs::is_directory(*file, ignored);
    if (is_pattern || is_relative) file->clear();
  }
  return o;
}

// Prints the shell commands with which programs started from the shell use Heddle's library.
void print_environment(const std::vector<std::string>& arguments) {
  std::string options;
  for (const std::string& a : arguments)
    if (a != "--environment") options += (options.empty() ? "" : " ") + shell_quoted(a);
  const std::string folder = library_folder();
  std::printf("export LD_PRELOAD=%s\nexport LD_LIBRARY_PATH=%s\nexport ASAN_OPTIONS=%s\nexport HEDDLE_OPTIONS=%s\n",
              shell_quoted(before("LD_PRELOAD", preloaded(folder))).c_str(),
              shell_quoted(before("LD_LIBRARY_PATH", folder)).c_str(), shell_quoted(asan_options()).c_str(),
              shell_quoted(options).c_str());
}

}  // namespace

int exec_command(const std::vector<std::string>& arguments) {
  run_options o;
  std::string help;
  if (parse_exec(arguments, o, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  message_log::install(o.level);
  run_signals signals;
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  if (o.environment) {
    check_result_files(with_known_outputs(o), job{}, std::move(roles));
    print_environment(arguments);
    return 0;
  }
  check_program_files(o, std::move(roles));
  run_program(o, config, signals);
}

void check_program_files(const run_options& o, file_roles roles) {
  if (o.sanitizes) static_cast<void>(kinds_of_text(o.sanitize));
  if (!o.record_folder.empty()) run_recorder::check(o.record_folder);
  const std::string file = file_of_program(o.arguments[0]);
  const std::string defect = defect_of_executable(file);
  if (!defect.empty()) throw input_error("'" + o.arguments[0] + "' " + defect);
  roles.add_input(file, "the program");
  check_result_files(o, job{}, std::move(roles));
}

void run_program(const run_options& o, const gpu_config& config, run_signals& signals) {
  const std::vector<std::string>& program = o.arguments;
  std::unique_ptr<cuda_machine> made;
  cuda_server server(o, maker_of_machine(o, config, made), signals);
  const pid_t process = start(program, server.address());
  signals.note_stops(true);
  const int code = server.serve(process);
  made.reset();  // removes what was begun for it
  if (server.used() == nullptr) {
    if (code != refused_by_library)
      message_log::warning("'" + program[0] + "' has called nothing of CUDA: there is nothing to report");
  } else {
    server.note_leaks();
    if (sanitizer* const checks = server.used()->chip.checks(); checks != nullptr && code != 0) checks->interrupted();
    const bool traced = write_results(o, *server.used(), server, program[0]);
    const sanitizer* const checks = server.used()->chip.checks();
    const bool found = checks != nullptr && print_findings(*checks, o.quiet) != 0;
    leave(server.ended_programs() || (code == 0 && (found || !traced)) ? 1 : code);
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
  // Before anything can fail: the library then knows that the reason was reported.
  const std::string hello = wire::protocol_line() + "\n";
  if (::send(line, hello.data(), hello.size(), MSG_NOSIGNAL) < 0) return 1;
  const std::string name = name_of_program(who.pid);
  run_options o = options_of_environment(name);
  message_log::install(o.level);
  run_signals signals;
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  free_names names(o, who.pid, name);
  roles.add_input("/proc/" + std::to_string(who.pid) + "/exe", "the program");
  check_result_files(o, job{}, std::move(roles));
  std::unique_ptr<cuda_machine> made;
  cuda_server server(o, maker_of_machine(o, config, made), signals);
  signals.note_stops();
  const std::string address = server.address() + "\n";
  if (::send(line, address.data(), address.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(address.size())) return 1;
  server.serve_line(line);
  made.reset();
  if (!server.was_left_alone()) server.note_leaks();
  if (server.used() != nullptr) write_results(o, *server.used(), server, name);
  if (server.used() != nullptr && o.sanitizes) print_findings(*server.used()->chip.checks(), o.quiet);
  names.keep();
  leave(0);
}

}  // namespace heddle::testbench
