// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/code/opcode_table.h"

#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

using g = generation;
using c = isa::op_class;
using o = isa::opcode;
using s = isa::space;

struct version_entry {
  unsigned version;
  generation gen;
};
constexpr version_entry versions[] = {
    {30, g::kepler},     {32, g::kepler},     {35, g::kepler},     {37, g::kepler},     {50, g::maxwell},
    {52, g::maxwell},    {53, g::maxwell},    {60, g::pascal},     {61, g::pascal},     {62, g::pascal},
    {70, g::volta},      {72, g::volta},      {75, g::turing},     {80, g::ampere},     {86, g::ampere},
    {87, g::ampere},     {89, g::ampere},     {90, g::hopper},     {100, g::blackwell}, {101, g::blackwell},
    {103, g::blackwell}, {110, g::blackwell}, {120, g::blackwell}, {121, g::blackwell}};

struct entry {
  const char* mnemonic;
  generation first, last;  // first and last generation with this opcode; Hopper: later ones, too
  isa::op_class timing;
  isa::opcode op = o::nop;
  isa::space space = s::global;
};

// Ordered by functional unit. Source: NVIDIA CUDA Binary Utilities, instruction set reference of each generation.
// clang-format off
constexpr entry table[] = {
  // fp32
  {"FADD", g::kepler, g::hopper, c::fp32_add}, {"FADD32I", g::kepler, g::hopper, c::fp32_add}, {"FFMA", g::kepler, g::hopper, c::fp32_add},
  {"FFMA32I", g::kepler, g::hopper, c::fp32_add}, {"FMUL", g::kepler, g::hopper, c::fp32_add}, {"FMUL32I", g::kepler, g::hopper, c::fp32_add},
  {"FCMP", g::kepler, g::pascal, c::fp32_compare}, {"FMNMX", g::kepler, g::hopper, c::fp32_minmax}, {"FSEL", g::volta, g::hopper, c::fp32_add},
  {"FSETP", g::kepler, g::hopper, c::fp32_compare}, {"FSET", g::kepler, g::hopper, c::fp32_compare}, {"FSWZADD", g::kepler, g::hopper, c::fp32_add},
  {"FSWZ", g::kepler, g::kepler, c::fp32_add}, {"FCHK", g::kepler, g::hopper, c::fp32_compare}, {"RRO", g::kepler, g::pascal, c::fp32_add},
  {"MUFU", g::kepler, g::hopper, c::sfu},
  // half
  {"HADD2", g::maxwell, g::hopper, c::half_add}, {"HADD2_32I", g::maxwell, g::hopper, c::half_add}, {"HFMA2", g::maxwell, g::hopper, c::half_add},
  {"HFMA2_32I", g::maxwell, g::hopper, c::half_add}, {"HMUL2", g::maxwell, g::hopper, c::half_add}, {"HMUL2_32I", g::maxwell, g::hopper, c::half_add},
  {"HMNMX2", g::ampere, g::hopper, c::half_add}, {"VHMNMX", g::hopper, g::hopper, c::half_add}, {"HSETP2", g::maxwell, g::hopper, c::half_compare},
  {"HSET2", g::maxwell, g::hopper, c::half_compare},
  // tensor
  {"HMMA", g::volta, g::hopper, c::tensor}, {"IMMA", g::turing, g::hopper, c::tensor}, {"BMMA", g::turing, g::hopper, c::tensor},
  {"DMMA", g::ampere, g::hopper, c::tensor}, {"HGMMA", g::hopper, g::hopper, c::tensor, o::hgmma}, {"IGMMA", g::hopper, g::hopper, c::tensor, o::igmma},
  {"BGMMA", g::hopper, g::hopper, c::tensor, o::bgmma}, {"QGMMA", g::hopper, g::hopper, c::tensor, o::qgmma},
  // fp64
  {"DADD", g::kepler, g::hopper, c::fp64_add}, {"DFMA", g::kepler, g::hopper, c::fp64_fma}, {"DMUL", g::kepler, g::hopper, c::fp64_add},
  {"DMNMX", g::kepler, g::pascal, c::fp64_add}, {"DSETP", g::kepler, g::hopper, c::fp64_compare}, {"DSET", g::kepler, g::pascal, c::fp64_compare},
  // integer
  {"IADD", g::kepler, g::hopper, c::int_add}, {"IADD32I", g::kepler, g::hopper, c::int_add},
  {"IADD3", g::maxwell, g::hopper, c::int_add}, {"ISCADD", g::kepler, g::pascal, c::int_shift}, {"ISCADD32I", g::kepler, g::pascal, c::int_shift},
  {"ISAD", g::kepler, g::pascal, c::int_minmax}, {"LEA", g::maxwell, g::hopper, c::int_add}, {"LOP", g::kepler, g::hopper, c::int_add},
  {"LOP32I", g::kepler, g::hopper, c::int_add}, {"LOP3", g::maxwell, g::hopper, c::int_add}, {"MOV", g::kepler, g::hopper, c::int_add},
  {"MOV32I", g::kepler, g::hopper, c::int_add}, {"MOVM", g::turing, g::hopper, c::shuffle}, {"SEL", g::kepler, g::hopper, c::int_add},
  {"PRMT", g::kepler, g::hopper, c::int_add}, {"IABS", g::volta, g::hopper, c::int_add}, {"SGXT", g::volta, g::hopper, c::int_shift},
  {"SHL", g::kepler, g::hopper, c::int_shift}, {"SHR", g::kepler, g::hopper, c::int_shift}, {"SHF", g::kepler, g::hopper, c::int_shift},
  {"BFE", g::kepler, g::pascal, c::int_shift}, {"BFI", g::kepler, g::pascal, c::int_shift}, {"BMSK", g::volta, g::hopper, c::int_shift},
  {"IMAD", g::kepler, g::hopper, c::int_multiply}, {"IMADSP", g::kepler, g::pascal, c::int_multiply}, {"IMUL", g::kepler, g::hopper, c::int_multiply},
  {"IMUL32I", g::kepler, g::hopper, c::int_multiply}, {"XMAD", g::maxwell, g::pascal, c::int_multiply}, {"IDP", g::pascal, g::hopper, c::int_multiply},
  {"IDP4A", g::volta, g::hopper, c::int_multiply}, {"IMNMX", g::kepler, g::hopper, c::int_minmax}, {"VIMNMX", g::hopper, g::hopper, c::int_minmax},
  {"VABSDIFF", g::kepler, g::hopper, c::int_minmax}, {"VABSDIFF4", g::kepler, g::hopper, c::int_minmax}, {"VADD", g::kepler, g::pascal, c::int_minmax},
  {"VMAD", g::kepler, g::pascal, c::int_multiply}, {"VMNMX", g::kepler, g::pascal, c::int_minmax}, {"VSET", g::kepler, g::pascal, c::int_compare},
  {"VSETP", g::kepler, g::pascal, c::int_compare}, {"VSHL", g::kepler, g::pascal, c::int_shift}, {"VSHR", g::kepler, g::pascal, c::int_shift},
  {"VIADD", g::hopper, g::hopper, c::int_multiply}, {"ICMP", g::kepler, g::pascal, c::int_compare}, {"ISET", g::kepler, g::pascal, c::int_compare},
  {"ISETP", g::kepler, g::hopper, c::int_compare}, {"PSET", g::kepler, g::pascal, c::int_compare}, {"PSETP", g::kepler, g::hopper, c::int_compare},
  {"PLOP3", g::volta, g::hopper, c::int_compare}, {"CSET", g::kepler, g::pascal, c::int_compare}, {"CSETP", g::kepler, g::pascal, c::int_compare},
  {"P2R", g::kepler, g::hopper, c::int_add}, {"R2P", g::kepler, g::hopper, c::int_add}, {"CC2R", g::volta, g::volta, c::int_add},
  {"VABSDIFF2", g::kepler, g::kepler, c::int_minmax}, {"VADD4", g::kepler, g::kepler, c::int_minmax}, {"VMNMX4", g::kepler, g::kepler, c::int_minmax},
  // bits, conversions
  {"POPC", g::kepler, g::hopper, c::bit_count}, {"FLO", g::kepler, g::hopper, c::bit_scan}, {"BREV", g::volta, g::hopper, c::bit_scan},
  {"F2F", g::kepler, g::hopper, c::conversion}, {"F2I", g::kepler, g::hopper, c::conversion}, {"I2F", g::kepler, g::hopper, c::conversion},
  {"I2I", g::kepler, g::hopper, c::conversion}, {"I2IP", g::ampere, g::hopper, c::int_add}, {"FRND", g::volta, g::hopper, c::conversion},
  {"I2FP", g::ampere, g::hopper, c::int_add}, {"F2FP", g::ampere, g::hopper, c::half_add}, {"F2IP", g::ampere, g::hopper, c::int_add},
  // special registers, votes, data exchange between lanes
  {"S2R", g::kepler, g::hopper, c::special_register}, {"CS2R", g::maxwell, g::hopper, c::int_add}, {"S2UR", g::turing, g::hopper, c::special_register},
  {"B2R", g::kepler, g::hopper, c::special_register}, {"R2B", g::kepler, g::hopper, c::special_register}, {"LEPC", g::volta, g::hopper, c::int_add},
  {"GETLMEMBASE", g::volta, g::hopper, c::special_register}, {"SETLMEMBASE", g::volta, g::hopper, c::special_register},
  {"BMOV", g::volta, g::hopper, c::int_add}, {"VOTE", g::kepler, g::hopper, c::vote}, {"VOTEU", g::turing, g::hopper, c::vote},
  {"SHFL", g::kepler, g::hopper, c::shuffle}, {"MATCH", g::volta, g::hopper, c::shuffle}, {"REDUX", g::ampere, g::hopper, c::shuffle},
  {"QSPC", g::volta, g::hopper, c::shuffle}, {"R2UR", g::turing, g::hopper, c::int_add}, {"ELECT", g::hopper, g::hopper, c::vote},
  // uniform datapath
  {"UBMSK", g::turing, g::hopper, c::int_shift}, {"UBREV", g::turing, g::hopper, c::bit_scan}, {"UCLEA", g::turing, g::hopper, c::int_add},
  {"UF2FP", g::ampere, g::hopper, c::int_add}, {"UFLO", g::turing, g::hopper, c::bit_scan}, {"UIADD3", g::turing, g::hopper, c::int_add},
  {"UIMAD", g::turing, g::hopper, c::int_multiply}, {"UISETP", g::turing, g::hopper, c::int_compare}, {"ULDC", g::turing, g::hopper, c::int_add},
  {"ULEA", g::turing, g::hopper, c::int_add}, {"ULOP", g::turing, g::hopper, c::int_add}, {"ULOP3", g::turing, g::hopper, c::int_add},
  {"ULOP32I", g::turing, g::hopper, c::int_add}, {"UMOV", g::turing, g::hopper, c::int_add}, {"UP2UR", g::turing, g::hopper, c::int_add},
  {"UPLOP3", g::turing, g::hopper, c::int_compare}, {"UPOPC", g::turing, g::hopper, c::bit_count}, {"UPRMT", g::turing, g::hopper, c::int_add},
  {"UPSETP", g::turing, g::hopper, c::int_compare}, {"UR2UP", g::turing, g::hopper, c::int_add}, {"USEL", g::turing, g::hopper, c::int_add},
  {"USETMAXREG", g::hopper, g::hopper, c::branch}, {"USGXT", g::turing, g::hopper, c::int_shift}, {"USHF", g::turing, g::hopper, c::int_shift},
  {"USHL", g::turing, g::hopper, c::int_shift}, {"USHR", g::turing, g::hopper, c::int_shift}, {"UCGABAR_ARV", g::hopper, g::hopper, c::branch},
  {"UCGABAR_WAIT", g::hopper, g::hopper, c::branch}, {"SYNCS", g::hopper, g::hopper, c::shuffle}, {"UBLKCP", g::hopper, g::hopper, c::shuffle},
  {"UBLKPF", g::hopper, g::hopper, c::shuffle}, {"UBLKRED", g::hopper, g::hopper, c::shuffle}, {"UTMALDG", g::hopper, g::hopper, c::shuffle},
  {"UTMASTG", g::hopper, g::hopper, c::shuffle}, {"UTMAREDG", g::hopper, g::hopper, c::shuffle}, {"UTMAPF", g::hopper, g::hopper, c::shuffle},
  {"UTMACCTL", g::hopper, g::hopper, c::shuffle}, {"UTMACMDFLUSH", g::hopper, g::hopper, c::shuffle},
  // memory
  {"LD", g::kepler, g::hopper, c::load_store, o::ld, s::generic}, {"ST", g::kepler, g::hopper, c::load_store, o::st, s::generic},
  {"LDG", g::kepler, g::hopper, c::load_store, o::ld, s::global}, {"STG", g::maxwell, g::hopper, c::load_store, o::st, s::global},
  {"LDL", g::kepler, g::hopper, c::load_store, o::ld, s::local}, {"STL", g::kepler, g::hopper, c::load_store, o::st, s::local},
  {"LDS", g::kepler, g::hopper, c::load_store, o::ld, s::shared}, {"STS", g::kepler, g::hopper, c::load_store, o::st, s::shared},
  {"LDSLK", g::kepler, g::kepler, c::load_store, o::ld, s::shared}, {"STSCUL", g::kepler, g::kepler, c::load_store, o::st, s::shared},
  {"STSM", g::hopper, g::hopper, c::load_store, o::st, s::shared}, {"ST_ASYNC", g::hopper, g::hopper, c::load_store, o::st, s::generic},
  {"LDSM", g::turing, g::hopper, c::load_store, o::ld, s::shared}, {"LDGSTS", g::ampere, g::hopper, c::load_store, o::ldgsts, s::global},
  {"LDC", g::kepler, g::hopper, c::load_store, o::ldc, s::constant}, {"ATOM", g::kepler, g::hopper, c::load_store, o::atom, s::generic},
  {"ATOMG", g::volta, g::hopper, c::load_store, o::atom, s::global}, {"ATOMS", g::maxwell, g::hopper, c::load_store, o::atom, s::shared},
  {"RED", g::kepler, g::hopper, c::load_store, o::red, s::global}, {"REDG", g::hopper, g::hopper, c::load_store, o::red, s::global},
  {"REDAS", g::hopper, g::hopper, c::load_store, o::red, s::shared}, {"CCTL", g::kepler, g::hopper, c::shuffle}, {"CCTLL", g::kepler, g::hopper, c::shuffle},
  {"CCTLT", g::maxwell, g::hopper, c::shuffle},
  // Blackwell only; all opcodes of Hopper hold for it, too. From memory of the same reference, half of them also in
  // disassemblies that others have published; what they do is taken from their names
  {"FADD2", g::blackwell, g::blackwell, c::fp32_add}, {"FMUL2", g::blackwell, g::blackwell, c::fp32_add}, {"FFMA2", g::blackwell, g::blackwell, c::fp32_add},
  {"FHADD", g::blackwell, g::blackwell, c::fp32_add}, {"FHFMA", g::blackwell, g::blackwell, c::fp32_add}, {"FMNMX3", g::blackwell, g::blackwell, c::fp32_minmax},
  {"HMNMX2", g::blackwell, g::blackwell, c::half_add}, {"QMMA", g::blackwell, g::blackwell, c::tensor}, {"OMMA", g::blackwell, g::blackwell, c::tensor},
  {"UTCHMMA", g::blackwell, g::blackwell, c::tensor}, {"UTCQMMA", g::blackwell, g::blackwell, c::tensor}, {"UTCIMMA", g::blackwell, g::blackwell, c::tensor},
  {"UTCOMMA", g::blackwell, g::blackwell, c::tensor}, {"UTCBAR", g::blackwell, g::blackwell, c::shuffle}, {"UTCCP", g::blackwell, g::blackwell, c::shuffle},
  {"UTCSHIFT", g::blackwell, g::blackwell, c::shuffle}, {"UTCATOMSWS", g::blackwell, g::blackwell, c::shuffle}, {"LDTM", g::blackwell, g::blackwell, c::shuffle},
  {"STTM", g::blackwell, g::blackwell, c::shuffle}, {"LDT", g::blackwell, g::blackwell, c::shuffle}, {"STT", g::blackwell, g::blackwell, c::shuffle},
  {"VIMNMX3", g::blackwell, g::blackwell, c::int_minmax}, {"CREDUX", g::blackwell, g::blackwell, c::shuffle}, {"CS2UR", g::blackwell, g::blackwell, c::int_add},
  {"LDCU", g::blackwell, g::blackwell, c::int_add}, {"UFADD", g::blackwell, g::blackwell, c::fp32_add}, {"UFFMA", g::blackwell, g::blackwell, c::fp32_add},
  {"UFMUL", g::blackwell, g::blackwell, c::fp32_add}, {"UFMNMX", g::blackwell, g::blackwell, c::fp32_minmax}, {"UFSEL", g::blackwell, g::blackwell, c::fp32_add},
  {"UFSET", g::blackwell, g::blackwell, c::fp32_compare}, {"UFSETP", g::blackwell, g::blackwell, c::fp32_compare}, {"UFRND", g::blackwell, g::blackwell, c::conversion},
  {"UF2F", g::blackwell, g::blackwell, c::conversion}, {"UF2I", g::blackwell, g::blackwell, c::conversion}, {"UI2F", g::blackwell, g::blackwell, c::conversion},
  {"UI2I", g::blackwell, g::blackwell, c::conversion}, {"UI2FP", g::blackwell, g::blackwell, c::int_add}, {"UI2IP", g::blackwell, g::blackwell, c::int_add},
  {"UIABS", g::blackwell, g::blackwell, c::int_add}, {"UIMNMX", g::blackwell, g::blackwell, c::int_minmax}, {"UVIADD", g::blackwell, g::blackwell, c::int_add},
  {"UVIMNMX", g::blackwell, g::blackwell, c::int_minmax}, {"UGETNEXTWORKID", g::blackwell, g::blackwell, c::shuffle}, {"UMEMSETS", g::blackwell, g::blackwell, c::shuffle},
  {"UREDGR", g::blackwell, g::blackwell, c::shuffle}, {"USTGR", g::blackwell, g::blackwell, c::shuffle}, {"UVIRTCOUNT", g::blackwell, g::blackwell, c::shuffle},
  {"USETSHMSZ", g::blackwell, g::blackwell, c::branch}, {"ACQSHMINIT", g::blackwell, g::blackwell, c::branch},
  // textures and surfaces: traces contain no addresses for them, so they only occupy their slot in the load/store unit
  {"TEX", g::kepler, g::hopper, c::shuffle}, {"TEXS", g::maxwell, g::pascal, c::shuffle}, {"TLD", g::kepler, g::hopper, c::shuffle},
  {"TLDS", g::maxwell, g::pascal, c::shuffle}, {"TLD4", g::kepler, g::hopper, c::shuffle}, {"TLD4S", g::maxwell, g::pascal, c::shuffle},
  {"TMML", g::maxwell, g::hopper, c::shuffle}, {"TXD", g::kepler, g::hopper, c::shuffle}, {"TXQ", g::kepler, g::hopper, c::shuffle},
  {"TXA", g::maxwell, g::pascal, c::shuffle}, {"TXF", g::kepler, g::kepler, c::shuffle}, {"SUATOM", g::maxwell, g::hopper, c::shuffle},
  {"SULD", g::maxwell, g::hopper, c::shuffle}, {"SURED", g::maxwell, g::hopper, c::shuffle}, {"SUST", g::maxwell, g::hopper, c::shuffle},
  {"SULDGA", g::kepler, g::kepler, c::shuffle}, {"SUSTGA", g::kepler, g::kepler, c::shuffle}, {"SUCLAMP", g::kepler, g::kepler, c::int_add},
  {"SUBFM", g::kepler, g::kepler, c::int_add}, {"SUEAU", g::kepler, g::kepler, c::int_add}, {"SUQ", g::maxwell, g::hopper, c::shuffle},
  // control
  {"BRA", g::kepler, g::hopper, c::branch, o::bra}, {"BRX", g::kepler, g::hopper, c::branch, o::bra}, {"BRXU", g::turing, g::hopper, c::branch, o::bra},
  {"JMP", g::kepler, g::hopper, c::branch, o::bra}, {"JMX", g::kepler, g::hopper, c::branch, o::bra}, {"JMXU", g::turing, g::hopper, c::branch, o::bra},
  {"CAL", g::kepler, g::pascal, c::branch, o::bra}, {"JCAL", g::kepler, g::pascal, c::branch, o::bra}, {"CALL", g::volta, g::hopper, c::branch, o::bra},
  {"RET", g::kepler, g::hopper, c::branch, o::bra}, {"BRK", g::kepler, g::pascal, c::branch, o::bra}, {"CONT", g::kepler, g::pascal, c::branch, o::bra},
  {"SYNC", g::maxwell, g::pascal, c::branch, o::bra}, {"LONGJMP", g::kepler, g::pascal, c::branch, o::bra}, {"BSYNC", g::volta, g::hopper, c::branch, o::bra},
  {"BREAK", g::volta, g::hopper, c::branch}, {"BSSY", g::volta, g::hopper, c::branch}, {"WARPSYNC", g::volta, g::hopper, c::branch},
  {"WARPSYNCU", g::hopper, g::hopper, c::branch}, {"SSY", g::kepler, g::pascal, c::branch}, {"PBK", g::kepler, g::pascal, c::branch},
  {"PCNT", g::kepler, g::pascal, c::branch}, {"PRET", g::kepler, g::pascal, c::branch}, {"PLONGJMP", g::kepler, g::pascal, c::branch},
  {"PEXIT", g::maxwell, g::pascal, c::branch}, {"RTT", g::volta, g::hopper, c::branch}, {"RPCMOV", g::volta, g::hopper, c::int_add},
  {"SAM", g::maxwell, g::pascal, c::branch}, {"RAM", g::maxwell, g::pascal, c::branch}, {"YIELD", g::volta, g::hopper, c::branch},
  {"BPT", g::kepler, g::hopper, c::branch}, {"IDE", g::kepler, g::hopper, c::branch}, {"NOP", g::kepler, g::hopper, c::branch},
  {"PMTRIG", g::kepler, g::hopper, c::branch}, {"SETCTAID", g::volta, g::hopper, c::branch}, {"ACQBULK", g::hopper, g::hopper, c::branch, o::acqbulk},
  {"ACQSHMINIT", g::hopper, g::hopper, c::branch}, {"ENDCOLLECTIVE", g::hopper, g::hopper, c::branch}, {"PREEXIT", g::hopper, g::hopper, c::branch, o::preexit},
  {"ERRBAR", g::volta, g::hopper, c::branch}, {"CGAERRBAR", g::hopper, g::hopper, c::branch}, {"NANOSLEEP", g::volta, g::hopper, c::branch, o::nanosleep},
  {"EXIT", g::kepler, g::hopper, c::branch, o::exit}, {"KILL", g::kepler, g::hopper, c::branch, o::exit}, {"BAR", g::kepler, g::hopper, c::branch, o::bar},
  {"MEMBAR", g::kepler, g::hopper, c::branch, o::membar}, {"FENCE", g::hopper, g::hopper, c::branch, o::membar},
  {"DEPBAR", g::kepler, g::turing, c::branch}, {"DEPBAR", g::ampere, g::hopper, c::branch, o::depbar}, {"TEXDEPBAR", g::kepler, g::kepler, c::branch}, {"LDGDEPBAR", g::ampere, g::hopper, c::branch, o::ldgdepbar},
  {"ARRIVES", g::ampere, g::hopper, c::branch}, {"WARPGROUP", g::hopper, g::hopper, c::branch}, {"WARPGROUPSET", g::hopper, g::hopper, c::branch},
  {"CSMTEST", g::kepler, g::volta, c::int_compare}, {"AL2P", g::kepler, g::pascal, c::int_add}, {"PIXLD", g::kepler, g::hopper, c::shuffle},
  {"IPA", g::kepler, g::hopper, c::sfu}, {"LDLK", g::kepler, g::kepler, c::load_store, o::ld, s::generic}, {"STUL", g::kepler, g::kepler, c::load_store, o::st, s::generic},
};
// clang-format on

opcode_meaning guess(std::string_view name, unsigned bytes, bool has_result) {
  opcode_meaning m;
  m.known = false;
  if (bytes != 0) {
    m.timing = c::load_store;
    const bool atomic = contains(name, "ATOM") || contains(name, "RED");
    m.op = has_result                                      ? (atomic ? o::atom : o::ld)
           : atomic                                        ? o::red
           : contains(name, "ST") || !contains(name, "LD") ? o::st
                                                           : o::ld;
    const char last = name.empty() ? ' ' : name.back();
    if (last == 'S') m.space = s::shared;
    if (last == 'L') m.space = s::local;
    return m;
  }
  if (contains(name, "MMA")) {
    m.timing = c::tensor;
  } else if (starts_with(name, "MUFU")) {
    m.timing = c::sfu;
  } else if (contains(name, "2F") || contains(name, "F2")) {
    m.timing = c::conversion;
  } else if (contains(name, "SET") || contains(name, "CMP")) {
    m.timing = name[0] == 'F'   ? c::fp32_compare
               : name[0] == 'D' ? c::fp64_compare
               : name[0] == 'H' ? c::half_compare
                                : c::int_compare;
  } else if (contains(name, "MAD") || contains(name, "MUL")) {
    m.timing = name[0] == 'F'   ? c::fp32_add
               : name[0] == 'D' ? c::fp64_add
               : name[0] == 'H' ? c::half_add
                                : c::int_multiply;
  } else if (name[0] == 'F') {
    m.timing = c::fp32_add;
  } else if (name[0] == 'D') {
    m.timing = c::fp64_add;
  } else if (name[0] == 'H') {
    m.timing = c::half_add;
  } else if (starts_with(name, "TEX") || starts_with(name, "TLD") || starts_with(name, "SU")) {
    m.timing = c::shuffle;
  } else if (name[0] == 'B' || name[0] == 'J' || starts_with(name, "WARP") || starts_with(name, "SYNC")) {
    m.timing = c::branch;
  }
  return m;
}

}  // namespace

bool generation_of(unsigned binary_version, generation& out) {
  for (const version_entry& v : versions) {
    if (v.version != binary_version) continue;
    out = v.gen;
    return true;
  }
  return false;
}

std::string known_binary_versions() {
  std::string text;
  for (const version_entry& v : versions) text += (text.empty() ? "" : ", ") + std::to_string(v.version);
  return text;
}

const char* name_of(generation gen) {
  constexpr const char* names[] = {"Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Hopper", "Blackwell"};
  return names[static_cast<unsigned>(gen)];
}

opcode_meaning meaning_of(generation gen, std::string_view mnemonic, unsigned bytes, bool has_result) {
  for (const entry& e : table) {
    if (e.first > gen || (e.last < gen && e.last != g::hopper) || mnemonic != e.mnemonic) continue;
    opcode_meaning m;
    m.op = e.op;
    m.timing = e.timing;
    m.space = e.space;
    return m;
  }
  return guess(mnemonic, bytes, has_result);
}

}  // namespace heddle::sass_trace
