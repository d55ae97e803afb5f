// SPDX-License-Identifier: MIT
#include "golden_metrics.h"

#include <cstdint>
#include <cstdio>

#include "json_text.h"
#include "text_file.h"

namespace heddle::test {

namespace {
// 64-bit FNV-1a: detects changes; it need not be cryptographic.
std::uint64_t digest(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3;
  return h;
}
}  // namespace

std::string metrics_summary(const std::string& file) {
  auto m = nlohmann::json::parse(content(file));
  m.erase("host");
  m["gpu"].erase("config");
  m.erase("energy");
  for (const char* of : {"kernels", "context_switches"})
    for (auto& each : m[of]) each.erase("energy");
  std::uint64_t executed = 0;
  for (auto& k : m["kernels"])
    if (k.contains("code"))
      for (auto& instruction : k["code"]) instruction.erase("joules");
  for (const auto& k : m["kernels"]) executed += k["metrics"]["inst_executed"].get<std::uint64_t>();
  char hex[24];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(digest(m.dump())));
  return "cycles " + std::to_string(m["cycles"].get<std::uint64_t>()) + " instructions " + std::to_string(executed) +
         " digest " + hex;
}

}  // namespace heddle::test
