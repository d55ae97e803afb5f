// SPDX-License-Identifier: MIT
#include "testbench/run/interference.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>

#include "heddle/config/error.h"
#include "testbench/options/log.h"
#include "testbench/run/job_runner.h"

namespace heddle::testbench {

namespace {

// The job with the launches of one client. Buffers and modules of the others stay, so that memory lies where it lay.
job alone(job j, unsigned client) {
  j.operations.erase(std::remove_if(j.operations.begin(), j.operations.end(),
                                    [client](const operation& op) { return op.client != client; }),
                     j.operations.end());
  j.outputs.clear();
  return j;
}

run_options without_results(const run_options& o, unsigned threads) {
  run_options quiet;
  quiet.gpu = o.gpu;
  quiet.overrides = o.overrides;
  quiet.max_cycles = o.max_cycles;
  quiet.cold = o.cold;
  quiet.threads = threads;
  quiet.confine = o.confine;
  quiet.progress = progress_mode::never;
  quiet.quiet = true;
  return quiet;
}

/// Simulates clients alone, each in a process.
class runs_alone {
 public:
  runs_alone(const run_options& o, const job& j, const gpu_config& config)
      : options_(o), job_(j), config_(config), cycles_(j.clients.size()) {
    for (unsigned client = 1; client <= j.clients.size(); ++client)
      if (std::any_of(j.operations.begin(), j.operations.end(),
                      [client](const operation& op) { return op.client == client; }))
        waiting_.push_back(client);
    at_once_ = std::clamp<std::size_t>(waiting_.size(), 1, std::max(1u, o.threads));
  }
  runs_alone(const runs_alone&) = delete;
  runs_alone& operator=(const runs_alone&) = delete;
  ~runs_alone() {
    for (const running& r : running_) ::kill(r.process, SIGKILL);
    while (!running_.empty()) end(running_.begin());
  }

  std::vector<std::uint64_t> cycles() {
    while (!waiting_.empty() || !running_.empty()) {
      while (!waiting_.empty() && running_.size() < at_once_) start();
      collect();
    }
    return cycles_;
  }

 private:
  struct running {
    unsigned client;
    pid_t process;
    int result;  // its number of cycles comes here
  };

  void start() {
    const unsigned client = waiting_.front();
    int ends[2];
    if (::pipe(ends) != 0) throw input_error("--interference: no pipe can be opened");
    std::fflush(nullptr);
    const pid_t parent = ::getpid(), process = ::fork();
    if (process == 0) measure(ends[1], client, parent);
    ::close(ends[1]);
    if (process < 0) {
      ::close(ends[0]);
      throw input_error("--interference: no process can be started");
    }
    waiting_.erase(waiting_.begin());
    running_.push_back({client, process, ends[0]});
  }

  [[noreturn]] void measure(int result, unsigned client, pid_t parent) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(EXIT_FAILURE);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
    // What kernels print is printed by the run of all clients.
    if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(EXIT_FAILURE);
    std::uint64_t cycles = 0;
    try {
      cycles = simulated_cycles(client);
    } catch (const std::exception& e) {
      warn(client, e.what());
    }
    const bool written = ::write(result, &cycles, sizeof cycles) == static_cast<ssize_t>(sizeof cycles);
    ::_exit(written ? EXIT_SUCCESS : EXIT_FAILURE);
  }

  void warn(unsigned client, const std::string& why) const {
    message_log::warning("client '" + job_.clients[client - 1].name + "', alone: " + why);
  }

  [[nodiscard]] std::uint64_t simulated_cycles(unsigned client) const {
    const job own = alone(job_, client);
    const run_options options =
        without_results(options_, std::max(1u, options_.threads / static_cast<unsigned>(at_once_)));
    // Never deleted: the process ends, and destroying a machine takes longer than many runs.
    auto* const runner = new job_runner(options, own, config_, nullptr);
    const run_outcome outcome = runner->run();
    if (outcome.failure.empty()) return outcome.metrics.clients.at(client - 1).cycles;
    warn(client, outcome.failure);
    return 0;
  }

  // Waits for one of the results.
  void collect() {
    std::vector<pollfd> wanted;
    for (const running& r : running_) wanted.push_back({r.result, POLLIN, 0});
    if (::poll(wanted.data(), wanted.size(), -1) <= 0) return;  // a signal asks for a snapshot
    auto r = running_.begin();
    for (const pollfd& p : wanted) {
      const auto next = std::next(r);
      if (p.revents != 0) {
        std::uint64_t cycles = 0;
        if (::read(p.fd, &cycles, sizeof cycles) == static_cast<ssize_t>(sizeof cycles))
          cycles_[r->client - 1] = cycles;
        end(r);
      }
      r = next;
    }
  }

  void end(std::list<running>::iterator r) {
    while (::waitpid(r->process, nullptr, 0) < 0 && errno == EINTR) continue;
    ::close(r->result);
    running_.erase(r);
  }

  const run_options& options_;
  const job& job_;
  const gpu_config& config_;
  std::vector<std::uint64_t> cycles_;  // by client
  std::vector<unsigned> waiting_;
  std::size_t at_once_ = 1;
  std::list<running> running_;
};

}  // namespace

std::vector<std::uint64_t> cycles_alone(const run_options& o, const job& j, const gpu_config& config) {
  if (j.clients.empty()) throw input_error("--interference: the job has no 'clients'");
  return runs_alone(o, j, config).cycles();
}

}  // namespace heddle::testbench
