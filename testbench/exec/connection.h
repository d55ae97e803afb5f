// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testbench/exec/wire.h"
#include "testbench/files/descriptor.h"

namespace heddle::testbench {

/// One thread of a CUDA program, at the other end of a socket. It makes one call at a time.
class connection {
 public:
  explicit connection(descriptor socket) : socket_(std::move(socket)) {}

  int number() const { return socket_.get(); }
  /// Takes what has come, without waiting. False: the other end has gone, or says what no library of ours says.
  bool receive();
  struct request {
    wire::call what;
    std::vector<std::uint8_t> arguments;
  };
  /// A call that has come whole.
  std::optional<request> next();
  /// False: the other end has gone.
  bool reply(std::int32_t status, const std::vector<std::uint8_t>& body);

 private:
  descriptor socket_;
  std::vector<std::uint8_t> received_;
};

}  // namespace heddle::testbench
