// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/gathering_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "heddle/config/error.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

// Only such names are removed, whatever the lock's file contains.
bool is_temporary(const std::string& file) {
  const std::string begin = ".heddle-", end = ".tmp";
  const std::string name = file.substr(file.rfind('/') + 1);
  return name.rfind(begin, 0) == 0 && name.size() > begin.size() + end.size() &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

gathering_lock::gathering_lock(const std::string& folder)
    : fd_(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)) {
  // The file is written to, so a link to another file must not be accepted.
  struct stat status {};
  if (fd_ < 0 ? errno == ELOOP : ::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) {
    if (fd_ >= 0) ::close(fd_);
    throw input_error("store: '" + folder + "/lock' is not the lock of a store, expected a file of its own");
  }
  if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0) return;
  remove_left();
}

gathering_lock::~gathering_lock() {
  if (fd_ < 0) return;
  note({});
  ::close(fd_);
}

void gathering_lock::note(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files)
    text += std::filesystem::absolute(file).string() + "\n";  // the next process may have another working directory
  // Written before it is cut: a kill between the two leaves the files of the note before it named. If the note cannot
  // be written, files of a killed gathering stay; that is no reason to fail.
  const auto bytes = static_cast<ssize_t>(text.size());
  if (fd_ < 0 || ::pwrite(fd_, text.data(), text.size(), 0) != bytes || ::ftruncate(fd_, bytes) != 0) return;
}

void gathering_lock::remove_left() {
  std::string text;
  char chunk[4096];
  constexpr std::size_t longest = 1u << 20;
  for (ssize_t got;
       text.size() < longest && (got = ::pread(fd_, chunk, sizeof chunk, static_cast<off_t>(text.size()))) > 0;)
    text.append(chunk, static_cast<std::size_t>(got));
  for (const std::string& file : split(text, '\n'))
    if (is_temporary(file)) ::unlink(file.c_str());
}

}  // namespace heddle::testbench
