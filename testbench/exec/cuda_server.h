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
    call_answer answer;
  };
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
  std::map<pid_t, std::unique_ptr<cuda_session>> sessions_;
  std::vector<std::unique_ptr<cuda_session>> ended_;
  std::list<std::unique_ptr<client>> clients_;
  progress_line progress_;
  pause_watch pauses_;
  std::int32_t broken_ = wire::success;  // what all calls get from then on
  std::string failure_;
  int stop_signal_ = 0;
};

}  // namespace heddle::testbench
