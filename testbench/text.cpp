// SPDX-License-Identifier: MIT
#include "testbench/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "config/error.h"

namespace heddle::testbench {

bool parse_unsigned(const std::string& text, std::uint64_t& value) {
  const char* first = text.data();
  const char* last = first + text.size();
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    first += 2;
    base = 16;
  }
  auto [end, error] = std::from_chars(first, last, value, base);
  return error == std::errc() && end == last;
}

bool parse_signed(const std::string& text, std::int64_t& value) {
  const bool negative = !text.empty() && text[0] == '-';
  std::uint64_t magnitude = 0;
  if (!parse_unsigned(negative ? text.substr(1) : text, magnitude)) return false;
  constexpr std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > (negative ? limit : limit - 1)) return false;
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

namespace {

template <class T, class Convert>
bool convert_float(const std::string& text, T& value, Convert convert) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0]))) return false;
  char* end = nullptr;
  value = convert(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

/// A file descriptor that closes itself.
struct descriptor {
  int fd;
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

descriptor open_regular(const std::string& path, const std::string& who, struct stat& status) {
  if (path.empty() || path.find('\0') != std::string::npos) throw input_error(who + ": expected the name of a file");
  // Not blocking, so that a pipe is refused below instead of waited for.
  descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) {
    throw input_error(who + ": cannot read '" + path + "': " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw input_error(who + ": cannot read '" + path +
                      "': " + (S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file"));
  }
  return descriptor{std::exchange(file.fd, -1)};
}

}  // namespace

bool parse_float(const std::string& text, float& value) { return convert_float(text, value, std::strtof); }
bool parse_float(const std::string& text, double& value) { return convert_float(text, value, std::strtod); }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) text += (&part == parts.data() ? "" : separator) + part;
  return text;
}

std::uint64_t readable_size(const std::string& path, const std::string& who) {
  struct stat status;
  open_regular(path, who, status);
  return static_cast<std::uint64_t>(status.st_size);
}

std::string read_file(const std::string& path, const std::string& who) {
  struct stat status;
  descriptor file = open_regular(path, who, status);
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    ssize_t got = ::read(file.fd, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw input_error(who + ": cannot read '" + path + "': " + std::strerror(errno));
    if (got == 0) throw input_error(who + ": '" + path + "' became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return content;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

}  // namespace heddle::testbench
