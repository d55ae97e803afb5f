// SPDX-License-Identifier: MIT
#include "frontend/sass_trace/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/iostreams/device/file_descriptor.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "config/error.h"

namespace heddle::sass_trace {

namespace io = boost::iostreams;

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_line = buffer_bytes / 4;
constexpr std::size_t read_bytes = std::size_t{1} << 16;   // at once: what is read next is still in the host's caches
constexpr std::streamsize stage_bytes = 1 << 16;

bool ends_with(const std::string& text, const char* ending) {
  const std::size_t n = std::strlen(ending);
  return text.size() >= n && text.compare(text.size() - n, n, ending) == 0;
}

int open_regular(const std::string& file) {
  // Not to wait for a writer, should the name be a pipe's.
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) throw input_error("'" + file + "' cannot be read: " + std::strerror(errno));
  struct stat s {};
  if (::fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
    ::close(fd);
    throw input_error("'" + file + "' is no regular file");
  }
  return fd;
}

}  // namespace

// Bytes of the file, plain or through a filter.
class line_reader::byte_source {
 public:
  explicit byte_source(const std::string& file) : fd_(open_regular(file)) {
    if (ends_with(file, ".xz"))
      chain_.push(io::lzma_decompressor(), stage_bytes);
    else if (ends_with(file, ".zst"))
      chain_.push(io::zstd_decompressor(), stage_bytes);
    else if (ends_with(file, ".gz"))
      chain_.push(io::gzip_decompressor(), stage_bytes);
    else
      return;
    chain_.push(io::file_descriptor_source(fd_, io::never_close_handle), stage_bytes);
    filtered_ = true;
  }
  ~byte_source() {
    // A broken file's filter may object to being closed, too.
    try {
      chain_.reset();
    } catch (const std::exception&) {
      filtered_ = false;
    }
    ::close(fd_);
  }
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  std::size_t read(char* to, std::size_t most) {
    if (filtered_) return static_cast<std::size_t>(std::max<std::streamsize>(0, chain_.sgetn(to, static_cast<std::streamsize>(most))));
    for (;;) {
      const ssize_t n = ::read(fd_, to, most);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) throw std::runtime_error(std::strerror(errno));
    }
  }

 private:
  int fd_;
  bool filtered_ = false;
  io::filtering_streambuf<io::input> chain_;
};

line_reader::line_reader(const std::string& file)
    : file_(file), source_(std::make_unique<byte_source>(file)), buffer_(new char[buffer_bytes]) {}

line_reader::~line_reader() = default;

bool line_reader::next(std::string_view& line) {
  for (;;) {
    const char* from = buffer_.get() + begin_;
    const std::size_t left = end_ - begin_;
    if (const void* found = left == 0 ? nullptr : std::memchr(from, '\n', left)) {
      const std::size_t length = static_cast<std::size_t>(static_cast<const char*>(found) - from);
      line = {from, length};
      begin_ += length + 1;
      ++line_;
      return true;
    }
    if (left > longest_line) {
      ++line_;
      fail(1, "a line longer than " + std::to_string(longest_line) + " bytes, expected a trace in text form");
    }
    if (refill()) continue;
    if (left == 0) return false;
    line = {from, left};
    begin_ = end_;
    ++line_;
    return true;
  }
}

bool line_reader::next_with_text(std::string_view& line) {
  while (next(line)) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    if (at != std::string_view::npos) return true;
  }
  return false;
}

// Brings more text behind what is left; false: there is none. Does not move what is left when it returns false.
bool line_reader::refill() {
  if (exhausted_) return false;
  if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  std::size_t n = 0;
  try {
    n = source_->read(buffer_.get() + end_, std::min(buffer_bytes - end_, read_bytes));
  } catch (const std::exception& e) {
    ++line_;
    fail(1, std::string("the file is broken or truncated here (") + e.what() + ")");
  }
  exhausted_ = n == 0;
  end_ += n;
  return true;
}

void line_reader::fail(std::size_t column, const std::string& message) const {
  throw input_error(file_, line_, static_cast<std::uint32_t>(column), message);
}

}  // namespace heddle::sass_trace
