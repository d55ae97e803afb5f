// SPDX-License-Identifier: MIT
#include "testbench/result_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "config/error.h"

namespace heddle::testbench {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw input_error("cannot write '" + path + "': " + std::strerror(error));
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The file that `path` names when symbolic links are followed, so that a rename replaces it and not the link.
std::string resolve(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  if (char* real = ::realpath(path.c_str(), nullptr)) {
    std::string target = real;
    std::free(real);
    return target;
  }
  char link[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), link, sizeof link);
  if (length <= 0) return path;
  const std::string target(link, static_cast<std::size_t>(length));  // a dangling link: its target comes into being
  return target[0] == '/' ? target : directory_of(path) + "/" + target;
}

bool is_special(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void write_all(int fd, const void* data, std::size_t bytes, const std::string& path) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(fd, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const int error = done < 0 ? errno : EIO;
      ::close(fd);
      fail(path, error);
    }
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

}  // namespace

void check_writable(const std::string& path, const std::string& who) {
  auto refuse = [&](const std::string& why) { throw input_error(who + ": cannot write '" + path + "': " + why); };
  if (path.empty() || path.find('\0') != std::string::npos) throw input_error(who + ": expected the name of a file");
  const std::string target = resolve(path);
  struct stat status;
  if (::stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse("it is a directory");
    if (::access(target.c_str(), W_OK) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return;
  } else if (errno != ENOENT || target.back() == '/') {
    refuse(std::strerror(errno == ENOENT ? EISDIR : errno));
  }
  const std::string directory = directory_of(target);
  if (::stat(directory.c_str(), &status) != 0) refuse("directory '" + directory + "': " + std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) refuse("'" + directory + "' is not a directory");
  if (::access(directory.c_str(), W_OK | X_OK) != 0) refuse("directory '" + directory + "': " + std::strerror(errno));
}

result_files::entry& result_files::make(const std::string& path) {
  entry e;
  e.path = path;
  e.target = resolve(path);
  if (!is_special(e.target)) {
    e.temporary = temporary_file(directory_of(e.target) + "/.heddle-" + std::to_string(::getpid()) + "-" +
                                 std::to_string(entries_.size()) + ".tmp");
  }
  entries_.push_back(std::move(e));
  return entries_.back();
}

void result_files::add(const std::string& path, const void* data, std::size_t bytes) {
  entry& e = make(path);
  if (e.temporary.name().empty()) {
    e.data.assign(static_cast<const char*>(data), bytes);
    return;
  }
  const int fd = ::open(e.temporary.name().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) {
    const int error = errno;
    e.temporary.keep();   // whatever has that name is not ours
    fail(path, error);
  }
  write_all(fd, data, bytes, path);
  if (::fsync(fd) != 0) {
    const int error = errno;
    ::close(fd);
    fail(path, error);
  }
  if (::close(fd) != 0) fail(path, errno);
}

std::string result_files::reserve(const std::string& path) {
  const entry& e = make(path);
  return e.temporary.name().empty() ? e.target : e.temporary.name();
}

void result_files::commit() {
  // Devices first: what cannot be taken back must not follow names that were given already.
  for (const entry& e : entries_) {
    if (!e.temporary.name().empty() || e.data.empty()) continue;
    const int fd = ::open(e.target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) fail(e.path, errno);
    write_all(fd, e.data.data(), e.data.size(), e.path);
    if (::close(fd) != 0) fail(e.path, errno);
  }
  for (entry& e : entries_) {
    const std::string& temporary = e.temporary.name();
    if (!temporary.empty() && ::rename(temporary.c_str(), e.target.c_str()) != 0) fail(e.path, errno);
    e.temporary.keep();
    written_.push_back(e.path);
  }
  entries_.clear();
}

}  // namespace heddle::testbench
