// SPDX-License-Identifier: MIT
#pragma once

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
  /// Receives available data without waiting. False: the peer has disconnected or sent invalid data.
  bool receive();
  struct request {
    wire::call what;
    std::vector<std::uint8_t> arguments;
  };
  /// The next completely received call.
  std::optional<request> next();
  /// False: the peer has disconnected.
  bool reply(std::int32_t status, const std::vector<std::uint8_t>& body);
  /// Has a thread that waits for a reply move bytes of its copy window. False: it has disconnected.
  bool ask(const wire::move_request& r) { return send({0, 1, sizeof r}, &r); }
  /// Waits until it has moved them. False: it did not answer in time.
  bool wait_for_answer(int timeout_ms);

 private:
  bool send(const wire::message_head& head, const void* data);

  descriptor socket_;
  std::vector<std::uint8_t> received_;
};

/// A new abstract socket address, which is in no folder; the identity of each client is checked when it connects.
std::string new_address();
/// Throws input_error if the socket cannot be had.
descriptor listen_at(const std::string& name);
/// Whether the process at the other end is one of this user.
bool is_ours(int socket);

}  // namespace heddle::testbench
