// SPDX-License-Identifier: MIT
#include "testbench/advice/line_registers.h"

#include <algorithm>
#include <regex>

namespace heddle::testbench {

registers_of_line registers_in(const std::string& text) {
  static const std::regex form(R"(%[A-Za-z_]+\d+)"), only_reads(R"(\b(st|bra|bar|red|ret|prefetch)\b)");
  registers_of_line r;
  // "@%p1 bra L;" and stores write none; otherwise the first operand, or the first braces, is written.
  const std::size_t guard = text.find('@') == std::string::npos ? 0 : text.find(' ', text.find('@'));
  const bool writes = !std::regex_search(text, only_reads);
  const std::size_t first = text.find('%', guard == std::string::npos ? 0 : guard);
  std::size_t end = first == std::string::npos ? first : text.find(text.rfind('{', first) < first ? '}' : ',', first);
  if (text.find(';') != std::string::npos) end = std::min(end, text.find(';'));
  const std::size_t open = text.find('['), close = text.find(']');
  for (std::sregex_iterator m(text.begin(), text.end(), form); m != std::sregex_iterator(); ++m) {
    const auto at = static_cast<std::size_t>(m->position());
    if (writes && first != std::string::npos && at >= first && at < end) r.written.insert(m->str());
    else r.read.insert(m->str());
    if (open != std::string::npos && at > open && at < close) r.address.insert(m->str());
  }
  return r;
}

bool meets(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&b](const std::string& r) { return b.count(r) != 0; });
}

}  // namespace heddle::testbench
