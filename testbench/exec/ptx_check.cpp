// SPDX-License-Identifier: MIT
#include "testbench/exec/ptx_check.h"

#include <cctype>
#include <cstring>
#include <set>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/link.h"
#include "heddle/frontend/ptx/syntax/malformed_code.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"
#include "heddle/gpu/host/module_list.h"

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

/// Functions that kernels may call although no module defines them: the simulator has them, or reports those of the
/// device runtime that it has not.
bool is_of_the_runtime(const std::string& function) {
  for (const char* known : {"vprintf", "malloc", "free", "__assertfail"})
    if (function == known) return true;
  return function.compare(0, 4, "cuda") == 0 || function.compare(0, 6, "__cuda") == 0;
}

/// Calls, and addresses of functions.
void check_uses(const ptx::ast_module& m, const ptx::ast_block& body, const std::set<std::string>& undefined) {
  for (const ptx::ast_statement& s : body.statements) {
    if (s.block) check_uses(m, *s.block, undefined);
    const std::string& opcode = s.instruction.opcode;
    if (s.what != ptx::ast_statement::kind::instruction || (opcode != "call" && opcode != "mov")) continue;
    for (const ptx::ast_operand& o : s.instruction.operands)
      if (o.what == ptx::ast_operand::kind::identifier && undefined.count(o.text) != 0)
        throw ptx::malformed_code(ptx::place_in(m, s.where) + ": function '" + o.text + "' is not defined");
  }
}

}  // namespace

void check_link(const std::vector<module_text>& texts) {
  std::vector<ptx::module_source> sources;
  for (const module_text& t : texts) sources.push_back({t.text, t.file});
  const auto linked = ptx::link(sources);
  std::set<std::string> undefined;
  for (const ptx::ast_function& f : linked->functions)
    if (!f.has_body && !is_of_the_runtime(f.name)) undefined.insert(f.name);
  for (const ptx::ast_alias& a : linked->aliases) undefined.erase(a.name);
  for (const ptx::ast_function& f : linked->functions) check_uses(*linked, f.body, undefined);
}

void check_kernels(host_driver& driver, const std::vector<unsigned>& modules) {
  for (const unsigned module : modules) {
    const std::vector<std::string> kernels = driver.modules().names(module).kernels;
    for (const std::string& kernel : kernels)
      throw_if_malformed([&] { static_cast<void>(driver.program(module, kernel)); });
  }
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
