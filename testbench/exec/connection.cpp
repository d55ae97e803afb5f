// SPDX-License-Identifier: MIT
#include "testbench/exec/connection.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "heddle/config/error.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

namespace {
std::optional<ucred> peer_of(int socket) {
  ucred who{};
  socklen_t bytes = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) return {};
  return who;
}
}  // namespace

pid_t connection::process() const {
  const auto who = peer_of(socket_.get());
  return who ? who->pid : 0;
}

bool connection::receive() {
  std::uint8_t chunk[65536];
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (n == 0) return false;
    received_.insert(received_.end(), chunk, chunk + n);
    if (received_.size() > wire::most_bytes + sizeof(wire::message_head)) return false;
  }
}

bool connection::asks() const {
  pollfd more{socket_.get(), POLLIN | POLLRDHUP, 0};
  return ::poll(&more, 1, 0) == 1 && more.revents == POLLIN;
}

std::optional<connection::request> connection::next() {
  wire::message_head head;
  do {
    if (received_.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, received_.data(), sizeof head);
    if (head.bytes > received_.size() - sizeof head) return std::nullopt;
    // A late answer to ask(), for which no thread waits any more.
    if (head.moves != 0)
      received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(sizeof head + head.bytes));
  } while (head.moves != 0);
  request r{static_cast<wire::call>(head.what), {}};
  const auto begin = received_.begin() + sizeof head;
  const auto end = begin + static_cast<std::ptrdiff_t>(head.bytes);
  r.arguments.assign(begin, end);
  received_.erase(received_.begin(), end);
  return r;
}

bool connection::reply(std::int32_t status, const std::vector<std::uint8_t>& body) {
  return send({static_cast<std::uint32_t>(status), 0, body.size()}, body.data());
}

std::optional<std::uint32_t> connection::wait_for_answer(int timeout_ms) {
  pollfd answer{socket_.get(), POLLIN, 0};
  // A thread that waits for a reply sends nothing but this answer.
  if (!received_.empty() || ::poll(&answer, 1, timeout_ms) != 1) return {};
  wire::message_head head;
  const ssize_t n = ::recv(socket_.get(), &head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
  if (n != sizeof head || head.moves == 0) return {};
  if (::recv(socket_.get(), &head, sizeof head, MSG_DONTWAIT) != sizeof head) return {};
  return head.what;
}

bool connection::send(const wire::message_head& head, const void* data) {
  std::vector<std::uint8_t> all(sizeof head + head.bytes);
  std::memcpy(all.data(), &head, sizeof head);
  if (all.size() > sizeof head) std::memcpy(all.data() + sizeof head, data, all.size() - sizeof head);
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t n = ::send(socket_.get(), all.data() + at, all.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

namespace {

// Of a process that has more connections than this leaves it, the results could not be written.
constexpr rlim_t kept_descriptors = 3;
// Standard streams, this socket, the program, one connection, and those.
constexpr rlim_t least_descriptors = 6 + kept_descriptors;

std::string new_address() {
  std::random_device random;
  char text[64];
  std::snprintf(text, sizeof text, "heddle-%ld-%08x%08x", static_cast<long>(::getpid()), random(), random());
  return text;
}

// Nothing of the kind: the process has ended.
std::optional<uid_t> user_of(int socket) {
  const auto who = peer_of(socket);
  return who ? std::optional<uid_t>(who->uid) : std::nullopt;
}

}  // namespace

listening_socket::listening_socket()
    : name_(new_address()), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < least_descriptors)
    throw input_error("heddle may open " + std::to_string(limit.rlim_max) + " files (ulimit -n), expected at least " +
                      std::to_string(least_descriptors));
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path + 1, name_.data(), name_.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  if (!socket_.is_open() || ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&where), bytes) != 0 ||
      ::listen(socket_.get(), 64) != 0)
    throw input_error(std::string("no socket can be had for the program: ") + std::strerror(errno));
}

descriptor listening_socket::accept() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (;;) {
    descriptor s(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!s.is_open()) return s;
    const bool is_last = static_cast<rlim_t>(s.get()) + kept_descriptors >= limit.rlim_cur;
    const auto user = user_of(s.get());
    if (user && *user != ::geteuid() && !std::exchange(has_refused_user_, true))
      message_log::error("a process of user " + std::to_string(*user) + " calls CUDA, expected one of user " +
                         std::to_string(::geteuid()) +
                         ", who has started heddle: a program may become another user after its first call");
    if (user == ::geteuid() && !is_last) return s;
    if (is_last && !std::exchange(has_refused_, true))
      message_log::error("the program has more threads and processes that use CUDA than heddle may open files (" +
                         std::to_string(limit.rlim_cur) + "): raise the limit (ulimit -n)");
  }
}

void listening_socket::use_all_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace heddle::testbench
