// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbench/exec/connection.h"
#include "testbench/exec/cuda_session.h"
#include "testbench/exec/pause_watch.h"
#include "testbench/files/descriptor.h"
#include "testbench/run/progress.h"
#include "testbench/run/run_signals.h"

namespace heddle::testbench {

/// Of a process: its file's, without the folder.
std::string name_of_program(pid_t process);

/// Answers the calls of a CUDA program and of the processes that it starts. The program runs at its own speed;
/// simulated time goes on while one of its threads waits for the GPU, and while nobody does it stands.
class cuda_server {
 public:
  /// `make` builds the machine when the first call comes. Throws input_error when no socket can be had.
  cuda_server(const run_options& o, std::function<std::unique_ptr<cuda_machine>()> make, run_signals& signals);

  /// What programs are told in HEDDLE_SOCKET.
  const std::string& address() const { return address_; }
  /// Serves until the process has ended and nobody is connected any more. Its exit code as the shell has it.
  int serve(pid_t program);
  /// The same for a program that has started this process: until the last of its processes leaves, or all have ended,
  /// which the other end of this socket tells. What they have not waited for is simulated in the first case, as nobody
  /// can tell from the other's whether it matters.
  void serve_line(int line);
  /// That all had ended before the GPU was done.
  bool was_left_alone() const { return left_alone_; }
  /// The machine; null: nothing was ever called.
  cuda_machine* used() { return machine_.get(); }
  /// Of the simulated program or the run; empty: none.
  const std::string& failure() const { return failure_; }
  int stop_signal() const { return stop_signal_; }

 private:
  struct client {
    explicit client(descriptor socket) : link(std::move(socket)) {}
    connection link;
    cuda_session* session = nullptr;
    bool waits = false;
    bool gone = false;
    bool leaves = false;
    call_answer answer;
  };
  /// Waits for what may come, for a call of a client or at the given descriptor, and serves it.
  void listen(int also, pid_t program, int patience);
  /// Goes on with the simulation if somebody waits for it.
  void go_on();
  /// Simulates what was never waited for.
  void finish();
  void take_signals(pid_t program);
  void accept_clients();
  void serve_client(client& c);
  void greet(client& c, wire::reader& in);
  void reply(client& c, call_answer& a);
  void answer_waiting();
  /// Up to `end` at most.
  void simulate(sc_core::sc_time end = sc_core::sc_max_time());
  void simulate_for_query();
  void fail(std::int32_t status, const std::string& text);
  void drop_gone();
  bool somebody_waits() const;
  bool program_is_busy() const;

  const run_options& options_;
  std::function<std::unique_ptr<cuda_machine>()> make_;
  run_signals& signals_;
  std::string address_;
  descriptor listener_;
  std::unique_ptr<cuda_machine> machine_;
  struct session_entry {
    std::uint64_t program = 0;  // exec() makes another one of the same process
    bool left = false;
    std::unique_ptr<cuda_session> session;
  };
  std::map<pid_t, session_entry> sessions_;
  std::vector<std::unique_ptr<cuda_session>> ended_;
  std::list<std::unique_ptr<client>> clients_;
  progress_line progress_;
  pause_watch pauses_;
  std::int32_t broken_ = wire::success;  // what all calls get from then on
  std::string failure_;
  int stop_signal_ = 0;
  bool left_alone_ = false;
};

}  // namespace heddle::testbench
