// SPDX-License-Identifier: MIT
#include "testbench/exec/server/free_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "testbench/files/descriptor.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

namespace {

constexpr unsigned most_numbers = 100000;

std::string filled(const std::string& pattern, pid_t process, const std::string& program) {
  std::string name;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    const char next = k + 1 < pattern.size() ? pattern[k + 1] : '\0';
    if (pattern[k] != '%' || (next != 'p' && next != 'n' && next != '%')) {
      name += pattern[k];
      continue;
    }
    name += next == 'p' ? std::to_string(process) : next == 'n' ? program : "%";
    ++k;
  }
  return name;
}

/// Converts "folder/r.html" to "folder/r.2.html".
std::string numbered(const std::string& name, unsigned number) {
  if (number == 1) return name;
  const std::size_t slash = name.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  const std::size_t at = dot == std::string::npos || dot <= begin ? name.size() : dot;
  return name.substr(0, at) + "." + std::to_string(number) + name.substr(at);
}

/// Standard output, a terminal or a pipe: writing there overwrites nothing.
bool is_stream(const std::string& name) {
  struct stat status {};
  return name == "-" || (::stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
}

}  // namespace

free_names::free_names(run_options& o, pid_t process, const std::string& program) {
  o.record_folder = filled(o.record_folder, process, program);
  std::vector<std::string*> wanted;
  for (std::string* file :
       {&o.metrics_file, &o.report_file, &o.sanitize_file, &o.vcd_file, &o.timeline_file, &o.pipeline_file}) {
    *file = filled(*file, process, program);
    if (!file->empty() && !is_stream(*file)) wanted.push_back(file);
  }
  for (unsigned number = 1; number <= most_numbers && !wanted.empty(); ++number) {
    std::vector<std::string> names;
    for (const std::string* file : wanted) names.push_back(numbered(*file, number));
    if (!hold(names)) continue;
    if (number > 1)
      message_log::warning("'" + *wanted.front() + "' is there already: the results of " + program + " go to '" +
                           names.front() + "'");
    for (std::size_t k = 0; k < names.size(); ++k) *wanted[k] = names[k];
    return;
  }
}

free_names::~free_names() { drop(); }

// False: one of the files exists. Other failures are reported when the file is written.
bool free_names::hold(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.is_open()) held_.push_back(name);
    if (file.is_open() || errno != EEXIST) continue;
    // Two roles of one file are reported when it is written.
    if (std::find(held_.begin(), held_.end(), name) != held_.end()) continue;
    drop();
    return false;
  }
  return true;
}

void free_names::drop() {
  for (const std::string& name : held_) ::unlink(name.c_str());
  held_.clear();
}

}  // namespace heddle::testbench
