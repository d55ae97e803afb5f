// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/client.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/simulator_start.h"
#include "testbench/cuda/core/types.h"
#include "testbench/cuda/core/window.h"

namespace heddle::cuda {

thread_local bool in_host_function = false;

namespace {
std::atomic<lock_over_fork*> newest_lock{nullptr};
lock_over_fork* first_locked = nullptr;  // over fork(); those made meanwhile stand before it
}  // namespace

lock_over_fork::lock_over_fork(taker take) : take_(take), next_(newest_lock.load()) {
  while (!newest_lock.compare_exchange_weak(next_, this)) {}
}

void lock_over_fork::lock_all() {
  lock_over_fork* const head = newest_lock.load();
  lock_over_fork* held_by_another = head;
  while (held_by_another != nullptr) {
    lock_over_fork* const awaited = held_by_another;
    awaited->take_(*awaited, step::wait);
    held_by_another = nullptr;
    for (lock_over_fork* m = head; m != nullptr && held_by_another == nullptr; m = m->next_)
      if (m != awaited && !m->take_(*m, step::lock)) held_by_another = m;
    if (held_by_another == nullptr) break;
    for (lock_over_fork* m = head; m != held_by_another; m = m->next_)
      if (m != awaited) m->take_(*m, step::unlock);
    awaited->take_(*awaited, step::unlock);
  }
  first_locked = head;
}

void lock_over_fork::unlock_all() {
  for (lock_over_fork* m = first_locked; m != nullptr; m = m->next_) m->take_(*m, step::unlock);
}

void lock_over_fork::reset_all() {
  for (lock_over_fork* m = newest_lock.load(); m != nullptr; m = m->next_) m->take_(*m, step::reset);
}

namespace {

std::atomic<unsigned> process_generation{1};  // a child after fork() is a separate process

library_mutex sockets_mutex;
/// The connections of all threads. Never destroyed, as destructors make calls.
std::vector<int>& sockets() {
  static std::vector<int>& all = *new std::vector<int>;
  return all;
}

/// Not a connection of the process that has forked this one.
void close_socket(int socket) {
  const std::lock_guard<std::mutex> lock(sockets_mutex);
  const auto found = std::find(sockets().begin(), sockets().end(), socket);
  if (found == sockets().end()) return;
  sockets().erase(found);
  ::close(socket);
}

/// A thread's connection. It has no destructor, because code that runs after the thread's variables are destroyed may
/// still make calls.
struct link {
  int socket = -1;
  unsigned generation = 0;
  window copies;
};
thread_local link own;
/// Closes it when the thread ends, after the destructors of the thread's variables.
struct link_end {
  ~link_end() {
    if (own.socket >= 0 && own.generation == process_generation.load()) {
      close_socket(own.socket);
      own.copies.close();
    }
    own.socket = -1;
  }
};

library_mutex chip_mutex;
wire::device_info the_chip;
unsigned chip_generation = 0;
std::atomic<std::int32_t> failure{wire::success};
std::atomic<bool> leaves{false};  // the program is ending, and its simulator
std::atomic<bool> over{false};    // the program has ended; only its libraries' destructors still run

/// Distinguishes this program from one that it replaced by exec(), which had the same process number, and from the one
/// that forked it.
std::atomic<std::uint64_t> own_number{0}, number_of_parent{0};

std::uint64_t program_number() {
  std::uint64_t n = 0, none = 0;
  if (own_number.load() != 0) return own_number.load();
  if (::getrandom(&n, sizeof n, 0) != sizeof n || n == 0) n = static_cast<std::uint64_t>(::getpid());
  own_number.compare_exchange_strong(none, n);
  return own_number.load();
}

/// In the child after fork(). A process that has made no call has nothing that its children could use. The simulator
/// sees that the parent has ended when none of its connections is open.
void become_child() {
  for (const int socket : sockets()) ::close(socket);
  sockets().clear();
  lock_over_fork::reset_all();
  process_generation.fetch_add(1);
  const std::uint64_t parent = own_number.exchange(0);
  if (parent != 0) number_of_parent.store(parent);
}

[[noreturn]] void give_up(const char* why) {
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: error: %s\n", why);
  ::_exit(2);
}

/// After a failed transfer.
[[noreturn]] void give_up_connection() {
  while (leaves.load()) ::pause();  // another thread ends the program, with its own exit code
  give_up(errno == EBADF || errno == ENOTSOCK
              ? "the program has closed a descriptor of its CUDA library, as if it were its own"
              : "the simulator has ended");
}

int connected_socket(const char* name) {
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(name);
  if (length + 1 > sizeof where.sun_path) return -1;
  std::memcpy(where.sun_path + 1, name, length);
  if (::connect(s, reinterpret_cast<sockaddr*>(&where),
                static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)) != 0) {
    ::close(s);
    return -1;
  }
  const std::lock_guard<std::mutex> lock(sockets_mutex);
  sockets().push_back(s);
  return s;
}

bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t n = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes != 0) {
    const ssize_t n = ::recv(socket, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = 0;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

/// The head of a reply. Before it the simulator may ask for moves of bytes.
bool receive_reply_head(wire::message_head& head) {
  kept_processor here;
  for (;;) {
    if (!receive_all(own.socket, &head, sizeof head) || head.bytes > wire::most_bytes) return false;
    if (head.moves == 0) return true;
    wire::move_request r{};
    if (head.bytes != sizeof r || !receive_all(own.socket, &r, sizeof r) || !own.copies.move(r)) return false;
    head.bytes = 0;
    head.what = static_cast<std::uint32_t>(here.number() + 1);
    if (!send_all(own.socket, &head, sizeof head)) return false;
  }
}

reply exchange(wire::call what, const wire::writer& arguments) {
  wire::message_head head{static_cast<std::uint32_t>(what), 0, arguments.bytes().size()};
  std::vector<std::uint8_t> message(sizeof head + arguments.bytes().size());
  std::memcpy(message.data(), &head, sizeof head);
  if (!arguments.bytes().empty())
    std::memcpy(message.data() + sizeof head, arguments.bytes().data(), arguments.bytes().size());
  reply r;
  if (!send_all(own.socket, message.data(), message.size()) || !receive_reply_head(head)) give_up_connection();
  r.status = static_cast<std::int32_t>(head.what);
  if (wire::is_lasting(r.status) && failure.load() == wire::success) failure.store(r.status);
  std::vector<std::uint8_t> whole(head.bytes);
  if (!receive_all(own.socket, whole.data(), whole.size())) give_up_connection();
  wire::reader in(whole);
  const std::string printed = in.get_text();
  if (!printed.empty()) {
    std::fwrite(printed.data(), 1, printed.size(), stdout);
    std::fflush(stdout);
  }
  const std::size_t rest = in.left();
  if (const std::uint8_t* from = in.take(rest)) r.body.assign(from, from + rest);
  return r;
}

void leave();

bool connect(bool may_start = true) {
  if (own.socket >= 0 && own.generation == process_generation.load()) return true;
  own.socket = -1;  // that of the parent process is closed
  own.copies.forget();
  static const bool at_fork = ::pthread_atfork(lock_over_fork::lock_all, lock_over_fork::unlock_all, become_child) == 0;
  static const bool at_quick_exit = ::at_quick_exit(leave) == 0;  // which runs no destructors
  static_cast<void>(at_fork && at_quick_exit);
  const char* name = over.load() ? nullptr : simulator_address();
  if (name == nullptr) return false;
  value_of_thread<link_end>();
  own.generation = process_generation.load();
  own.socket = connected_socket(name);
  if (own.socket < 0 && !may_start) return false;
  if (own.socket < 0 && simulator_is_own()) {  // it ended with the process that forked this one
    forget_simulator();
    failure.store(wire::success);
    number_of_parent.store(0);
    name = simulator_address();
    if (name != nullptr) own.socket = connected_socket(name);
  }
  if (own.socket < 0) give_up("the simulator cannot be reached");
  // The simulator reads data to be copied from this process's memory.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  wire::writer w;
  w.put(wire::version)
      .put(static_cast<std::uint32_t>(::getpid()))
      .put(reinterpret_cast<std::uint64_t>(&own_number))
      .put(program_number())
      .put(number_of_parent.load());
  const char* const share = std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  w.put_text(share != nullptr ? share : "");
  const reply r = exchange(wire::call::hello, w);
  if (r.status != wire::success) give_up("the simulator does not serve this program");
  const std::lock_guard<std::mutex> lock(chip_mutex);
  the_chip = r.read().get<wire::device_info>();
  chip_generation = own.generation;
  return true;
}

}  // namespace

const wire::device_info* chip() {
  {
    const std::lock_guard<std::mutex> lock(chip_mutex);
    if (chip_generation == process_generation.load()) return &the_chip;
  }
  return connect() ? &the_chip : nullptr;
}

reply call(wire::call what, const wire::writer& arguments) {
  if (in_host_function) {
    reply r;
    r.status = error::not_permitted;
    return r;
  }
  use_primary_context();  // the context of a thread that calls the runtime; driver API functions set it earlier
  if (!connect()) {
    reply r;
    r.status = over.load() ? 4 : 100;  // the runtime is shutting down; no device
    return r;
  }
  return exchange(what, arguments);
}

std::int32_t gpu_failure() { return failure.load(); }
void set_gpu_failure(std::int32_t status) { failure.store(status); }

void offer_window() {
  use_primary_context();
  if (!connect() || own.copies.tried) return;
  const int file = own.copies.open();
  if (file < 0) return;
  const reply r = exchange(wire::call::open_window, wire::writer().put(static_cast<std::uint32_t>(file)));
  ::close(file);
  if (r.status != wire::success) own.copies.close();
}

namespace {

// The simulator learns that the program ends by itself, so that what it has not waited for is done all the same. One
// that was started for this program writes its results before the program ends, so that a process that waits for the
// program finds the results. Programs that end otherwise (a signal, _exit(), exec()) do not get here.
__attribute__((destructor)) void leave() {
  {
    const std::lock_guard<std::mutex> lock(chip_mutex);
    if (chip_generation != process_generation.load()) return;
  }
  if (!connect(false)) return;
  const wire::message_head head{static_cast<std::uint32_t>(wire::call::leave), 0, 0};
  char end = 0;
  leaves.store(true);
  if (send_all(own.socket, &head, sizeof head) && simulator_is_own()) receive_all(own.socket, &end, 1);
  over.store(true);
  close_socket(own.socket);
  own.socket = -1;
}

}  // namespace

std::int32_t wait(wire::wait_kind kind, std::uint32_t number) {
  return call(wire::call::wait, wire::writer().put(kind).put(number)).status;
}

}  // namespace heddle::cuda
