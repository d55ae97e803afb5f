// SPDX-License-Identifier: MIT
#include "testbench/files/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

[[noreturn]] void fail(const open_file_part& part, std::uint64_t at, const char* what, const char* why,
                       const std::string& who) {
  throw input_error(who + ": cannot " + what + " descriptor " + std::to_string(part.descriptor) + " at byte " +
                    std::to_string(at) + ": " + why);
}

template <class Move>
void move_all(const open_file_part& part, std::uint64_t offset, std::size_t bytes, const char* what,
              const std::string& who, Move&& move) {
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t at = part.at + offset + done;
    const ssize_t n = move(done, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(part, at, what, n < 0 ? std::strerror(errno) : "it ends there", who);
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

void check_open(const open_file_part& part, bool writes, const std::string& who) {
  const int flags = ::fcntl(part.descriptor, F_GETFL);
  if (flags < 0) throw input_error(who + ": descriptor " + std::to_string(part.descriptor) + " is not open");
  const int mode = flags & O_ACCMODE;
  if (mode == (writes ? O_RDONLY : O_WRONLY))
    throw input_error(who + ": descriptor " + std::to_string(part.descriptor) + " is not open for " +
                      (writes ? "writing" : "reading"));
  if (::lseek(part.descriptor, 0, SEEK_CUR) < 0)
    throw input_error(who + ": descriptor " + std::to_string(part.descriptor) +
                      " is a pipe or a device, expected a file in which bytes have places");
}

void read_part(const open_file_part& part, std::uint64_t offset, void* data, std::size_t bytes,
               const std::string& who) {
  move_all(part, offset, bytes, "read", who, [&](std::size_t done, off_t at) {
    return ::pread(part.descriptor, static_cast<char*>(data) + done, bytes - done, at);
  });
}

void write_part(const open_file_part& part, std::uint64_t offset, const void* data, std::size_t bytes,
                const std::string& who) {
  move_all(part, offset, bytes, "write", who, [&](std::size_t done, off_t at) {
    return ::pwrite(part.descriptor, static_cast<const char*>(data) + done, bytes - done, at);
  });
}

}  // namespace heddle::testbench
