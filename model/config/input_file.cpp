// SPDX-License-Identifier: MIT
#include "heddle/config/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string name_of(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a directory";
  if (S_ISFIFO(mode)) return "it is a pipe, expected a regular file";
  if (S_ISSOCK(mode)) return "it is a socket, expected a regular file";
  return "it is a device, expected a regular file";
}

}  // namespace

bool names_own_descriptor(const std::string& path) {
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr") return true;
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"})
    if (path.rfind(folder, 0) == 0) return is_number(path.substr(std::strlen(folder)));
  return false;
}

input_file::input_file(const std::string& path, kind k)
    : input_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
                 names_own_descriptor(path) ? k : kind::regular) {}

input_file::input_file(int descriptor, kind k) : descriptor_(descriptor) {
  if (descriptor_ < 0) problem_ = std::strerror(errno);
  else classify(k);
}

input_file::~input_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void input_file::classify(kind k) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    problem_ = std::strerror(errno);
    return;
  }
  regular_ = S_ISREG(status.st_mode);
  bytes_ = regular_ ? static_cast<std::uint64_t>(status.st_size) : 0;
  const bool stream = S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
  if (!regular_ && !(stream && k == kind::regular_or_own_descriptor)) problem_ = name_of(status.st_mode);
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags >= 0) ::fcntl(descriptor_, F_SETFL, flags & ~O_NONBLOCK);
}

std::string input_file::read(std::string& content, std::uint64_t most) {
  constexpr std::size_t chunk = 1u << 16;
  std::size_t done = 0;
  // One byte more than the size of a regular file, to detect that it has grown.
  content.assign(std::max(chunk, static_cast<std::size_t>(std::min(bytes_, most)) + 1), '\0');
  for (;;) {
    if (done == content.size()) content.resize(done + std::max(chunk, done / 2));
    const ssize_t got = ::read(descriptor_, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    done += static_cast<std::size_t>(got);
    if (got == 0 || done > most) break;
  }
  content.resize(done);
  return done > most ? "it is longer than " + std::to_string(most) + " bytes" : "";
}

}  // namespace heddle
