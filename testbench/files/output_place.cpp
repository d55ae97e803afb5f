// SPDX-License-Identifier: MIT
#include "testbench/files/output_place.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/config/input_file.h"
#include "testbench/files/file_access.h"

namespace heddle::testbench {

namespace {

constexpr int most_links = 40;  // as many as the Linux kernel follows

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Devices that hold no data: null, full (memory devices 3, 7), and terminals.
bool holds_nothing(const struct stat& status) {
  if (!S_ISCHR(status.st_mode)) return false;
  const unsigned major = ::major(status.st_rdev), minor = ::minor(status.st_rdev);
  return (major == 1 && (minor == 3 || minor == 7)) || major == 4 || major == 5 || (major >= 136 && major <= 143);
}

std::string refusal_of(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "it is a directory";
  if (S_ISFIFO(status.st_mode)) return "it is a pipe, expected a regular file or what the shell opens, >(command)";
  if (S_ISSOCK(status.st_mode)) return "it is a socket, expected a regular file";
  return "it is a device, expected a regular file";
}

int own_number(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string digits = path.substr(path.rfind('/') + 1);
  return digits.size() < 8 ? std::atoi(digits.c_str()) : -1;
}

/// Follows links in the last component of a path, including a link to a missing file, which the output then creates.
/// Empty: the links form a cycle.
std::string follow(std::string path) {
  for (int k = 0; k < most_links; ++k) {
    char link[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), link, sizeof link);
    if (length <= 0 || names_own_descriptor(path)) return path;
    const std::string target(link, static_cast<std::size_t>(length));
    path = target[0] == '/' ? target : directory_of(path) + "/" + target;
  }
  return "";
}

}  // namespace

bool is_standard_output(const std::string& path) {
  return path == "-" || (names_own_descriptor(path) && own_number(path) == STDOUT_FILENO);
}

output_place find_output(const std::string& path, const std::string& who) {
  return find_output(path, who, file_access());
}

output_place find_output(const std::string& path, const std::string& who, const file_access& access) {
  const std::string begin = who.empty() ? "" : who + ": ";
  const auto refuse = [&](const std::string& why) { throw input_error(begin + "cannot write '" + path + "': " + why); };
  if (path.empty() || path.find('\0') != std::string::npos) throw input_error(begin + "expected the name of a file");
  output_place place;
  place.path = path;
  const std::string target = follow(path);
  if (path == "-" || names_own_descriptor(target)) {
    place.what = output_place::kind::own_descriptor;
    place.number = path == "-" ? STDOUT_FILENO : own_number(target);
    if (access.is_confined()) refuse("it is not a file of the job's folder");
    const int flags = ::fcntl(place.number, F_GETFL);
    if (flags < 0) refuse(std::strerror(errno));
    if ((flags & O_ACCMODE) == O_RDONLY) refuse("it is open for reading only");
    return place;
  }
  if (target.empty()) refuse(std::strerror(ELOOP));
  place.directory = directory_of(target);
  place.name = target.substr(target.rfind('/') + 1);
  if (place.name.empty() || place.name == "." || place.name == "..") refuse("it is a directory");
  if (place.name.size() > NAME_MAX) refuse(std::strerror(ENAMETOOLONG));
  std::string problem;
  place.folder = std::make_shared<const descriptor>(access.open_folder(place.directory, problem));
  if (!place.folder->is_open()) refuse("directory '" + place.directory + "': " + problem);
  const int folder = place.folder->get();
  if (::fstatat(folder, place.name.c_str(), &place.status, AT_SYMLINK_NOFOLLOW) == 0) {
    place.exists = true;
    if (holds_nothing(place.status)) {
      place.what = output_place::kind::device;
      if (access.is_confined()) refuse("it is a device, expected a regular file");
    } else if (!S_ISREG(place.status.st_mode)) {
      refuse(refusal_of(place.status));
    }
    if (::faccessat(folder, place.name.c_str(), W_OK, 0) != 0) refuse(std::strerror(errno));
    if (place.what == output_place::kind::device) return place;
  } else if (errno != ENOENT) {
    refuse(std::strerror(errno));
  }
  if (::faccessat(folder, ".", W_OK | X_OK, 0) != 0)
    refuse("directory '" + place.directory + "': " + std::strerror(errno));
  return place;
}

}  // namespace heddle::testbench
