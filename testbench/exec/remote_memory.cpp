// SPDX-License-Identifier: MIT
#include "testbench/exec/remote_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "testbench/files/descriptor.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // the system transfers at most 2 GiB at once

std::string task_of(pid_t process, pid_t thread) {
  return "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
}

template <class Move>
bool move_all(std::uint64_t address, std::uint8_t* data, std::size_t bytes, Move&& move) {
  while (bytes != 0) {
    const std::size_t wanted = std::min(bytes, most_at_once);
    iovec here{data, wanted};
    iovec there{reinterpret_cast<void*>(address), wanted};
    const ssize_t n = move(&here, &there);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    address += static_cast<std::size_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

// The number of a thread that has ended may be that of another process's thread.
pid_t remote_memory::thread() const {
  const pid_t by = thread_;
  if (by == process_ || ::faccessat(AT_FDCWD, task_of(process_, by).c_str(), F_OK, 0) == 0) return by;
  return find_thread() ? thread_.load() : 0;
}

// The memory of a process whose first thread has ended is reached by another one.
bool remote_memory::find_thread() const {
  if (process_ == 0) return false;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process_.load()) + "/task", none)) {
    const auto thread = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (thread == process_ || thread == thread_) continue;
    thread_ = thread;
    return true;
  }
  return false;
}

bool remote_memory::read(std::uint64_t address, void* data, std::size_t bytes) const {
  return move_all(address, static_cast<std::uint8_t*>(data), bytes, [this](const iovec* here, const iovec* there) {
    ssize_t n = 0;
    do n = ::process_vm_readv(thread(), here, 1, there, 1, 0);
    while (n < 0 && errno == ESRCH && find_thread());
    return n;
  });
}

bool remote_memory::write(std::uint64_t address, const void* data, std::size_t bytes) const {
  auto* from = const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(data));
  return move_all(address, from, bytes, [this](const iovec* here, const iovec* there) {
    ssize_t n = 0;
    do n = ::process_vm_writev(thread(), here, 1, there, 1, 0);
    while (n < 0 && errno == ESRCH && find_thread());
    return n;
  });
}

// True: all have been moved.
bool remote_memory::move(bool write, const std::vector<run>& runs) const {
  constexpr std::size_t most_runs = 1024;  // IOV_MAX of Linux
  iovec here[most_runs], there[most_runs];
  for (std::size_t done = 0; done < runs.size();) {
    const std::size_t count = std::min(runs.size() - done, most_runs);
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const run& r = runs[done + k];
      here[k] = {r.here, r.bytes};
      there[k] = {reinterpret_cast<void*>(r.address), r.bytes};
      bytes += r.bytes;
    }
    ssize_t n = 0;
    do
      n = write ? ::process_vm_writev(thread(), here, count, there, count, 0)
                : ::process_vm_readv(thread(), here, count, there, count, 0);
    while (n < 0 && (errno == EINTR || (errno == ESRCH && find_thread())));
    if (n < 0 || static_cast<std::size_t>(n) != bytes) return false;
    done += count;
  }
  return true;
}

void remote_memory::read(const std::vector<run>& runs) const {
  if (process_ != 0 && move(false, runs)) return;
  for (const run& r : runs)
    if (process_ == 0 || !read(r.address, r.here, r.bytes)) std::fill_n(r.here, r.bytes, std::uint8_t{0});
  if (process_ != 0) has_failed_ = true;
}

void remote_memory::write(const std::vector<run>& runs) const {
  if (process_ == 0 || move(true, runs)) return;
  for (const run& r : runs) static_cast<void>(write(r.address, r.here, r.bytes));
  has_failed_ = true;
}

std::string remote_memory::refusal(std::uint64_t address) const {
  char byte = 0;
  errno = 0;
  // No such address: another program has taken this one's place by exec().
  if (read(address, &byte, 1) || errno == EFAULT) return "";
  return std::strerror(errno);
}

bool is_zombie(pid_t child) {
  siginfo_t end{};
  return ::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == child;
}

std::string shown_name(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

left_processes::left_processes() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

bool left_processes::may_call() {
  constexpr std::chrono::seconds most(2);  // a process starts in milliseconds, on a busy machine in some hundred
  const auto now = std::chrono::steady_clock::now();
  if (until_ == std::chrono::steady_clock::time_point{}) until_ = now + most;
  pid_t ended = 0;
  do ended = ::waitpid(-1, nullptr, WNOHANG);
  while (ended > 0);
  return ended == 0 && now < until_;
}

long threads_of(pid_t process) {
  char text[512];
  const descriptor file(::open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.is_open() ? ::read(file.get(), text, sizeof text - 1) : 0;
  if (n <= 0) return ::kill(process, 0) == 0 ? 1 : 0;
  text[n] = 0;
  const char* name_ends = std::strrchr(text, ')');
  char state = 0;
  long threads = 0;                // the 18th field after the name; proc(5)
  unsigned long memory_bytes = 0;  // the 21st; a process that ends gives its memory back first
  if (name_ends == nullptr ||
      std::sscanf(name_ends + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %*s %lu",
                  &state, &threads, &memory_bytes) != 3)
    return 1;
  if (state == 'Z') return threads - 1;
  return memory_bytes != 0 ? threads : 0;
}

bool is_asleep(pid_t process) {
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", none)) {
    std::ifstream in(thread.path() / "stat");
    std::string text;
    std::getline(in, text);
    const std::size_t name_ends = text.rfind(')');
    if (name_ends + 2 < text.size() && text[name_ends + 2] == 'R') return false;
  }
  return true;
}

std::string name_of_program(pid_t process) {
  char path[4096];
  const ssize_t n = ::readlink(("/proc/" + std::to_string(process) + "/exe").c_str(), path, sizeof path);
  if (n <= 0) return "program";
  const std::string whole(path, static_cast<std::size_t>(n));
  return whole.substr(whole.rfind('/') + 1);
}

}  // namespace heddle::testbench
