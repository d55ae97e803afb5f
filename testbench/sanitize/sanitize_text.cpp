// SPDX-License-Identifier: MIT
#include "testbench/sanitize/sanitize_text.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "heddle/config/error.h"
#include "heddle/config/suggestion.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/sanitize/sanitizer.h"
#include "testbench/options/log.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t most_printed = 20;  // places

std::string name_of_kind(unsigned kind) { return sanitize_kind_names[static_cast<unsigned>(__builtin_ctz(kind))]; }

std::string counted(std::uint64_t n, const char* what) { return grouped(n) + " " + what + (n == 1 ? "" : "s"); }

std::string text_of(const finding& f) {
  std::string text = f.place + ": " + f.what;
  if (!f.kernel.empty()) text += ", in kernel '" + f.kernel + "'";
  for (const std::string& line : f.details) text += "\n  " + line;
  if (f.cases > 1)
    text += std::string("\n  and ") + (f.at_least ? "at least " : "") + counted(f.cases - 1, "case") +
            " more at this place";
  return text;
}

nlohmann::ordered_json json_of(const std::vector<finding>& all) {
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  for (const finding& f : all) {
    found.push_back({{"kind", name_of_kind(f.kind)},
                     {"place", f.place},
                     {"what", f.what},
                     {"kernel", f.kernel},
                     {"launch", f.launch},
                     {"cases", f.cases},
                     {"details", f.details}});
    if (f.at_least) found.back()["at_least"] = true;
  }
  return found;
}

}  // namespace

unsigned kinds_of_text(const std::string& list) {
  if (list.empty()) return sanitize_kind::all;
  const std::vector<std::string> names(std::begin(sanitize_kind_names), std::end(sanitize_kind_names));
  unsigned kinds = 0;
  for (const std::string& name : split(list, ',')) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw input_error("--sanitize: got '" + name + "', expected a list of " + join(names, ", ") +
                        suggestion(name, names));
    kinds |= 1u << (found - names.begin());
  }
  if ((kinds & sanitize_kind::leaks) != 0) kinds |= sanitize_kind::program_leaks;
  return kinds;
}

std::size_t print_findings(const sanitizer& s, bool quiet) {
  const std::vector<finding>& all = s.found();
  for (std::size_t k = 0; k < std::min(all.size(), most_printed); ++k) message_log::error(text_of(all[k]));
  const std::vector<finding>& meant = s.intended();
  for (std::size_t k = 0; k < std::min(meant.size(), most_printed); ++k)
    message_log::warning(text_of(meant[k]) + "\n  all such writes mark the place with one value, so it may be meant");
  for (const std::string& launch : s.unchecked()) message_log::warning("--sanitize: " + launch);
  if (all.empty() && quiet) return 0;
  std::uint64_t cases = 0;
  bool at_least = false;
  std::string kinds;
  for (unsigned k = 0; k < sanitize_kind::count; ++k) {
    const auto places = std::count_if(all.begin(), all.end(), [k](const finding& f) { return f.kind == 1u << k; });
    if (places != 0)
      kinds += (kinds.empty() ? "" : ", ") + name_of_kind(1u << k) + " " + grouped(static_cast<std::uint64_t>(places));
  }
  for (const finding& f : all) {
    cases += f.cases;
    at_least = at_least || f.at_least;
  }
  std::string text = "nothing found";
  if (!all.empty())
    text = "found " + counted(all.size(), "place") + " (" + kinds + ") with " + (at_least ? "at least " : "") +
           counted(cases, "case");
  if (all.size() > most_printed) text += ", of which " + std::to_string(most_printed) + " places are printed";
  if (!s.intended().empty())
    text += "; " + counted(s.intended().size(), "race") + " of a read with a mark of one value as warnings";
  std::fprintf(stderr, "heddle: sanitize: %s\n", text.c_str());
  return all.size();
}

std::string json_of_findings(const sanitizer& s) {
  using nlohmann::ordered_json;
  ordered_json kinds = ordered_json::array();
  for (const unsigned k : set_bits(s.kinds())) kinds.push_back(name_of_kind(1u << k));
  const ordered_json all{{"schema", "heddle.sanitize/1"},
                         {"kinds", kinds},
                         {"findings", json_of(s.found())},
                         {"intended", json_of(s.intended())},
                         {"unchecked", s.unchecked()}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace heddle::testbench
