// SPDX-License-Identifier: MIT
#include "heddle/isa/program.h"

#include <fmt/format.h>

#include "heddle/config/error.h"
#include "heddle/isa/convergence.h"
#include "heddle/isa/imad_form.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/texture.h"

namespace heddle::isa {

namespace {

constexpr const char* compare_names[] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                         "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};
constexpr const char* bool_names[] = {"AND", "OR", "XOR"};
constexpr const char* rounding_names[] = {"", ".RZ", ".RM", ".RP", ".RNA"};
constexpr const char* mufu_names[] = {"RCP", "RSQ", "SQRT", "SIN", "COS", "EX2", "LG2", "TANH", "RCP64H", "RSQ64H"};
constexpr const char* assist_names[] = {"DIV.F32",  "RCP.F32", "SQRT.F32", "DIV.F64", "RCP.F64",
                                        "SQRT.F64", "DIV.S64", "DIV.U64",  "REM.S64", "REM.U64"};
constexpr const char* atomic_names[] = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "ARRIVE"};
constexpr const char* shuffle_names[] = {"UP", "DOWN", "BFLY", "IDX"};
constexpr const char* match_names[] = {"ANY", "ALL"};
constexpr const char* redux_names[] = {"SUM", "MIN", "MAX", "AND", "OR", "XOR"};
constexpr const char* vote_names[] = {"ANY", "ALL", "EQ", "BALLOT", "ACTIVE"};
constexpr const char* space_letters[] = {"", "G", "S", "L", "C"};
constexpr const char* cache_names[] = {"", ".CG", ".CS", ".LU", ".CV", ".WB", ".WT", ".CI", ".VOLATILE"};
constexpr const char* special_names[] = {
    "TID.X",    "TID.Y",    "TID.Z",       "NTID.X",      "NTID.Y",       "NTID.Z",      "CTAID.X",     "CTAID.Y",
    "CTAID.Z",  "NCTAID.X", "NCTAID.Y",    "NCTAID.Z",    "LANEID",       "WARPID",      "NWARPID",     "SMID",
    "NSMID",    "GRIDID",   "LANEMASK_EQ", "LANEMASK_LT", "LANEMASK_LE",  "LANEMASK_GT", "LANEMASK_GE", "CLOCKLO",
    "CLOCKHI",  "CLOCK",    "GLOBALTIMER", "TOTAL_SMEM",  "DYNAMIC_SMEM", "CGA_CTAID.X", "CGA_CTAID.Y", "CGA_CTAID.Z",
    "CgaCtaId", "CGAID.X",  "CGAID.Y",     "CGAID.Z",     "SRZ"};
constexpr const char* prmt_names[] = {"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"};
constexpr const char* idp_names[] = {".4A", ".2A.LO", ".2A.HI"};
constexpr const char* bar_names[] = {".SYNC", ".ARV", ".RED.POPC", ".RED.AND", ".RED.OR"};
constexpr const char* group_names[] = {"", ".BULK", ".BULK.READ"};
constexpr const char* bulk_names[] = {".S.G", ".G.S", ".S.S"};
constexpr const char* membar_names[] = {".CTA", ".GPU", ".SYS"};
constexpr const char* trap_names[] = {"", ".ASSERT", ".STACK", ".CALL", ".BREAK"};
constexpr const char* system_names[] = {".VPRINTF", ".MALLOC", ".FREE"};

template <std::size_t n>
const char* pick(const char* const (&names)[n], unsigned index) {
  return index < n ? names[index] : "?";
}

std::string upper_name(dtype t) {
  std::string s = name_of(t);
  for (char& c : s) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return s;
}

std::string register_name(unsigned r, unsigned count) {
  std::string s = r == rz ? "RZ" : "R" + std::to_string(r);
  if (count == 2 && r != rz) s += ".64";
  if (count == 4 && r != rz) s += ".128";
  return s;
}

std::string predicate_name(std::uint8_t r, bool negate) {
  return (negate ? "!" : "") + (r == pt ? std::string("PT") : "P" + std::to_string(r));
}

std::string operand_text(const operand& o) {
  std::string s;
  switch (o.kind) {
    case operand_kind::none: return s;
    case operand_kind::reg: s = register_name(o.reg, o.count); break;
    case operand_kind::immediate: s = fmt::format("{:#x}", o.value); break;
    case operand_kind::constant: s = fmt::format("c[{:#x}][{:#x}]", o.bank, o.value); break;
  }
  if (o.absolute) s = "|" + s + "|";
  if (o.negate) s = "-" + s;
  if (o.invert) s = "~" + s;
  return s;
}

std::string xmad_suffix(std::uint8_t f) {
  std::string s;
  if (f & xmad::signed_a) s += ".SA";
  if (f & xmad::signed_b) s += ".SB";
  if (f & xmad::h1a) s += ".H1A";
  if (f & xmad::h1b) s += ".H1B";
  if (f & xmad::psl) s += ".PSL";
  if ((f & xmad::c_mask) == xmad::clo) s += ".CLO";
  if ((f & xmad::c_mask) == xmad::chi) s += ".CHI";
  if ((f & xmad::c_mask) == xmad::cbcc) s += ".CBCC";
  if (f & xmad::mrg) s += ".MRG";
  return s;
}

std::string memory_mnemonic(const instruction& i) {
  if (i.op == opcode::ldsm) return info(i.op).mnemonic + ldsm_suffix(i);
  std::string s = i.op == opcode::ldc ? "LDC" : std::string(info(i.op).mnemonic);
  if (i.op == opcode::ld || i.op == opcode::st)
    s = (i.op == opcode::ld ? "LD" : "ST") + std::string(pick(space_letters, unsigned(i.mem_space)));
  if (is_atomic(i.op)) {
    s += pick(space_letters, unsigned(i.mem_space));
    s += i.counts ? ".POPC.INC" : "." + std::string(pick(atomic_names, i.sub));
  }
  s += pick(cache_names, unsigned(i.cache));
  if (i.system) s += ".SYS";
  if (i.type != dtype::u32 && i.type != dtype::b32 && i.type != dtype::f32) s += "." + upper_name(i.type);
  else if (is_atomic(i.op) && i.type == dtype::f32) s += ".F32";
  return s;
}

/// Dimensions and mode of a copy of a tensor's box.
std::string tensor_suffix(const instruction& i) {
  return fmt::format(".{}D{}", i.sub % im2col, (i.sub & im2col) != 0 ? ".IM2COL" : "");
}

std::string imad_suffix(const instruction& i) {
  switch (form_of(i)) {
    case imad_form::multiply: break;
    case imad_form::move: return ".MOV.U32";
    case imad_form::sum: return ".IADD";
    case imad_form::shift: return ".SHL.U32";
  }
  return i.type == dtype::u32 ? ".U32" : "";
}

/// What an arithmetic instruction's mnemonic says of its type or function.
std::string own_suffix(const instruction& i) {
  std::string s;
  switch (i.op) {
    case opcode::isetp:
    case opcode::fsetp:
    case opcode::dsetp:
    case opcode::hsetp2:
    case opcode::fset:
    case opcode::hset2:
      s = "." + std::string(pick(compare_names, unsigned(i.cmp)));
      if (i.op == opcode::isetp && i.type == dtype::u32) s += ".U32";
      if (i.op == opcode::hsetp2 || i.op == opcode::hset2) s += "." + upper_name(i.type);
      s += "." + std::string(pick(bool_names, unsigned(i.bop)));
      break;
    case opcode::imad: s = imad_suffix(i); break;
    case opcode::shr:
    case opcode::bfe:
    case opcode::imnmx:
    case opcode::flo:
    case opcode::sgxt:
      if (i.type == dtype::u32) s = ".U32";
      if (i.op == opcode::flo && i.sub == 1) s += ".SH";
      break;
    case opcode::f2f:
    case opcode::f2i:
    case opcode::i2f:
    case opcode::i2i: s = "." + upper_name(i.type) + "." + upper_name(i.src_type); break;
    case opcode::frnd:
    case opcode::hadd2:
    case opcode::hmul2:
    case opcode::hfma2:
    case opcode::hmnmx2: s = "." + upper_name(i.type); break;
    case opcode::mufu: s = "." + std::string(pick(mufu_names, i.sub)); break;
    case opcode::assist:
    case opcode::fchk: s = "." + std::string(pick(assist_names, i.sub)); break;
    case opcode::xmad: s = xmad_suffix(i.sub); break;
    case opcode::prmt: s = pick(prmt_names, i.sub); break;
    case opcode::idp: s = pick(idp_names, i.sub); break;
    case opcode::shf: s = i.sub == 0 ? ".L" : ".R"; break;
    case opcode::shfl: s = "." + std::string(pick(shuffle_names, i.sub)); break;
    case opcode::match:
      s = "." + std::string(pick(match_names, i.sub));
      if (i.src[0].count == 2) s += ".U64";
      break;
    case opcode::redux:
      s = "." + std::string(pick(redux_names, i.sub));
      if (i.type == dtype::s32) s += ".S32";
      break;
    case opcode::vote: s = "." + std::string(pick(vote_names, i.sub)); break;
    case opcode::bar: s = pick(bar_names, i.sub); break;
    case opcode::trap: s = pick(trap_names, i.sub); break;
    case opcode::syscall: s = pick(system_names, i.sub); break;
    case opcode::membar: s = pick(membar_names, i.sub & ~membar_acquires); break;
    case opcode::wgdepbar: s = fmt::format(".LE.{}", i.sub); break;
    case opcode::depbar: s = fmt::format("{}.LE.{}", pick(group_names, narrow<unsigned>(i.offset)), i.sub); break;
    case opcode::syncs: s = ".PHASECHK.TRYWAIT"; break;
    case opcode::ublkcp: s = pick(bulk_names, i.sub); break;
    case opcode::ublkred:
      s = (i.offset != 0 ? ".S.S." : ".") + upper_name(i.type) + "." + pick(atomic_names, i.sub);
      break;
    case opcode::utmaredg: s = tensor_suffix(i) + "." + pick(atomic_names, narrow<unsigned>(i.offset)); break;
    case opcode::utmaldg:
    case opcode::utmastg:
    case opcode::utmapf: s = tensor_suffix(i); break;
    case opcode::hmma: s = hmma_suffix(i); break;
    case opcode::imma: s = imma_suffix(i); break;
    case opcode::bmma: s = bmma_suffix(i); break;
    case opcode::dmma: s = dmma_suffix(i); break;
    case opcode::hgmma: s = hgmma_suffix(i); break;
    case opcode::qgmma: s = qgmma_suffix(i); break;
    case opcode::igmma: s = igmma_suffix(i); break;
    case opcode::bgmma: s = bgmma_suffix(i); break;
    case opcode::movm: s = ".16.MT88"; break;
    case opcode::setmaxreg: s = fmt::format(".{}.{}", i.high ? "INC" : "DEC", 8 * i.sub); break;
    case opcode::tex:
    case opcode::tld4:
    case opcode::suld:
    case opcode::sust:
    case opcode::txq: s = texture_suffix(i); break;
    case opcode::ublkpf:
    case opcode::utmacmdflush:
    case opcode::nop:
    case opcode::ucgabar_arv:
    case opcode::ucgabar_wait:
    case opcode::acqbulk:
    case opcode::preexit:
    case opcode::mov:
    case opcode::sel:
    case opcode::s2r:
    case opcode::iadd3:
    case opcode::viadd:
    case opcode::lea:
    case opcode::lop3:
    case opcode::iabs:
    case opcode::shl:
    case opcode::bfi:
    case opcode::bmsk:
    case opcode::vabsdiff:
    case opcode::plop3:
    case opcode::p2r:
    case opcode::r2p:
    case opcode::popc:
    case opcode::brev:
    case opcode::fadd:
    case opcode::fmul:
    case opcode::ffma:
    case opcode::fmnmx:
    case opcode::dadd:
    case opcode::dmul:
    case opcode::dfma:
    case opcode::dmnmx:
    case opcode::ld:
    case opcode::st:
    case opcode::ldgsts:
    case opcode::ldgdepbar:
    case opcode::wgarrive:
    case opcode::wgcommit:
    case opcode::ldc:
    case opcode::atom:
    case opcode::red:
    case opcode::ldsm:
    case opcode::bra:
    case opcode::exit:
    case opcode::nanosleep:
    case opcode::count: break;
  }
  return s;
}

/// Suffix of an arithmetic instruction's mnemonic.
std::string suffix(const instruction& i) {
  std::string s = own_suffix(i);
  if (i.high && i.op != opcode::setmaxreg)
    s += i.op == opcode::f2f ? ".FINITE" : i.op == opcode::vabsdiff ? ".S" : ".HI";
  if (i.wide) s += ".WIDE";
  if (i.wrap) s += ".W";
  if (i.extended) s += ".X";
  if (i.op != opcode::nop) s += pick(rounding_names, unsigned(i.round));
  if (i.ftz) s += ".FTZ";
  if (i.saturate) s += ".SAT";
  if (i.nan) s += i.op == opcode::hfma2 || i.op == opcode::f2f ? ".RELU" : ".NAN";
  return s;
}

bool is_memory(opcode op) { return names_address(op) || op == opcode::ldc || op == opcode::ldsm; }

/// False for the member mask of an instruction that always names the whole warp.
bool is_printed(const instruction& i, unsigned k) {
  const bool whole_warp = is_matrix(i.op) || is_warpgroup_product(i.op) || i.op == opcode::movm || i.op == opcode::ldsm;
  return i.src[k].kind != operand_kind::none && !(whole_warp && k == 3);
}

std::string address_text(const instruction& i) {
  std::string a = i.src[0].is_reg() && i.src[0].reg == rz ? "" : operand_text(i.src[0]);
  if (a.empty()) a = fmt::format("{:#x}", i.offset);
  else if (i.offset != 0) a += fmt::format("{}{:#x}", i.offset < 0 ? "-" : "+", i.offset < 0 ? -i.offset : i.offset);
  if (i.op == opcode::ldc) return fmt::format("c[{:#x}][{}]", i.sub, a);
  return "[" + a + "]";
}

/// Number of predicate sources that the opcode reads, so that defaults are not printed.
unsigned predicate_sources(const instruction& i) {
  switch (info(i.op).predicates) {
    case predicate_use::none: return 0;
    case predicate_use::one: return 1;
    case predicate_use::three: return 3;
    case predicate_use::one_or_two: return i.extended ? 2 : 1;
    case predicate_use::carry: return i.extended ? 1 : 0;
    case predicate_use::vote: return i.sub == unsigned(vote_mode::activemask) ? 0 : 1;
    case predicate_use::reduction: return i.sub >= 2 ? 1 : 0;
  }
  return 0;
}

bool has_predicate_result(opcode op) {
  return op == opcode::isetp || op == opcode::fsetp || op == opcode::dsetp || op == opcode::hsetp2 ||
         op == opcode::plop3;
}

}  // namespace

std::string to_string(const instruction& i) {
  std::string text;
  if (i.guard.reg != pt || i.guard.negate) text = "@" + predicate_name(i.guard.reg, i.guard.negate) + " ";
  if (is_memory(i.op)) {
    text += memory_mnemonic(i);
  } else {
    text += (i.calls() ? "CALL" : i.op == opcode::nop ? pick(nop_names, i.sub) : info(i.op).mnemonic) + suffix(i);
  }
  std::vector<std::string> parts;
  if (has_predicate_result(i.op)) {
    parts.push_back(predicate_name(i.pdst[0], false));
    parts.push_back(predicate_name(i.pdst[1], false));
  } else {
    if (i.dst_count > 0) parts.push_back(register_name(i.dst, i.dst_count));
    if (i.pdst[0] != pt) parts.push_back(predicate_name(i.pdst[0], false));
  }
  if (is_memory(i.op)) parts.push_back(address_text(i));
  if (i.op == opcode::s2r) parts.push_back("SR_" + std::string(pick(special_names, i.sub)));
  for (unsigned k = is_memory(i.op) ? 1 : 0; k < i.src.size(); ++k)
    if (is_printed(i, k)) parts.push_back(operand_text(i.src[k]));
  if (i.op == opcode::lop3 || i.op == opcode::plop3) parts.push_back(fmt::format("{:#x}", i.sub));
  if (i.op == opcode::lea) parts.push_back(fmt::format("{:#x}", i.sub));
  for (unsigned k = 0; k < predicate_sources(i); ++k) parts.push_back(predicate_name(i.psrc[k].reg, i.psrc[k].negate));
  if (i.target != no_target) parts.push_back("L" + std::to_string(i.target));
  for (std::size_t k = 0; k < parts.size(); ++k) text += (k == 0 ? " " : ", ") + parts[k];
  return text;
}

std::string place_of(const program& p, const instruction& i) {
  std::string text = p.file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column);
  const std::string source = p.source ? p.source->short_stack(i.line) : std::string();
  return source.empty() ? text : text + " (" + source + ")";
}

std::string text_of(const program& p, std::size_t index) {
  const std::string text = to_string(p.code[index]);
  if (index >= p.recorded.size() || p.recorded[index].empty()) return text;
  // The operands come from the machine instruction, the mnemonic from the trace.
  const std::size_t blank = text.find(' ');
  return p.recorded[index] + (blank == std::string::npos ? "" : text.substr(blank));
}

}  // namespace heddle::isa
