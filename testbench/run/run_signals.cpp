// SPDX-License-Identifier: MIT
#include "testbench/run/run_signals.h"

#include <signal.h>
#include <time.h>

#include "testbench/files/temporary_file.h"

namespace heddle::testbench {

std::atomic<unsigned> run_signals::asked{0};

namespace {

// A signal handler can reach only static objects and must not lock.
static_assert(std::atomic<unsigned>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<long>::is_always_lock_free);
constexpr unsigned stop_asked = 1, snapshot_asked = 2;

struct taken_signal {
  int number;
  bool taken;
  struct sigaction before;
};
taken_signal stops[] = {{SIGINT, false, {}}, {SIGTERM, false, {}}, {SIGHUP, false, {}}};
taken_signal snapshots = {SIGUSR1, false, {}};
std::atomic<int> stop_signal{0};
std::atomic<long> stop_time{0};  // ms
// Who ends a process and then its group, as timeout(1) does, sends two signals that are one request.
constexpr long one_request = 250;  // ms
std::atomic<unsigned>* requests = nullptr;

long now_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

void note_stop(int number) {
  int none = 0;
  if (stop_signal.compare_exchange_strong(none, number)) {
    stop_time.store(now_ms());
    requests->fetch_or(stop_asked);
    return;
  }
  if (number == none && now_ms() - stop_time.load() < one_request) return;
  for (const taken_signal& s : stops)
    if (s.number == number) ::sigaction(number, &s.before, nullptr);
  ::raise(number);  // delivered when this handler returns
}

void note_snapshot(int) { requests->fetch_or(snapshot_asked); }

void take_over(taken_signal& s, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // reads and writes in progress are restarted
  sigemptyset(&action.sa_mask);
  if (::sigaction(s.number, nullptr, &s.before) != 0 || s.before.sa_handler == SIG_IGN) return;
  s.taken = ::sigaction(s.number, &action, nullptr) == 0;
}

void give_back(taken_signal& s) {
  if (s.taken) ::sigaction(s.number, &s.before, nullptr);
  s.taken = false;
}

}  // namespace

void run_signals::note_snapshots() {
  if (snapshots.taken) return;
  requests = &asked;
  take_over(snapshots, note_snapshot);
}

run_signals::~run_signals() {
  for (taken_signal& s : stops) give_back(s);
}

void run_signals::note_stops(bool hang_up) {
  temporary_file::watch_signals();  // so that a second signal reaches the handler that removes the files
  for (taken_signal& s : stops)
    if (hang_up || s.number != SIGHUP) take_over(s, note_stop);
}

run_signals::request run_signals::take() {
  const unsigned bits = asked.exchange(0);
  request r;
  if ((bits & stop_asked) != 0) r.stop = stop_signal.load();
  r.snapshot = (bits & snapshot_asked) != 0;
  return r;
}

std::string name_of_signal(int number) {
  switch (number) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    default: return "signal " + std::to_string(number);
  }
}

}  // namespace heddle::testbench
