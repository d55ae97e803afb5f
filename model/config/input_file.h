// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle {

/// True for /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N: descriptors that the shell has opened for
/// this program, for instance by process substitution.
bool names_own_descriptor(const std::string& path);

/// A file opened for reading without blocking: a regular file or, if the caller accepts it, a descriptor opened by the
/// shell. A pipe or device by its own name is rejected, because its data may never arrive.
class input_file {
 public:
  enum class kind : std::uint8_t { regular, regular_or_own_descriptor };
  explicit input_file(const std::string& path, kind k = kind::regular);
  /// Takes over a descriptor that was opened with O_NONBLOCK; -1 with errno set if opening failed.
  input_file(int descriptor, kind k);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  /// Empty if the file is open; otherwise the reason: "it is a directory".
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool is_regular() const { return regular_; }
  /// Size of a regular file.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Reads everything into `content`. Returns an error text, or an empty one. Of a file longer than `most` only a part
  /// is read.
  std::string read(std::string& content, std::uint64_t most);

 private:
  void classify(kind k);

  int descriptor_ = -1;
  bool regular_ = false;
  std::uint64_t bytes_ = 0;
  std::string problem_;
};

}  // namespace heddle
