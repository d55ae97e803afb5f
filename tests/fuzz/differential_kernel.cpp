// SPDX-License-Identifier: MIT
#include "differential_kernel.h"

#include <random>

namespace heddle::differential {

namespace {

constexpr unsigned r_count = 12, d_count = 6, h_count = 6, f_count = 8, e_count = 4, p_count = 6, loops = 24;

// $r $d $h $f $e $p: a register of 32, 64, 16 bits, f32, f64, predicate; capitals: perhaps a literal ($P: perhaps
// negated); $k: a small number; {a|b}: one of these. %t %u %v: scratch of 32, 64, 16 bits.
// clang-format off
constexpr const char* single[] = {
    "{add|sub|min|max|mul.lo|mul.hi}.{s32|u32} $r, $r, $R", "{add|sub|min|max|mul.lo|mul.hi}.{s64|u64} $d, $d, $D",
    "{add|sub|min|max|mul.lo|mul.hi}.{s16|u16} $h, $h, $H", "{add|sub}.sat.s32 $r, $r, $R",
    "mul.wide.{s32|u32} $d, $r, $R", "mul.wide.{s16|u16} $r, $h, $H", "mad.{lo|hi}.{s32|u32} $r, $r, $R, $r",
    "mad.wide.{s32|u32} $d, $r, $R, $d", "mad.lo.{s64|u64} $d, $d, $D, $d", "mad.lo.{s16|u16} $h, $h, $H, $h", "mul24.{lo|hi}.{u32|s32} $r, $r, $R",
    "{and|or|xor}.b32 $r, $r, $R", "{and|or|xor}.b64 $d, $d, $D", "{and|or|xor}.b16 $h, $h, $H", "{not|cnot}.b32 $r, $r",
    "{not|cnot}.b64 $d, $d", "{not|cnot}.b16 $h, $h", "{and|or|xor}.pred $p, $p, $P", "not.pred $p, $p",
    "shl.b32 $r, $r, $R", "shr.{u32|s32} $r, $r, $R", "shl.b64 $d, $d, $R", "shr.{u64|s64} $d, $d, $R", "shl.b32 $r, $r, $k", "shr.{u32|s32} $r, $r, $k",
    "shl.b64 $d, $d, $k", "shr.{u64|s64} $d, $d, $k", "shl.b16 $h, $h, $k", "shr.{u16|s16} $h, $h, $k", "shf.{l|r}.{wrap|clamp}.b32 $r, $r, $r, $R",
    "bfe.{u32|s32} $r, $r, $k, $k", "bfe.{u64|s64} $d, $d, $r, $k", "bfi.b32 $r, $r, $r, $k, $k", "bfi.b64 $d, $d, $d, $k, $R", "bfe.{u32|s32} $r, $r, $r, $r",
    "bfind{|.shiftamt}.{u32|s32} $r, $r", "bfind{|.shiftamt}.{u64|s64} $r, $d", "{popc|clz|brev}.b32 $r, $r", "{popc|clz}.b64 $r, $d", "brev.b64 $d, $d",
    "prmt.b32{|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16} $r, $r, $r, $R", "lop3.b32 $r, $r, $r, $r, {0x96|0xe8|0x1b|0x80|0xfe|0x6a}",
    "lop3.b32 $r, $r, $R, $r, {0x96|0xe8|0x1b|0x80|0xfe|0x6a}", "{abs|neg}.s32 $r, $r", "{abs|neg}.s64 $d, $d", "{abs|neg}.s16 $h, $h",
    "sad.{u32|s32} $r, $r, $R, $r", "dp4a.{u32|s32}.{u32|s32} $r, $r, $R, $r", "bmsk.{wrap|clamp}.b32 $r, $r, $R", "szext.{wrap|clamp}.{u32|s32} $r, $r, $R",
    "setp.{eq|ne|lt|le|gt|ge}.{s32|u32} $p, $r, $R", "setp.{eq|ne|lt|le|gt|ge}.{s64|u64} $p, $d, $D", "setp.{eq|ne|lt|le|gt|ge}.{s16|u16} $p, $h, $H",
    "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.ftz}.f32 $p, $f, $F", "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.f64 $p, $e, $E",
    "setp.{lt|ge|ne}.{and|or|xor}.{s32|u32} $p, $r, $R, $P", "setp.{lt|geu|ne}.{and|or|xor}.f32 $p, $f, $F, $P", "setp.{lt|ge|eq}.{and|or|xor}.{u64|s64} $p, $d, $D, $P",
    "set.{lt|ge|eq}.{u32|s32}.{s32|u32} $r, $r, $R", "set.{lt|geu|eq}.u32.f32 $r, $f, $F", "set.{lt|ge|eq}.f32.{s32|u32} $f, $r, $R",
    "selp.b32 $r, $r, $R, $p", "selp.b64 $d, $d, $D, $p", "selp.b16 $h, $h, $H, $p", "selp.f32 $f, $f, $F, $p", "selp.f64 $e, $e, $E, $p",
    "slct.b32.s32 $r, $r, $R, $r", "slct.f32.f32 $f, $f, $F, $f", "slct.b64.s32 $d, $d, $D, $r",
    "mov.b32 $r, $R", "mov.b64 $d, $D", "mov.b32 $r, $f", "mov.b32 $f, $r", "mov.b64 $d, $e", "mov.b64 $e, $d", "mov.u16 $h, $H", "mov.f32 $f, $F",
    "mov.b64 $d, {$r, $r}", "mov.b32 $r, {$h, $h}", "mov.b64 $d, {$h, $h, $h, $h}", "mov.u32 $r, {%tid.x|%ctaid.x|%ntid.x|%laneid|%lanemask_lt}",
    "cvt.{u8|s8|u16|s16|u32|s32}.{u32|s32|u8|s8} $r, $r", "cvt.{u32|s32|u8|s8}.{u16|s16|u8} $r, $h", "cvt.{u16|s16|u8|s8}.{u32|s32} $h, $r",
    "cvt.{u64|s64}.{u32|s32|s8|u16} $d, $r", "cvt.{u32|s32|s16|u8}.{u64|s64} $r, $d", "cvt.sat.{u8|s8|u16|s16}.{u32|s32} $r, $r", "cvt.sat.u32.s32 $r, $r", "cvt.sat.s32.u32 $r, $r", "cvt.sat.{s32|u32|u16}.{s64|u64} $r, $d",
    "cvt.{rn|rz|rm|rp}.f32.{u32|s32} $f, $r", "cvt.{rn|rz|rm|rp}.f32.{u64|s64} $f, $d", "cvt.rn.f64.{u32|s32} $e, $r", "cvt.{rn|rz|rm|rp}.f64.{u64|s64} $e, $d",
    "cvt.{rni|rzi|rmi|rpi}{|.ftz}.{u32|s32|u8|s16}.f32 $r, $f",
    "cvt.{rni|rzi|rmi|rpi}.{u64|s64}.f64 $d, $e", "cvt.{rni|rzi}.{s32|u32}.f64 $r, $e", "cvt.{rni|rzi}.{u64|s64}.f32 $d, $f",
    "cvt.f64.f32 $e, $f", "cvt.{rn|rz|rm|rp}{|.ftz|.sat}.f32.f64 $f, $e", "cvt.{rni|rzi|rmi|rpi}.f32.f32 $f, $f", "cvt{|.sat|.ftz}.f32.f32 $f, $f", "cvt.{rn|rz}.f16.f32 $h, $f", "cvt.f32.f16 $f, $h",
    "{add|sub|mul}{.rn|.rz|.rm|.rp}{|.ftz}{|.sat}.f32 $f, $f, $F", "fma{.rn|.rz|.rm|.rp}{|.ftz}{|.sat}.f32 $f, $f, $F, $f", "{add|sub|mul}.f32 $f, $f, $f",
    "fma.rn.f32 $f, $f, $f, $f", "div.{rn|rz|rm|rp}{|.ftz}.f32 $f, $f, $F", "{sqrt|rcp}.{rn|rz|rm|rp}{|.ftz}.f32 $f, $f", "{min|max}{|.ftz}{|.NaN}.f32 $f, $f, $F", "{abs|neg}{|.ftz}.f32 $f, $f",
    "copysign.f32 $f, $f, $f", "testp.{finite|infinite|number|notanumber|normal|subnormal}.f32 $p, $f",
    "{add|sub|mul}{.rn|.rz|.rm|.rp}.f64 $e, $e, $E", "fma{.rn|.rz|.rm|.rp}.f64 $e, $e, $E, $e", "div.{rn|rz|rm|rp}.f64 $e, $e, $E", "{sqrt|rcp}.{rn|rz|rm|rp}.f64 $e, $e",
    "{min|max}.f64 $e, $e, $E", "{abs|neg}.f64 $e, $e", "{add|sub|mul}{|.ftz}.f16x2 $r, $r, $r", "fma.rn{|.sat}.f16x2 $r, $r, $r, $r", "{min|max}.f16x2 $r, $r, $r", "{add|sub|mul}{|.sat}.f16 $h, $h, $h",
    "fma.rn.f16 $h, $h, $h, $h"};

constexpr const char* several[] = {
    "or.b32 %t0, $R, 1; {div|rem}.{s32|u32} $r, $r, %t0", "or.b64 %u0, $D, 1; {div|rem}.{s64|u64} $d, $d, %u0", "or.b16 %v0, $H, 1; {div|rem}.{s16|u16} $h, $h, %v0",
    "{div|rem}.{s32|u32} $r, $r, {3|7|10|16|1000|-5|-8}", "{div|rem}.{s64|u64} $d, $d, {3|7|10|16|100000000007|-5}",
    "add.cc.{u32|s32} $r, $r, $R; addc.cc.u32 $r, $r, $R; addc.u32 $r, $r, $r", "sub.cc.{u32|s32} $r, $r, $R; subc.cc.u32 $r, $r, $R; subc.u32 $r, $r, $r",
    "add.cc.u64 $d, $d, $D; addc.u64 $d, $d, $D", "mad.lo.cc.u32 $r, $r, $r, $R; madc.hi.u32 $r, $r, $r, $r", "mov.b64 {$r, %t0}, $d; xor.b32 $r, $r, %t0",
    "mov.b32 {$h, %v0}, $r; add.u16 $h, $h, %v0", "setp.{lt|eq|ge}.s32 %w0|%w1, $r, $R; selp.b32 $r, $r, $r, %w0; @%w1 add.u32 $r, $r, 3",
    "and.b32 %t0, $r, 56; add.u32 %t0, %t0, %local; st.local.b64 [%t0], $d", "and.b32 %t0, $r, 60; add.u32 %t0, %t0, %local; st.local.{b32|u32} [%t0], $r",
    "and.b32 %t0, $r, 63; add.u32 %t0, %t0, %local; st.local.u8 [%t0], $r", "and.b32 %t0, $r, 48; add.u32 %t0, %t0, %local; st.local.v4.b32 [%t0], {$r, $r, $r, $r}",
    "and.b32 %t0, $r, 56; add.u32 %t0, %t0, %local; ld.local.b64 $d, [%t0]", "and.b32 %t0, $r, 62; add.u32 %t0, %t0, %local; ld.local.{u16|s16} $r, [%t0]",
    "and.b32 %t0, $r, 63; add.u32 %t0, %t0, %local; ld.local.{u8|s8} $r, [%t0]", "and.b32 %t0, $r, 56; add.u32 %t0, %t0, %local; ld.local.f64 $e, [%t0]",
    "and.b32 %t0, $r, 60; cvt.u64.u32 %u0, %t0; add.u64 %u0, %u0, %generic; ld.b32 $r, [%u0]", "st.local.b64 [area+16], $d; ld.local.b32 $r, [area+20]", "ld.local.v2.b32 {$r, %t0}, [area+8]; xor.b32 $r, $r, %t0",
    "and.b32 %t0, $r, 1023; mad.wide.u32 %u0, %t0, 4, %in; ld.global{|.nc}.{u32|b32} $r, [%u0]", "and.b32 %t0, $r, 511; mad.wide.u32 %u0, %t0, 8, %in; ld.global.f64 $e, [%u0]",
    "and.b32 %t0, $r, 4095; cvt.u64.u32 %u0, %t0; add.u64 %u0, %u0, %in; ld.global.{u8|s8} $r, [%u0]", "and.b32 %t0, $r, 255; mad.wide.u32 %u0, %t0, 16, %in; ld.global.v4.f32 {%g0, %g1, %g2, $f}, [%u0]; add.f32 $f, %g0, %g2",
    "and.b32 %t0, $r, 511; mad.wide.u32 %u0, %t0, 8, %in; ld.global.v2.{u32|s32} {%t0, %t1}, [%u0]; add.u32 $r, %t0, %t1", "and.b32 %t0, $r, 2047; mad.wide.u32 %u0, %t0, 2, %in; ld.global.{u16|s16} $d, [%u0]",
    "st.global.b32 [%out+192], $r; ld.global.b32 $r, [%out+192]", "st.global.v2.b64 [%out+208], {$d, $d}; ld.global.{u16|s8} $r, [%out+214]", "st.global.u8 [%out+225], $r; st.global.b16 [%out+226], $h",
    "red.shared.{add.u32 [sums]|xor.b32 [sums+4]|max.s32 [sums+8]|or.b32 [sums+12]|min.u32 [sums+16]}, $r", "red.shared.add.u64 [sums+24], $d",
    "red.global.{add.u32 [%sums]|xor.b32 [%sums+4]|max.s32 [%sums+8]|or.b32 [%sums+12]|min.u32 [%sums+16]}, $r"};

// Where all threads of the block are: exchanges through shared memory; sums are read between two barriers.
constexpr const char* together[] = {
    "st.shared.b32 [%slot], $r; bar.sync 0; add.u32 %t0, %thread, $k; rem.u32 %t0, %t0, %size; shl.b32 %t0, %t0, 3; add.u32 %t0, %t0, %base; ld.shared.b32 $r, [%t0]; bar.sync 0",
    "st.shared.b64 [%slot], $d; barrier.sync 0; sub.u32 %t0, %size, %thread; sub.u32 %t0, %t0, 1; shl.b32 %t0, %t0, 3; add.u32 %t0, %t0, %base; ld.shared.{b64|u64} $d, [%t0]; bar.sync 0",
    "bar.sync 0; ld.shared.b32 $r, [sums+{0|4|8|12|16|24}]; bar.sync 0", "bar.red.popc.u32 $r, 0, $P", "bar.red.{and|or}.pred $p, 0, $P"};

// The same with whole warps.
constexpr const char* in_warps[] = {"shfl.sync.{up|down|bfly|idx}.b32 $r, $r, $R, {31|0|7199|6175}, -1",
                                    "shfl.sync.{up|down|bfly}.b32 $r|$p, $r, $k, {31|0|7199}, 0xffffffff", "vote.sync.{any|all|uni}.pred $p, $P, 0xffffffff",
                                    "vote.sync.ballot.b32 $r, $P, 0xffffffff", "bar.warp.sync 0xffffffff"};
// clang-format on

class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  random_kernel make(std::uint64_t seed) {
    random_kernel k;
    k.seed = seed;
    k.grid = 1 + pick(2);
    k.block = pick(2) ? 32 * (1 + pick(4)) : 1 + pick(140);
    warps_ = k.block % 32 == 0;
    leaves_ = !warps_ && pick(2);  // before Volta threads that jump past a barrier must not part warps that come to it
    k.body = block(8 + pick(40), 0, true);
    return k;
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() >> 20) % n; }
  template <std::size_t n>
  const char* one(const char* const (&from)[n]) {
    return from[pick(n)];
  }

  std::string predicate() { return "%p" + std::to_string(pick(p_count)); }

  std::string literal(char type) {
    static constexpr const char* words[] = {"0",     "1",          "-1",         "2",        "31", "32",        "255",
                                            "65535", "0x80000000", "0x7fffffff", "12345678", "-7", "0xdeadbeef"};
    static constexpr const char* wides[] = {"0",
                                            "1",
                                            "-1",
                                            "63",
                                            "0x8000000000000000",
                                            "0x7fffffffffffffff",
                                            "0x100000000",
                                            "0xffffffff",
                                            "0x123456789abcdef0",
                                            "-3"};
    static constexpr const char* halves[] = {"0", "1", "-1", "255", "0x7fff", "-32768", "77"};
    static constexpr const char* floats[] = {"0f00000000", "0f80000000", "0f3F800000", "0fBF000000", "0f7F800000",
                                             "0f00000001", "0f40490FDB", "0f4B000001", "0f7F7FFFFF", "0f00800000"};
    static constexpr const char* doubles[] = {"0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000",
                                              "0dBFE0000000000000", "0d7FF0000000000000", "0d0000000000000001",
                                              "0d400921FB54442D18"};
    switch (type) {
      case 'R': return one(words);
      case 'D': return one(wides);
      case 'H': return one(halves);
      case 'F': return one(floats);
      default: return one(doubles);
    }
  }

  std::string place(char type) {
    switch (type) {
      case 'r': return "%r" + std::to_string(pick(r_count));
      case 'd': return "%d" + std::to_string(pick(d_count));
      case 'h': return "%h" + std::to_string(pick(h_count));
      case 'f': return "%f" + std::to_string(pick(f_count));
      case 'e': return "%e" + std::to_string(pick(e_count));
      case 'p': return predicate();
      case 'P': return (pick(3) == 0 ? "!" : "") + predicate();
      case 'k': return std::to_string(pick(34));
      default: return pick(3) == 0 ? literal(type) : place(static_cast<char>(type - 'A' + 'a'));
    }
  }

  std::string fill(const std::string& pattern) {
    std::string s;
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      if (pattern[k] == '$') {
        s += place(pattern[++k]);
      } else if (pattern[k] == '{' && pattern.find('|', k) < pattern.find('}', k)) {  // else a vector operand
        const std::size_t end = pattern.find('}', k);
        std::vector<std::string> choices(1);
        for (std::size_t j = k + 1; j < end; ++j) {
          if (pattern[j] == '|') choices.emplace_back();
          else choices.back() += pattern[j];
        }
        s += choices[pick(static_cast<std::uint32_t>(choices.size()))];
        k = end;
      } else {
        s += pattern[k];
      }
    }
    return s + ";";
  }

  static node line(std::string text) { return {{std::move(text)}, {}}; }

  node instruction() {
    if (pick(4) == 0) return line(fill(one(several)));
    const std::string text = fill(one(single));
    return line(pick(7) == 0 ? (pick(2) ? "@" : "@!") + predicate() + " " + text : text);
  }

  /// `all`: every thread of the block is here.
  std::vector<node> block(unsigned length, unsigned depth, bool all) {
    std::vector<node> nodes;
    for (unsigned k = 0; k < length; ++k) {
      const unsigned what = pick(100);
      if (what < 8 && depth < 3) nodes.push_back(branch(depth));
      else if (what < 14 && depth < 3 && next_ < loops) nodes.push_back(loop(depth, all));
      else if (what < 19 && !exits_.empty())
        nodes.push_back(
            line("@" + predicate() + " bra " + exits_[pick(static_cast<std::uint32_t>(exits_.size()))] + ";"));
      else if (what < 22 && all && !leaves_) nodes.push_back(line(fill(one(together))));
      else if (what < 25 && all && warps_) nodes.push_back(line(fill(one(in_warps))));
      else if (what < 26 && leaves_ && depth > 0) nodes.push_back(line("@" + predicate() + " bra FINISH;"));
      else nodes.push_back(instruction());
    }
    return nodes;
  }

  node branch(unsigned depth) {
    const std::string id = std::to_string(label_++), p = predicate();
    const unsigned length = 1 + pick(8);
    if (pick(2)) return {{"@!" + p + " bra END" + id + ";", "END" + id + ":"}, {block(length, depth + 1, false)}};
    auto yes = block(length, depth + 1, false);
    auto no = block(1 + pick(6), depth + 1, false);
    return {{"@" + p + " bra THEN" + id + ";", "bra END" + id + "; THEN" + id + ":", "END" + id + ":"},
            {std::move(no), std::move(yes)}};
  }

  node loop(unsigned depth, bool all) {
    const unsigned index = next_++;
    const std::string id = std::to_string(label_++), n = "%n" + std::to_string(index), q = "%q" + std::to_string(index);
    const bool uniform = pick(3) == 0;
    const std::string start = uniform ? "mov.u32 " + n + ", " + std::to_string(1 + pick(5)) + ";"
                                      : "and.b32 " + n + ", %r" + std::to_string(pick(r_count)) + ", 7;";
    const auto saved = exits_;
    if (uniform && all) exits_.clear();
    else exits_.insert(exits_.end(), {"END" + id, "LOOP" + id});
    auto body = block(1 + pick(8), depth + 1, uniform && all);
    exits_ = saved;
    if (uniform && pick(2))  // the test at the end
      return {{start + " LOOP" + id + ": sub.u32 " + n + ", " + n + ", 1; setp.gt.s32 " + q + ", " + n + ", -5; @!" +
                   q + " bra END" + id + ";",
               "setp.gt.s32 " + q + ", " + n + ", 0; @" + q + " bra LOOP" + id + "; END" + id + ":"},
              {std::move(body)}};
    return {{start + " LOOP" + id + ": setp.eq.u32 " + q + ", " + n + ", 0; @" + q + " bra END" + id + "; sub.u32 " +
                 n + ", " + n + ", 1;",
             "bra LOOP" + id + "; END" + id + ":"},
            {std::move(body)}};
  }

  std::mt19937_64 random_;
  bool warps_ = false;   // whole warps
  bool leaves_ = false;  // threads may leave early
  unsigned label_ = 0, next_ = 0;
  std::vector<std::string> exits_;
};

void write(const std::vector<node>& nodes, unsigned depth, std::string& text) {
  const std::string margin(2 * depth, ' ');
  for (const node& n : nodes)
    for (std::size_t k = 0; k < n.glue.size(); ++k) {
      text += margin + n.glue[k] + "\n";
      if (k < n.bodies.size()) write(n.bodies[k], depth + 1, text);
    }
}

std::string numbered(const char* format_before, unsigned k, const std::string& after) {
  return format_before + std::to_string(k) + after;
}

}  // namespace

std::string random_kernel::text() const {
  std::string s =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 totals) {\n"
      ".shared .align 8 .b8 exchange[1280]; .shared .align 8 .b8 sums[32]; .local .align 16 .b8 area[64];\n"
      ".reg .b32 %r<12>, %t<4>, %n<24>, %thread, %size, %local, %slot, %base; .reg .b64 %d<6>, %u<4>, %in, %out, %sums, %generic; .reg .b16 %h<6>, %v<2>;\n"
      ".reg .f32 %f<8>, %g<3>; .reg .f64 %e<4>; .reg .pred %p<6>, %q<24>, %w<2>;\n"
      "mov.u32 %thread, %tid.x; mov.u32 %size, %ntid.x; mov.u32 %local, area; cvt.u64.u32 %generic, %local; cvta.local.u64 %generic, %generic; mov.u32 %base, exchange; mad.lo.u32 %slot, %thread, 8, %base;\n"
      "mov.u32 %t0, %ctaid.x; mad.lo.u32 %t1, %t0, %size, %thread; ld.param.u64 %in, [in]; ld.param.u64 %sums, [totals]; ld.param.u64 %u0, [out]; "
      "mad.wide.u32 %out, %t1, 256, %u0;\n"
      "mad.lo.u32 %t2, %t1, 28, 4; and.b32 %t2, %t2, 2044; cvt.u64.u32 %u0, %t2; add.u64 %u0, %in, %u0; and.b32 %t2, %t2, 1016; cvt.u64.u32 %u1, %t2; add.u64 %u1, %in, %u1;\n";
  for (unsigned k = 0; k < r_count; ++k)
    s += numbered("ld.global.b32 %r", k, ", [%u0+" + std::to_string(4 * k) + "]; ");
  for (unsigned k = 0; k < f_count; ++k)
    s += numbered("ld.global.f32 %f", k, ", [%u0+" + std::to_string(64 + 4 * k) + "]; ");
  for (unsigned k = 0; k < d_count; ++k)
    s += numbered("ld.global.b64 %d", k, ", [%u1+" + std::to_string(1024 + 8 * k) + "]; ");
  for (unsigned k = 0; k < e_count; ++k)
    s += numbered("ld.global.f64 %e", k, ", [%u1+" + std::to_string(2048 + 8 * k) + "]; ");
  for (unsigned k = 0; k < h_count; ++k)
    s += numbered("ld.global.b16 %h", k, ", [%u0+" + std::to_string(8 + 2 * k) + "]; ");
  for (unsigned k = 0; k < p_count; ++k)
    s += numbered("and.b32 %t0, %r", k, ", 4; ") + numbered("setp.ne.u32 %p", k, ", %t0, 0; ");
  for (unsigned k = 0; k < 8; ++k) s += numbered("st.local.b64 [area+", 8 * k, "], %d0; ");
  s +=
      "\nsetp.eq.u32 %w0, %thread, 0; mov.u64 %u0, 0; st.shared.b64 [%slot], %u0; @%w0 st.shared.b64 [sums], %u0; @%w0 st.shared.b64 [sums+8], %u0; @%w0 st.shared.b64 [sums+16], %u0; "
      "@%w0 st.shared.b64 [sums+24], %u0; bar.sync 0;\n";
  write(body, 0, s);
  s += "FINISH:\n";
  for (unsigned k = 0; k < r_count; ++k) s += numbered("st.global.b32 [%out+", 4 * k, numbered("], %r", k, "; "));
  for (unsigned k = 0; k < d_count; ++k) s += numbered("st.global.b64 [%out+", 48 + 8 * k, numbered("], %d", k, "; "));
  for (unsigned k = 0; k < f_count; ++k) s += numbered("st.global.f32 [%out+", 96 + 4 * k, numbered("], %f", k, "; "));
  for (unsigned k = 0; k < e_count; ++k) s += numbered("st.global.f64 [%out+", 128 + 8 * k, numbered("], %e", k, "; "));
  for (unsigned k = 0; k < h_count; ++k) s += numbered("st.global.b16 [%out+", 160 + 2 * k, numbered("], %h", k, "; "));
  for (unsigned k = 0; k < p_count; ++k)
    s += numbered("selp.u32 %t0, 1, 0, %p", k, numbered("; st.global.u8 [%out+", 172 + k, "], %t0; "));
  return s + "\nret;\n}\n";
}

random_kernel generate(std::uint64_t seed) { return generator(seed).make(seed); }

}  // namespace heddle::differential
