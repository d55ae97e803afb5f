// SPDX-License-Identifier: MIT
// A few PTX instructions from three inputs to a result, with the expected result in plain C++, and inputs for them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle {
namespace ptx_rows {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class To, class From>
To as(From v) {
  To t;
  static_assert(sizeof(To) == sizeof(From), "same size");
  std::memcpy(&t, &v, sizeof t);
  return t;
}

inline u64 bits(float v) { return std::isnan(v) ? 0x7fffffffu : as<u32>(v); }
inline u64 bits(double v) { return std::isnan(v) ? 0xfff8000000000000u : as<u64>(v); }

inline u64 fused(double a, double b, double c) {
  for (const double v : {a, b, c})
    if (std::isnan(v)) return as<u64>(v) | u64{1} << 51;  // the first one is passed on
  return bits(std::fma(a, b, c));
}

/// Inputs of one thread: three 64-bit numbers, and their low words in all register types.
struct inputs {
  u64 d, e, f;
  [[nodiscard]] u32 a() const { return static_cast<u32>(d); }
  [[nodiscard]] u32 b() const { return static_cast<u32>(e); }
  [[nodiscard]] u32 c() const { return static_cast<u32>(f); }
  [[nodiscard]] float fa() const { return as<float>(a()); }
  [[nodiscard]] float fb() const { return as<float>(b()); }
  [[nodiscard]] float fc() const { return as<float>(c()); }
  [[nodiscard]] double da() const { return as<double>(d); }
  [[nodiscard]] double db() const { return as<double>(e); }
  [[nodiscard]] double dc() const { return as<double>(f); }
};

struct row {
  const char* name;
  const char* code;
  std::function<u64(const inputs&)> expected;
};

// Registers: %d %e %f 64 bits, %a %b %c their low words, %h0..%h3 16 bits (%h0 %h1 low halves of a, b), %x %y %z spare
// 32 bits, %w spare 64 bits, %fa %fb %fc %fo f32, %da %db %dc %do f64, predicates %p %q; the result in %o. Constants:
// [kd] 1.5 as f64, [kf] 2.5 as f32.
/// Bit k of `constants`: input k is a kernel parameter itself, which instructions read from the constant bank.
inline std::string kernel(const row& r, unsigned constants = 0) {
  std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.const .f64 kd = 0d3FF8000000000000;\n.const .f32 kf = "
      "0f40200000;\n.visible .entry k(.param .u64 in0, .param .u64 in1, .param .u64 in2, .param .u64 out) {\n"
      ".reg .b64 %d, %e, %f, %w, %w2, %o, %p0, %p1; .reg .b32 %a, %b, %c, %x, %y, %z, %i; .reg .b16 %h<4>;\n"
      ".reg .f32 %fa, %fb, %fc, %fo; .reg .f64 %da, %db, %dc, %do; .reg .pred %p, %q;\n"
      "mov.u32 %i, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mad.lo.s32 %i, %x, %y, %i;\n";
  for (unsigned k = 0; k < 3; ++k) {
    const std::string in = "[in" + std::to_string(k) + "];", wide(1, "def"[k]), word(1, "abc"[k]);
    if ((constants >> k & 1) != 0) {
      text += "ld.param.u64 %" + wide + ", " + in + " ld.param.u32 %" + word + ", " + in + " ld.param.f32 %f" + word +
              ", " + in + " ld.param.f64 %d" + word + ", " + in + "\n";
    } else {
      text += "ld.param.u64 %p0, " + in + " mad.wide.u32 %p1, %i, 8, %p0; ld.global.b64 %" + wide +
              ", [%p1]; cvt.u32.u64 %" + word + ", %" + wide + "; mov.b32 %f" + word + ", %" + word + "; mov.b64 %d" +
              word + ", %" + wide + ";\n";
    }
  }
  return text + "cvt.u16.u32 %h0, %a; cvt.u16.u32 %h1, %b;\n" + r.code +
         "\nld.param.u64 %p0, [out]; mad.wide.u32 %p1, %i, 8, %p0; st.global.b64 [%p1], %o; ret; }\n";
}

inline std::vector<u64> numbers(unsigned seed, std::size_t count) {
  static constexpr u32 special[] = {0,          1,          2,          3,          0xffffffff, 0x80000000,
                                    0x7fffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000,
                                    0x007fffff, 0x00800000, 0x7f7fffff, 0x3f7fffff, 255,        65535,
                                    65536,      128,        32768,      7,          64,         31};
  std::mt19937_64 random(seed);
  std::vector<u64> v(count);
  for (u64& x : v) {
    switch (random() % 7) {
      case 0: x = special[random() % 24] | u64{special[random() % 24]} << 32; break;
      case 1: x = random() % 100; break;
      case 2: x = 0 - random() % 100; break;
      case 3: x = as<u64>(static_cast<double>(random() % 1000000) / static_cast<double>(1 + random() % 999)); break;
      case 4:
        x = as<u32>(static_cast<float>(random() % 1000000) / static_cast<float>(1 + random() % 999)) |
            u64{special[random() % 24]} << 32;
        break;
      case 5: x = special[random() % 24]; break;
      default: x = random(); break;
    }
  }
  return v;
}

}  // namespace ptx_rows
}  // namespace heddle
