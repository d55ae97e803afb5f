// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/files/file_access.h"
#include "testbench/files/output_place.h"
#include "testbench/files/temporary_file.h"

namespace heddle::testbench {

/// Learns the names of temporary files: a supervisor removes those of a killed process.
class temporary_file_observer {
 public:
  /// The names of all temporary files, before the last of them is created.
  virtual void note(const std::vector<std::string>& files) = 0;

 protected:
  ~temporary_file_observer() = default;
};

/// Result files that appear complete or not at all. Each is written under a temporary name in its own directory.
/// commit() renames all of them, with the permissions of the files that they replace, and writes standard output,
/// devices and descriptors opened by the shell. The destructor, or a signal that ends the program, removes what was
/// not committed. A temporary name is unpredictable and new, and only the owner can read the file until it is
/// complete: a link that another user puts into the directory is not followed.
class result_files {
 public:
  result_files() = default;
  result_files(const result_files&) = delete;
  result_files& operator=(const result_files&) = delete;

  /// Writes and syncs `bytes` under a temporary name. Throws input_error, for example when the disk is full. `who` is
  /// for messages, here and in commit(): "--metrics", or a place in a job; may be empty.
  void add(const std::string& path, const void* data, std::size_t bytes, const file_access& access = {},
           const std::string& who = "");
  /// The same for `bytes` that `read` delivers in chunks; its first argument is the offset.
  void add(const std::string& path, std::uint64_t bytes,
           const std::function<void(std::uint64_t, void*, std::size_t)>& read, const file_access& access,
           const std::string& who = "");
  /// The same for a text that `write` passes on part by part.
  using text_sink = std::function<void(std::string_view)>;
  void add(const std::string& path, const std::function<void(const text_sink&)>& write, const std::string& who = "");
  void add(const std::string& path, const std::string& text, const std::string& who = "") {
    add(path, text.data(), text.size(), {}, who);
  }
  /// Returns the name of an empty file that the caller opens and writes; commit() publishes its content as `path`.
  /// Where the system has such names (/proc/self/fd), the name refers to the open file, so the file cannot be replaced
  /// by another one.
  std::string reserve(const std::string& path, const std::string& who = "");
  /// As reserve(), but returns the temporary file's name in its directory, for callers that need the real name.
  std::string reserve_name(const std::string& path);
  /// `o` outlives what is added and reserved.
  void observe(temporary_file_observer& o) { observer_ = &o; }
  /// Renames all files to their final names. Throws input_error.
  void commit();
  /// The committed names, in the order in which the files were added.
  [[nodiscard]] const std::vector<std::string>& written() const { return written_; }

 private:
  struct entry {
    output_place place;
    std::string failure;       // the beginning of messages: "--metrics: cannot write 'm.json': "
    temporary_file temporary;  // no name: no temporary file, or an unnamed one
    std::string name;          // name of the temporary file in its directory
    descriptor file;           // open until commit()
    dev_t device = 0;          // identity of the created file
    ino_t inode = 0;
    mode_t mode = 0;   // final permissions
    std::string data;  // for outputs that are written directly
  };
  entry& make(const std::string& path, const file_access& access, const std::string& who);
  void make_temporary(entry& e);
  [[nodiscard]] std::vector<std::string> temporary_names() const;
  static void make_nameless(entry& e);
  static void finish(entry& e);
  static void rename(entry& e);
  static void write_directly(entry& e);

  std::vector<entry> entries_;
  std::vector<std::string> written_;
  temporary_file_observer* observer_ = nullptr;
};

}  // namespace heddle::testbench
