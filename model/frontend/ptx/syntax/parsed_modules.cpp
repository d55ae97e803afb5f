// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/parsed_modules.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/link.h"

namespace heddle::ptx {

namespace {

std::shared_ptr<const ast_module> parse_all(const std::string& texts, const std::string& names) {
  if (names.find('\0') == std::string::npos) return ptx::parse(texts, names);
  const auto split = [](const std::string& list) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end; (end = list.find('\0', begin)) != std::string::npos; begin = end + 1)
      parts.push_back(list.substr(begin, end - begin));
    parts.push_back(list.substr(begin));
    return parts;
  };
  const std::vector<std::string> text = split(texts), name = split(names);
  if (text.size() != name.size())
    throw input_error(std::to_string(text.size()) + " PTX modules to be linked with " + std::to_string(name.size()) +
                      " names, expected one for each");
  std::vector<module_source> sources;
  for (std::size_t k = 0; k < text.size(); ++k) sources.push_back({text[k], name[k]});
  return link(sources);
}

}  // namespace

/// A parsed tree together with its sources.
struct parsed_modules::entry {
  std::string texts, names;
  std::shared_ptr<const ast_module> tree;
};

std::shared_ptr<const ast_module> parsed_modules::parse(const std::string& texts, const std::string& names) {
  known_.erase(std::remove_if(known_.begin(), known_.end(), [](const auto& k) { return k.expired(); }), known_.end());
  for (const auto& k : known_) {
    const auto p = k.lock();
    if (p && p->texts == texts && p->names == names) return {p, p->tree.get()};
  }
  const auto made = std::make_shared<const entry>(entry{texts, names, parse_all(texts, names)});
  known_.push_back(made);
  return {made, made->tree.get()};
}

}  // namespace heddle::ptx
