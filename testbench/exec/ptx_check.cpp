// SPDX-License-Identifier: MIT
#include "testbench/exec/ptx_check.h"

#include <cctype>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/malformed_code.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"

namespace heddle::testbench {

namespace {

template <class F>
void throw_if_malformed(F&& f) {
  try {
    f();
  } catch (const ptx::malformed_code&) {
    throw;
  } catch (const input_error&) {}
}

}  // namespace

void check_kernels(host_driver& driver, const std::vector<unsigned>& modules) {
  for (const unsigned module : modules)
    for (const std::string& kernel : driver.kernels(module))
      throw_if_malformed([&] { static_cast<void>(driver.program(module, kernel)); });
}

void check_texts(const std::vector<module_text>& texts, const gpu_config& config) {
  constexpr std::uint64_t anywhere = 256;  // addresses do not matter
  ptx::parsed_modules parsed;
  for (const module_text& t : texts) {
    const auto tree = parsed.parse(t.text, t.file);
    throw_if_malformed([&] {
      const ptx::loaded_module placed = ptx::place(tree, anywhere, anywhere);
      for (const std::string& kernel : ptx::kernels(*tree))
        throw_if_malformed([&] { static_cast<void>(ptx::lower(placed, kernel, config)); });
    });
  }
}

std::uint64_t constant_bytes_of(ptx::parsed_modules& loaded, const module_text& text) {
  return ptx::constant_bytes(*loaded.parse(text.text, text.file));
}

unsigned target_of(const std::string& ptx) {
  constexpr const char* name = "sm_";
  const std::size_t directive = ptx.find(".target"), at = ptx.find(name, directive);
  unsigned number = 0;
  if (directive == std::string::npos || at == std::string::npos) return 0;
  for (std::size_t k = at + std::strlen(name); k < ptx.size() && std::isdigit(static_cast<unsigned char>(ptx[k])); ++k)
    number = 10 * number + static_cast<unsigned>(ptx[k] - '0');
  return number;
}

}  // namespace heddle::testbench
