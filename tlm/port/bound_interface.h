// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Who is bound to a socket, asked of it once: the socket lies in cache lines of its own, which each call through it
/// would touch.
template <class Interface>
class bound_interface {
 public:
  /// Only from the start of simulation on, when all is bound.
  template <class Socket>
  Interface& of(Socket& socket) {
    if (__builtin_expect(who_ == nullptr, 0)) who_ = socket.operator->();
    return *who_;
  }

 private:
  Interface* who_ = nullptr;
};

}  // namespace heddle
