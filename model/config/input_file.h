// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle {

/// True for /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N: what the shell has opened for this
/// program, for instance by process substitution.
bool names_own_descriptor(const std::string& path);

/// A file that is opened to be read, never waiting for it: a regular file or, where the caller takes one, what the
/// shell has opened. A pipe or device by its own name is refused, because its data may never come.
class input_file {
 public:
  enum class kind : std::uint8_t { regular, regular_or_own_descriptor };
  explicit input_file(const std::string& path, kind k = kind::regular);
  /// Takes a descriptor that was opened with O_NONBLOCK, or -1 and errno.
  input_file(int descriptor, kind k);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  /// Empty: it is open. Otherwise why it is not: "it is a directory".
  const std::string& problem() const { return problem_; }
  bool is_regular() const { return regular_; }
  /// Of a regular file.
  std::uint64_t bytes() const { return bytes_; }
  /// All of it into `content`. Returns what went wrong, empty: nothing. Of what is longer than `most` a part is read.
  std::string read(std::string& content, std::uint64_t most);

 private:
  void look(kind k);

  int descriptor_ = -1;
  bool regular_ = false;
  std::uint64_t bytes_ = 0;
  std::string problem_;
};

}  // namespace heddle
