// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/code/opcode_table.h"

#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

using g = generation;
using c = isa::op_class;
using f = isa::flop_rule;
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
  // Each column but the last two has to be given.
  constexpr entry(const char* m, generation from, generation to, isa::op_class unit, isa::flop_rule counted,
                  isa::opcode same = o::nop, isa::space where = s::global)
      : mnemonic(m), first(from), last(to), timing(unit), flops(counted), op(same), space(where) {}

  const char* mnemonic;
  generation first, last;  // first and last generation with this opcode; Hopper: later ones, too
  isa::op_class timing;
  isa::flop_rule flops;
  isa::opcode op;
  isa::space space;
};

// Ordered by functional unit. Source: NVIDIA CUDA Binary Utilities, instruction set reference of each generation.
// clang-format off
constexpr entry table[] = {
  // fp32
  {"FADD", g::kepler, g::hopper, c::fp32_add, f::one}, {"FADD32I", g::kepler, g::hopper, c::fp32_add, f::one}, {"FFMA", g::kepler, g::hopper, c::fp32_add, f::fused},
  {"FFMA32I", g::kepler, g::hopper, c::fp32_add, f::fused}, {"FMUL", g::kepler, g::hopper, c::fp32_add, f::one}, {"FMUL32I", g::kepler, g::hopper, c::fp32_add, f::one},
  {"FCMP", g::kepler, g::pascal, c::fp32_compare, f::none}, {"FMNMX", g::kepler, g::hopper, c::fp32_minmax, f::none}, {"FSEL", g::volta, g::hopper, c::fp32_add, f::none},
  {"FSETP", g::kepler, g::hopper, c::fp32_compare, f::none}, {"FSET", g::kepler, g::hopper, c::fp32_compare, f::none}, {"FSWZADD", g::kepler, g::hopper, c::fp32_add, f::none},
  {"FSWZ", g::kepler, g::kepler, c::fp32_add, f::none}, {"FCHK", g::kepler, g::hopper, c::fp32_compare, f::none}, {"RRO", g::kepler, g::pascal, c::fp32_add, f::none},
  {"MUFU", g::kepler, g::hopper, c::sfu, f::none},
  // half
  {"HADD2", g::maxwell, g::hopper, c::half_add, f::one}, {"HADD2_32I", g::maxwell, g::hopper, c::half_add, f::none}, {"HFMA2", g::maxwell, g::hopper, c::half_add, f::fused},
  {"HFMA2_32I", g::maxwell, g::hopper, c::half_add, f::none}, {"HMUL2", g::maxwell, g::hopper, c::half_add, f::one}, {"HMUL2_32I", g::maxwell, g::hopper, c::half_add, f::none},
  {"HMNMX2", g::ampere, g::hopper, c::half_add, f::none}, {"VHMNMX", g::hopper, g::hopper, c::half_add, f::none}, {"HSETP2", g::maxwell, g::hopper, c::half_compare, f::none},
  {"HSET2", g::maxwell, g::hopper, c::half_compare, f::none},
  // tensor
  {"HMMA", g::volta, g::hopper, c::tensor, f::product}, {"IMMA", g::turing, g::hopper, c::tensor, f::none}, {"BMMA", g::turing, g::hopper, c::tensor, f::none},
  {"DMMA", g::ampere, g::hopper, c::tensor, f::product}, {"HGMMA", g::hopper, g::hopper, c::tensor, f::group, o::hgmma},
  {"IGMMA", g::hopper, g::hopper, c::tensor, f::none, o::igmma}, {"BGMMA", g::hopper, g::hopper, c::tensor, f::none, o::bgmma},
  {"QGMMA", g::hopper, g::hopper, c::tensor, f::group, o::qgmma},
  // fp64
  {"DADD", g::kepler, g::hopper, c::fp64_add, f::one}, {"DFMA", g::kepler, g::hopper, c::fp64_fma, f::fused}, {"DMUL", g::kepler, g::hopper, c::fp64_add, f::one},
  {"DMNMX", g::kepler, g::pascal, c::fp64_add, f::none}, {"DSETP", g::kepler, g::hopper, c::fp64_compare, f::none}, {"DSET", g::kepler, g::pascal, c::fp64_compare, f::none},
  // integer
  {"IADD", g::kepler, g::hopper, c::int_add, f::none}, {"IADD32I", g::kepler, g::hopper, c::int_add, f::none}, {"IADD3", g::maxwell, g::hopper, c::int_add, f::none},
  {"ISCADD", g::kepler, g::pascal, c::int_shift, f::none}, {"ISCADD32I", g::kepler, g::pascal, c::int_shift, f::none}, {"ISAD", g::kepler, g::pascal, c::int_minmax, f::none},
  {"LEA", g::maxwell, g::hopper, c::int_add, f::none}, {"LOP", g::kepler, g::hopper, c::int_add, f::none}, {"LOP32I", g::kepler, g::hopper, c::int_add, f::none},
  {"LOP3", g::maxwell, g::hopper, c::int_add, f::none}, {"MOV", g::kepler, g::hopper, c::int_add, f::none}, {"MOV32I", g::kepler, g::hopper, c::int_add, f::none},
  {"MOVM", g::turing, g::hopper, c::shuffle, f::none}, {"SEL", g::kepler, g::hopper, c::int_add, f::none}, {"PRMT", g::kepler, g::hopper, c::int_add, f::none},
  {"IABS", g::volta, g::hopper, c::int_add, f::none}, {"SGXT", g::volta, g::hopper, c::int_shift, f::none}, {"SHL", g::kepler, g::hopper, c::int_shift, f::none},
  {"SHR", g::kepler, g::hopper, c::int_shift, f::none}, {"SHF", g::kepler, g::hopper, c::int_shift, f::none}, {"BFE", g::kepler, g::pascal, c::int_shift, f::none},
  {"BFI", g::kepler, g::pascal, c::int_shift, f::none}, {"BMSK", g::volta, g::hopper, c::int_shift, f::none}, {"IMAD", g::kepler, g::hopper, c::int_multiply, f::none},
  {"IMADSP", g::kepler, g::pascal, c::int_multiply, f::none}, {"IMUL", g::kepler, g::hopper, c::int_multiply, f::none},
  {"IMUL32I", g::kepler, g::hopper, c::int_multiply, f::none}, {"XMAD", g::maxwell, g::pascal, c::int_multiply, f::none}, {"IDP", g::pascal, g::hopper, c::int_multiply, f::none},
  {"IDP4A", g::volta, g::hopper, c::int_multiply, f::none}, {"IMNMX", g::kepler, g::hopper, c::int_minmax, f::none}, {"VIMNMX", g::hopper, g::hopper, c::int_minmax, f::none},
  {"VABSDIFF", g::kepler, g::hopper, c::int_minmax, f::none}, {"VABSDIFF4", g::kepler, g::hopper, c::int_minmax, f::none}, {"VADD", g::kepler, g::pascal, c::int_minmax, f::none},
  {"VMAD", g::kepler, g::pascal, c::int_multiply, f::none}, {"VMNMX", g::kepler, g::pascal, c::int_minmax, f::none}, {"VSET", g::kepler, g::pascal, c::int_compare, f::none},
  {"VSETP", g::kepler, g::pascal, c::int_compare, f::none}, {"VSHL", g::kepler, g::pascal, c::int_shift, f::none}, {"VSHR", g::kepler, g::pascal, c::int_shift, f::none},
  {"VIADD", g::hopper, g::hopper, c::int_multiply, f::none}, {"ICMP", g::kepler, g::pascal, c::int_compare, f::none}, {"ISET", g::kepler, g::pascal, c::int_compare, f::none},
  {"ISETP", g::kepler, g::hopper, c::int_compare, f::none}, {"PSET", g::kepler, g::pascal, c::int_compare, f::none}, {"PSETP", g::kepler, g::hopper, c::int_compare, f::none},
  {"PLOP3", g::volta, g::hopper, c::int_compare, f::none}, {"CSET", g::kepler, g::pascal, c::int_compare, f::none}, {"CSETP", g::kepler, g::pascal, c::int_compare, f::none},
  {"P2R", g::kepler, g::hopper, c::int_add, f::none}, {"R2P", g::kepler, g::hopper, c::int_add, f::none}, {"CC2R", g::volta, g::volta, c::int_add, f::none},
  {"VABSDIFF2", g::kepler, g::kepler, c::int_minmax, f::none}, {"VADD4", g::kepler, g::kepler, c::int_minmax, f::none}, {"VMNMX4", g::kepler, g::kepler, c::int_minmax, f::none},
  // bits, conversions
  {"POPC", g::kepler, g::hopper, c::bit_count, f::none}, {"FLO", g::kepler, g::hopper, c::bit_scan, f::none}, {"BREV", g::volta, g::hopper, c::bit_scan, f::none},
  {"F2F", g::kepler, g::hopper, c::conversion, f::none}, {"F2I", g::kepler, g::hopper, c::conversion, f::none}, {"I2F", g::kepler, g::hopper, c::conversion, f::none},
  {"I2I", g::kepler, g::hopper, c::conversion, f::none}, {"I2IP", g::ampere, g::hopper, c::int_add, f::none}, {"FRND", g::volta, g::hopper, c::conversion, f::none},
  {"I2FP", g::ampere, g::hopper, c::int_add, f::none}, {"F2FP", g::ampere, g::hopper, c::half_add, f::none}, {"F2IP", g::ampere, g::hopper, c::int_add, f::none},
  // special registers, votes, data exchange between lanes
  {"S2R", g::kepler, g::hopper, c::special_register, f::none}, {"CS2R", g::maxwell, g::hopper, c::int_add, f::none}, {"S2UR", g::turing, g::hopper, c::special_register, f::none},
  {"B2R", g::kepler, g::hopper, c::special_register, f::none}, {"R2B", g::kepler, g::hopper, c::special_register, f::none}, {"LEPC", g::volta, g::hopper, c::int_add, f::none},
  {"GETLMEMBASE", g::volta, g::hopper, c::special_register, f::none}, {"SETLMEMBASE", g::volta, g::hopper, c::special_register, f::none},
  {"BMOV", g::volta, g::hopper, c::int_add, f::none}, {"VOTE", g::kepler, g::hopper, c::vote, f::none}, {"VOTEU", g::turing, g::hopper, c::vote, f::none},
  {"SHFL", g::kepler, g::hopper, c::shuffle, f::none}, {"MATCH", g::volta, g::hopper, c::shuffle, f::none}, {"REDUX", g::ampere, g::hopper, c::shuffle, f::none},
  {"QSPC", g::volta, g::hopper, c::shuffle, f::none}, {"R2UR", g::turing, g::hopper, c::int_add, f::none}, {"ELECT", g::hopper, g::hopper, c::vote, f::none},
  // uniform datapath
  {"UBMSK", g::turing, g::hopper, c::int_shift, f::none}, {"UBREV", g::turing, g::hopper, c::bit_scan, f::none}, {"UCLEA", g::turing, g::hopper, c::int_add, f::none},
  {"UF2FP", g::ampere, g::hopper, c::int_add, f::none}, {"UFLO", g::turing, g::hopper, c::bit_scan, f::none}, {"UIADD3", g::turing, g::hopper, c::int_add, f::none},
  {"UIMAD", g::turing, g::hopper, c::int_multiply, f::none}, {"UISETP", g::turing, g::hopper, c::int_compare, f::none}, {"ULDC", g::turing, g::hopper, c::int_add, f::none},
  {"ULEA", g::turing, g::hopper, c::int_add, f::none}, {"ULOP", g::turing, g::hopper, c::int_add, f::none}, {"ULOP3", g::turing, g::hopper, c::int_add, f::none},
  {"ULOP32I", g::turing, g::hopper, c::int_add, f::none}, {"UMOV", g::turing, g::hopper, c::int_add, f::none}, {"UP2UR", g::turing, g::hopper, c::int_add, f::none},
  {"UPLOP3", g::turing, g::hopper, c::int_compare, f::none}, {"UPOPC", g::turing, g::hopper, c::bit_count, f::none}, {"UPRMT", g::turing, g::hopper, c::int_add, f::none},
  {"UPSETP", g::turing, g::hopper, c::int_compare, f::none}, {"UR2UP", g::turing, g::hopper, c::int_add, f::none}, {"USEL", g::turing, g::hopper, c::int_add, f::none},
  {"USETMAXREG", g::hopper, g::hopper, c::branch, f::none}, {"USGXT", g::turing, g::hopper, c::int_shift, f::none}, {"USHF", g::turing, g::hopper, c::int_shift, f::none},
  {"USHL", g::turing, g::hopper, c::int_shift, f::none}, {"USHR", g::turing, g::hopper, c::int_shift, f::none}, {"UCGABAR_ARV", g::hopper, g::hopper, c::branch, f::none},
  {"UCGABAR_WAIT", g::hopper, g::hopper, c::branch, f::none}, {"SYNCS", g::hopper, g::hopper, c::shuffle, f::none}, {"UBLKCP", g::hopper, g::hopper, c::shuffle, f::none},
  {"UBLKPF", g::hopper, g::hopper, c::shuffle, f::none}, {"UBLKRED", g::hopper, g::hopper, c::shuffle, f::none}, {"UTMALDG", g::hopper, g::hopper, c::shuffle, f::none},
  {"UTMASTG", g::hopper, g::hopper, c::shuffle, f::none}, {"UTMAREDG", g::hopper, g::hopper, c::shuffle, f::none}, {"UTMAPF", g::hopper, g::hopper, c::shuffle, f::none},
  {"UTMACCTL", g::hopper, g::hopper, c::shuffle, f::none}, {"UTMACMDFLUSH", g::hopper, g::hopper, c::shuffle, f::none},
  // memory
  {"LD", g::kepler, g::hopper, c::load_store, f::none, o::ld, s::generic}, {"ST", g::kepler, g::hopper, c::load_store, f::none, o::st, s::generic},
  {"LDG", g::kepler, g::hopper, c::load_store, f::none, o::ld, s::global}, {"STG", g::maxwell, g::hopper, c::load_store, f::none, o::st, s::global},
  {"LDL", g::kepler, g::hopper, c::load_store, f::none, o::ld, s::local}, {"STL", g::kepler, g::hopper, c::load_store, f::none, o::st, s::local},
  {"LDS", g::kepler, g::hopper, c::load_store, f::none, o::ld, s::shared}, {"STS", g::kepler, g::hopper, c::load_store, f::none, o::st, s::shared},
  {"LDSLK", g::kepler, g::kepler, c::load_store, f::none, o::ld, s::shared}, {"STSCUL", g::kepler, g::kepler, c::load_store, f::none, o::st, s::shared},
  {"STSM", g::hopper, g::hopper, c::load_store, f::none, o::st, s::shared}, {"ST_ASYNC", g::hopper, g::hopper, c::load_store, f::none, o::st, s::generic},
  {"LDSM", g::turing, g::hopper, c::load_store, f::none, o::ld, s::shared}, {"LDGSTS", g::ampere, g::hopper, c::load_store, f::none, o::ldgsts, s::global},
  {"LDC", g::kepler, g::hopper, c::load_store, f::none, o::ldc, s::constant}, {"ATOM", g::kepler, g::hopper, c::load_store, f::none, o::atom, s::generic},
  {"ATOMG", g::volta, g::hopper, c::load_store, f::none, o::atom, s::global}, {"ATOMS", g::maxwell, g::hopper, c::load_store, f::none, o::atom, s::shared},
  {"RED", g::kepler, g::hopper, c::load_store, f::none, o::red, s::global}, {"REDG", g::hopper, g::hopper, c::load_store, f::none, o::red, s::global},
  {"REDAS", g::hopper, g::hopper, c::load_store, f::none, o::red, s::shared}, {"CCTL", g::kepler, g::hopper, c::shuffle, f::none},
  {"CCTLL", g::kepler, g::hopper, c::shuffle, f::none}, {"CCTLT", g::maxwell, g::hopper, c::shuffle, f::none},
  // Blackwell only; all opcodes of Hopper hold for it, too. From memory of the same reference, half of them also in
  // disassemblies that others have published; what they do is taken from their names
  {"FADD2", g::blackwell, g::blackwell, c::fp32_add, f::none}, {"FMUL2", g::blackwell, g::blackwell, c::fp32_add, f::none},
  {"FFMA2", g::blackwell, g::blackwell, c::fp32_add, f::none}, {"FHADD", g::blackwell, g::blackwell, c::fp32_add, f::none},
  {"FHFMA", g::blackwell, g::blackwell, c::fp32_add, f::none}, {"FMNMX3", g::blackwell, g::blackwell, c::fp32_minmax, f::none},
  {"HMNMX2", g::blackwell, g::blackwell, c::half_add, f::none}, {"QMMA", g::blackwell, g::blackwell, c::tensor, f::none},
  {"OMMA", g::blackwell, g::blackwell, c::tensor, f::none}, {"UTCHMMA", g::blackwell, g::blackwell, c::tensor, f::none},
  {"UTCQMMA", g::blackwell, g::blackwell, c::tensor, f::none}, {"UTCIMMA", g::blackwell, g::blackwell, c::tensor, f::none},
  {"UTCOMMA", g::blackwell, g::blackwell, c::tensor, f::none}, {"UTCBAR", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"UTCCP", g::blackwell, g::blackwell, c::shuffle, f::none}, {"UTCSHIFT", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"UTCATOMSWS", g::blackwell, g::blackwell, c::shuffle, f::none}, {"LDTM", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"STTM", g::blackwell, g::blackwell, c::shuffle, f::none}, {"LDT", g::blackwell, g::blackwell, c::shuffle, f::none}, {"STT", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"VIMNMX3", g::blackwell, g::blackwell, c::int_minmax, f::none}, {"CREDUX", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"CS2UR", g::blackwell, g::blackwell, c::int_add, f::none}, {"LDCU", g::blackwell, g::blackwell, c::int_add, f::none},
  {"UFADD", g::blackwell, g::blackwell, c::fp32_add, f::none}, {"UFFMA", g::blackwell, g::blackwell, c::fp32_add, f::none},
  {"UFMUL", g::blackwell, g::blackwell, c::fp32_add, f::none}, {"UFMNMX", g::blackwell, g::blackwell, c::fp32_minmax, f::none},
  {"UFSEL", g::blackwell, g::blackwell, c::fp32_add, f::none}, {"UFSET", g::blackwell, g::blackwell, c::fp32_compare, f::none},
  {"UFSETP", g::blackwell, g::blackwell, c::fp32_compare, f::none}, {"UFRND", g::blackwell, g::blackwell, c::conversion, f::none},
  {"UF2F", g::blackwell, g::blackwell, c::conversion, f::none}, {"UF2I", g::blackwell, g::blackwell, c::conversion, f::none},
  {"UI2F", g::blackwell, g::blackwell, c::conversion, f::none}, {"UI2I", g::blackwell, g::blackwell, c::conversion, f::none},
  {"UI2FP", g::blackwell, g::blackwell, c::int_add, f::none}, {"UI2IP", g::blackwell, g::blackwell, c::int_add, f::none},
  {"UIABS", g::blackwell, g::blackwell, c::int_add, f::none}, {"UIMNMX", g::blackwell, g::blackwell, c::int_minmax, f::none},
  {"UVIADD", g::blackwell, g::blackwell, c::int_add, f::none}, {"UVIMNMX", g::blackwell, g::blackwell, c::int_minmax, f::none},
  {"UGETNEXTWORKID", g::blackwell, g::blackwell, c::shuffle, f::none}, {"UMEMSETS", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"UREDGR", g::blackwell, g::blackwell, c::shuffle, f::none}, {"USTGR", g::blackwell, g::blackwell, c::shuffle, f::none},
  {"UVIRTCOUNT", g::blackwell, g::blackwell, c::shuffle, f::none}, {"USETSHMSZ", g::blackwell, g::blackwell, c::branch, f::none},
  {"ACQSHMINIT", g::blackwell, g::blackwell, c::branch, f::none},
  // textures and surfaces: traces contain no addresses for them, so they only occupy their slot in the load/store unit
  {"TEX", g::kepler, g::hopper, c::shuffle, f::none}, {"TEXS", g::maxwell, g::pascal, c::shuffle, f::none}, {"TLD", g::kepler, g::hopper, c::shuffle, f::none},
  {"TLDS", g::maxwell, g::pascal, c::shuffle, f::none}, {"TLD4", g::kepler, g::hopper, c::shuffle, f::none}, {"TLD4S", g::maxwell, g::pascal, c::shuffle, f::none},
  {"TMML", g::maxwell, g::hopper, c::shuffle, f::none}, {"TXD", g::kepler, g::hopper, c::shuffle, f::none}, {"TXQ", g::kepler, g::hopper, c::shuffle, f::none},
  {"TXA", g::maxwell, g::pascal, c::shuffle, f::none}, {"TXF", g::kepler, g::kepler, c::shuffle, f::none}, {"SUATOM", g::maxwell, g::hopper, c::shuffle, f::none},
  {"SULD", g::maxwell, g::hopper, c::shuffle, f::none}, {"SURED", g::maxwell, g::hopper, c::shuffle, f::none}, {"SUST", g::maxwell, g::hopper, c::shuffle, f::none},
  {"SULDGA", g::kepler, g::kepler, c::shuffle, f::none}, {"SUSTGA", g::kepler, g::kepler, c::shuffle, f::none}, {"SUCLAMP", g::kepler, g::kepler, c::int_add, f::none},
  {"SUBFM", g::kepler, g::kepler, c::int_add, f::none}, {"SUEAU", g::kepler, g::kepler, c::int_add, f::none}, {"SUQ", g::maxwell, g::hopper, c::shuffle, f::none},
  // control
  {"BRA", g::kepler, g::hopper, c::branch, f::none, o::bra}, {"BRX", g::kepler, g::hopper, c::branch, f::none, o::bra},
  {"BRXU", g::turing, g::hopper, c::branch, f::none, o::bra}, {"JMP", g::kepler, g::hopper, c::branch, f::none, o::bra},
  {"JMX", g::kepler, g::hopper, c::branch, f::none, o::bra}, {"JMXU", g::turing, g::hopper, c::branch, f::none, o::bra},
  {"CAL", g::kepler, g::pascal, c::branch, f::none, o::bra}, {"JCAL", g::kepler, g::pascal, c::branch, f::none, o::bra},
  {"CALL", g::volta, g::hopper, c::branch, f::none, o::bra}, {"RET", g::kepler, g::hopper, c::branch, f::none, o::bra}, {"BRK", g::kepler, g::pascal, c::branch, f::none, o::bra},
  {"CONT", g::kepler, g::pascal, c::branch, f::none, o::bra}, {"SYNC", g::maxwell, g::pascal, c::branch, f::none, o::bra},
  {"LONGJMP", g::kepler, g::pascal, c::branch, f::none, o::bra}, {"BSYNC", g::volta, g::hopper, c::branch, f::none, o::bra}, {"BREAK", g::volta, g::hopper, c::branch, f::none},
  {"BSSY", g::volta, g::hopper, c::branch, f::none}, {"WARPSYNC", g::volta, g::hopper, c::branch, f::none}, {"WARPSYNCU", g::hopper, g::hopper, c::branch, f::none},
  {"SSY", g::kepler, g::pascal, c::branch, f::none}, {"PBK", g::kepler, g::pascal, c::branch, f::none}, {"PCNT", g::kepler, g::pascal, c::branch, f::none},
  {"PRET", g::kepler, g::pascal, c::branch, f::none}, {"PLONGJMP", g::kepler, g::pascal, c::branch, f::none}, {"PEXIT", g::maxwell, g::pascal, c::branch, f::none},
  {"RTT", g::volta, g::hopper, c::branch, f::none}, {"RPCMOV", g::volta, g::hopper, c::int_add, f::none}, {"SAM", g::maxwell, g::pascal, c::branch, f::none},
  {"RAM", g::maxwell, g::pascal, c::branch, f::none}, {"YIELD", g::volta, g::hopper, c::branch, f::none}, {"BPT", g::kepler, g::hopper, c::branch, f::none},
  {"IDE", g::kepler, g::hopper, c::branch, f::none}, {"NOP", g::kepler, g::hopper, c::branch, f::none}, {"PMTRIG", g::kepler, g::hopper, c::branch, f::none},
  {"SETCTAID", g::volta, g::hopper, c::branch, f::none}, {"ACQBULK", g::hopper, g::hopper, c::branch, f::none, o::acqbulk},
  {"ACQSHMINIT", g::hopper, g::hopper, c::branch, f::none}, {"ENDCOLLECTIVE", g::hopper, g::hopper, c::branch, f::none},
  {"PREEXIT", g::hopper, g::hopper, c::branch, f::none, o::preexit}, {"ERRBAR", g::volta, g::hopper, c::branch, f::none}, {"CGAERRBAR", g::hopper, g::hopper, c::branch, f::none},
  {"NANOSLEEP", g::volta, g::hopper, c::branch, f::none, o::nanosleep}, {"EXIT", g::kepler, g::hopper, c::branch, f::none, o::exit},
  {"KILL", g::kepler, g::hopper, c::branch, f::none, o::exit}, {"BAR", g::kepler, g::hopper, c::branch, f::none, o::bar},
  {"MEMBAR", g::kepler, g::hopper, c::branch, f::none, o::membar}, {"FENCE", g::hopper, g::hopper, c::branch, f::none, o::membar},
  {"DEPBAR", g::kepler, g::turing, c::branch, f::none}, {"DEPBAR", g::ampere, g::hopper, c::branch, f::none, o::depbar}, {"TEXDEPBAR", g::kepler, g::kepler, c::branch, f::none},
  {"LDGDEPBAR", g::ampere, g::hopper, c::branch, f::none, o::ldgdepbar}, {"ARRIVES", g::ampere, g::hopper, c::branch, f::none},
  {"WARPGROUP", g::hopper, g::hopper, c::branch, f::none}, {"WARPGROUPSET", g::hopper, g::hopper, c::branch, f::none}, {"CSMTEST", g::kepler, g::volta, c::int_compare, f::none},
  {"AL2P", g::kepler, g::pascal, c::int_add, f::none}, {"PIXLD", g::kepler, g::hopper, c::shuffle, f::none}, {"IPA", g::kepler, g::hopper, c::sfu, f::none},
  {"LDLK", g::kepler, g::kepler, c::load_store, f::none, o::ld, s::generic}, {"STUL", g::kepler, g::kepler, c::load_store, f::none, o::st, s::generic},
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
    m.flops = e.flops;
    return m;
  }
  return guess(mnemonic, bytes, has_result);
}

}  // namespace heddle::sass_trace
