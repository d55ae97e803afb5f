// SPDX-License-Identifier: MIT
#include <cxxabi.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "testbench/options/options.h"

namespace heddle::testbench {

std::vector<std::string> names_of_kernel(const std::string& kernel) {
  std::vector<std::string> names{kernel};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0 || text == nullptr) return names;
  const std::string whole(text.get());
  names.push_back(whole);
  // The parameter list begins at the first parenthesis outside of template arguments, other than "(anonymous
  // namespace)".
  std::size_t end = std::string::npos, begin = 0, bare = std::string::npos;
  int depth = 0;
  for (std::size_t k = 0; k < whole.size() && end == std::string::npos; ++k) {
    if (whole.compare(k, 21, "(anonymous namespace)") == 0) {
      k += 20;
    } else if (whole[k] == '<') {
      if (depth++ == 0) bare = k;
    } else if (whole[k] == '>') {
      --depth;
    } else if (depth == 0 && whole[k] == ' ') {
      begin = k + 1;  // after the return type of a template
    } else if (depth == 0 && whole[k] == '(') {
      end = k;
    }
  }
  if (end == std::string::npos) end = whole.size();
  names.push_back(whole.substr(begin, end - begin));
  if (bare != std::string::npos && bare > begin) names.push_back(whole.substr(begin, bare - begin));
  const std::size_t scope = names.back().rfind("::");
  if (scope != std::string::npos) names.push_back(names.back().substr(scope + 2));
  return names;
}

bool launch_choice::in_detail(std::uint64_t number, const std::string& kernel) const {
  if (none) return false;
  const auto holds = [number](const range& r) { return number >= r.first && number <= r.last; };
  if (!numbers.empty() && std::none_of(numbers.begin(), numbers.end(), holds)) return false;
  if (names.empty()) return true;
  const std::vector<std::string> known = names_of_kernel(kernel);
  return std::any_of(names.begin(), names.end(), [&](const std::string& pattern) {
    return std::any_of(known.begin(), known.end(),
                       [&](const std::string& name) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  });
}

}  // namespace heddle::testbench
