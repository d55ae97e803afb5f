// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/code/translate.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "heddle/isa/matrix.h"

namespace heddle::sass_trace {

namespace {

constexpr unsigned last_register = 254;
constexpr unsigned warps_per_group = 4;  // that share the rows of a GMMA

/// The dot-separated parts of an opcode.
class modifiers {
 public:
  explicit modifiers(std::string_view opcode) {
    for (std::size_t at = 0; at <= opcode.size();) {
      const std::size_t dot = std::min(opcode.find('.', at), opcode.size());
      parts_.push_back(opcode.substr(at, dot - at));
      at = dot + 1;
    }
  }
  [[nodiscard]] std::string_view mnemonic() const { return parts_[0]; }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(parts_.begin() + 1, parts_.end(), name) != parts_.end();
  }
  /// Bits of the first modifier that is a number, optionally with U, S or B in front; 0: none.
  [[nodiscard]] unsigned bits() const {
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      std::string_view p = parts_[k];
      if (p.size() > 1 && (p[0] == 'U' || p[0] == 'S' || p[0] == 'B')) p.remove_prefix(1);
      for (const unsigned n : {8u, 16u, 32u, 64u, 128u})
        if (p == std::to_string(n)) return n;
    }
    return 0;
  }
  [[nodiscard]] const std::vector<std::string_view>& all() const { return parts_; }

 private:
  std::vector<std::string_view> parts_;
};

// Bytes accessed per lane: from the opcode, else from the line, else 4. Atomics of 16 bytes only exchange them.
unsigned access_bytes(const modifiers& m, const isa::instruction& i, unsigned traced) {
  if (m.mnemonic() == "LDSM" || m.mnemonic() == "STSM") return 16;
  unsigned bytes = m.bits() / 8;
  if (bytes == 0 && (traced == 1 || traced == 2 || traced == 4 || traced == 8 || traced == 16)) bytes = traced;
  if (bytes == 0) bytes = 4;
  if (!isa::is_atomic(i.op)) return bytes;
  return std::clamp(bytes, 4u, m.has("EXCH") || m.has("CAS") ? 16u : 8u);
}

isa::dtype type_of(unsigned bytes, bool is_signed) {
  switch (bytes) {
    case 1: return is_signed ? isa::dtype::s8 : isa::dtype::u8;
    case 2: return is_signed ? isa::dtype::s16 : isa::dtype::u16;
    case 8: return isa::dtype::b64;
    case 16: return isa::dtype::b128;
    default: return isa::dtype::b32;
  }
}

// Size of one of the parts of an opcode that names a shape: "16832", of m, n = 8 and k, or "64x128x16"; k = 0: of none.
isa::matrix_size size_in(const modifiers& m) {
  isa::matrix_size found{0, 0, 0};
  for (const std::string_view part : m.all()) {
    if (part.empty() || part.find_first_not_of("0123456789x") != std::string_view::npos) continue;
    const std::string text(part);
    isa::matrix_size size{0, 0, 0};
    if (std::sscanf(text.c_str(), "%3ux%3ux%3u", &size.m, &size.n, &size.k) != 3)
      for (const unsigned rows : {8u, 16u}) {
        const std::string prefix = std::to_string(rows) + "8";
        if (text.size() > prefix.size() && text.size() <= prefix.size() + 3 &&
            text.compare(0, prefix.size(), prefix) == 0)
          size = {rows, 8, static_cast<unsigned>(std::stoul(text.substr(prefix.size())))};
      }
    if (size.k != 0) found = size;
  }
  return found;
}

// Numbers of operand registers of a matrix instruction: result, A, B (C is like the result).
struct matrix_shape {
  const char* mnemonic;
  const char* shape;
  unsigned result, a, b;
};
constexpr matrix_shape shapes[] = {
    {"HMMA", "884", 2, 2, 2},   {"HMMA", "1684", 4, 2, 1},  {"HMMA", "1688", 4, 2, 1},   {"HMMA", "16816", 4, 4, 2},
    {"IMMA", "8816", 2, 1, 1},  {"IMMA", "8832", 2, 1, 1},  {"IMMA", "16816", 4, 2, 1},  {"IMMA", "16832", 4, 4, 2},
    {"IMMA", "16864", 4, 4, 2}, {"BMMA", "88128", 2, 1, 1}, {"BMMA", "168128", 4, 2, 1}, {"BMMA", "168256", 4, 4, 2}};

// The shape of a product of doubles; without one in the opcode that of 8.0.
isa::matrix_shape shape_of_doubles(const modifiers& m) {
  using shape = isa::matrix_shape;
  const isa::matrix_size named = size_in(m);
  for (const shape s : {shape::m16n8k4, shape::m16n8k8, shape::m16n8k16})
    if (const isa::matrix_size size = isa::size_of(s); size.m == named.m && size.n == named.n && size.k == named.k)
      return s;
  return shape::m8n8k4;
}

matrix_shape shape_of(const modifiers& m) {
  if (m.mnemonic() == "DMMA") {
    const isa::matrix_size s = isa::size_of(shape_of_doubles(m));
    constexpr unsigned words = 2;
    return {"", "", words * s.m * s.n / isa::warp_size, words * s.m * s.k / isa::warp_size,
            words * s.k * s.n / isa::warp_size};
  }
  matrix_shape found{"", "", 4, 2, 1};
  for (const matrix_shape& s : shapes)
    if (m.mnemonic() == s.mnemonic && m.has(s.shape)) found = s;
  // Half-precision accumulators take half as many registers.
  if (m.mnemonic() == "HMMA" && !m.has("F32") && !m.has("884")) found.result = 2;
  return found;
}

// Multiply-adds of a warp in a shape that isa::matrix_shape lacks; 0: it has the shape, or the opcode names none. They
// are counted as those of 8 bits, of which a tensor core does half as many in the same time as of 4 bits, and an eighth
// as many as of one bit (white papers of Turing and the A100).
std::int64_t multiply_adds_of(const modifiers& m, const isa::instruction& i) {
  const bool group = m.mnemonic().size() > 3 && m.mnemonic().substr(1) == "GMMA";
  const bool narrow = m.has("S4") || m.has("U4"), bits = m.mnemonic()[0] == 'B', sparse = m.has("SP");
  const isa::matrix_size s = size_in(m);
  const isa::matrix_size known = isa::size_of(isa::shape_of(i));
  const bool has_shape = s.m == known.m && s.n == known.n && s.k == known.k;
  if (s.k == 0 || (has_shape && !narrow && !bits && !sparse) || m.mnemonic() == "DMMA" || m.has("884")) return 0;
  std::int64_t part = sparse ? 2 : 1;
  if (group) part *= warps_per_group;
  if (bits) part *= 8;
  else if (narrow) part *= 2;
  return std::max<std::int64_t>(std::int64_t{s.m} * s.n * s.k / part, 1);
}

// Sets types and shape of a matrix instruction, which determine its latency.
void set_matrix(isa::instruction& i, const modifiers& m) {
  const bool floating = m.mnemonic() == "HMMA" || m.mnemonic() == "HGMMA" || m.mnemonic() == "QGMMA";
  i.type = !floating ? isa::dtype::s32 : m.has("F32") ? isa::dtype::f32 : isa::dtype::f16;
  i.src_type = m.mnemonic() == "DMMA"    ? isa::dtype::f64
               : !floating               ? isa::dtype::s8
               : m.mnemonic() == "QGMMA" ? isa::dtype::e4m3x2
               : m.has("BF16")           ? isa::dtype::bf16
               : m.has("TF32")           ? isa::dtype::b32
                                         : isa::dtype::f16;
  isa::matrix_shape shape = floating ? isa::matrix_shape::m16n8k8 : isa::matrix_shape::m16n8k16;
  if (m.mnemonic() == "DMMA") shape = shape_of_doubles(m);
  else if (m.has("884")) shape = isa::matrix_shape::m8n8k4;
  else if (m.has("1684")) shape = isa::matrix_shape::m16n8k4;
  else if (m.has("16816")) shape = isa::matrix_shape::m16n8k16;
  else if (m.has("8816")) shape = isa::matrix_shape::m8n8k16;
  else if (m.has("16832") && !floating) shape = isa::matrix_shape::m16n8k32;
  i.sub = static_cast<std::uint8_t>(shape);
  i.offset = multiply_adds_of(m, i);
}

bool wide_result(const modifiers& m) {
  const std::string_view n = m.mnemonic();
  if (n == "IMAD" || n == "UIMAD" || n == "IMUL") return m.has("WIDE");
  if (n == "CS2R") return !m.has("32");
  if (n == "F2F" || n == "I2F" || n == "F2I" || n == "FRND") {
    // Of the two types, the result's comes first.
    const auto& p = m.all();
    for (std::size_t k = 1; k < p.size(); ++k) {
      if (p[k] == "F64" || p[k] == "S64" || p[k] == "U64") return true;
      if (p[k] == "F32" || p[k] == "F16" || p[k] == "S32" || p[k] == "U32" || p[k] == "S16" || p[k] == "U16" ||
          p[k] == "S8" || p[k] == "U8")
        return false;
    }
    return false;
  }
  return n == "DADD" || n == "DMUL" || n == "DFMA" || n == "DMNMX" || n == "RPCMOV";
}

// The register count limited to the last register.
std::uint8_t within(std::uint8_t first, unsigned count) {
  return static_cast<std::uint8_t>(first == isa::rz ? 1 : std::min(count, last_register - first + 1));
}

// The number of registers of operand `k` of the line.
unsigned operand_registers(const modifiers& m, const static_fields& f, const isa::instruction& i, isa::op_class timing,
                           std::size_t k) {
  const bool memory = timing == isa::op_class::load_store;
  const std::size_t last = f.operands.size() - 1;
  if (timing == isa::op_class::tensor) {
    const matrix_shape s = shape_of(m);
    return k == 0 ? s.a : k == 1 ? s.b : s.result;
  }
  if (memory) {
    const bool asynchronous = i.op == isa::opcode::ldgsts;
    const bool wide_address = m.has("E") && i.mem_space != isa::space::shared && i.mem_space != isa::space::local;
    if (k == (asynchronous ? 1u : 0u)) return wide_address ? 2 : 1;
    const bool data = i.op == isa::opcode::st || isa::is_atomic(i.op);
    return data && k == last ? std::max(1u, isa::size_of(i.type) / 4) : 1;
  }
  const std::string_view n = m.mnemonic();
  if (isa::unit_of(timing) == isa::unit::fp64) return 2;
  if ((n == "IMAD" || n == "UIMAD") && m.has("WIDE")) return k == 2 ? 2 : 1;
  return 1;
}

unsigned result_registers(const modifiers& m, const isa::instruction& i, isa::op_class timing) {
  if (m.mnemonic() == "LDSM") return m.has("4") ? 4 : m.has("2") ? 2 : 1;
  if (timing == isa::op_class::tensor) return shape_of(m).result;
  if (timing == isa::op_class::load_store) return std::max(1u, isa::size_of(i.type) / 4);
  return wide_result(m) ? 2 : 1;
}

void set_operands(code_entry& e, const modifiers& m, const static_fields& f) {
  isa::instruction& i = e.instruction;
  for (std::size_t k = 0; k < f.operands.size() && k < i.src.size(); ++k)
    if (f.operands[k] != isa::rz)
      i.src[k] = isa::make_reg(f.operands[k], within(f.operands[k], operand_registers(m, f, i, e.timing, k)));
  const bool keeps_nothing = i.op == isa::opcode::st || i.op == isa::opcode::red || i.op == isa::opcode::ldgsts;
  if (f.results.empty() || f.results[0] == isa::rz || keeps_nothing) return;
  i.dst = f.results[0];
  unsigned count = result_registers(m, i, e.timing);
  // Newer tracers list every register of a result.
  if (f.results.size() > 1) count = std::max(count, std::min(8u, static_cast<unsigned>(f.results.size())));
  i.dst_count = within(i.dst, count);
}

void set_cache(isa::instruction& i, const modifiers& m) {
  if (m.has("CONSTANT") || m.has("CI")) i.cache = isa::cache_op::nc;
  if (m.has("STRONG") && (m.has("GPU") || m.has("SYS"))) i.cache = isa::cache_op::volatile_;
  if (m.has("CG")) i.cache = isa::cache_op::cg;
  if (m.has("CV")) i.cache = isa::cache_op::cv;
  i.system = (m.has("STRONG") && m.has("SYS")) || m.has("CV");
}

}  // namespace

code_entry translate(generation g, const static_fields& f) {
  const modifiers m(f.opcode);
  const opcode_meaning meaning = meaning_of(g, m.mnemonic(), f.bytes, !f.results.empty());
  code_entry e;
  e.pc = f.pc;
  e.opcode = f.opcode;
  e.timing = meaning.timing;
  e.flops = m.mnemonic() == "HADD2" && m.has("F32") ? isa::flop_rule::none : meaning.flops;  // converts
  e.known = meaning.known;
  e.has_addresses = f.bytes != 0;
  e.bulk = f.bulk;
  isa::instruction& i = e.instruction;
  i.op = meaning.op;
  i.mem_space = meaning.space;
  i.line = f.pc;
  if (e.timing == isa::op_class::load_store) {
    // Without addresses the access is unknown: the instruction only occupies its slot in the unit.
    if (!e.has_addresses && i.op != isa::opcode::ldc) {
      i.op = isa::opcode::nop;
      i.mem_space = isa::space::global;  // the value of instructions without memory access
      e.timing = isa::op_class::shuffle;
    }
    i.type = type_of(access_bytes(m, i, f.bytes), m.has("S8") || m.has("S16"));
    set_cache(i, m);
  }
  if (m.mnemonic() == "WARPGROUP" && m.has("DEPBAR")) i.op = isa::opcode::wgdepbar;
  if (m.mnemonic() == "WARPGROUP" && m.has("ARRIVE")) i.op = isa::opcode::wgarrive;
  set_operands(e, m, f);
  if (e.timing == isa::op_class::tensor) set_matrix(i, m);
  if (e.timing == isa::op_class::int_multiply) {
    i.wide = m.has("WIDE");
    i.high = m.has("HI");
  }
  switch (i.op) {
    case isa::opcode::bar: {
      i.src = {};
      i.src[0] = isa::make_immediate(0);
      i.uniform = g < generation::volta;  // before Volta all lanes of a warp arrive together
      if (m.has("ARV")) i.sub = 1;
      break;
    }
    case isa::opcode::membar: i.sub = m.has("CTA") ? 0 : m.has("GPU") || m.has("GL") ? 1 : 2; break;
    case isa::opcode::wgdepbar:
    case isa::opcode::depbar:  // the immediate is the number of groups that may be incomplete
      i.src = {};
      i.sub = static_cast<std::uint8_t>(std::clamp<std::int64_t>(f.immediate, 0, 255));
      break;
    case isa::opcode::nanosleep:
      i.src = {};
      i.src[0] = isa::make_immediate(static_cast<std::uint64_t>(std::clamp<std::int64_t>(f.immediate, 0, 1000000)));
      break;
    case isa::opcode::atom:
    case isa::opcode::red:
      i.sub = static_cast<std::uint8_t>(isa::atomic_op::add);
      i.counts = m.has("POPC");
      break;
    default: break;
  }
  return e;
}

}  // namespace heddle::sass_trace
