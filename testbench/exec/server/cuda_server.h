// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testbench/exec/connection.h"
#include "testbench/exec/copy_window.h"
#include "testbench/exec/cuda_session.h"
#include "testbench/exec/remote_memory.h"
#include "testbench/exec/server/pause_watch.h"
#include "testbench/files/descriptor.h"
#include "testbench/run/progress.h"
#include "testbench/run/run_signals.h"

namespace heddle::testbench {

/// Serves the calls of a CUDA program and of the processes that it starts. The program runs at the host's speed;
/// simulated time advances only while one of its threads waits for the GPU.
class cuda_server final : private functional_observer, private queue_host {
 public:
  /// `make` builds the machine at the first call. Throws input_error if the socket cannot be created.
  cuda_server(const run_options& o, std::function<std::unique_ptr<cuda_machine>()> make, run_signals& signals);

  /// The value of HEDDLE_SOCKET for programs.
  [[nodiscard]] const std::string& address() const { return listener_.name(); }
  /// Serves until the process has ended and no client is connected. Returns its exit code in the form of the shell.
  int serve(pid_t program);
  /// The same for a program that has started this process. Serves until the last of its processes disconnects, or
  /// until all have ended, which closes the other end of `line`. In the first case operations that were not waited for
  /// are simulated; in the second case it is unknown whether they matter, and they are not.
  void serve_line(int line);
  /// True if all processes had ended before the GPU was done, and the rest was not simulated.
  [[nodiscard]] bool was_left_alone() const { return left_alone_; }
  /// The machine; null: no call was made.
  cuda_machine* used() { return machine_.get(); }
  /// The programs have ended: what they have not freed is a leak.
  void note_leaks();
  /// The first failure of a simulated program or of the run; empty: none.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// The GPU cannot go on.
  [[nodiscard]] bool is_broken() const { return broken_ != wire::success; }
  [[nodiscard]] int stop_signal() const { return stop_signal_; }
  /// True if the programs were ended because their launches had taken too long.
  [[nodiscard]] bool ended_programs() const { return ended_programs_; }

 private:
  struct client {
    explicit client(descriptor socket) : link(std::move(socket)) {}
    ~client() { waits_now(false); }
    void waits_now(bool w) {
      waits = w;
      if (window) window->waits_on(w ? &link : nullptr);
    }
    connection link;
    std::shared_ptr<copy_window> window;
    cuda_session* session = nullptr;
    pid_t process = 0;
    bool waits = false;
    bool gone = false;
    bool leaves = false;
    std::optional<std::vector<std::uint8_t>> greeting;  // that has not been answered
    std::chrono::steady_clock::time_point greeted;      // the first time; zero: never
    call_answer answer;
  };
  /// Waits for events, a client's call or input at the given descriptor, and serves them.
  void listen(int also, pid_t program, int timeout_ms);
  /// Continues the simulation if a client waits for it.
  void go_on() {
    if (a_request_waits()) simulate();
    answer_waiting();
  }
  /// Simulates operations that were not waited for.
  void finish();
  void take_signals(pid_t program);
  void accept_clients() {
    for (descriptor s = listener_.accept(); s.is_open(); s = listener_.accept())
      clients_.push_back(std::make_unique<client>(std::move(s)));
  }
  void serve_client(client& c);
  void greet(client& c);
  void begin_machine();
  void reply(client& c, call_answer& a);
  void answer_waiting();
  /// Simulates up to `end` at most.
  void simulate(const sc_core::sc_time& end = sc_core::sc_max_time());
  void simulate_for_query();
  void fail(std::int32_t status, const std::string& text, bool reset_ends_it = false);
  /// A thread of the program that does not wait for the GPU may write what a kernel reads, or queue work that does.
  [[nodiscard]] bool program_may_act() const;
  void end_programs();
  void drop_gone();
  void drop_ended();
  void drop_dead();
  void let_go(pid_t process);
  [[nodiscard]] bool can_serve(client& c, pid_t process, std::uint64_t forked_by);
  /// Kernels of programs that end now are ended after it.
  [[nodiscard]] cycle_t last_cycle_of_leftovers() const;
  cycle_t end_overdue();
  void end_leftovers();
  void end_leftovers(const cuda_session& s);
  bool wants_stop() override;
  [[nodiscard]] bool is_gone(pid_t process) const override { return !is_running(process); }
  bool wants_pause() override { return pauses_.wants_pause(); }
  // A launch that is executed functionally ends before the call that began it.
  [[nodiscard]] bool others_may_write() const override { return may_write(true); }
  [[nodiscard]] bool may_write(bool functional) const;
  [[nodiscard]] bool a_request_waits() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const auto& c) { return c->waits; });
  }
  [[nodiscard]] bool an_answer_is_ready() const;
  [[nodiscard]] bool a_greeting_waits() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const auto& c) { return c->greeting.has_value(); });
  }
  [[nodiscard]] bool program_is_busy() const;
  [[nodiscard]] bool another_waits(const cuda_session& own) const;

  const run_options& options_;
  std::function<std::unique_ptr<cuda_machine>()> make_;
  run_signals& signals_;
  listening_socket listener_;
  left_processes left_processes_;  // before the program starts
  std::unique_ptr<cuda_machine> machine_;
  struct session_entry {
    std::uint64_t program = 0;  // exec() replaces the program of a process
    bool left = false;
    std::unique_ptr<cuda_session> session;
  };
  std::map<pid_t, session_entry> sessions_;
  struct ended_session {
    std::unique_ptr<cuda_session> session;
    cycle_t leftovers_until = never;  // its kernels are ended after it
  };
  std::vector<ended_session> ended_;
  std::list<std::unique_ptr<client>> clients_;
  progress_line progress_;
  pause_watch pauses_;
  bool is_parent_ = false;               // of the programs: serve()
  const client* served_ = nullptr;       // whose call is carried out
  pid_t program_ = 0;                    // that serve() is for, until it is known how it has ended
  std::int32_t broken_ = wire::success;  // status of all later calls
  bool reset_ends_it_ = false;           // for programs that come later
  std::string failure_, newest_failure_;
  int stop_signal_ = 0;
  bool ended_programs_ = false;
  bool left_alone_ = false;
  bool ended_kernels_ = false;  // of processes that had gone
};

}  // namespace heddle::testbench
