// SPDX-License-Identifier: MIT
#include "heddle/config/parameter_page.h"

#include <fmt/format.h>

#include "heddle/config/parameter_table.h"

namespace heddle {
namespace {

// A '|' would end the table cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

}  // namespace

std::string parameter_tables() {
  std::string text;
  std::string section;
  for (const parameter& p : parameters()) {
    if (p.section != section) {
      text +=
          fmt::format("{}### [{}]\n\n| key | meaning | values | unit | default | source |\n|---|---|---|---|---|---|\n",
                      section.empty() ? "" : "\n", p.section);
      section = p.section;
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", p.key, cell(p.description), p.values(), text_of(p.unit),
                        p.default_text, text_of(p.source));
  }
  return text;
}

std::string to_described_ini(const gpu_config& config) {
  std::string text;
  std::string section;
  for (const parameter& p : parameters()) {
    if (p.section != section) {
      text += fmt::format("{}[{}]\n", section.empty() ? "" : "\n", p.section);
      section = p.section;
    }
    const std::string unit = text_of(p.unit);
    text += fmt::format("{:<40}  ; {} ({}{}{}; {})\n", p.key + " = " + text_of(p, config), without_links(p.description),
                        p.values(), unit.empty() ? "" : "; ", unit, text_of(p.source));
  }
  return text;
}

}  // namespace heddle
