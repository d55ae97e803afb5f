// SPDX-License-Identifier: MIT
#include "testbench/files/file_access.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "heddle/config/error.h"
#include "heddle/config/input_file.h"
#include "heddle/config/shipped.h"

namespace heddle::testbench {

namespace {

/// Empty: the path does not resolve, and errno holds the reason.
std::string canonical(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : "";
}

}  // namespace

file_access::file_access(const std::string& folder, const std::string& who)
    : folder_(folder), prefix_(canonical(folder)) {
  const int root = prefix_.empty() ? -1 : ::open(prefix_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) throw input_error(who + ": '" + folder + "' is no folder: " + std::strerror(errno));
  root_ = std::make_shared<const descriptor>(root);
  if (prefix_.back() != '/') prefix_ += '/';
}

bool file_access::holds(const std::string& real) const { return (real + "/").compare(0, prefix_.size(), prefix_) == 0; }

bool file_access::holds_file(const std::string& path) const {
  const std::string real = canonical(path);
  return !real.empty() && (!is_confined() || holds(real));
}

std::string file_access::outside() const {
  return "it is not below the folder '" + folder_ +
         "', which a job's files must not leave (--confine DIR names another folder)";
}

int file_access::open(const std::string& path, int flags, std::string& problem) const {
  const auto failed = [&problem](int error) {
    problem = std::strerror(error);
    return -1;
  };
  if (!is_confined()) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
    return fd < 0 ? failed(errno) : fd;
  }
  const std::string real = canonical(path);
  if (real.empty()) return failed(errno);
  if (!holds(real)) {
    problem = outside();
    return -1;
  }
  descriptor at(::fcntl(root_->get(), F_DUPFD_CLOEXEC, 0));
  std::size_t begin = prefix_.size();
  if (begin >= real.size()) return ::openat(at.get(), ".", flags | O_CLOEXEC);
  while (at.is_open()) {
    const std::size_t end = real.find('/', begin);
    const std::string step = real.substr(begin, end == std::string::npos ? end : end - begin);
    const bool last = end == std::string::npos;
    at = descriptor(::openat(at.get(), step.c_str(), O_NOFOLLOW | O_CLOEXEC | (last ? flags : O_PATH | O_DIRECTORY)));
    if (last) break;
    begin = end + 1;
  }
  return at.is_open() ? at.release() : failed(errno);
}

std::unique_ptr<input_file> file_access::open_file(const std::string& path, const std::string& who) const {
  if (path.empty() || path.find('\0') != std::string::npos) throw input_error(who + ": expected the name of a file");
  std::string problem;
  // Non-blocking, so that a pipe is refused without waiting for its writer.
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, problem);
  if (fd < 0) throw input_error(who + ": cannot read '" + path + "': " + problem);
  auto file = std::make_unique<input_file>(fd, input_file::kind::regular);
  if (!file->problem().empty()) throw input_error(who + ": cannot read '" + path + "': " + file->problem());
  return file;
}

std::uint64_t file_access::size(const std::string& path, const std::string& who) const {
  return open_file(path, who)->bytes();
}

std::string file_access::read(const std::string& path, const std::string& who, std::uint64_t most) const {
  const auto file = open_file(path, who);
  if (file->bytes() > most)
    throw input_error(who + ": '" + path + "' has " + std::to_string(file->bytes()) + " bytes, expected at most " +
                      std::to_string(most));
  std::string content;
  const std::string problem = file->read(content, file->bytes());
  if (content.size() != file->bytes()) throw input_error(who + ": '" + path + "' changed its size while it was read");
  if (!problem.empty()) throw input_error(who + ": cannot read '" + path + "': " + problem);
  return content;
}

descriptor file_access::open_folder(const std::string& path, std::string& problem) const {
  return descriptor(open(path, O_PATH | O_DIRECTORY, problem));
}

void file_access::check(const std::string& path, const std::string& who) const {
  if (is_confined()) static_cast<void>(open_file(path, who));
}

void file_access::check_new(const std::string& path, const std::string& who) const {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string();
  if (is_confined() && (error || !holds(std::filesystem::absolute(real).string())))
    throw input_error(who + ": cannot write '" + path + "': " + outside());
}

std::function<std::string(const std::string& file)> reader_of_bases(const std::string& confine,
                                                                    const std::string& gpu) {
  if (confine.empty()) return {};
  const std::filesystem::path own = std::filesystem::path(gpu).parent_path();
  const bool has_folder = names_a_file(gpu) && !names_own_descriptor(gpu);
  return [confine, has_folder, folder = own.empty() ? "." : own.string()](const std::string& file) {
    const std::string who = "--gpu";
    const file_access below(confine, "--confine");
    if (has_folder) {
      const file_access beside(folder, who);
      if (beside.holds_file(file)) return beside.read(file, who);
    }
    return below.read(file, who);
  };
}

}  // namespace heddle::testbench
