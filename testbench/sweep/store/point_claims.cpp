// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/point_claims.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace heddle::testbench {

point_claims::point_claims(const std::string& file)
    : fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)) {}

point_claims::~point_claims() {
  if (fd_ >= 0) ::close(fd_);
}

bool point_claims::take(const std::string& id) {
  const int error = lock(id, F_WRLCK);
  return error != EAGAIN && error != EACCES;
}

void point_claims::release(const std::string& id) { lock(id, F_UNLCK); }

// One byte of the file, far behind its end, represents a point. If two points share a byte, one of them waits.
int point_claims::lock(const std::string& id, short kind) {
#if defined(F_OFD_SETLK)
  if (fd_ < 0) return 0;
  constexpr unsigned digits = 15;  // 60 bits, because an offset is signed
  struct flock range = {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(std::strtoull(id.substr(0, digits).c_str(), nullptr, 16));
  range.l_len = 1;
  return ::fcntl(fd_, F_OFD_SETLK, &range) == 0 ? 0 : errno;
#else
  static_cast<void>(id), static_cast<void>(kind);
  return 0;
#endif
}

}  // namespace heddle::testbench
