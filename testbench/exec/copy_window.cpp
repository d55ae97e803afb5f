// SPDX-License-Identifier: MIT
#include "testbench/exec/copy_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "testbench/exec/connection.h"
#include "testbench/files/descriptor.h"

namespace heddle::testbench {

namespace {

constexpr int timeout_ms = 2000;  // a thread that a debugger or a signal has stopped does not answer

}  // namespace

std::shared_ptr<copy_window> copy_window::open(pid_t process, int number) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  const descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  // A file that the program could shorten would end the simulator at its next access.
  const bool sealed = file.is_open() && (::fcntl(file.get(), F_GET_SEALS) & F_SEAL_SHRINK) != 0 &&
                      ::fcntl(file.get(), F_GET_SEALS) != -1;
  if (!sealed || ::fstat(file.get(), &about) != 0 || static_cast<std::uint64_t>(about.st_size) != wire::window_bytes)
    return nullptr;
  void* const at = ::mmap(nullptr, wire::window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  return std::shared_ptr<copy_window>(new copy_window(process, static_cast<std::uint8_t*>(at)));
}

copy_window::~copy_window() { ::munmap(data_, wire::window_bytes); }

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

bool copy_window::move(std::uint64_t address, std::uint64_t bytes, bool to_window) {
  if (link_ == nullptr || lost_) return false;
  lost_ = !link_->ask({address, static_cast<std::uint32_t>(bytes), to_window ? 1u : 0u}, timeout_ms);
  return !lost_;
}

}  // namespace heddle::testbench
