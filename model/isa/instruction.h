// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/isa/opcode.h"

namespace heddle::isa {

constexpr unsigned warp_size = 32;
constexpr std::uint8_t rz = 255;  // register that reads as zero and ignores writes
constexpr std::uint8_t pt = 7;    // predicate that is always true and ignores writes
constexpr unsigned predicate_count = 7;

enum class operand_kind : std::uint8_t { none, reg, immediate, constant };

/// A source operand. The value is in `count` consecutive 32-bit registers (2: 64-bit, pairs are even-aligned; 4:
/// 128-bit, aligned to 4). 16-bit and 8-bit values are zero- or sign-extended to one 32-bit register. Modifiers apply
/// in the order absolute, then negate (invert: bitwise not, integer only).
struct operand {
  operand_kind kind = operand_kind::none;
  std::uint8_t reg = rz;   // kind reg: first register
  std::uint8_t count = 1;  // consecutive registers (or 32-bit words of a constant)
  std::uint8_t bank = 0;   // kind constant: bank number
  bool negate = false;
  bool absolute = false;
  bool invert = false;
  std::uint64_t value = 0;  // kind immediate: the bits; kind constant: byte offset in the bank

  [[nodiscard]] bool is_reg() const { return kind == operand_kind::reg; }
};

inline operand make_reg(std::uint8_t r, std::uint8_t count = 1) {
  operand o;
  o.kind = operand_kind::reg;
  o.reg = r;
  o.count = count;
  return o;
}
inline operand make_immediate(std::uint64_t v, std::uint8_t count = 1) {
  operand o;
  o.kind = operand_kind::immediate;
  o.value = v;
  o.count = count;
  return o;
}
inline operand make_constant(std::uint8_t bank, std::uint64_t offset, std::uint8_t count = 1) {
  operand o;
  o.kind = operand_kind::constant;
  o.bank = bank;
  o.value = offset;
  o.count = count;
  return o;
}

/// A predicate source: register 0..6 or pt, optionally inverted.
struct predicate {
  std::uint8_t reg = pt;
  bool negate = false;
};

/// Flags of XMAD, in instruction::sub.
namespace xmad {
constexpr std::uint8_t h1a = 1, h1b = 2, psl = 4, mrg = 8, signed_a = 64, signed_b = 128;
constexpr std::uint8_t c_mask = 48, clo = 16, chi = 32, cbcc = 48;  // use of c; none of them: unchanged
}  // namespace xmad

// BPT.TRAP, in sub: a failed assertion of the program, a call stack overflow, a call to an address that is not a
// function; otherwise a plain trap.
/// Added to the scope of a membar.
constexpr std::uint8_t membar_acquires = 4;
constexpr std::uint8_t trap_assertion = 1, trap_stack_overflow = 2, trap_wild_call = 3, trap_breakpoint = 4;

/// Which groups of copies DEPBAR waits for, in offset.
namespace copies {
constexpr std::int64_t of_threads = 0, of_unit = 1, of_unit_reads = 2;
}
constexpr std::uint8_t im2col = 8;  // in sub of UTMALDG and its relatives

constexpr std::uint32_t no_target = 0xffffffffu;

/// One machine instruction. docs/isa/machine_isa.md lists the fields that each opcode reads. Semantics:
///
/// mov      d = a (count 1). Modifiers of mov and sel are integer, or floating-point if type is a float.
/// sel      d = p0 ? a : b
/// s2r      d = special(sub) (clock64 and globaltimer: dst_count 2)
/// iadd3    d = a + b + c (+ psrc[0] if `extended`); pdst[0] = carry out of the 32-bit sum if != pt (three operands:
///          set if any). Subtraction is a + ~b + 1: a negated operand adds ~x and a carry-in of one (per negated
///          operand, only if not extended); with `extended`, a `negate` operand means ~x alone and the carry comes from
///          psrc[0].
/// lea      d = (a << sub) + b (+ psrc[0] if extended); pdst[0] = carry out; `high`: d = (a:c >> (32-sub)) + b, where
///          the shifted 64-bit value is c:a (c is the high word; type s32: the sign of a, sub > 0, with `extended`)
/// lop3     d = lut(sub) of a, b, c; pdst[0] = (d != 0)
/// prmt     d = permute(a, selector b, c) (PTX prmt a,c,b; sub: 0 generic, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16)
/// viadd    d = a + b, on the multiplier's pipe
/// iabs     d = |a|
/// sgxt     d = a sign- (type s32) or zero-extended from b bits (`wrap`: b modulo 32; b above 32 clamps; b = 0 gives 0)
/// shl/shr  d = a << b, a >> b (type s32: arithmetic); shift amounts above 31 clamp (PTX rule), `wrap`: modulo 32
/// shf      funnel: value c:a (a low, c high) shifted by b; sub 0 = left (high word of result), 1 = right (low word);
///          `wrap`: amount modulo 32, otherwise clamped to 32. Type u64/s64: amount clamped to 64 (`wrap`: modulo 64),
///          s64 shifts right arithmetically, and with sub 1 `high` gives the high word of the result.
/// bfe      d = bit field of a, position b[7:0], length b[15:8], type u32/s32
/// bfi      d = a inserted into c, position b[7:0], length b[15:8]
/// bmsk     d = mask of b bits from position a (wrap or clamp)
/// imad     d = lo32(a*b) + c; `high`: hi32(a*b) + c; `wide`: dst_count 2, 64-bit a*b + c (c.count 2); type u32/s32;
///          pdst[0] = carry out of the addition; `extended`: + psrc[0]
/// xmad     16x16+32, flags of namespace xmad in sub: product = half of a (h1a: high) * half of b (h1b: high), each
///          zero-extended (`signed_a`, `signed_b`: sign-extended); psl: product << 16; c' = c, or c & 0xffff (clo), c
///          >> 16 (chi), c + (b << 16) (cbcc); sum = product + c' modulo 2^32;
///          d = mrg ? (sum & 0xffff) | (b << 16) : sum. No carries.
/// idp      dp4a (sub 0) / dp2a.lo (1) / dp2a.hi (2), type u32/s32 of a, src_type of b (none: as a); c is added
/// vabsdiff sub 0: d = c + |a-b|; 1, 2: d = c + the sum of |a-b| of the four bytes, two halves; 3, 4: the same
///          differences in place of their bytes, halves (c unused). type: signedness of a, src_type of b; `saturate`:
///          differences clamp, with `high` to the signed maximum
/// imnmx    d = psrc[0] ? min(a,b) : max(a,b), type u32/s32
/// isetp    pdst[0] = (a cmp b) bop psrc[0]; pdst[1] = !(a cmp b) bop psrc[0]; type u32/s32;
///          `extended`: a, b are the high words, psrc[1] the result of the low words' (unsigned) compare with the same
///          cmp
/// plop3    pdst[0] = lut(sub) of psrc[0..2]; pdst[1] is not written
/// p2r/r2p  d = predicates (bits 0..6) & b;  predicates from bits of a under mask b (b of kind none: all seven)
/// popc     d = population count
/// flo      d = position of the leading one (type s32: of a < 0 ? ~a : a), 0xffffffff if there is none; sub = 1: 31 -
///          position instead (none stays 0xffffffff)
/// brev     d = bits of a reversed
/// fadd fmul ffma  f32 with rounding, ftz, saturate
/// fmnmx    d = psrc[0] ? min : max (ftz; `nan` propagates NaN)
/// fsetp/dsetp     as isetp, floating-point compare
/// fset     d = compare bop psrc[0] ? (wide: 0xffffffff : 1.0f) : 0, src_type = type compared (none: f32)
/// fchk     pdst[0] = the operands (sub = assist_function) need the assist. ea, eb: unbiased exponents. False only if a
///          (and b for div) are normal numbers, the divisor's mantissa (div: b, rcp: a) is not all ones, sqrt: a > 0,
///          and
///          div_f32: ea >= -100, -125 <= eb <= 125, -124 <= ea-eb <= 125
///          rcp_f32: -125 <= ea <= 125
///          sqrt_f32: ea >= -100
///          div_f64: ea >= -900, -1020 <= eb <= 1020, -1018 <= ea-eb <= 1020
///          rcp_f64: -1020 <= ea <= 1020
///          sqrt_f64: ea >= -900
///          f64 operands are pairs (count 2).
/// mufu     d = function(sub) of a. f32: rcp, rsq are correctly rounded (the expansions of rcp.rn and sqrt.rn rely on
///          it); denormal inputs and results are kept unless ftz; sin, cos take radians. rcp64h, rsq64h: a is the high
///          word of an f64 (low word taken as 0), d the high word of the result, relative error at most 2^-20.
/// assist   d = exact function(sub) of a, b (rounding, ftz; div_s64 ... rem_u64: pairs; x / 0 = all ones, x % 0 = x)
/// f2f f2i i2f i2i frnd   type = destination, src_type = source, rounding, ftz, saturate
///          frnd rounds to an integer in the same type. Rounding to an integer: rn rz rm rp are PTX's rni rzi rmi rpi.
///          f2i clamps to type's range; NaN gives 0, or the sign bit alone if either type has 64 bits. 8- and 16-bit
///          sources are the low bits of the register; 8- and 16-bit results are extended to 32 bits. ftz flushes f32
///          only. f2f to f16x2 or bf16x2: a becomes the high half, b the low one. f2f to b32: tf32. f2f: `nan` makes
///          negative results +0, `high` makes infinite results the largest number. f2f to e4m3x2, e5m2x2 (from f32: a
///          is the high byte, b the low one; from f16x2: both halves of a) clamps to the largest number; from them to
///          f16x2.
/// dadd dmul dfma dmnmx   f64, pairs
/// hadd2 hmul2 hfma2 hmnmx2   type f16x2, bf16x2, f16, bf16 (scalar: low half, high half of d zero); modifiers act on
///          both halves; hfma2: `nan` makes negative results +0 (relu)
/// hsetp2   packed: pdst[0] of the low halves, pdst[1] of the high ones, each bop psrc[0]; scalar: pdst as isetp
/// hset2    per half 1.0 or (`wide`) 0xffff, otherwise 0
/// ld st    space, address a (+ offset), value dst or b; type gives the bytes moved per lane (b64, b128: pairs, quads;
///          32-bit vectors are one access of b64 or b128; f32, f64 and integers alike) and the extension of 8- and
///          16-bit values to 32 bits. src[3]: upper word of a cache policy (isa/cache_policy.h), also of ldgsts, atom
///          and red, or none. a.count 1: 32-bit address, sum modulo 2^32 (shared, local); 2: 64-bit (global,
///          generic). a = rz: absolute.
/// ldgsts   copies the bytes of type from global memory at address a + offset to shared memory at address b + c
///          (immediate or none), or zeros where psrc[0] is false: the warp goes on, and depbar waits for it
/// ldgdepbar   the warp's copies since the last one are a group; sub 1: whose end is for an mbarrier, though the warp
///          waits itself, by the depbar of the same place in the PTX
/// depbar   waits until at most `sub` of the warp's newest groups of copies are incomplete; offset: of those of LDGSTS
///          (of_threads), of bulk copies (of_unit), or of bulk copies that have not read their sources (of_unit_reads)
/// syncs    pdst[0] = the phase of the mbarrier at shared or generic address a + offset differs from the sign of b. The
///          lanes wait until it does, for a limited time: of c nanoseconds (none: the machine's)
/// ublkcp ublkred ublkpf   each lane gives the TMA unit a copy, a reduction, a prefetch of contiguous bytes: a = global
///          address (pair), b = quad: shared address, bytes, address of the mbarrier (sub cluster: of the source),
///          blocks of the cluster (a mask; 0: the one that the address names), c = upper word of a cache policy or
///          none. ublkcp: sub = bulk_direction; ublkred: sub = atomic_op, type
/// utmaldg utmastg utmaredg utmapf   the same of a box of a tensor: a = generic address of its map, b as before
///          (bytes: the policy), c = quad of coordinates 0 to 3, src[3] = quad: coordinate 4, offsets 0 to 2 (im2col);
///          sub = dimensions, + 8: im2col; utmaredg: offset = atomic_op
/// utmacmdflush   the warp's bulk copies to global memory since the last one are a group
/// ldc      d = constant bank `sub`[a + offset], a has 32 bits; type as ld
/// atom red sub = atomic_op, type; address a + offset, b operand (cas: b = compare, c = new); f32 denormals are kept.
///          arrive: on an mbarrier (simt/scalar/arrival.h); b: bits 0-19 number of arrivals, bit 20: these are not
///          expected in later phases, bits 32-63: change of the bytes still to come
/// shfl     d = shuffle a by b with clamp/segment c, mode sub; pdst[0] = source lane in range; src[3] = member mask
///          (none: the executing lanes)
/// match    lanes of the member mask b that hold the same a (count 1 or 2). sub any: d = lanes that agree with this
///          one; all: d = all of them if they agree, otherwise 0, pdst[0] = they agree
/// redux    d = reduction sub of a over the lanes of the member mask b; min and max by type u32/s32
/// vote     mode sub, psrc[0], d (ballot, activemask) or pdst[0]; a = member mask (none: the executing lanes)
/// hmma imma bmma dmma   d = a * b + c, matrices distributed over the warp's registers (isa/matrix.h): sub = shape and
///          flags; type of c and d (f16: packed halves), src_type of a and b (b32: tf32; imma: of a). `saturate`: s32
///          clamps. src[3] = member mask. With matrix::sparse a register of metadata follows a, and `cmp`
///          selects the lanes whose is read. hmma hgmma qgmma: sum_products products along k, cut after
///          sum_fraction_bits, form a sum (simt/tensor/product_sums.h); hmma of 8-bit floats with `wide`: elements 0
///          and 1 of each four and then 2 and 3 are converted to f16, multiplied and added, and the sum to c. In a
///          trace, offset = multiply-adds of a shape that sub cannot name, or 0.
/// hgmma qgmma igmma bgmma   d = a * b + c (psrc[0]; else d = a * b) for the 16 rows of a warp of a warpgroup's 64,
///          c in the registers of d. a: four registers or, with gmma::a_shared, the descriptor of a matrix in shared
///          memory (count 2), as b is; with gmma::sparse a register of metadata follows, of which `cmp` selects the
///          lanes. sub: flags of isa/matrix.h; offset: multiply-adds of the warp. The warp goes on; wgdepbar waits.
/// wgarrive registers of products are complete (products wait for them by themselves)
/// wgcommit the warp's products since the last one are a group
/// wgdepbar waits until at most `sub` of the warp's newest groups of products are incomplete
/// setmaxreg   the warp has 8 * sub registers a thread from now on; `high`: it waits until they are free
/// movm     d = the 8x8 matrix of 16-bit elements in a, transposed; src[3] = member mask
/// ldsm     d = `sub & matrix::count_mask` 8x8 matrices of 16-bit elements from shared memory, a register each; the
///          rows of matrix k are the 16 bytes at the addresses of lanes 8k to 8k+7; sub & matrix::transposed:
///          transposed. src[3] = member mask
/// tex tld4 d = four channels of the texture with handle a (count 2) at the coordinates b (count 1, 2, 4; src_type s32
///          or f32); sub = shape (isa/texture.h), for tld4 also the channel gathered from four texels, for tex whether
///          c is a level, or c and src[3] are gradients
/// suld sust   bytes (type) of the surface with handle a at the coordinates b, x in bytes, to d or from c; sub = shape
///          and boundary
/// txq      d = width, height, depth or channels (sub) of the texture or surface with handle a; 0: no such handle
/// bra      to target under the guard; reconverge = index of the immediate post-dominator (no_target if none). Without
///          a guard, and with `reconverge`: a call. Its lanes wait for each other at `reconverge` (a nop that they do
///          not execute) and continue after it.
/// nop      with an operand a: bar.warp.sync, a = member mask; no effect if lanes run in lock step
/// bar      barrier number a, thread count b (none: all); sub 0 = sync, 1 = arrive, 2 = red.popc, 3 = red.and, 4 =
///          red.or (red: predicate psrc[0], result d or pdst[0])
/// syscall  d = system_function sub: vprintf(format a, arguments b) gives the number of arguments; malloc(bytes a)
///          gives a generic address or 0; free(a). Operands are pairs. The warp's earlier stores must be acknowledged
///          (membar).
/// trap     the program has failed; sub trap_assertion: a failed assertion, a: its text, b: file, c: line, src[3]:
///          function (a, b, src[3]: generic addresses of strings, or none)
/// membar   sub 0 cta, 1 gl, 2 sys; with membar_acquires added: it orders what follows, and asks the L2 for nothing
struct instruction {
  opcode op = opcode::nop;
  dtype type = dtype::u32;
  dtype src_type = dtype::none;
  predicate guard;
  std::uint8_t dst = rz;
  std::uint8_t dst_count = 0;  // 32-bit registers written, starting at dst; 0 = no register result
  std::array<std::uint8_t, 2> pdst{pt, pt};
  std::array<operand, 4> src{};
  std::array<predicate, 3> psrc{};
  std::uint8_t sub = 0;  // sub-operation, see above (an enumerator of opcode.h or a number)
  rounding round = rounding::rn;
  compare cmp = compare::f;
  bool_op bop = bool_op::and_;
  bool ftz = false;
  bool saturate = false;
  bool nan = false;       // min/max propagate NaN
  bool extended = false;  // .X: part of a multi-word chain
  bool wide = false;
  bool high = false;
  bool wrap = false;
  bool uniform = false;  // bra.uni: never diverges; bar of a trace: for all lanes of the warp
  space mem_space = space::global;
  cache_op cache = cache_op::ca;
  bool system = false;       // ld, st, atom, red: coherent with accesses from outside the GPU (scope .sys, volatile)
  bool block_scope = false;  // ld, st, atom, red: ordered for the threads of the block alone (scope .cta)
  bool counts = false;       // red of shared memory: adds 1; lanes with one word are counted in one pass
  bool aligned = false;      // bar: all threads of a warp execute the same one
  std::uint8_t sum_products = 16, sum_fraction_bits = 25;  // hmma, hgmma, qgmma
  std::int64_t offset = 0;                                 // ld, st, atom, red, ldc: added to the address
  std::uint32_t target = no_target;                        // bra: instruction index
  std::uint32_t reconverge = no_target;                    // bra: instruction index where diverged lanes reconverge
  std::uint32_t line = 0;                                  // PTX source position
  std::uint32_t column = 0;

  [[nodiscard]] bool guarded() const { return guard.reg != pt || guard.negate; }
  /// True if the last operand of an access to memory is a cache policy.
  [[nodiscard]] bool has_policy() const { return src[3].kind != operand_kind::none && names_address(op); }
  /// True if a bra is a call.
  [[nodiscard]] bool calls() const { return reconverge != no_target && !guarded(); }
};

}  // namespace heddle::isa
