// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/trace_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "heddle/config/error.h"

namespace heddle::sass_trace {

namespace {

constexpr std::size_t least_part = std::size_t{64} << 10;

std::string folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

[[noreturn]] void fail(const char* what) {
  throw input_error(std::string("a temporary file in '") + folder() +
                    "', for what of the traces does not fit memory, cannot be " + what + ": " + std::strerror(errno) +
                    " (TMPDIR names the folder, --trace-memory the memory)");
}

int open_nameless() {
  std::string name = folder() + "/heddle_trace_XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) fail("made");
  ::unlink(name.c_str());
  return fd;
}

}  // namespace

trace_store::trace_store(std::size_t bytes, std::size_t kept)
    : room_(bytes), kept_room_(kept), part_bytes_(std::max(bytes / 8, least_part)) {}

trace_store::~trace_store() {
  if (fd_ >= 0) ::close(fd_);
}

bool trace_store::take(std::size_t bytes) {
  std::size_t left = room_;
  while (left >= bytes)
    if (room_.compare_exchange_weak(left, left - bytes)) return true;
  return false;
}

std::uint64_t trace_store::append(const void* data, std::size_t bytes) {
  const std::lock_guard<std::mutex> only_one(growing_);
  if (fd_ < 0) fd_ = open_nameless();
  const auto* from = static_cast<const char*>(data);
  const std::uint64_t at = end_;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pwrite(fd_, from + done, bytes - done, static_cast<off_t>(at + done));
    if (n < 0 && errno != EINTR) fail("written");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  end_ += bytes;
  return at;
}

void trace_store::read(std::uint64_t at, void* data, std::size_t bytes) const {
  auto* to = static_cast<char*>(data);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(fd_, to + done, bytes - done, static_cast<off_t>(at + done));
    if (n == 0) errno = EIO;
    if (n == 0 || (n < 0 && errno != EINTR)) fail("read");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

std::shared_ptr<const void> trace_store::keep(const std::shared_ptr<trace_store>& store, std::size_t bytes) {
  const std::size_t of_room = std::min<std::size_t>(store->room_, bytes);  // the other threads only give back
  store->kept_room_ -= bytes;
  store->room_ -= of_room;
  return {nullptr, [store, bytes, of_room](const void*) {
            store->kept_room_ += bytes;
            store->room_ += of_room;
          }};
}

// Where the file system does not support holes, the space stays allocated until the file is closed.
void trace_store::forget(std::uint64_t at, std::uint64_t bytes) {
#ifdef FALLOC_FL_PUNCH_HOLE
  if (bytes != 0)
    static_cast<void>(::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                                  static_cast<off_t>(bytes)));
#endif
}

}  // namespace heddle::sass_trace
