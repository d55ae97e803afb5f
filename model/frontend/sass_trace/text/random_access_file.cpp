// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/text/random_access_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "heddle/config/error.h"

namespace heddle::sass_trace {

random_access_file::random_access_file(const std::string& file) {
  // Non-blocking: opening a pipe must not wait for its writer.
  file_ = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file_ < 0) throw input_error("'" + file + "' cannot be read: " + std::strerror(errno));
  struct stat s {};
  if (::fstat(file_, &s) != 0 || !S_ISREG(s.st_mode)) {
    ::close(file_);
    throw input_error("'" + file + "' is no regular file");
  }
  bytes_ = static_cast<std::uint64_t>(s.st_size);
}

random_access_file::~random_access_file() { ::close(file_); }

std::size_t random_access_file::read_some(char* to, std::size_t most, std::uint64_t at) const {
  for (;;) {
    const ssize_t n = ::pread(file_, to, most, static_cast<off_t>(at));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw std::runtime_error(std::strerror(errno));
  }
}

void random_access_file::read(char* to, std::size_t bytes, std::uint64_t at) const {
  while (bytes != 0) {
    const std::size_t n = read_some(to, bytes, at);
    if (n == 0) throw std::runtime_error("the file has become shorter");
    to += n;
    at += n;
    bytes -= n;
  }
}

}  // namespace heddle::sass_trace
