// SPDX-License-Identifier: MIT
#include "testbench/exec/copy_window.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "testbench/exec/connection.h"
#include "testbench/files/descriptor.h"

namespace heddle::testbench {

namespace {

constexpr int timeout_ms = 2000;  // a thread that a debugger or a signal has stopped does not answer

std::uint64_t part_at(std::uint64_t at, std::uint64_t bytes) { return std::min(wire::window_bytes, bytes - at); }

/// The calling thread follows another one to its processor, and is where it was allowed before at the end.
class follower {
 public:
  follower() : may_go_(::sched_getaffinity(0, sizeof before_, &before_) == 0) {}
  ~follower() {
    if (at_ != nowhere) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;
  /// Does nothing if the user has kept this thread from that processor.
  void go_to(std::uint32_t processor) {
    if (processor == at_ || !may_go_ || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &before_)) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (::sched_setaffinity(0, sizeof one, &one) == 0) at_ = processor;
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  cpu_set_t before_{};
  bool may_go_;
  std::uint32_t at_ = nowhere;
};

int open_at(const std::string& place, int number) {
  return ::open((place + "/fd/" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

// The descriptors of a process whose first thread has ended are those of another one.
int open_of(pid_t process, int number) {
  const std::string place = "/proc/" + std::to_string(process);
  int file = open_at(place, number);
  std::error_code none;
  if (file < 0)
    for (const auto& thread : std::filesystem::directory_iterator(place + "/task", none))
      if (file = open_at(thread.path().string(), number); file >= 0) break;
  return file;
}

}  // namespace

int shared_memory::open_file(pid_t process, int number, std::uint64_t bytes) {
  const int file = open_of(process, number);
  struct stat about {};
  // A file that the program could shorten would end the simulator at its next access.
  const bool sealed =
      file >= 0 && (::fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0 && ::fcntl(file, F_GET_SEALS) != -1;
  if (sealed && ::fstat(file, &about) == 0 && static_cast<std::uint64_t>(about.st_size) == bytes) return file;
  if (file >= 0) ::close(file);
  return -1;
}

std::unique_ptr<shared_memory> shared_memory::open(pid_t process, int number, std::uint64_t bytes) {
  const descriptor file(open_file(process, number, bytes));
  if (!file.is_open()) return nullptr;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  return std::unique_ptr<shared_memory>(new shared_memory(static_cast<std::uint8_t*>(at), bytes));
}

shared_memory::~shared_memory() { ::munmap(data_, bytes_); }

std::shared_ptr<copy_window> copy_window::open(pid_t process, int number) {
  auto memory = shared_memory::open(process, number, wire::window_bytes);
  return memory ? std::shared_ptr<copy_window>(new copy_window(process, std::move(memory))) : nullptr;
}

bool copy_window::reaches(std::uint64_t address, std::uint64_t bytes, bool writes) const {
  if (link_ == nullptr || lost_) return false;
  std::ifstream maps("/proc/" + std::to_string(process_) + "/maps");
  const std::uint64_t end = address + bytes;
  for (std::string line; address < end && std::getline(maps, line);) {
    unsigned long long first = 0, last = 0, inode = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %*s %*s %llu", &first, &last, rights, &inode) != 4) return false;
    if (last <= address) continue;
    // The end of a file may be before that of its mapping.
    if (first > address || inode != 0 || rights[0] != 'r' || (writes && rights[1] != 'w')) return false;
    address = last;
  }
  return address >= end;
}

std::uint64_t copy_window::fetch(std::uint64_t address, std::uint64_t bytes, const part_use& use) {
  follower here;
  for (std::uint64_t at = 0, n = 0; at < bytes; at += n) {
    n = part_at(at, bytes);
    const auto processor = move(address + at, n, true);
    if (!processor) return at;
    here.go_to(*processor - 1);
    use(at, data_, n);
  }
  return bytes;
}

std::uint64_t copy_window::deliver(std::uint64_t address, std::uint64_t bytes, const part_use& use) {
  follower here;
  for (std::uint64_t at = 0, n = 0; at < bytes; at += n) {
    n = part_at(at, bytes);
    use(at, data_, n);
    const auto processor = move(address + at, n, false);
    if (!processor) return at;
    here.go_to(*processor - 1);
  }
  return bytes;
}

std::optional<std::uint32_t> copy_window::move(std::uint64_t address, std::uint64_t bytes, bool to_window) {
  if (link_ == nullptr || lost_) return {};
  std::optional<std::uint32_t> processor;
  if (link_->ask({address, static_cast<std::uint32_t>(bytes), to_window ? 1u : 0u}))
    processor = link_->wait_for_answer(timeout_ms);
  lost_ = !processor;
  return processor;
}

}  // namespace heddle::testbench
