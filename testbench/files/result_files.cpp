// SPDX-License-Identifier: MIT
#include "testbench/files/result_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

[[noreturn]] void fail(const std::string& begin, int error) { throw input_error(begin + std::strerror(error)); }

void write_all(int fd, const void* data, std::size_t bytes, const std::string& failure) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(fd, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(failure, done < 0 ? errno : EIO);
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

/// The permissions of a file that replaces `before`. The group permissions are kept only if the new file gets the same
/// group.
mode_t mode_like(const struct stat& before, int fd) {
  struct stat made {};
  if (::fstat(fd, &made) != 0) return 0600;
  const bool same = (made.st_uid == before.st_uid && made.st_gid == before.st_gid) ||
                    ::fchown(fd, before.st_uid, before.st_gid) == 0 || made.st_gid == before.st_gid ||
                    ::fchown(fd, static_cast<uid_t>(-1), before.st_gid) == 0;
  return before.st_mode & (same ? 0777 : 0707);
}

}  // namespace

result_files::entry& result_files::make(const std::string& path, const file_access& access, const std::string& who) {
  entry e;
  e.place = find_output(path, who, access);
  e.failure = (who.empty() ? "" : who + ": ") + "cannot write '" + path + "': ";
  // Outputs in the same folder share one open folder descriptor.
  for (auto other = entries_.rbegin(); other != entries_.rend() && other - entries_.rbegin() < 16; ++other)
    if (other->place.folder && other->place.directory == e.place.directory) e.place.folder = other->place.folder;
  entries_.push_back(std::move(e));
  return entries_.back();
}

void result_files::make_temporary(entry& e) {
  for (int attempt = 0; !e.file.is_open(); ++attempt) {
    e.name = ".heddle-" + random_word() + ".tmp";
    e.temporary = temporary_file(e.place.directory + "/" + e.name);
    if (observer_ != nullptr) observer_->note(temporary_names());
    e.file = descriptor(
        ::openat(e.place.folder->get(), e.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (e.file.is_open()) break;
    const int error = errno;
    e.temporary.keep();  // the existing file of that name is not ours
    if (error != EEXIST || attempt == 100) fail(e.failure, error);
  }
  struct stat status {};
  if (::fstat(e.file.get(), &status) != 0) fail(e.failure, errno);
  e.device = status.st_dev;
  e.inode = status.st_ino;
  e.mode = e.place.exists ? mode_like(e.place.status, e.file.get()) : status.st_mode & 0777;
  ::fchmod(e.file.get(), 0600);
}

// Output that another component writes for standard output or a pipe goes to an unlinked file first and is copied when
// it is complete.
void result_files::make_nameless(entry& e) {
  std::error_code ignored;
  std::string name = (std::filesystem::temp_directory_path(ignored) / "heddle-XXXXXX").string();
  e.file = descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!e.file.is_open()) fail(e.failure, errno);
  ::unlink(name.c_str());
}

void result_files::add(const std::string& path, const void* data, std::size_t bytes, const file_access& access,
                       const std::string& who) {
  const char* const from = static_cast<const char*>(data);
  entry& e = make(path, access, who);
  if (e.place.what != output_place::kind::file) {
    e.data.assign(from, from + bytes);
    return;
  }
  make_temporary(e);
  write_all(e.file.get(), from, bytes, e.failure);
  finish(e);
}

void result_files::add(const std::string& path, std::uint64_t bytes,
                       const std::function<void(std::uint64_t, void*, std::size_t)>& read, const file_access& access,
                       const std::string& who) {
  entry& e = make(path, access, who);
  if (e.place.what != output_place::kind::file) {
    e.data.resize(bytes);
    if (bytes != 0) read(0, e.data.data(), bytes);
    return;
  }
  make_temporary(e);
  std::vector<char> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, chunk_bytes)));
  for (std::uint64_t at = 0; at < bytes; at += chunk.size()) {
    chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - at, chunk.size())));
    read(at, chunk.data(), chunk.size());
    write_all(e.file.get(), chunk.data(), chunk.size(), e.failure);
  }
  // Closes the file: there may be more outputs than the limit of open files.
  finish(e);
}

void result_files::add(const std::string& path, const std::function<void(const text_sink&)>& write,
                       const std::string& who) {
  entry& e = make(path, {}, who);
  if (e.place.what != output_place::kind::file) return write([&e](std::string_view part) { e.data += part; });
  make_temporary(e);
  write([&e](std::string_view part) { write_all(e.file.get(), part.data(), part.size(), e.failure); });
  finish(e);
}

std::string result_files::reserve(const std::string& path, const std::string& who) {
  entry& e = make(path, {}, who);
  if (e.place.what == output_place::kind::device) return path;
  e.place.what == output_place::kind::file ? make_temporary(e) : make_nameless(e);
  const std::string open_name = "/proc/self/fd/" + std::to_string(e.file.get());
  return e.name.empty() || ::access(open_name.c_str(), W_OK) == 0 ? open_name : e.temporary.name();
}

std::string result_files::reserve_name(const std::string& path) {
  entry& e = make(path, {}, "");
  if (e.place.what != output_place::kind::file) throw input_error(e.failure + "expected a regular file");
  make_temporary(e);
  return e.temporary.name();
}

std::vector<std::string> result_files::temporary_names() const {
  std::vector<std::string> names;
  for (const entry& e : entries_)
    if (!e.temporary.name().empty()) names.push_back(e.temporary.name());
  return names;
}

void result_files::finish(entry& e) {
  if (!e.file.is_open()) return;
  if (::fsync(e.file.get()) != 0 || ::fchmod(e.file.get(), e.mode) != 0 || e.file.close() != 0) fail(e.failure, errno);
}

void result_files::rename(entry& e) {
  const int folder = e.place.folder->get();
  struct stat status {};
  const bool ours = ::fstatat(folder, e.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_dev == e.device &&
                    status.st_ino == e.inode;
  if (!ours) {
    e.temporary.keep();
    throw input_error(e.failure + "its temporary file '" + e.name + "' was taken away or replaced");
  }
  if (::renameat(folder, e.name.c_str(), folder, e.place.name.c_str()) != 0) fail(e.failure, errno);
  e.temporary.keep();
}

void result_files::write_directly(entry& e) {
  const bool device = e.place.what == output_place::kind::device;
  if (device && e.data.empty()) return;  // another component has written to it
  std::fflush(stdout);
  descriptor to(device ? ::openat(e.place.folder->get(), e.place.name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)
                       : ::fcntl(e.place.number, F_DUPFD_CLOEXEC, 0));
  if (!to.is_open()) fail(e.failure, errno);
  write_all(to.get(), e.data.data(), e.data.size(), e.failure);
  if (e.file.is_open()) {
    char chunk[1 << 16];
    ssize_t got = 0;
    for (off_t at = 0; (got = ::pread(e.file.get(), chunk, sizeof chunk, at)) > 0; at += got)
      write_all(to.get(), chunk, static_cast<std::size_t>(got), e.failure);
    if (got < 0) fail(e.failure, errno);
  }
  if (to.close() != 0) fail(e.failure, errno);
}

void result_files::commit() {
  // Direct writes cannot be undone, so they must not fail after files have been renamed.
  for (entry& e : entries_)
    if (e.place.what != output_place::kind::file) write_directly(e);
  for (entry& e : entries_)
    if (e.place.what == output_place::kind::file) finish(e);
  for (entry& e : entries_) {
    if (e.place.what == output_place::kind::file) rename(e);
    written_.push_back(e.place.path);
  }
  entries_.clear();
}

}  // namespace heddle::testbench
