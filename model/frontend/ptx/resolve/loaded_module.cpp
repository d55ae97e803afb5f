// SPDX-License-Identifier: MIT
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/resolve/align_up.h"
#include "heddle/frontend/ptx/resolve/loaded_module.h"
#include "heddle/frontend/ptx/syntax/link.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

constexpr std::uint64_t constant_bank_bytes = 65536;
// The image of a module's variables is built in the host's memory; this limit keeps it from exhausting that memory.
constexpr std::uint64_t most_global_bytes = std::uint64_t{512} << 20;

/// Module-scope variables that occupy global memory. Extern variables are defined elsewhere.
bool is_global(const ast_variable& v) { return v.space == state_space::global && !v.is_extern; }
bool is_constant(const ast_variable& v) { return v.space == state_space::constant && !v.is_extern; }

/// The host writes the handle of a texture reference, so the reference must be a plain variable in global memory.
void refuse_opaque(const ast_module& m, const ast_variable& v) {
  if (v.type == isa::dtype::none && (v.space != state_space::global || v.is_array))
    throw input_error(m.file, v.where.line, v.where.column,
                      "module variable '" + v.name + "' of type ." + v.type_name + " is not supported");
}

/// Calls f(variable, offset) for all global variables, the managed ones last.
template <class F>
global_size lay_out(const ast_module& m, F&& f) {
  std::uint64_t at = 0, own = 0, managed_at = 0;
  for (const bool managed : {false, true}) {
    const auto counts = [managed](const ast_variable& v) { return is_global(v) && v.managed == managed; };
    if (managed) {
      own = at;
      if (std::any_of(m.variables.begin(), m.variables.end(), counts)) at = align_up(at, global_size::managed_unit);
      managed_at = at;
    }
    for (const ast_variable& v : m.variables) {
      if (!counts(v)) continue;
      at = align_up(at, v.alignment());
      f(v, at);
      at = std::min(at + std::min(v.size_bytes(), most_global_bytes + 1), most_global_bytes + 1);
    }
  }
  const std::uint64_t used = at - managed_at;
  if (used != 0) at = align_up(at, global_size::managed_unit);
  return {at, own, at - managed_at, used};
}

class placer {
 public:
  explicit placer(loaded_module& m) : m_(m) {}

  void run() {
    std::uint64_t constant = 0;
    const global_size size = lay_out(*m_.ast, [this](const ast_variable& v, std::uint64_t at) {
      add(v, state_space::global, at, m_.global_base);
      if (v.size_bytes() > most_global_bytes || at > most_global_bytes - v.size_bytes())
        fail(v, "global variables exceed 512 MiB at '" + v.name + "'");
    });
    for (const ast_variable& v : m_.ast->variables) {
      if (!is_constant(v)) continue;
      constant = align_up(constant, v.alignment());
      add(v, state_space::constant, constant, 0);
      constant += std::min(v.size_bytes(), constant_bank_bytes + 1);  // limited, so that the sum cannot overflow
      if (constant > constant_bank_bytes) fail(v, "constant variables exceed 64 KiB at '" + v.name + "'");
    }
    const std::uint64_t global = size.all;
    m_.global_bytes = global;
    m_.managed_bytes = size.managed_used;
    if (size.managed != 0) m_.managed_base = m_.global_base + size.all - size.managed;
    m_.global_image.assign(global, 0);
    m_.constant_image.assign(constant, 0);
    for (const ast_variable& v : m_.ast->variables) {
      if (is_global(v)) fill(v, m_.global_image, m_.symbols.at(v.name).address - m_.global_base);
      if (is_constant(v)) fill(v, m_.constant_image, m_.symbols.at(v.name).address);
    }
  }

 private:
  [[noreturn]] void fail(const ast_variable& v, const std::string& message) const {
    throw input_error(m_.ast->file, v.where.line, v.where.column, message);
  }

  void add(const ast_variable& v, state_space space, std::uint64_t at, std::uint64_t base) {
    refuse_opaque(*m_.ast, v);
    if (!m_.symbols.emplace(v.name, module_symbol{v.name, space, base + at, v.size_bytes(), v.type == isa::dtype::none})
             .second)
      fail(v, "module variable '" + v.name + "' is defined twice");
  }

  void fill(const ast_variable& v, std::vector<std::uint8_t>& image, std::uint64_t at) const {
    const std::uint64_t size = isa::size_of(v.type);
    if (v.initialiser.size() * size > v.size_bytes()) fail(v, "too many initialisers for '" + v.name + "'");
    for (std::size_t k = 0; k < v.initialiser.size(); ++k) {
      const ast_variable::initial& e = v.initialiser[k];
      std::uint64_t bits = e.bits;
      if (!e.symbol.empty()) {
        auto s = m_.symbols.find(e.symbol);
        const std::uint64_t function = s == m_.symbols.end() ? function_address(*m_.ast, e.symbol) : 0;
        if (s == m_.symbols.end() && function == 0)
          fail(v, "initialiser of '" + v.name + "' names '" + e.symbol +
                      "', which is no variable or function of the module");
        if (function == 0 && e.generic && s->second.space == state_space::constant) {
          if (m_.constant_base == 0)
            fail(v, "generic address of constant variable '" + e.symbol + "' in a module without place for constants");
          bits += m_.constant_base;
        }
        bits += function != 0 ? function : s->second.address;
        if (e.mask != 0) {  // mask(symbol): the masked bits of the address, shifted down
          unsigned shift = 0;
          while (!(e.mask >> shift & 1)) ++shift;
          bits = (bits & e.mask) >> shift;
        }
      }
      for (std::uint64_t b = 0; b < size; ++b)
        image[at + k * size + b] = b < 8 ? static_cast<std::uint8_t>(bits >> (8 * b)) : 0;
    }
  }

  loaded_module& m_;
};

}  // namespace

std::uint64_t function_address(const ast_module& m, const std::string& name) {
  for (std::size_t k = 0; k < m.functions.size(); ++k)
    if (m.functions[k].name == name) return isa::code_window_base + 16 * (k + 1);
  return 0;
}

global_size global_bytes(const ast_module& m) {
  return lay_out(m, [](const ast_variable&, std::uint64_t) {});
}

std::uint64_t constant_bytes(const ast_module& m) {
  std::uint64_t at = 0;
  for (const ast_variable& v : m.variables)
    if (is_constant(v)) at = std::min(align_up(at, v.alignment()) + v.size_bytes(), constant_bank_bytes);
  return at;
}

loaded_module place(std::shared_ptr<const ast_module> m, std::uint64_t global_base, std::uint64_t constant_base) {
  loaded_module r;
  r.ast = std::move(m);
  r.global_base = global_base;
  r.constant_base = constant_base;
  try {
    placer(r).run();
  } catch (const input_error& e) {
    throw input_error(with_own_places(*r.ast, e.what()));
  }
  return r;
}

}  // namespace heddle::ptx
