// SPDX-License-Identifier: MIT
#include "testbench/exec/copy_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "testbench/exec/connection.h"
#include "testbench/files/descriptor.h"

namespace heddle::testbench {

namespace {

constexpr int timeout_ms = 2000;  // a thread that a debugger or a signal has stopped does not answer
constexpr std::uint64_t half_bytes = wire::window_bytes / 2;

std::uint64_t part_at(std::uint64_t at, std::uint64_t bytes) { return std::min(half_bytes, bytes - at); }

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
  std::uint64_t done = 0;
  bool begun = begin(address, part_at(0, bytes), 0, true);
  for (unsigned half = 0; begun && finish(); half ^= 1) {
    const std::uint64_t at = done;
    done += part_at(at, bytes);
    begun = done < bytes && begin(address + done, part_at(done, bytes), half ^ 1, true);
    use(at, data_ + half * half_bytes, done - at);
  }
  return done;
}

std::uint64_t copy_window::deliver(std::uint64_t address, std::uint64_t bytes, const part_use& use) {
  std::uint64_t done = 0;
  unsigned half = 0;
  for (std::uint64_t at = 0; at < bytes; half ^= 1) {
    const std::uint64_t n = part_at(at, bytes);
    use(at, data_ + half * half_bytes, n);
    if (at != 0 && !finish()) return done;
    done = at;
    if (!begin(address + at, n, half, false)) return done;
    at += n;
  }
  return finish() ? bytes : done;
}

bool copy_window::begin(std::uint64_t address, std::uint64_t bytes, unsigned half, bool to_window) {
  if (link_ == nullptr || lost_) return false;
  lost_ = !link_->ask({address, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(half * half_bytes),
                       to_window ? 1u : 0u, 0});
  return !lost_;
}

bool copy_window::finish() {
  if (link_ == nullptr || lost_) return false;
  lost_ = !link_->wait_for_answer(timeout_ms);
  return !lost_;
}

}  // namespace heddle::testbench
