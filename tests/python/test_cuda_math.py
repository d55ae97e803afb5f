# SPDX-License-Identifier: MIT
"""CUDA's mathematics library of nvcc and of clang with libclc: errors in ulp, special values, exact functions, what is refused."""
import array
import math
import random
import struct
import unittest
from unittest import mock

import heddle
from heddle import _compiler
from support import HeddleTest
from test_cuda import single

INF, NAN = math.inf, math.nan


def narrow(value):
    """As a float; too large is infinity."""
    return math.copysign(INF, value) if abs(value) >= float.fromhex('0x1.ffffffp127') else single(value)


def log_gamma(x):
    return math.lgamma(x) if x > 0 or x != int(x) else INF


def cube_root(x):
    root = math.copysign(abs(x)**(1 / 3), x)
    return root - (root**3 - x) / (3 * root**2) if x else x


def sine_of_pi(x):
    part = math.remainder(x, 2)  # exact
    return math.sin(math.pi * (part if abs(part) <= .5 else math.copysign(1, part) - part))


def error_in_ulp(got, exact, bits):
    """The distance in units of the last of so many bits, of which floats have 24."""
    lowest = -149 if bits == 24 else -1074
    unit = max(math.frexp(exact)[1] - bits, lowest) if exact else lowest
    return abs(got - exact) / math.ldexp(1, unit)


SOME, UNIT, POSITIVE, LARGE = (-9, 9), (-1, 1), (1e-3, 1e3), (-1e7, 1e7)
MATH = {  # the function of Python, where it is compared, and bounds of the error, of float and double
    'exp': (math.exp, (-100, 80), 1.5, 1), 'exp2': (lambda x: 2**x, (-145, 120), 1, 1), 'exp10': (lambda x: 10**x, (-35, 35), 1.1, 1),
    'expm1': (math.expm1, SOME, 1.2, 1.1), 'log': (math.log, POSITIVE, 1.3, 1.5), 'log2': (math.log2, POSITIVE, 1, 1),
    'log10': (math.log10, POSITIVE, 1, 1), 'log1p': (math.log1p, POSITIVE, 1, 1), 'sin': (math.sin, LARGE, 1.6, 1.5),
    'cos': (math.cos, LARGE, 1.6, 1.5), 'tan': (math.tan, LARGE, 2.8, 1), 'sinpi': (sine_of_pi, LARGE, 1.9, 1.8),
    'cospi': (lambda x: sine_of_pi(.5 - abs(math.remainder(x, 2))), SOME, 1.9, 1.8), 'asin': (math.asin, UNIT, 1, 1),
    'acos': (math.acos, UNIT, 1.3, 1), 'atan': (math.atan, LARGE, 1.2, 1), 'sinh': (math.sinh, SOME, 2.2, 1.2),
    'cosh': (math.cosh, SOME, 2.3, 1.2), 'tanh': (math.tanh, SOME, 2, 1.2), 'asinh': (math.asinh, LARGE, 1.8, 1),
    'acosh': (math.acosh, (1, 99), 1.9, 1.6), 'atanh': (math.atanh, UNIT, 1, 1), 'erf': (math.erf, SOME, 1, 1),
    'erfc': (math.erfc, (-5, 9.9), 2.3, 2.5), 'tgamma': (math.gamma, (-30, 30), 1, 6.5), 'lgamma': (log_gamma, (3, 1e3), 2.3, 2.7),
    'cbrt': (cube_root, LARGE, 1, 1), 'rcbrt': (lambda x: 1 / cube_root(x), LARGE, 1.5, 1.5),
}
MATH_OF_TWO = {
    'pow': (lambda x, y: abs(x)**y, SOME, 1, 1), 'atan2': (math.atan2, SOME, 2.5, 1), 'hypot': (math.hypot, LARGE, 1, 1.1),
    'fmod': (math.fmod, LARGE, 0, 0), 'remainder': (math.remainder, LARGE, 0, 0),
    'fdim': (lambda x, y: max(x - y, 0), LARGE, .5, .5),
}
SPECIAL = {  # arguments and what is there of them
    'exp': '-inf>0 inf>inf nan>nan 0>1 -0>1 800>inf -800>0',
    'exp2': '-inf>0 inf>inf nan>nan 0>1 2000>inf -2000>0 10>1024 -149>1.401298464324817e-45',
    'exp10': '-inf>0 inf>inf nan>nan 0>1 2>100', 'expm1': '-inf>-1 inf>inf nan>nan 0>0 -0>-0',
    'log': '0>-inf -0>-inf 1>0 inf>inf -1>nan nan>nan', 'log2': '0>-inf 1>0 inf>inf -1>nan nan>nan',
    'log10': '0>-inf 1>0 inf>inf -1>nan nan>nan', 'log1p': '-1>-inf 0>0 -0>-0 inf>inf -2>nan', 'sin': '0>0 -0>-0 inf>nan nan>nan',
    'cos': '0>1 -0>1 -inf>nan nan>nan', 'tan': '0>0 -0>-0 inf>nan', 'sinpi': '0>0 -0>-0 1>0 -1>-0 0.5>1 inf>nan',
    'cospi': '0>1 0.5>0 -1.5>0 1>-1 inf>nan', 'asin': '0>0 -0>-0 2>nan nan>nan', 'acos': '1>0 2>nan nan>nan',
    'atan': '0>0 -0>-0 nan>nan', 'sinh': '0>0 -0>-0 inf>inf -inf>-inf nan>nan', 'cosh': '0>1 inf>inf -inf>inf nan>nan',
    'tanh': '0>0 -0>-0 inf>1 -inf>-1 nan>nan', 'asinh': '0>0 -0>-0 inf>inf -inf>-inf nan>nan', 'acosh': '1>0 inf>inf 0.5>nan nan>nan',
    'atanh': '0>0 -0>-0 1>inf -1>-inf 2>nan nan>nan', 'erf': '0>0 -0>-0 inf>1 -inf>-1 nan>nan', 'erfc': 'inf>0 -inf>2 nan>nan 0>1',
    'tgamma': '0>inf -0>-inf inf>inf -inf>nan -2>nan nan>nan 200>inf -200.5>-0 -201.5>0 1e+300>inf -1e+300>nan',
    'lgamma': '0>inf -0>inf 1>0 2>0 inf>inf -inf>inf -3>inf nan>nan', 'cbrt': '0>0 -0>-0 inf>inf -inf>-inf 27>3 nan>nan',
    'rcbrt': '0>inf -0>-inf inf>0 -8>-0.5',
    'round': '0.5>1 -0.5>-1 2.5>3 -0.25>-0 0>0 -0>-0 inf>inf nan>nan 0.49999997>0 8388609>8388609',
    'logb': '0>-inf -inf>inf nan>nan 8>3 0.75>-1', 'rsqrt': '4>0.5 inf>0 -1>nan 0>inf',
}
SPECIAL_OF_TWO = {  # the same
   
    'pow': 'nan,0>1 1,nan>1 -1,inf>1 0,-1>inf -0,-1>-inf -0,-2>inf -0,3>-0 -0,2>0 0.5,inf>0 0.5,-inf>inf 2,inf>inf '
           '-inf,3>-inf -inf,-3>-0 -inf,2>inf inf,-1>0 -2,3>-8 -2,0.5>nan nan,1>nan 2,nan>nan -8,.3>nan',
    'atan2': '0,0>0 -0,0>-0 0,1>0 -0,inf>-0 nan,1>nan', 'hypot': 'inf,nan>inf nan,-inf>inf nan,1>nan 3,-4>5 -0,0>0',
    'fmod': '5,3>2 -5,3>-2 -6,3>-0 1,inf>1 inf,1>nan 1,0>nan 0,1>0 -0,1>-0 1,nan>nan '
            '7.006492321624085e-45,2.802596928649634e-45>1.401298464324817e-45 1e38,3e38>1e38',
    'remainder': '5,3>-1 -5,3>1 5,2>1 7,2>-1 -6,3>-0 1,inf>1 inf,1>nan 1,0>nan '
                 '1.401298464324817e-45,2.802596928649634e-45>1.401298464324817e-45 2,3>-1 1.5,3>1.5 -0,2>-0',
    'fdim': '1,2>0 2,1>1 nan,1>nan inf,inf>0', 'nextafter': '2,2>2 nan,1>nan inf,inf>inf -0,0>0',
}


def halves_away(x):
    return math.copysign(math.floor(abs(x) + .5), x)


EXACT = {  # expressions of x, and their values
    'frexp(x, &n)': lambda x: math.frexp(x)[0], '(frexp(x, &n), n)': lambda x: math.frexp(x)[1], 'modf(x, &a)': lambda x: math.modf(x)[0],
    '(modf(x, &a), a)': lambda x: math.modf(x)[1], 'ldexp(x, 3)': lambda x: x * 8, 'ldexp(x, -140)': lambda x: x * 2.**-140,
    'ldexp(x, -1060)': lambda x: math.ldexp(x, -1060),
    'scalbn(x, -30)': lambda x: x * 2.**-30, 'scalbn(x, 3000)': lambda x: x and math.copysign(INF, x),
    'ilogb(x)': lambda x: math.frexp(x)[1] - 1 if x else -2**31,
    'logb(x)': lambda x: math.frexp(x)[1] - 1 if x else -INF, 'lround(x)': halves_away, 'llround(x)': halves_away, 'lrint(x)': round,
    'llrint(x)': round, 'round(x)': halves_away, '(sincos(x, &a, &b), a - sin(x))': lambda x: 0,
    '(sincos(x, &a, &b), b - cos(x))': lambda x: 0,
    '(sincospi(x, &a, &b), a - sinpi(x))': lambda x: 0, '(sincospi(x, &a, &b), b - cospi(x))': lambda x: 0,
    'signbit(x)': lambda x: math.copysign(1, x) < 0,
    '(remquo(x, 3, &n), n % 8)': lambda x: math.copysign(abs(round(x / 3)) % 8, x), 'remquo(x, 3, &n)': lambda x: math.remainder(x, 3),
    'sizeof(pow(x, 2)) + sizeof(pow(2, x))': lambda x: 16, 'pow(x, 2)': lambda x: x * x,
}


def same(got, expected):
    return math.isnan(got) if math.isnan(expected) else got == expected and math.copysign(1, got) == math.copysign(1, expected)


class CudaMath(HeddleTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gpu = heddle.Gpu('v100', {'gpu.sm_count': 2})

    def compilers(self):
        found = [('nvcc', mock.patch.object(_compiler, '_nvcc', _compiler._nvcc))] * bool(_compiler._nvcc())
        found += [('clang', mock.patch.object(_compiler, '_nvcc', lambda: None))] * bool(_compiler._clang() and _compiler._libclc())
        if not found:
            self.skipTest('neither nvcc nor clang++ with libclc is installed')
        return found

    def values(self, calls, kind, inputs):
        """The results of calls of x and y, for each input (a list of pairs for each call)."""
        cases = ''.join(f'case {n}: *o = {call}; break;\n' for n, call in enumerate(calls))
        source = f'''__global__ void f(int count, const {kind}* X, const {kind}* Y, {kind}* O) {{
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  {kind} x = X[blockIdx.y * count + k], y = Y[blockIdx.y * count + k], *o = O + blockIdx.y * count + k;
  {kind} a = 0, b = 0;
  int n = 0;
  switch (blockIdx.y) {{
{cases}  }}
}}'''
        count = max(map(len, inputs))
        padded = [list(pairs) + [(1, 1)] * (count - len(pairs)) for pairs in inputs]
        code = 'f' if kind == 'float' else 'd'
        x, y = (array.array(code, [pair[n] for pairs in padded for pair in pairs]) for n in (0, 1))
        result = array.array(code, [0] * len(x))
        self.gpu.kernel(source)(((count + 63) // 64, len(calls)), 64, count, x, y, result)
        return [result[n * count:n * count + len(pairs)].tolist() for n, pairs in enumerate(inputs)]

    @unittest.skipUnless(_compiler._clang() and _compiler._libclc(), 'clang++ or libclc is not installed')
    def test_errors_in_ulp(self):
        source = random.Random(1)
        table = {**{name: (lambda x, y, f=f: f(x), *more) for name, (f, *more) in MATH.items()}, **MATH_OF_TWO}
        for kind, bits in (('float', 24), ('double', 53)):
            cast = single if kind == 'float' else float
            inputs = [[(cast(source.uniform(*at)), cast(source.uniform(*at))) for _ in range(256)] for _, at, *_ in table.values()]
            suffix = 'f' if kind == 'float' else ''
            for spelled in (suffix, '')[:1 + bool(suffix)]:
                calls = [f'{name}{spelled}({"fabs(x), y" if name == "pow" else "x, y" if name in MATH_OF_TWO else "x"})' for name in table]
                with mock.patch.object(_compiler, '_nvcc', lambda: None):
                    results = self.values(calls, kind, inputs)
                for (name, (f, _, *allowed)), pairs, got in zip(table.items(), inputs, results):
                    # Python's own functions have errors of up to one ulp of double.
                    limit = allowed[0] if bits == 24 else allowed[1] + (allowed[1] > 0)
                    worst = max((error_in_ulp(v, f(*pair), bits), pair, v) for pair, v in zip(pairs, got))
                    with self.subTest(name=name, kind=kind):
                        self.assertLessEqual(worst[0], limit, worst)

    def test_special_values(self):
        cases = []
        for name, text in [*SPECIAL.items(), *SPECIAL_OF_TWO.items()]:
            rows = [[[float(v) for v in side.split(',')] for side in row.split('>')] for row in text.split()]
            cases.append((f'{name}({"x, y" if name in SPECIAL_OF_TWO else "x"})',
                          [(*given, 1.)[:2] for given, _ in rows], [e for _, (e,) in rows]))
        for kind in ('float', 'double'):
            for compiler, chosen in self.compilers():
                with chosen:
                    results = self.values([call for call, _, _ in cases], kind, [pairs for _, pairs, _ in cases])
                for (call, pairs, expected), got in zip(cases, results):
                    for pair, e, g in zip(pairs, expected, got):
                        with self.subTest(compiler, kind=kind, call=call, x=pair, got=g, expected=e):
                            self.assertTrue(same(g, narrow(e) if kind == 'float' and math.isfinite(e) else e))

    def test_functions_whose_results_are_exact(self):
        given = [0., -0., 1., -1., 2.5, -2.5, 3.5, .75, 1e-40, 1e-310, -5.5, 7., 22.25, 1e30 / 1e24]
        for kind in ('float', 'double'):
            x = [single(v) if kind == 'float' else v for v in given]
            for compiler, chosen in self.compilers():
                calls = [call.replace('(x, 3, &n)', f'(x, ({kind})3, &n)') for call in EXACT]
                with chosen:
                    results = self.values(calls, kind, [[(v, 0) for v in x]] * len(calls))
                for (call, f), got in zip(EXACT.items(), results):
                    for v, g in zip(x, got):
                        expected = f(v)
                        with self.subTest(compiler, kind=kind, call=call, x=v, got=g, expected=expected):
                            self.assertEqual(g, single(expected) if kind == 'float' and math.isfinite(expected) else expected)

    def test_the_next_number(self):
        given = [(1., 2.), (0., -1.), (2., 1.), (INF, 0.), (-1., -2.)]
        expected = {'float': [1 + 2**-23, -2.**-149, 2 - 2**-23, (2 - 2**-23) * 2.**127, -1 - 2**-23],
                    'double': [1 + 2**-52, -2.**-1074, 2 - 2**-52, (2 - 2**-52) * 2.**1023, -1 - 2**-52]}
        for kind in expected:
            for compiler, chosen in self.compilers():
                with self.subTest(compiler, kind=kind), chosen:
                    self.assertEqual(self.values(['nextafter(x, y)'], kind, [given]), [expected[kind]])

    @unittest.skipUnless(_compiler._clang() and _compiler._libclc(), 'clang++ or libclc is not installed')
    def test_the_namespace_std_and_headers_of_the_host(self):
        source = """#include <cmath>
#include <algorithm>
__global__ void f(float* p) { p[0] = std::exp(p[0]) + std::pow(p[1], 2.f) + std::round(p[2]) + std::fmod(p[1], 2.f) + expf(0.f); }"""
        p = array.array('f', [0, 3, .5])
        with mock.patch.object(_compiler, '_nvcc', lambda: None):
            self.gpu.kernel(source)(1, 1, p)
        self.assertEqual(p[0], 1 + 9 + 1 + 1 + 1)

    @unittest.skipUnless(_compiler._clang(), 'clang is not installed')
    def test_without_libclc_what_needs_it_is_refused_by_name(self):
        with mock.patch.object(_compiler, '_nvcc', lambda: None), mock.patch.object(_compiler, '_libclc', lambda: None):
            for call in ('expf(*p)', 'exp(*p)', 'sinf(*p)', 'powf(*p, 2.f)', 'pow(*p, 2)', 'tgamma(1.)', 'sincosf(*p, p, p)',
                         'ldexp(1., 2)', '}\n#include <cmath>\n__global__ void g(float* p) { *p = expf(*p)'):
                with self.subTest(call):
                    self.refused("unavailable: .*nvcc, or .*libclc: Debian's package libclc-[0-9]+$",
                                 self.gpu.kernel, f'__global__ void f(float* p) {{ {call}; }}')
            self.refused("no function 'expf' .*nvcc, or .*Debian's package libclc", self.gpu.kernel,
                         '#include <cmath>\n__global__ void f(float* p) { *p = std::exp(*p); }')
            p = array.array('f', [7.5])
            self.gpu.kernel('__global__ void f(float* p) { *p = fmodf(*p, 3) + roundf(*p); }')(1, 1, p)
            self.assertEqual(p[0], 9.5)

    @unittest.skipUnless(_compiler._clang() and _compiler._libclc(), 'clang++ or libclc is not installed')
    def test_what_libclc_does_not_have_is_refused_by_name(self):
        with mock.patch.object(_compiler, '_nvcc', lambda: None):
            for call in ('erfinv(.5)', 'normcdff(*p)', 'j0(1.)'):
                with self.subTest(call):
                    self.refused('unavailable: .*libclc has none: it needs nvcc', self.gpu.kernel,
                                 f'__global__ void f(float* p) {{ {call}; }}')
            self.refused('unavailable: .*does not have with -ffast-math', self.gpu.kernel,
                         '__global__ void f(float* p) { *p = sinf(*p); }', 'f',
                         ['-ffast-math'])
            self.gpu.kernel('__global__ void f(float* p) { *p = __sinf(*p) / 3; }', 'f', ['-ffast-math'])

    @unittest.skipUnless(_compiler._clang() and _compiler._libclc(), 'clang++ or libclc is not installed')
    def test_libclc_is_right_whatever_becomes_one_instruction(self):
        source = '__global__ void f(float* p) { p[threadIdx.x] = sinf(p[threadIdx.x]); }'
        with mock.patch.object(_compiler, '_nvcc', lambda: None):
            for options in ([], ['-ffp-contract=fast'], ['-ffp-contract=on'], ['-ffp-contract=off']):
                p = array.array('f', [4, 9.424753, -15.707964, 7887138])
                exact = list(map(math.sin, p))
                self.gpu.kernel(source, 'f', options)(1, 4, p)
                with self.subTest(options):
                    self.assertLess(max(map(error_in_ulp, p, exact, [24] * 4)), 2)

    @unittest.skipUnless(_compiler._clang(), 'clang is not installed')
    def test_products_and_sums_of_the_user_become_one_instruction(self):
        source = '__global__ void f(float* p) { float t = p[0] * p[1]; p[3] = t + p[2]; p[4] = p[5] / p[6] + sqrtf(p[7]); }'
        with mock.patch.object(_compiler, '_nvcc', lambda: None):
            for options, count in ([], 1), (['-ffp-contract=fast'], 1), (['-ffp-contract=off'], 0):
                with self.subTest(options):
                    ptx = _compiler.load(source, '7.0', options).ptx
                    self.assertEqual([ptx.count(name) for name in ('fma.rn.f32', 'div.rn.f32', 'sqrt.rn.f32')], [count, 1, 1])
