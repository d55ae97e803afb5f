// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testbench/exec/wire.h"
#include "testbench/files/descriptor.h"

namespace heddle::testbench {

/// The connection to one thread of a CUDA program. The thread makes one call at a time.
class connection {
 public:
  explicit connection(descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int number() const { return socket_.get(); }
  /// The process that has connected; 0: this one cannot see it.
  [[nodiscard]] pid_t process() const;
  /// Receives available data without waiting. False: the peer has disconnected or sent invalid data.
  bool receive();
  struct request {
    wire::call what;
    std::vector<std::uint8_t> arguments;
  };
  /// The next completely received call.
  std::optional<request> next();
  /// The thread waits for an answer: it has sent a call that is not received yet. One that has ended does not wait.
  [[nodiscard]] bool asks() const;
  /// False: the peer has disconnected.
  bool reply(std::int32_t status, const std::vector<std::uint8_t>& body);
  /// Has a thread that waits for a reply move bytes of its copy window. False: it has disconnected.
  bool ask(const wire::move_request& r) { return send({0, 1, sizeof r}, &r); }
  /// Waits until it has moved them. Returns its processor + 1, 0: unknown; none: it did not answer in time.
  std::optional<std::uint32_t> wait_for_answer(int timeout_ms);

 private:
  bool send(const wire::message_head& head, const void* data);

  descriptor socket_;
  std::vector<std::uint8_t> received_;
};

/// Where the threads of CUDA programs connect: an abstract socket address, which is in no folder. Throws input_error if
/// the socket cannot be had.
class listening_socket {
 public:
  listening_socket();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int number() const { return socket_.get(); }
  /// The next connection of a process of this user; closed: none waits. One for which the system has no descriptor left
  /// is ended with one message, since what has connected before may wait for it.
  descriptor accept();
  /// Connections may use all descriptors that the system allows this process, which its children do not inherit if they
  /// have been started.
  static void use_all_descriptors();

 private:
  std::string name_;
  descriptor socket_;
  bool has_refused_ = false, has_refused_user_ = false;
};

}  // namespace heddle::testbench
