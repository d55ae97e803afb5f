// SPDX-License-Identifier: MIT
#include "testbench/sweep/local_engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "config/error.h"
#include "testbench/sweep/stop_signals.h"

namespace heddle::testbench {

namespace {

// What a kernel prints, and warnings, would be those of a thousand points at once.
void silence() {
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
}

// A point must not go on alone, writing into a store that somebody else may have begun anew.
void end_with(pid_t parent) {
#if defined(__linux__)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace

local_engine::local_engine(const sweep_plan& plan, const result_store& store, unsigned jobs, runner run)
    : plan_(plan), store_(store), jobs_(jobs), run_(std::move(run)) {}

int local_engine::run(const std::vector<std::size_t>& points, sweep_progress& progress) {
  const stop_signals signals;
  std::size_t next = 0;
  try {
    while (next < points.size() || !children_.empty()) {
      while (next < points.size() && children_.size() < jobs_) {
        const pid_t parent = ::getpid();
        std::fflush(nullptr);
        store_.remove(plan_.id_text(points[next]));  // an earlier attempt's, which must not be taken for this one's
        const pid_t process = ::fork();
        if (process < 0 && !children_.empty()) break;  // as many as the system allows
        if (process < 0) throw input_error(std::string("cannot start a process: ") + std::strerror(errno));
        if (process == 0) {
          end_with(parent);
          signals.restore();
          silence();
          run_(points[next]);
          ::_exit(0);
        }
        children_[process] = {points[next++], clock::now(), false};
      }
      const int number = signals.wait(200);
      if (number != 0 && number != SIGCHLD) {
        stop();
        return number;
      }
      collect(progress);
      end_late();
      progress.show();
    }
  } catch (...) {
    stop();
    throw;
  }
  return 0;
}

void local_engine::collect(sweep_progress& progress) {
  int status = 0;
  for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = children_.find(process);
    if (found == children_.end()) continue;
    const child c = found->second;
    children_.erase(found);
    judge(c, process, status);
    progress.finished(store_.status(plan_.id_text(c.point)));
  }
}

void local_engine::judge(const child& c, pid_t process, int status) {
  const std::string id = plan_.id_text(c.point);
  store_.remove_unfinished(id, process);
  if (store_.status(id) != point_status::missing) return;  // whatever happened to the process afterwards
  point_result r;
  if (c.late) {
    r.status = point_status::timeout;
    r.reason = "it ran longer than timeout_seconds = " + std::to_string(plan_.file().timeout_seconds);
  } else if (WIFSIGNALED(status)) {
    r.status = point_status::killed;
    r.reason = "its process was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  } else {
    r.status = point_status::killed;
    r.reason = "its process ended without a result, with code " + std::to_string(WEXITSTATUS(status));
  }
  store_.write(id, r);
}

void local_engine::end_late() {
  if (plan_.file().timeout_seconds == 0) return;
  for (auto& [process, c] : children_) {
    if (c.late ||
        std::chrono::duration<double>(clock::now() - c.started).count() < static_cast<double>(plan_.file().timeout_seconds))
      continue;
    c.late = true;
    ::kill(process, SIGKILL);
  }
}

// What is whole by now stays.
void local_engine::stop() {
  for (const auto& [process, c] : children_) ::kill(process, SIGKILL);
  for (const auto& [process, c] : children_) {
    ::waitpid(process, nullptr, 0);
    store_.remove_unfinished(plan_.id_text(c.point), process);
  }
  children_.clear();
}

}  // namespace heddle::testbench
