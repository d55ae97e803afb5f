# SPDX-License-Identifier: MIT
"""What CUDA C++ has without includes, by each compiler: shuffles, atomics, votes, functions, against values that Python computes."""
import array
import contextlib
import io
import itertools
import math
import re
import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import heddle
from heddle import _compiler
from support import CUDA_SAXPY, SAXPY, HeddleTest

LANES = range(32)
# Names of CUDA types, with the codes of `array` and bits.
TYPES = {'int': 'i', 'unsigned': 'I', 'long': 'q', 'unsigned long': 'Q', 'long long': 'q',
         'unsigned long long': 'Q', 'float': 'f', 'double': 'd'}
WHOLE = ('int', 'unsigned', 'unsigned long long')


def single(value):
    return struct.unpack('f', struct.pack('f', value))[0]


def wrapped(kind, value):
    """A whole number as a type holds it."""
    code = TYPES[kind]
    size = 8 * struct.calcsize(code)
    value %= 1 << size
    return value - (1 << size) if code in 'iq' and value >> (size - 1) else value


def value_of(kind, n):
    """A value that needs all bits of its type."""
    if kind == 'double':
        return 1 / (n + 3)
    if kind == 'float':
        return single(1 / (n + 3))
    return wrapped(kind, (n + 1) * 0x9E3779B97F4A7C15)


def shuffled(op, n, at, width):
    """The lane that lane `n` reads from."""
    first, last = n & ~(width - 1), n | (width - 1)
    if op == 'up':
        return n - at if n - at >= first else n
    lane = {'': first | (at & (width - 1)), 'down': n + at, 'xor': n ^ at}[op]
    return lane if lane <= last else n


ATOMICS = {  # what is there of one value and another, and the types
    'Add': (lambda a, b: a + b, ('int', 'unsigned', 'unsigned long long', 'float', 'double')),
    'Sub': (lambda a, b: a - b, ('int', 'unsigned')),
    'Min': (min, ('int', 'unsigned', 'long long', 'unsigned long long')),
    'Max': (max, ('int', 'unsigned', 'long long', 'unsigned long long')),
    'And': (lambda a, b: a & b, WHOLE),
    'Or': (lambda a, b: a | b, WHOLE),
    'Xor': (lambda a, b: a ^ b, WHOLE),
    'Exch': (lambda a, b: b, (*WHOLE, 'float')),
    'Inc': (lambda a, b: 0 if a >= b else a + 1, ('unsigned',)),
    'Dec': (lambda a, b: b if a == 0 or a > b else a - 1, ('unsigned',)),
}

i, u, q, w = 'int', 'unsigned', 'long long', 'unsigned long long'
f, d = 'float', 'double'
NUMBER = [(n - 15.5) * 1.37 for n in LANES]  # x is this as a float, y as a double, and k the lane
FUNCTIONS = [  # result, expression, its value for x, y, k
    (f, 'fminf(x, .5f)', lambda x, y, k: min(x, .5)),
    (f, 'fmaxf(x, NAN_)', lambda x, y, k: x),
    (f, 'fminf(NAN_, x)', lambda x, y, k: x),
    (f, 'max(NAN_, x)', lambda x, y, k: x),
    (f, 'min(x, NAN_)', lambda x, y, k: x),
    (f, 'fmax(x, 2.f)', lambda x, y, k: max(x, 2)),
    (d, 'fmin(y, .1)', lambda x, y, k: min(y, .1)),
    (d, 'fmax(y, (double)NAN_)', lambda x, y, k: y),
    (d, 'max(y, .1f)', lambda x, y, k: max(y, single(.1))),
    (d, 'min(x, .1)', lambda x, y, k: min(x, .1)),
    (i, 'min(k - 9, 3)', lambda x, y, k: min(k - 9, 3)),
    (i, 'max(k - 9, 3)', lambda x, y, k: max(k - 9, 3)),
    (u, 'max(k - 9, 3u)', lambda x, y, k: max((k - 9) % 2**32, 3)),
    (q, 'min(k - 9ll, 1ll << 40)', lambda x, y, k: k - 9),
    (w, 'max(k + 1ull, 1ull << 40)', lambda x, y, k: 1 << 40),
    (f, 'sqrtf(fabsf(x))', lambda x, y, k: single(math.sqrt(abs(x)))),
    (f, 'sqrt(fabs(x)) * 3.f', lambda x, y, k: single(single(math.sqrt(abs(x))) * 3)),
    (d, 'sqrt(fabs(y))', lambda x, y, k: math.sqrt(abs(y))),
    (f, 'floorf(x)', lambda x, y, k: math.floor(x)),
    (f, 'ceilf(x)', lambda x, y, k: math.ceil(x)),
    (f, 'truncf(x)', lambda x, y, k: math.trunc(x)),
    (f, 'rintf(x)', lambda x, y, k: round(x)),
    (d, 'floor(y)', lambda x, y, k: math.floor(y)),
    (d, 'ceil(y)', lambda x, y, k: math.ceil(y)),
    (d, 'trunc(y)', lambda x, y, k: math.trunc(y)),
    (d, 'nearbyint(y)', lambda x, y, k: round(y)),
    (f, 'copysignf(2.f, x)', lambda x, y, k: math.copysign(2, x)),
    (d, 'copysign(2., y)', lambda x, y, k: math.copysign(2, y)),
    (i, '__float_as_int(copysignf(NAN_, x)) >> 31', lambda x, y, k: -(x < 0)),
    (d, 'fma(y, 2., -y)', lambda x, y, k: y),
    (f, 'fmaf(x, 4.f, x)', lambda x, y, k: single(x * 5)),
    (f, '__saturatef(x)', lambda x, y, k: min(max(x, 0), 1)),
    (i, 'abs(k - 9)', lambda x, y, k: abs(k - 9)),
    (f, 'abs(x)', lambda x, y, k: abs(x)),
    (q, 'abs(k - 9ll)', lambda x, y, k: abs(k - 9)),
    (i, 'isnan(x / 0.f - x / 0.f)', lambda x, y, k: 1),
    (i, 'isinf(x / 0.f)', lambda x, y, k: 1),
    (i, 'isfinite(y)', lambda x, y, k: 1),
    (i, '__popc(k * 77)', lambda x, y, k: bin(k * 77).count('1')),
    (i, '__popcll((unsigned long long)k << 40)', lambda x, y, k: bin(k).count('1')),
    (i, '__clz(k)', lambda x, y, k: 32 - k.bit_length()),
    (i, '__clzll(k)', lambda x, y, k: 64 - k.bit_length()),
    (i, '__ffs(k)', lambda x, y, k: (k & -k).bit_length()),
    (i, '__ffsll((long long)k << 40)', lambda x, y, k: (k << 40 & -(k << 40)).bit_length()),
    (u, '__brev(k)', lambda x, y, k: int(f'{k:032b}'[::-1], 2)),
    (w, '__brevll(k)', lambda x, y, k: int(f'{k:064b}'[::-1], 2)),
    (i, '__mulhi((k - 9) << 26, 1 << 20)', lambda x, y, k: ((k - 9) << 46) >> 32),
    (u, '__umulhi(k << 27, 0xffffffffu)', lambda x, y, k: (k << 27) * (2**32 - 1) >> 32),
    (q, '__mul64hi((k - 9ll) << 50, 1ll << 40)', lambda x, y, k: ((k - 9) << 90) >> 64),
    (i, '__mul24(k - 9, 77)', lambda x, y, k: (k - 9) * 77),
    (w, '__umul64hi((unsigned long long)k << 58, 1ull << 40)', lambda x, y, k: (k << 98) >> 64),
    (u, '__umul24(k, 77u)', lambda x, y, k: k * 77),
    (i, '__float_as_int(x)', lambda x, y, k: struct.unpack('i', struct.pack('f', x))[0]),
    (u, '__float_as_uint(x)', lambda x, y, k: struct.unpack('I', struct.pack('f', x))[0]),
    (f, '__int_as_float(0x3f800000 + k)', lambda x, y, k: 1 + k * 2**-23),
    (q, '__double_as_longlong(y)', lambda x, y, k: struct.unpack('q', struct.pack('d', y))[0]),
    (d, '__longlong_as_double(1ll << 62)', lambda x, y, k: 2),
    (i, '__float2int_rn(x)', lambda x, y, k: round(x)),
    (f, '__int2float_rz(k - 0x7fffffff)', lambda x, y, k: -(0x7fffffff - k & -128)),
    (f, '__uint2float_rz(0xffffffffu - k)', lambda x, y, k: 0xffffff00),
    (f, '__uint2float_ru(0xfffffe01u + k)', lambda x, y, k: 0xffffff00),
    (i, '__float2int_rz(x)', lambda x, y, k: int(x)),
    (i, '__float2int_ru(x)', lambda x, y, k: math.ceil(x)),
    (i, '__float2int_rd(x)', lambda x, y, k: math.floor(x)),
    (u, '__float2uint_rn(fabsf(x))', lambda x, y, k: round(abs(x))),
    (q, '__float2ll_rd(x)', lambda x, y, k: math.floor(x)),
    (i, '__double2int_ru(y)', lambda x, y, k: math.ceil(y)),
    (q, '__double2ll_rz(y)', lambda x, y, k: int(y)),
    (f, '__int2float_rz(0x1000001 + 0 * k)', lambda x, y, k: 0x1000000),
    (f, '__int2float_ru(0x1000001 + 0 * k)', lambda x, y, k: 0x1000002),
    (f, '__uint2float_rd(0xffffffffu - 0 * k)', lambda x, y, k: 0xffffff00),
    (f, '__double2float_rn(y)', lambda x, y, k: single(y)),
    (f, '__fadd_ru(1.f + 0 * x, 1e-9f)', lambda x, y, k: 1 + 2**-23),
    (f, '__fadd_rd(1.f + 0 * x, 1e-9f)', lambda x, y, k: 1),
    (f, '__fsub_rz(1.f + 0 * x, 1e-9f)', lambda x, y, k: 1 - 2**-24),
    (f, '__fmul_rn(x, 3.f)', lambda x, y, k: single(x * 3)),
    (f, '__fdiv_rn(x, 3.f)', lambda x, y, k: single(x / 3)),
    (f, '__frcp_rn(x)', lambda x, y, k: single(1 / x)),
    (f, '__fsqrt_rn(fabsf(x))', lambda x, y, k: single(math.sqrt(abs(x)))),
    (f, '__fmaf_rn(x, 2.f, x)', lambda x, y, k: single(x * 3)),
    (d, '__dadd_ru(1. + 0 * y, 1e-30)', lambda x, y, k: 1 + 2**-52),
    (d, '__dsub_rd(1. + 0 * y, 1e-30)', lambda x, y, k: 1 - 2**-53),
    (d, '__dmul_rn(y, 3.)', lambda x, y, k: y * 3),
    (d, '__ddiv_rn(y, 3.)', lambda x, y, k: y / 3),
    (d, '__drcp_rn(y)', lambda x, y, k: 1 / y),
    (d, '__dsqrt_rn(fabs(y))', lambda x, y, k: math.sqrt(abs(y))),
    (d, '__fma_rn(y, 2., -y)', lambda x, y, k: y),
    (f, '__ldg(X + k)', lambda x, y, k: x),
    (d, '__ldg(Y + k)', lambda x, y, k: y),
    (f, '__ldg((const float4*)X + k % 8).w', lambda x, y, k: single(NUMBER[k % 8 * 4 + 3])),
    (d, '__ldg((const double2*)Y + k % 8).y', lambda x, y, k: NUMBER[k % 8 * 2 + 1]),
    (f, 'make_float2(x, 1).x + make_float3(1, x, 2).y + make_float4(1, 2, 3, x).w', lambda x, y, k: single(single(x + x) + x)),
    (i, 'make_int2(k, 1).x + make_int3(1, k, 2).y + make_int4(1, 2, 3, k).w + make_uchar4(k, 0, 0, 0).x', lambda x, y, k: 4 * k),
    (i, 'dim3(k, 2).x + dim3(k).y + dim3(k).z + warpSize', lambda x, y, k: k + 34),
    (i, 'sizeof(float3) + 100 * sizeof(double2) + 10000 * alignof(int4)', lambda x, y, k: 161612),
    (i, '__all_sync(~0u, k < 32) + 2 * __all_sync(~0u, k < 31)', lambda x, y, k: 1),
    (i, '__any_sync(~0u, k == 3) + 2 * __any_sync(~0u, k > 31)', lambda x, y, k: 1),
    (u, '__ballot_sync(~0u, k % 3 == 0)', lambda x, y, k: 0x49249249),
    (u, '__activemask()', lambda x, y, k: 0xffffffff),
    (i, '__syncthreads_count(k < 7) + 100 * __syncthreads_and(k < 7) + 1000 * __syncthreads_or(k == 7)', lambda x, y, k: 1007),
    (u, '__match_any_sync(~0u, k % 8)', lambda x, y, k: 0x01010101 << k % 8),
    (u, '__match_any_sync(~0u, (long long)(k % 2) << 40)', lambda x, y, k: 0x55555555 << k % 2),
    (u, '__match_any_sync(~0u, k % 2 ? x : 1.f)', lambda x, y, k: 1 << k if k % 2 else 0x55555555),
    (u, '__match_any_sync(~0u, k < 16 ? 1. : y)', lambda x, y, k: 0xffff if k < 16 else 1 << k),
    (u, '__match_any_sync(~0u, k % 4u) ^ __match_any_sync(~0u, k % 4ul)', lambda x, y, k: 0),
    (u, '__match_all_sync(~0u, k / 32, &flag) + flag', lambda x, y, k: 0),  # ~0u, and 1
    (u, '__match_all_sync(~0u, k, &flag) + flag', lambda x, y, k: 0),
    (u, '__match_all_sync(~0u, k * 0 + 5ull, &flag) - flag', lambda x, y, k: 0xfffffffe),
    (u, '__match_all_sync(~0u, y, &flag) - flag', lambda x, y, k: 0),
    (u, '__byte_perm(0x33221100u, 0x77665544u, 0x6000u + k % 8)', lambda x, y, k: 0x66000000 | 0x11 * (k % 8)),
    (u, '__funnelshift_l(0x89abcdefu, 0x01234567u, k + 8)', lambda x, y, k: 0x0123456789abcdef << (k + 8) % 32 >> 32 & 0xffffffff),
    (u, '__funnelshift_r(0x89abcdefu, 0x01234567u, k + 8)', lambda x, y, k: 0x0123456789abcdef >> (k + 8) % 32 & 0xffffffff),
    (u, '__funnelshift_lc(0x89abcdefu, 0x01234567u, k + 8)', lambda x, y, k: 0x0123456789abcdef << min(k + 8, 32) >> 32 & 0xffffffff),
    (u, '__funnelshift_rc(0x89abcdefu, 0x01234567u, k + 8)', lambda x, y, k: 0x0123456789abcdef >> min(k + 8, 32) & 0xffffffff),
    (u, '__sad(k - 9, 3, 7u)', lambda x, y, k: abs(k - 12) + 7),
    (u, '__usad(k, 0x80000000u, 7u)', lambda x, y, k: 2**31 - k + 7),
    (i, '__hadd(k - 9, 2)', lambda x, y, k: (k - 7) >> 1),
    (i, '__rhadd(k - 9, 2)', lambda x, y, k: (k - 6) >> 1),
    (u, '__uhadd(0xffffffffu, k) + __urhadd(0xffffffffu, k)', lambda x, y, k: ((2**32 - 1 + k) // 2 + (2**32 + k) // 2) % 2**32),
    (i, '__dp4a(0x01ff0203, 0x01010101 * k, -5)', lambda x, y, k: (1 - 1 + 2 + 3) * k - 5),
    (u, '__dp4a(0x01ff0203u, 0x01010101u * k, 5u)', lambda x, y, k: (1 + 255 + 2 + 3) * k + 5),
    (u, '__isGlobal(X) + 2 * __isShared(X) + 4 * __isShared(shared) + 8 * __isGlobal(shared) + 16 * __isLocal(&flag)', lambda x, y, k: 21),
    (i, '(__nanosleep(20), 1)', lambda x, y, k: 1),
    (i, 'clock64() - clock64() <= 0', lambda x, y, k: 1),
    (i, 'clock() == 0', lambda x, y, k: 0),
]
ABOUT = [  # approximations of the hardware, with their largest error: relative to values above 1, else absolute
    ('rsqrtf(fabsf(x))', lambda x: 1 / math.sqrt(abs(x))),
    ('__expf(x)', math.exp),
    ('__exp10f(x)', lambda x: 10**x),
    ('__sinf(x / 8)', lambda x: math.sin(x / 8)),
    ('__cosf(x / 8)', lambda x: math.cos(x / 8)),
    ('__tanf(x / 16)', lambda x: math.tan(x / 16)),
    ('__logf(fabsf(x))', lambda x: math.log(abs(x))),
    ('__log2f(fabsf(x))', lambda x: math.log2(abs(x))),
    ('__log10f(fabsf(x))', lambda x: math.log10(abs(x))),
    ('__powf(fabsf(x), 1.5f)', lambda x: abs(x)**1.5),
    ('__fdividef(x, 3.f)', lambda x: x / 3),
]


class Cuda(HeddleTest):
    def compilers(self):
        """The names of the compilers that are installed, each with what chooses it."""
        found = [('nvcc', mock.patch.object(_compiler, '_nvcc', _compiler._nvcc))] * bool(_compiler._nvcc())
        found += [('clang', mock.patch.object(_compiler, '_nvcc', lambda: None))] * bool(_compiler._clang())
        if not found:
            self.skipTest('neither nvcc nor clang++ is installed')
        return found

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gpu = heddle.Gpu('v100', {'gpu.sm_count': 1})

    def test_shuffles_of_all_types(self):
        cases = [(op, at, width) for op in ('', 'up', 'down', 'xor') for at, width in ((5, None), (3, 8), (1, 16))]
        parameters = ', '.join(f'const {kind}* in{n}, {kind}* out{n}' for n, kind in enumerate(TYPES))
        body = ''
        for n in range(len(TYPES)):
            for c, (op, at, width) in enumerate(cases):
                name = f'__shfl_{op}_sync' if op else '__shfl_sync'
                body += f'out{n}[{c * 32} + k] = {name}(~0u, in{n}[k], {at}{f", {width}" * bool(width)});\n'
        source = f'__global__ void shuffles({parameters}) {{\nint k = threadIdx.x;\n{body}}}'
        values = [array.array(code, [value_of(kind, n) for n in LANES]) for kind, code in TYPES.items()]
        for name, chosen in self.compilers():
            with self.subTest(name), chosen:
                results = [array.array(v.typecode, [0] * (32 * len(cases))) for v in values]
                self.gpu.kernel(source)(1, 32, *(a for both in zip(values, results) for a in both))
                for kind, given, result in zip(TYPES, values, results):
                    for c, case in enumerate(cases):
                        expected = [given[shuffled(case[0], n, case[1], case[2] or 32)] for n in LANES]
                        self.assertEqual(result[32 * c:32 * c + 32].tolist(), expected, (kind, case))

    def test_atomics_of_all_types(self):
        cases = [(op, kind) for op, (_, kinds) in ATOMICS.items() for kind in kinds]
        parameters = ', '.join(f'{kind}* p{n}, {kind} v{n}' for n, (_, kind) in enumerate(cases))
        for (name, chosen), scope in itertools.product(self.compilers(), ('', '_block', '_system')):
            body = ''.join(f'p{n}[1] = atomic{op}{scope}(p{n}, v{n});\n' for n, (op, _) in enumerate(cases))
            with self.subTest(name + scope), chosen:
                kernel = self.gpu.kernel(f'__global__ void atomics({parameters}) {{\n{body}}}')
                # The scope is that of the instruction, or the GPU's.
                named = {'': r'atom(\.gpu)?', '_block': r'atom(\.\w+)*\.cta', '_system': r'atom(\.\w+)*\.sys'}[scope]
                self.assertGreater(len(re.findall(named, kernel.module.ptx)), 20)
                for first, second in ((3, 5), (5, 3), (0, 4), (7, 7), (0, 3), (3, 0)):
                    pairs = [(value_of(kind, first), value_of(kind, second)) for _, kind in cases]
                    memory = [array.array(TYPES[kind], [a, 0]) for (_, kind), (a, _) in zip(cases, pairs)]
                    kernel(1, 1, *(x for m, (_, b) in zip(memory, pairs) for x in (m, b)))
                    for (op, kind), (a, b), m in zip(cases, pairs, memory):
                        result = ATOMICS[op][0](a, b)
                        result = single(result) if kind == 'float' else result if kind == 'double' else wrapped(kind, result)
                        self.assertEqual(m.tolist(), [result, a], (op, kind, a, b))

    def test_compare_and_swap_and_threads_that_meet(self):
        text = '''__global__ void swaps(int* a, unsigned* b, unsigned long long* c, unsigned short* h, int* sum, double* total) {
  int k = threadIdx.x;
  if (k == 0) {
    a[1] = atomicCAS(a, -5, 7), a[1] += atomicCAS(a, 1, 9);
    b[1] = atomicCAS(b, 0xf0000005u, 7u), c[1] = atomicCAS(c, 0xf000000000000005ull, 7ull);
    h[1] = atomicCAS(h, (unsigned short)0xf005, (unsigned short)7), h[2] = atomicCAS(h, (unsigned short)9, (unsigned short)8);
  }
  __syncthreads();
  __threadfence(), __threadfence_block(), __threadfence_system(), __syncwarp(), __syncwarp(~0u);
  atomicAdd(sum, k), atomicAdd(total, .5);
}'''
        for (name, chosen), scope in itertools.product(self.compilers(), ('', '_block', '_system')):
            source = re.sub(r'atomicCAS(?=\(\w, (?!\(unsigned short))', f'atomicCAS{scope}', text)
            with self.subTest(name + scope), chosen:
                memory = [array.array('i', [-5, 0]), array.array('I', [0xf0000005, 0]), array.array('Q', [0xf000000000000005, 0]),
                          array.array('H', [0xf005, 0, 0, 3]), array.array('i', [0]), array.array('d', [0])]
                self.gpu.kernel(source)(2, 32, *memory)
                self.assertEqual(memory[0][0], 7)
                self.assertEqual([m[0] for m in memory[1:3]], [7, 7])
                self.assertEqual(memory[3].tolist()[::3], [7, 3])
                self.assertEqual([memory[4][0], memory[5][0]], [992, 32])

    def test_functions(self):
        kinds = ('int', 'unsigned', 'long long', 'unsigned long long', 'float', 'double')
        cases = FUNCTIONS + [('float', text, None) for text, _ in ABOUT]
        body = ''.join(f'o{kinds.index(kind)}[{n * 32} + k] = {text};\n' for n, (kind, text, _) in enumerate(cases))
        outputs = ', '.join(f'{kind}* o{n}' for n, kind in enumerate(kinds))
        source = (f'#define NAN_ __int_as_float(0x7fffffff)\n__global__ void functions(const float* X, const double* Y, {outputs}) {{\n'
                  f'__shared__ int shared[1];\nint k = threadIdx.x, flag = 0;\nfloat x = X[k];\ndouble y = Y[k];\n{body}}}')
        x, y = array.array('f', NUMBER), array.array('d', NUMBER)
        for name, chosen in self.compilers():
            with self.subTest(name), chosen:
                results = [array.array(TYPES[kind], [0] * (32 * len(cases))) for kind in kinds]
                self.gpu.kernel(source)(1, 32, x, y, *results)
                for n, (kind, text, value) in enumerate(FUNCTIONS):
                    got = results[kinds.index(kind)][32 * n:32 * n + 32].tolist()
                    self.assertEqual(got, [value(x[k], y[k], k) for k in LANES], text)
                for n, (text, value) in enumerate(ABOUT):
                    at = 32 * (len(FUNCTIONS) + n)
                    for k in LANES:
                        expected = value(x[k])
                        self.assertLess(abs(results[4][at + k] - expected), 2e-5 * max(1, abs(expected)), (text, x[k]))

    def test_output_and_the_headers_of_the_host(self):
        source = '''#include <cstdio>
#include <cmath>
#include <algorithm>
#include <cassert>
__global__ void say(int n) {
  assert(n < 6);
  printf("%d of %s: %.2f\\n", n, "this", sqrt(2.f) + std::abs(-1.f));
}'''
        for name, chosen in self.compilers():
            with self.subTest(name), chosen:
                kernel = self.gpu.kernel(source)
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    kernel(1, 1, 5)
                self.assertEqual(said.getvalue(), '5 of this: 2.41\n')
                with self.assertRaisesRegex(heddle.SimulationError, 'n < 6'):
                    kernel(1, 1, 6)

    def test_a_fault_in_a_function_of_cuda_is_at_the_users_line(self):
        source = '__device__ void inner(int* p) {\n  atomicAdd(p, 1);\n}\n__global__ void f(int* p) {\n  inner(p);\n}\n'
        for name, chosen in self.compilers():
            with self.subTest(name), chosen:
                with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
                    self.gpu.kernel(source)(1, 1, None)
                self.assertEqual(caught.exception.place[:2], ('<cuda>', 2))
                with tempfile.TemporaryDirectory() as folder:
                    file, header = Path(folder, 'f.cu'), Path(folder, 'inner.h')
                    header.write_text(source[:source.index('__global__')])
                    file.write_text('#include "inner.h"\n' + source[source.index('__global__'):])
                    with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
                        self.gpu.kernel(file)(1, 1, None)
                    self.assertEqual((Path(caught.exception.place.file).name, caught.exception.place.line), ('inner.h', 2))

    def test_a_file_may_begin_with_a_byte_order_mark(self):
        with tempfile.TemporaryDirectory() as folder:
            for suffix, text in (('f.cu', CUDA_SAXPY), ('f.ptx', SAXPY.read_text())):
                file = Path(folder, suffix)
                file.write_bytes(b'\xef\xbb\xbf' + text.encode())
                for name, chosen in self.compilers():
                    with self.subTest(name), chosen:
                        y = array.array('f', [1])
                        self.gpu.kernel(file)(1, 1, 1, 2.0, array.array('f', [3]), y)
                        self.assertEqual(y[0], 7)

    @unittest.skipUnless(_compiler._clang(), 'clang is not installed')
    def test_what_clang_does_not_have_is_refused(self):
        calls = ['erfinvf(*p)', 'exp(1)', 'fmod(*p, 1.)', '__half h', 'atomicMax(p, 1.f)', 'atomicSub(p, 1.f)',
                 'atomicAdd((short*)p, 1)', 'atomicAdd((long long*)p, 1ll)',
                 'atomicExch((double*)p, 1.)', 'atomicSub_block(p, 1.f)', 'atomicMin_system(p, 1.f)', 'atomicCAS(p, 1.f, 2.f)',
                 '__shfl_sync(~0u, make_float2(1, 2), 0)', '__shfl_xor_sync(~0u, p, 1)',
                 '__ldg(&p)', 'min(1, 2.f)', '__reduce_add_sync(~0u, 1)']
        with mock.patch.object(_compiler, '_nvcc', lambda: None):
            for call in calls:
                with self.subTest(call), self.assertRaises(heddle.CompileError):
                    self.gpu.kernel(f'__global__ void f(float* p) {{ {call}; }}')
            self.refused("'__reduce_add_sync.* is unavailable: it is of sm_80", self.gpu.kernel,
                         '__global__ void f(unsigned* p) { *p = __reduce_add_sync(~0u, 1); }')
