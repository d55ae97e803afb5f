// SPDX-License-Identifier: MIT
// heddle view: the cycles in which a line waits most. One process simulates the job to find them, another one to write
// them.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "testbench/exec/server/exec_command.h"
#include "testbench/files/passing_folder.h"
#include "testbench/job/job_parser.h"
#include "testbench/options/log.h"
#include "testbench/run/replay_command.h"
#include "testbench/run/run_command.h"
#include "testbench/sweep/engine/stop_signals.h"
#include "testbench/text/shell_words.h"
#include "testbench/text/text.h"
#include "testbench/views/line_view.h"

namespace heddle::testbench {

namespace {

/// A child process. In the child, is_here() holds.
class other_process {
 public:
  /// Its standard output is dropped, and its messages go to the file `messages`, if one is given.
  other_process(const stop_signals& signals, const std::string& messages) {
    message_log::flush();
    std::fflush(nullptr);
    process_ = ::fork();
    if (process_ < 0) throw input_error(std::string("cannot start a process: ") + std::strerror(errno));
    if (process_ != 0) return;
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    signals.restore();
    redirect("/dev/null", STDIN_FILENO);
    redirect("/dev/null", STDOUT_FILENO);
    if (!messages.empty()) redirect(messages, STDERR_FILENO);
  }
  [[nodiscard]] bool is_here() const { return process_ == 0; }
  /// Waits for its end, and passes on the signals that would end this process. Returns its exit code.
  [[nodiscard]] int wait(const stop_signals& signals) const {
    constexpr unsigned at_least_each = 1000;  // milliseconds
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(process_, &status, WNOHANG);
      if (ended == process_ || (ended < 0 && errno != EINTR)) break;
      const int number = signals.wait(at_least_each);
      if (number != 0 && number != SIGCHLD) ::kill(process_, number);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static void redirect(const std::string& file, int number) {
    const int opened = number == STDIN_FILENO ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC)
                                              : ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (opened < 0) return;
    ::dup2(opened, number);
    ::close(opened);
  }

  pid_t process_ = 0;
};

run_options as_search(run_options o, const std::string& result) {
  o.watched.result = result;
  o.progress = progress_mode::never;
  return o;
}

run_options that_writes(run_options o, const line_moment& m, const std::string& output) {
  const std::uint64_t around = o.watched.cycles / 2;
  o.watched = {};
  o.vcd_file = output + ".vcd";
  o.pipeline_file = output + ".kanata";
  o.vcd_option = o.pipeline_option = "--output";
  const std::string sm = "gpu.sm" + std::to_string(m.sm);
  o.trace_scope = "gpu.cwd," + sm + "," + sm + ".*";
  o.trace_begin = m.begin > around ? m.begin - around : 0;
  o.trace_end = m.end + around;
  o.layout_begin = m.begin;
  return o;
}

/// The files that are written: for checks before the run.
run_options that_writes_anything(const run_options& o, const std::string& output) { return that_writes(o, {}, output); }

// As the user has written it.
std::string line_of(const run_options& o) {
  const std::string file = o.watched.file.empty() ? "" : printable(o.watched.file) + ":";
  return file + (o.kernels_list.empty() ? std::to_string(o.watched.line) : fmt::format("{:#x}", o.watched.line));
}

std::string text_of(const run_options& o, const line_moment& m, const std::string& output) {
  std::string text = fmt::format("{} in kernel {}, cycles {} to {} on SM {}:\n", line_of(o), printable(m.kernel),
                                 grouped(m.begin), grouped(m.end), m.sm);
  const double cycles = static_cast<double>(std::max<cycle_t>(m.end - m.begin, 1));
  text += fmt::format("{:.1f} warps wait there on average", static_cast<double>(m.waits()) / cycles);
  std::vector<std::pair<std::uint64_t, const char*>> states;
  for (std::size_t s = 0; s < m.states.size(); ++s)
    if (static_cast<warp_stall>(s) != warp_stall::selected && m.states[s] != 0)
      states.emplace_back(m.states[s], name_of(static_cast<warp_stall>(s)));
  std::stable_sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t most_states = 3;
  const auto is_rare = [&m](const auto& state) { return 200 * state.first < m.waits(); };
  states.erase(std::remove_if(states.begin(), states.end(), is_rare), states.end());
  for (std::size_t k = 0; k < std::min(states.size(), most_states); ++k)
    text += fmt::format("{}{} {:.0f} %", k == 0 ? ": " : ", ", states[k].second,
                        100.0 * static_cast<double>(states[k].first) / static_cast<double>(m.waits()));
  return text + "\n    gtkwave " + shell_quoted(output + ".gtkw") + "\n    konata " + shell_quoted(output + ".kanata") +
         "\n";
}

// Passes on what a process has said before it ended.
void repeat(const std::string& messages) {
  try {
    std::fputs(read_file(messages, "view").c_str(), stderr);
  } catch (const input_error&) {
    // It has said nothing.
  }
}

bool exists(const std::string& file) { return ::access(file.c_str(), R_OK) == 0; }

void refuse_runs(const job& j) {
  for (const operation& op : j.operations)
    if (op.recording && op.recording->traits().own)
      refuse(op.where,
             "'" + op.recording->file() +
                 "' is the trace of a run of Heddle, expected one of a GPU: heddle view shows the run itself");
}

/// What is simulated twice: a job, a CUDA program, or recorded kernels.
class subject {
 public:
  /// Throws input_error. `output`: the beginning of the names of the files that are written.
  subject(const run_options& o, const std::string& output) {
    file_roles roles;
    const run_options written = that_writes_anything(o, output);
    if (!o.arguments.empty() && o.kernel_file.empty()) {
      of_program_ = true;
      config_ = machine_of(o, roles);
      check_program_files(written, std::move(roles));
      return;
    }
    if (!o.kernels_list.empty()) {
      job_ = job_of_traces(o.kernels_list, false, o.trace_memory_mib);
      refuse_runs(job_);
      roles.add_input(o.kernels_list, "the list of kernels");
    } else {
      job_ = make_job(o);
      validate(job_);
      job_.outputs.clear();
    }
    config_ = machine_of(o, roles);
    check_result_files(written, job_, std::move(roles));
  }
  [[nodiscard]] bool of_program() const { return of_program_; }
  /// Returns the exit code, or ends the process with it.
  [[nodiscard]] int simulated(const run_options& o) const {
    run_signals own;
    if (of_program_) run_program(o, config_, own);
    return simulate(o, job_, config_, own);
  }

 private:
  bool of_program_ = false;
  job job_;
  gpu_config config_;
};

[[noreturn]] void refuse_idle_line(const run_options& o) {
  throw input_error(std::string(o.kernels_list.empty() ? "--line" : "--pc") + ": no warp has reached " + line_of(o) +
                    " in this run, expected a line that is executed");
}

}  // namespace

int view_command(const std::vector<std::string>& arguments) {
  run_options o;
  std::string output, help;
  if (parse_view(arguments, o, output, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  message_log::install(o.level);
  const bool says = !o.quiet;
  o.quiet = true;
  const subject all(o, output);
  const passing_folder folder("heddle-view");
  const std::string found = folder.path() + "/moment.json", messages = folder.path() + "/messages";
  const stop_signals signals;
  const other_process search(signals, messages);
  if (search.is_here()) {
    return all.simulated(as_search(o, found));
  }
  const int searched = search.wait(signals);
  const bool failed = searched > 1 && !all.of_program();  // a program has exit codes of its own
  if (failed || !exists(found)) {
    repeat(messages);
    if (searched == 0 && all.of_program()) refuse_idle_line(o);
    return searched == 0 ? 3 : searched;
  }
  const line_moment m = line_view::read(read_file(found, "view"));
  if (m.warp_cycles() == 0) {
    if (searched != 0) repeat(messages);
    refuse_idle_line(o);
  }
  const other_process writing(signals, "");
  if (writing.is_here()) {
    return all.simulated(that_writes(o, m, output));
  }
  const int code = writing.wait(signals);
  if ((code <= 1 || all.of_program()) && exists(output + ".vcd") && says)
    std::fputs(text_of(o, m, output).c_str(), stdout);
  return code;
}

}  // namespace heddle::testbench
