// SPDX-License-Identifier: MIT
#include "callgrind_profile.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

namespace bench {

namespace {

constexpr part no_part = part::count;

struct rule {
  const char* path;  // of a folder, or the beginning of a file's
  part is;
};

// Of headers outside the source tree.
constexpr rule foreign[] = {
    {"include/sysc/", part::kernel},
    {"/tlm_core/", part::kernel},
    {"/tlm_utils/", part::kernel},
};

// Of files in the source tree. The first that fits counts: single files before their folders.
constexpr rule rules[] = {
    {"model/simt/", part::function},
    {"model/frontend/sass_trace/", part::function},
    {"model/sub_partition/account/", part::observers},
    {"model/sm/occupancy_account", part::observers},
    {"model/observe/", part::observers},
    {"model/metrics/", part::observers},
    {"model/memory/", part::memory},
    {"model/sm/load_store", part::memory},
    {"model/sm/shared_memory", part::memory},
    {"model/", part::issue},
    {"tlm/kernel/prefetch", part::memory},
    {"tlm/kernel/", part::kernel},
    {"tlm/port/width_adapter", part::memory},
    {"tlm/port/", part::kernel},
    {"tlm/protocol/cta_protocol", part::issue},
    {"tlm/protocol/issue_protocol", part::issue},
    {"tlm/protocol/preemption_mode", part::issue},
    {"tlm/protocol/", part::memory},
    {"testbench/", part::rest},
};

// A file's path below the root of the source tree; empty: it is not in it. Headers of model/ and tlm/ are included by
// links in a folder of the build, include/heddle, by which the line tables name them.
std::string path_in_tree(const std::string& file) {
  const std::string links = "include/heddle/";
  if (const std::size_t at = file.rfind(links); at != std::string::npos) {
    const std::string rest = file.substr(at + links.size());
    return rest.rfind("tlm/", 0) == 0 ? rest : "model/" + rest;
  }
  for (const std::string top : {"model/", "tlm/", "testbench/"}) {
    if (file.rfind(top, 0) == 0) return file;
    if (const std::size_t at = file.rfind("/" + top); at != std::string::npos) return file.substr(at + 1);
  }
  return "";
}

using shares = std::array<double, part_count>;

// A function with code that belongs to no part, such as the standard library's: who called it, and what that cost.
struct node {
  double own = 0;                         // instructions of lines of no part
  shares called_from{};                   // instructions spent in it and below, by the part that called it
  std::map<std::size_t, double> callers;  // the same, called from lines of no part in these functions
};

class reader {
 public:
  callgrind_profile read(std::istream& in) {
    for (std::string line; std::getline(in, line);) take(line);
    return settle();
  }

 private:
  static bool starts(const std::string& line, const char* with, std::string& rest) {
    const std::string head = with;
    if (line.compare(0, head.size(), head) != 0) return false;
    rest = line.substr(head.size());
    return true;
  }

  std::size_t number_of(const std::string& function) {
    const auto [at, is_new] = numbers_.emplace(function, nodes_.size());
    if (is_new) nodes_.emplace_back();
    return at->second;
  }

  void take(const std::string& line) {
    std::string rest;
    if (starts(line, "ob=", object_)) {
    } else if (starts(line, "fl=", home_)) {
      file_ = home_;
      judge();
    } else if (starts(line, "fi=", file_) || starts(line, "fe=", file_)) {
      judge();
    } else if (starts(line, "fn=", rest)) {
      function_ = number_of(rest);
      file_ = home_;
      judge();
    } else if (starts(line, "cfn=", rest)) {
      callee_ = number_of(rest);
    } else if (starts(line, "calls=", rest)) {
      calls_ = true;  // the next line says what the call cost
    } else if (!line.empty() && line[0] >= '0' && line[0] <= '9') {
      const std::size_t blank = line.find(' ');
      if (blank != std::string::npos) count(std::strtod(line.c_str() + blank, nullptr));
    }
  }

  // What is inlined from the standard library belongs to the function around it.
  void judge() {
    const auto known = [this](const std::string& file) {
      const std::string key = object_ + '\n' + file;
      const auto at = parts_.find(key);
      return at != parts_.end() ? at->second : parts_.emplace(key, part_of(object_, file)).first->second;
    };
    part_ = known(file_);
    if (part_ == no_part) part_ = known(home_);
  }

  void count(double n) {
    if (calls_) {
      calls_ = false;
      node& callee = nodes_[callee_];
      if (part_ == no_part) callee.callers[function_] += n;
      else callee.called_from[static_cast<std::size_t>(part_)] += n;
    } else if (part_ == no_part) {
      nodes_[function_].own += n;
    } else {
      profile_.instructions[static_cast<std::size_t>(part_)] += n;
    }
  }

  // Assigns the instructions of no part to the callers, in proportion. Functions of the standard library call each
  // other only a few levels deep; what calls itself settles by repetition.
  callgrind_profile settle() {
    std::vector<shares> divided(nodes_.size(), shares{});
    for (int round = 0; round < 12; ++round) {
      std::vector<shares> next(nodes_.size(), shares{});
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        shares sum = nodes_[i].called_from;
        for (const auto& [caller, n] : nodes_[i].callers)
          for (std::size_t p = 0; p < part_count; ++p) sum[p] += n * divided[caller][p];
        double all = 0;
        for (const double n : sum) all += n;
        for (std::size_t p = 0; p < part_count && all > 0; ++p) next[i][p] = sum[p] / all;
      }
      divided = next;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      double given = 0;
      for (std::size_t p = 0; p < part_count; ++p) {
        profile_.instructions[p] += nodes_[i].own * divided[i][p];
        given += divided[i][p];
      }
      if (given == 0) profile_.instructions[static_cast<std::size_t>(part::rest)] += nodes_[i].own;
    }
    return profile_;
  }

  callgrind_profile profile_;
  std::vector<node> nodes_;
  std::map<std::string, std::size_t> numbers_;  // of functions, by name
  std::map<std::string, part> parts_;           // of objects and files
  std::string object_, home_, file_;            // the function's own file, and that of the lines that follow
  std::size_t function_ = 0;
  std::size_t callee_ = 0;
  part part_ = no_part;
  bool calls_ = false;
};

}  // namespace

double callgrind_profile::total() const {
  double sum = 0;
  for (const double n : instructions) sum += n;
  return sum;
}

part part_of(const std::string& object, const std::string& file) {
  if (object.find("libsystemc") != std::string::npos) return part::kernel;
  for (const rule& r : foreign)
    if (file.find(r.path) != std::string::npos) return r.is;
  const std::string path = path_in_tree(file);
  for (const rule& r : rules)
    if (path.rfind(r.path, 0) == 0) return r.is;
  return no_part;
}

std::vector<std::string> paths_of_parts() {
  std::vector<std::string> paths;
  for (const rule& r : rules) paths.emplace_back(r.path);
  return paths;
}

callgrind_profile read_callgrind(const std::string& file) {
  std::ifstream in(file);
  const callgrind_profile p = reader().read(in);
  if (p.total() <= 0) throw std::runtime_error("'" + file + "' is no profile of callgrind, or an empty one");
  return p;
}

}  // namespace bench
