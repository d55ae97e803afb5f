// SPDX-License-Identifier: MIT
#include "testbench/exec/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace heddle::testbench {

bool connection::receive() {
  std::uint8_t piece[65536];
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), piece, sizeof piece, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (n == 0) return false;
    received_.insert(received_.end(), piece, piece + n);
    if (received_.size() > wire::most_bytes + sizeof(wire::message_head)) return false;
  }
}

std::optional<connection::request> connection::next() {
  wire::message_head head;
  if (received_.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, received_.data(), sizeof head);
  if (head.bytes > received_.size() - sizeof head) return std::nullopt;
  request r{static_cast<wire::call>(head.what), {}};
  const auto begin = received_.begin() + sizeof head;
  const auto end = begin + static_cast<std::ptrdiff_t>(head.bytes);
  r.arguments.assign(begin, end);
  received_.erase(received_.begin(), end);
  return r;
}

bool connection::reply(std::int32_t status, const std::vector<std::uint8_t>& body) {
  wire::message_head head{static_cast<std::uint32_t>(status), 0, body.size()};
  std::vector<std::uint8_t> all(sizeof head + body.size());
  std::memcpy(all.data(), &head, sizeof head);
  if (!body.empty()) std::memcpy(all.data() + sizeof head, body.data(), body.size());
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t n = ::send(socket_.get(), all.data() + at, all.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace heddle::testbench
