// SPDX-License-Identifier: MIT
#include "testbench/sweep/engine/local_engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

// Discards the output of kernels and warnings, which would mix those of many points.
void silence() {
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
}

// Exit codes from this one on mean that the result could not be written; the difference is errno.
constexpr int unwritable_code = 128;

// For a point to write its checkpoint after SIGTERM. Slurm sends SIGKILL after 30 seconds.
constexpr std::chrono::seconds save_time{20};

// Ends this process with its parent: an orphan could write into a store that another sweep has started again.
void end_with(pid_t parent) {
#if defined(__linux__)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace

local_engine::local_engine(const result_store& store, const engine_points& points, const policy& how)
    : store_(store), points_(points), how_(how), claims_(store.claims_file()) {}

int local_engine::run(const std::vector<std::size_t>& points, sweep_progress& progress) {
  const stop_signals signals;
  queue open(points.begin(), points.end());
  queue taken;  // claimed by other processes: checked again when no other point is left
  try {
    while (!open.empty() || !taken.empty() || !children_.empty()) {
      start(open, taken, signals, progress);
      if (open.empty() && taken.empty() && children_.empty()) break;
      int number = signals.wait(200);
      if (number == 0 || number == SIGCHLD) number = collect(progress, signals);
      if (number != 0) {
        if (how_.saves) let_save(signals);
        stop();
        return number;
      }
      end_late();
      if (open.empty()) open.swap(taken);
      progress.show();
    }
  } catch (...) {
    stop();
    throw;
  }
  return 0;
}

void local_engine::start(queue& points, queue& taken, const stop_signals& signals, sweep_progress& progress) {
  while (!points.empty() && children_.size() < how_.jobs) {
    const std::size_t point = points.front();
    const std::string id = points_.id(point);
    const bool ours = claims_.take(id);
    // Read after the claim: the previous holder may just have finished the point.
    const point_status status = store_.status(id);
    const bool finished = status == point_status::done || (status != point_status::missing && !how_.again);
    if (ours && !finished) {
      if (status != point_status::missing)
        store_.remove(id);  // the result of an earlier attempt, which must not be taken for the new one
      if (!start(point, signals)) {
        claims_.release(id);
        return;  // the system's limit of processes is reached
      }
    } else if (finished) {
      if (ours) claims_.release(id);
      progress.finished(status);
    } else {
      taken.push_back(point);
    }
    points.pop_front();
  }
}

bool local_engine::start(std::size_t point, const stop_signals& signals) {
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0 && !children_.empty()) return false;
  if (process < 0) throw input_error(std::string("cannot start a process: ") + std::strerror(errno));
  if (process == 0) work(point, parent, signals);
  children_[process] = {point, clock::now(), false};
  ++started_;
  return true;
}

void local_engine::work(std::size_t point, pid_t parent, const stop_signals& signals) {
  end_with(parent);
  signals.restore();
  silence();
  try {
    points_.run(point);
  } catch (const unwritable_result& e) {
    ::_exit(unwritable_code + (e.error() & 0x7f));
  }
  ::_exit(0);
}

// A signal to the whole process group may reach a worker first: its point has no result then. Returns the signal that
// stops the sweep, or 0.
int local_engine::collect(sweep_progress& progress, const stop_signals& signals) {
  constexpr unsigned soon_ms = 500;
  int status = 0;
  for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = children_.find(process);
    if (found == children_.end()) continue;
    const bool is_asked = WIFSIGNALED(status) && signals.is_stop(WTERMSIG(status));
    const child c = found->second;
    children_.erase(found);
    if (const int number = is_asked ? signals.wait_for_stop(soon_ms) : 0; number != 0) {
      store_.remove_unfinished(points_.id(c.point), process);
      claims_.release(points_.id(c.point));
      return number;
    }
    judge(c, process, status);
    claims_.release(points_.id(c.point));
    progress.finished(store_.status(points_.id(c.point)));
  }
  return 0;
}

void local_engine::judge(const child& c, pid_t process, int status) {
  const std::string id = points_.id(c.point);
  // A process that was not killed removes its files itself.
  if (WIFSIGNALED(status)) store_.remove_unfinished(id, process);
  // The result is complete, however the process ended afterwards.
  if (store_.status(id) != point_status::missing) return;
  // If one result cannot be written, the sweep stops: further results would be lost as well.
  if (WIFEXITED(status) && WEXITSTATUS(status) >= unwritable_code) {
    throw input_error("cannot write '" + store_.point_file(id) +
                      "': " + std::strerror(WEXITSTATUS(status) - unwritable_code) +
                      "; finished points are kept, and the same command continues from there");
  }
  point_result r;
  if (c.late) {
    r.status = point_status::timeout;
    r.reason = "it ran longer than timeout_seconds = " + std::to_string(how_.timeout_seconds);
  } else if (WIFSIGNALED(status)) {
    r.status = point_status::killed;
    r.reason = "its process was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
               ::strsignal(WTERMSIG(status)) + ")";
  } else {
    r.status = point_status::killed;
    r.reason = "its process ended without a result, with code " + std::to_string(WEXITSTATUS(status));
  }
  store_.write(id, r);
}

void local_engine::end_late() {
  if (how_.timeout_seconds == 0) return;
  for (auto& [process, c] : children_) {
    if (c.late ||
        std::chrono::duration<double>(clock::now() - c.started).count() < static_cast<double>(how_.timeout_seconds))
      continue;
    c.late = true;
    ::kill(process, SIGKILL);
  }
}

// Results that are complete by now are kept.
void local_engine::stop() {
  for (const auto& [process, c] : children_) ::kill(process, SIGKILL);
  for (const auto& [process, c] : children_) {
    ::waitpid(process, nullptr, 0);
    store_.remove_unfinished(points_.id(c.point), process);
    claims_.release(points_.id(c.point));
  }
  children_.clear();
}

// Until all have ended, or another signal comes.
void local_engine::let_save(const stop_signals& signals) {
  for (const auto& [process, c] : children_) ::kill(process, SIGTERM);
  const clock::time_point end = clock::now() + save_time;
  while (!children_.empty() && clock::now() < end) {
    int status = 0;
    for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = children_.find(process);
      if (found == children_.end()) continue;
      if (WIFSIGNALED(status)) store_.remove_unfinished(points_.id(found->second.point), process);
      claims_.release(points_.id(found->second.point));
      children_.erase(found);
    }
    if (!children_.empty() && signals.is_stop(signals.wait(100))) return;
  }
}

}  // namespace heddle::testbench
