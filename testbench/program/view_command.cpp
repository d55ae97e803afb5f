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
#include "testbench/files/passing_folder.h"
#include "testbench/job/job_parser.h"
#include "testbench/options/log.h"
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
    const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (opened < 0) return;
    ::dup2(opened, number);
    ::close(opened);
  }

  pid_t process_ = 0;
};

run_options that_looks(run_options o, const std::string& result) {
  o.watched.result = result;
  o.progress = progress_mode::never;
  return o;
}

run_options that_writes(run_options o, const line_moment& m, const std::string& output) {
  const std::uint64_t around = o.watched.cycles / 2;
  o.watched = {};
  o.vcd_file = output + ".vcd";
  o.pipeline_file = output + ".kanata";
  const std::string sm = "gpu.sm" + std::to_string(m.sm);
  o.trace_scope = "gpu.cwd," + sm + "," + sm + ".*";
  o.trace_begin = m.begin > around ? m.begin - around : 0;
  o.trace_end = m.end + around;
  o.layout_begin = m.begin;
  return o;
}

/// The files that are written: for checks before the run.
run_options that_writes_anything(const run_options& o, const std::string& output) { return that_writes(o, {}, output); }

std::string text_of(const run_options& o, const line_moment& m, const std::string& output) {
  std::string text = fmt::format("{}:{} in kernel {}, cycles {} to {} on SM {}:\n", printable(o.watched.file),
                                 o.watched.line, printable(m.kernel), grouped(m.begin), grouped(m.end), m.sm);
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

}  // namespace

int view_command(const std::vector<std::string>& arguments) {
  run_options o;
  std::string output, help;
  if (parse_view(arguments, o, output, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  message_log::install(o.level);
  job j = make_job(o);
  validate(j);
  j.outputs.clear();
  const bool says = !o.quiet;
  o.quiet = true;
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  check_result_files(that_writes_anything(o, output), j, std::move(roles));
  const passing_folder folder("heddle-view");
  const std::string found = folder.path() + "/moment.json", messages = folder.path() + "/messages";
  const stop_signals signals;
  const other_process looking(signals, messages);
  if (looking.is_here()) {
    run_signals own;
    const run_options looks = that_looks(o, found);
    return simulate(looks, j, config, own);
  }
  const int looked = looking.wait(signals);
  if (looked > 1 || !exists(found)) return repeat(messages), looked == 0 ? 3 : looked;
  const line_moment m = line_view::read(read_file(found, "view"));
  if (m.warp_cycles() == 0) {
    if (looked != 0) repeat(messages);
    throw input_error("--line: no warp has reached " + printable(o.watched.file) + ":" +
                      std::to_string(o.watched.line) + " in this run, expected a line that is executed");
  }
  const other_process writing(signals, "");
  if (writing.is_here()) {
    run_signals own;
    const run_options writes = that_writes(o, m, output);
    return simulate(writes, j, config, own);
  }
  const int code = writing.wait(signals);
  if (code <= 1 && says) std::fputs(text_of(o, m, output).c_str(), stdout);
  return code;
}

}  // namespace heddle::testbench
