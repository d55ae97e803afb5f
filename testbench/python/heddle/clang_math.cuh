// SPDX-License-Identifier: MIT
// CUDA's mathematics library for clang, of libclc's functions for OpenCL, which have mangled names. clang_cuda.cuh
// includes it. HEDDLE_LIBCLC says that libclc is linked; without it, what needs it is an error that says so.
// docs/library/python.md has the largest errors.
#pragma once

template <bool>
struct heddle_if {};
template <>
struct heddle_if<true> {
  using type = void;
};
#define HEDDLE_TEXT(x) #x
#define HEDDLE_TEXT_OF(x) HEDDLE_TEXT(x)
// Reordered sums and approximate divisions make libclc's functions wrong.
#ifdef __FAST_MATH__
#undef HEDDLE_LIBCLC
#define HEDDLE_WHY "it is of CUDA's mathematics library, which clang++ does not have with -ffast-math"
#else
#define HEDDLE_WHY                                                             \
  "it is of CUDA's mathematics library, which needs nvcc, or for clang++ the " \
  "library libclc: Debian's package libclc-" HEDDLE_TEXT_OF(__clang_major__)
#endif
#define HEDDLE_UNAVAILABLE(name, why) \
  template <class... T>               \
  __device__ void name(T... v) __attribute__((unavailable(why)));
#define HEDDLE_BY_NVCC(name)                                                                          \
  HEDDLE_UNAVAILABLE(name, "it is of CUDA's mathematics library, and libclc has none: it needs nvcc") \
  HEDDLE_UNAVAILABLE(name##f, "it is of CUDA's mathematics library, and libclc has none: it needs nvcc")
// In the namespace std, too, where functions of the host are overloads of the same types.
#define HEDDLE_IN_STD(name) \
  namespace std {           \
  using ::name;             \
  using ::name##f;          \
  }

// What is exact needs no library.
#define HEDDLE_EXACT(T, double_f)                                            \
  HEDDLE_DEVICE T round##double_f(T v) {                                     \
    T whole = trunc(v);                                                      \
    return fabs(v - whole) >= T(.5) ? whole + copysign(T(1), v) : whole;     \
  }                                                                          \
  HEDDLE_DEVICE T fdim##double_f(T a, T b) { return a <= b ? T(0) : a - b; } \
  HEDDLE_DEVICE T modf##double_f(T v, T* whole) {                            \
    *whole = trunc(v);                                                       \
    return copysign(isinf(v) ? T(0) : v - *whole, v);                        \
  }
HEDDLE_EXACT(float, f)
HEDDLE_EXACT(float, )
HEDDLE_EXACT(double, )
#define HEDDLE_TO_WHOLE(R, name, by)                    \
  HEDDLE_DEVICE R name##f(float v) { return (R)by(v); } \
  HEDDLE_DEVICE R name(float v) { return (R)by(v); }    \
  HEDDLE_DEVICE R name(double v) { return (R)by(v); }   \
  HEDDLE_IN_STD(name)
HEDDLE_TO_WHOLE(long, lround, round)
HEDDLE_TO_WHOLE(long long, llround, round)
HEDDLE_TO_WHOLE(long, lrint, rint)
HEDDLE_TO_WHOLE(long long, llrint, rint)
HEDDLE_DEVICE float rsqrt(float v) { return rsqrtf(v); }
HEDDLE_DEVICE double rsqrt(double v) {
  double root = 1 / sqrt(v), high = v * root, low = fma(v, root, -high), error = fma(-high, root, 1.) - low * root;
  return fabs(error) < 1 ? fma(root * .5, error, root) : root;
}
HEDDLE_DEVICE void __sincosf(float v, float* sine, float* cosine) { *sine = __sinf(v), *cosine = __cosf(v); }
HEDDLE_DEVICE bool signbit(float v) { return __builtin_signbitf(v); }
HEDDLE_DEVICE bool signbit(double v) { return __builtin_signbit(v); }

HEDDLE_DEVICE double heddle_power_of_two(int n) { return __longlong_as_double((1023ll + n) << 52); }
// The quotient of two numbers in whole steps of 11 bits, as by hand; the remainder is exact.
HEDDLE_DEVICE double heddle_remainder(double x, double y, bool nearest, unsigned long long& quotient) {
  const long long fraction = (1ll << 52) - 1;
  long long a = __double_as_longlong(fabs(x)), b = __double_as_longlong(fabs(y));
  quotient = 0;
  if (!(isfinite(x) && fabs(y) > 0)) return x * y / (x * y);
  if (isinf(y)) return x;
  int places = max((int)(a >> 52), 1), unit = max((int)(b >> 52), 1);
  unsigned long long rest = (a & fraction) | (a >> 52 ? 1ll << 52 : 0), by = (b & fraction) | (b >> 52 ? 1ll << 52 : 0);
  places -= unit;
  if (places < -1) return x;
  if (places < 0) places = 0, --unit, by *= 2;
  quotient = rest / by, rest %= by;
  for (; places > 0;) {
    int step = min(places, 11);
    quotient = (quotient << step) + (rest << step) / by, rest = (rest << step) % by, places -= step;
  }
  bool above = nearest && (2 * rest > by || (2 * rest == by && quotient % 2));
  if (above) rest = by - rest, ++quotient;
  double scale = unit > 52 ? heddle_power_of_two(unit - 1075) : __longlong_as_double(1ll << (unit - 1));
  double result = (double)(long long)rest * scale;
  return __builtin_signbit(x) != above ? -result : result;
}
#define HEDDLE_REMAINDER(name, nearest)                                                       \
  HEDDLE_DEVICE double name(double x, double y) {                                             \
    unsigned long long quotient;                                                              \
    return heddle_remainder(x, y, nearest, quotient);                                         \
  }                                                                                           \
  HEDDLE_DEVICE float name(float x, float y) { return (float)name((double)x, (double)y); }    \
  HEDDLE_DEVICE float name##f(float x, float y) { return (float)name((double)x, (double)y); } \
  HEDDLE_IN_STD(name)
HEDDLE_REMAINDER(fmod, false)
HEDDLE_REMAINDER(remainder, true)
HEDDLE_DEVICE double remquo(double x, double y, int* quotient) {
  unsigned long long whole;
  double rest = heddle_remainder(x, y, true, whole);
  *quotient = signbit(x) != signbit(y) ? -(int)(whole & 7) : (int)(whole & 7);
  return rest;
}
HEDDLE_DEVICE float remquo(float x, float y, int* quotient) { return (float)remquo((double)x, (double)y, quotient); }
HEDDLE_DEVICE float remquof(float x, float y, int* quotient) { return (float)remquo((double)x, (double)y, quotient); }
HEDDLE_IN_STD(round)
HEDDLE_IN_STD(fdim)
HEDDLE_IN_STD(modf)
HEDDLE_IN_STD(remquo)

// Functions of libclc, each with the length of its name, of which OpenCL's mangled names are made.
#define HEDDLE_CLC(length, name)                                         \
  __device__ float heddle_##name(float) __asm__("_Z" #length #name "f"); \
  __device__ double heddle_##name(double) __asm__("_Z" #length #name "d");
#define HEDDLE_CLC_OF_TWO(length, name)                                          \
  __device__ float heddle_##name(float, float) __asm__("_Z" #length #name "ff"); \
  __device__ double heddle_##name(double, double) __asm__("_Z" #length #name "dd");
HEDDLE_CLC(3, exp)
HEDDLE_CLC(4, exp2)
HEDDLE_CLC(5, exp10)
HEDDLE_CLC(5, expm1)
HEDDLE_CLC(3, log)
HEDDLE_CLC(4, log2)
HEDDLE_CLC(5, log10)
HEDDLE_CLC(5, log1p)
HEDDLE_CLC(4, logb)
HEDDLE_CLC(3, sin)
HEDDLE_CLC(3, cos)
HEDDLE_CLC(3, tan)
HEDDLE_CLC(5, sinpi)
HEDDLE_CLC(5, cospi)
HEDDLE_CLC(4, asin)
HEDDLE_CLC(4, acos)
HEDDLE_CLC(4, atan)
HEDDLE_CLC(4, sinh)
HEDDLE_CLC(4, cosh)
HEDDLE_CLC(4, tanh)
HEDDLE_CLC(5, asinh)
HEDDLE_CLC(5, acosh)
HEDDLE_CLC(5, atanh)
HEDDLE_CLC(3, erf)
HEDDLE_CLC(4, erfc)
HEDDLE_CLC(6, lgamma)
HEDDLE_CLC(4, cbrt)
HEDDLE_CLC_OF_TWO(3, pow)
HEDDLE_CLC_OF_TWO(5, atan2)
HEDDLE_CLC_OF_TWO(5, hypot)
HEDDLE_CLC_OF_TWO(9, nextafter)
__device__ int heddle_ilogb(float) __asm__("_Z5ilogbf");
__device__ int heddle_ilogb(double) __asm__("_Z5ilogbd");
__device__ double heddle_ldexp(double, int) __asm__("_Z5ldexpdi");
__device__ float heddle_frexp(float, int*) __asm__("_Z5frexpfPi");
__device__ double heddle_frexp(double, int*) __asm__("_Z5frexpdPi");

// What libclc's functions lack: subnormal results, signs of zeros.
HEDDLE_DEVICE float heddle_fixed_exp(float v) {
  float root = heddle_exp(v < -87 ? v * .5f : v);
  return v < -87 ? root * root : root;
}
HEDDLE_DEVICE double heddle_fixed_exp(double v) { return heddle_exp(v); }
HEDDLE_DEVICE float heddle_ldexp(float v, int n) { return (float)heddle_ldexp((double)v, n); }
HEDDLE_DEVICE float heddle_fixed_exp2(float v) {
  float part = heddle_exp2(v < -126 ? v + 64 : v);
  return v < -126 ? part * 0x1p-64f : part;
}
HEDDLE_DEVICE double heddle_fixed_exp2(double v) { return heddle_exp2(v); }
HEDDLE_DEVICE float heddle_fixed_erfc(float v) { return v > 1.25f ? (float)heddle_erfc((double)v) : heddle_erfc(v); }
HEDDLE_DEVICE double heddle_fixed_erfc(double v) { return heddle_erfc(v); }
#define HEDDLE_SIGNED(name)                            \
  template <class T>                                   \
  HEDDLE_DEVICE T heddle_signed_##name(T v) {          \
    T result = heddle_##name(v);                       \
    return result == 0 ? copysign(result, v) : result; \
  }
HEDDLE_SIGNED(expm1)
HEDDLE_SIGNED(sin)
HEDDLE_SIGNED(tan)
HEDDLE_SIGNED(sinpi)
HEDDLE_SIGNED(atan)
HEDDLE_SIGNED(erf)
template <class T>
HEDDLE_DEVICE T heddle_signed_cospi(T v) {
  return heddle_cospi(v) + T(0);
}
template <class T>
HEDDLE_DEVICE T heddle_rcbrt(T v) {
  return 1 / heddle_cbrt(v);
}
HEDDLE_DEVICE float heddle_fixed_lgamma(float v) {
  return isinf(v) ? v * v : fabs(v) < 1e-9f ? -heddle_log(fabs(v)) : heddle_lgamma(v);
}
HEDDLE_DEVICE double heddle_fixed_lgamma(double v) { return heddle_lgamma(v); }

// Stirling's series, to which a smaller number comes by a product and a negative one by reflection.
HEDDLE_DEVICE double heddle_fixed_tgamma(double v) {
  double size = fabs(v), steps = size < 20 ? ceil(20 - size) : 0, product = 1, product_lost = 0;
  if (size < 1e-17) return 1 / v;
  double sine = v < 0 ? heddle_sinpi(size) * size : 1;
  if (sine == 0) return __int_as_float(0x7fffffff);
  if (!(size < 200)) return v < 0 ? -0. / sine : v * __int_as_float(0x7f800000);
  for (double n = 0; n < steps; n += 1) {
    double factor = size + n, next = product * factor;
    product_lost = fma(product_lost, factor, fma(product, factor, -next)) + product * (size - (factor - n));
    product = next;
  }
  // What rounding took: of the product, and of the sum, where it counts by the derivative of the logarithm.
  double at = size + steps, u = 1 / at;
  double lost = (size - (at - steps)) * (heddle_log(at) - u * .5) - product_lost / product;
  double high = 7.8403922172006663e-4 +
                u * (6.9728137583658578e-5 +
                     u * (-5.9216643735369388e-4 + u * (-5.1717909082605922e-5 + u * 8.3949872067208728e-4)));
  double more = u * (1. / 12 + u * (1. / 288 + u * (-139. / 51840 + u * (-571. / 2488320 + u * high))));
  double root = heddle_pow(at, at * .5 - .25), rest = heddle_exp(-at) * 2.5066282746310005;
  rest += rest * (more + (1 + more) * lost);
  return v < 0 ? -3.14159265358979324 / sine / root / rest / root * product : root * rest / product * root;
}
HEDDLE_DEVICE float heddle_fixed_tgamma(float v) { return (float)heddle_fixed_tgamma((double)v); }

// CUDA's functions of them, or an error where libclc is not linked.
#ifdef HEDDLE_LIBCLC
#define HEDDLE_MATH(name, by)  \
  HEDDLE_OF_BOTH(name, by, by) \
  HEDDLE_IN_STD(name)
#define HEDDLE_MATH_OF_TWO(name, by)                                 \
  HEDDLE_DEVICE float name##f(float a, float b) { return by(a, b); } \
  HEDDLE_DEVICE float name(float a, float b) { return by(a, b); }    \
  HEDDLE_DEVICE double name(double a, double b) { return by(a, b); } \
  HEDDLE_IN_STD(name)
#define HEDDLE_MATH_WHOLE(name, by) HEDDLE_TO_WHOLE(int, name, by)
#define HEDDLE_MATH_AND(name, by, A, a)                          \
  HEDDLE_DEVICE float name##f(float v, A a) { return by(v, a); } \
  HEDDLE_DEVICE float name(float v, A a) { return by(v, a); }    \
  HEDDLE_DEVICE double name(double v, A a) { return by(v, a); }  \
  HEDDLE_IN_STD(name)
#define HEDDLE_BOTH_OF(T, name, end, sine, cosine) \
  HEDDLE_DEVICE void name##end(T v, T* s, T* c) { *s = sine(v), *c = cosine(v); }
#define HEDDLE_MATH_BOTH(name, sine, cosine)   \
  HEDDLE_BOTH_OF(float, name, f, sine, cosine) \
  HEDDLE_BOTH_OF(float, name, , sine, cosine)  \
  HEDDLE_BOTH_OF(double, name, , sine, cosine)
// Of two numbers of other types, pow alone is there, in double.
template <class A, class B, typename heddle_if<__is_arithmetic(A) && __is_arithmetic(B)>::type* = nullptr>
HEDDLE_DEVICE double pow(A a, B b) {
  return heddle_pow((double)a, (double)b);
}
#else
#define HEDDLE_MATH(name, ...)         \
  HEDDLE_UNAVAILABLE(name, HEDDLE_WHY) \
  HEDDLE_UNAVAILABLE(name##f, HEDDLE_WHY)
#define HEDDLE_MATH_OF_TWO HEDDLE_MATH
#define HEDDLE_MATH_AND HEDDLE_MATH
#define HEDDLE_MATH_WHOLE HEDDLE_MATH
#define HEDDLE_MATH_BOTH HEDDLE_MATH
#endif
HEDDLE_MATH(exp, heddle_fixed_exp)
HEDDLE_MATH(exp2, heddle_fixed_exp2)
HEDDLE_MATH(exp10, heddle_exp10)
HEDDLE_MATH(expm1, heddle_signed_expm1)
HEDDLE_MATH(log, heddle_log)
HEDDLE_MATH(log2, heddle_log2)
HEDDLE_MATH(log10, heddle_log10)
HEDDLE_MATH(log1p, heddle_log1p)
HEDDLE_MATH(logb, heddle_logb)
HEDDLE_MATH(sin, heddle_signed_sin)
HEDDLE_MATH(cos, heddle_cos)
HEDDLE_MATH(tan, heddle_signed_tan)
HEDDLE_MATH(sinpi, heddle_signed_sinpi)
HEDDLE_MATH(cospi, heddle_signed_cospi)
HEDDLE_MATH(asin, heddle_asin)
HEDDLE_MATH(acos, heddle_acos)
HEDDLE_MATH(atan, heddle_signed_atan)
HEDDLE_MATH(sinh, heddle_sinh)
HEDDLE_MATH(cosh, heddle_cosh)
HEDDLE_MATH(tanh, heddle_tanh)
HEDDLE_MATH(asinh, heddle_asinh)
HEDDLE_MATH(acosh, heddle_acosh)
HEDDLE_MATH(atanh, heddle_atanh)
HEDDLE_MATH(erf, heddle_signed_erf)
HEDDLE_MATH(erfc, heddle_fixed_erfc)
HEDDLE_MATH(tgamma, heddle_fixed_tgamma)
HEDDLE_MATH(lgamma, heddle_fixed_lgamma)
HEDDLE_MATH(cbrt, heddle_cbrt)
HEDDLE_MATH(rcbrt, heddle_rcbrt)
HEDDLE_MATH_OF_TWO(pow, heddle_pow)
HEDDLE_MATH_OF_TWO(atan2, heddle_atan2)
HEDDLE_MATH_OF_TWO(hypot, heddle_hypot)
HEDDLE_MATH_OF_TWO(nextafter, heddle_nextafter)
HEDDLE_MATH_BOTH(sincos, heddle_signed_sin, heddle_cos)
HEDDLE_MATH_BOTH(sincospi, heddle_signed_sinpi, heddle_signed_cospi)
HEDDLE_MATH_WHOLE(ilogb, heddle_ilogb)
HEDDLE_MATH_AND(ldexp, heddle_ldexp, int, n)
HEDDLE_MATH_AND(scalbn, heddle_ldexp, int, n)
HEDDLE_MATH_AND(frexp, heddle_frexp, int*, at)

// What libclc does not have.
HEDDLE_BY_NVCC(erfinv)
HEDDLE_BY_NVCC(erfcinv)
HEDDLE_BY_NVCC(erfcx)
HEDDLE_BY_NVCC(normcdf)
HEDDLE_BY_NVCC(normcdfinv)
HEDDLE_BY_NVCC(j0)
HEDDLE_BY_NVCC(j1)
HEDDLE_BY_NVCC(jn)
HEDDLE_BY_NVCC(y0)
HEDDLE_BY_NVCC(y1)
HEDDLE_BY_NVCC(yn)
HEDDLE_BY_NVCC(cyl_bessel_i0)
HEDDLE_BY_NVCC(cyl_bessel_i1)
HEDDLE_BY_NVCC(rhypot)
HEDDLE_BY_NVCC(norm3d)
HEDDLE_BY_NVCC(rnorm3d)
HEDDLE_BY_NVCC(norm4d)
HEDDLE_BY_NVCC(rnorm4d)
