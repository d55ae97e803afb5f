// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Caches the interface to which a socket is bound: a call through the socket itself would access cache lines of its
/// own each time.
template <class Interface>
class bound_interface {
 public:
  /// Call only after the start of simulation, when all sockets are bound.
  template <class Socket>
  Interface& of(Socket& socket) {
    if (__builtin_expect(who_ == nullptr, 0)) who_ = socket.operator->();
    return *who_;
  }

 private:
  Interface* who_ = nullptr;
};

}  // namespace heddle
