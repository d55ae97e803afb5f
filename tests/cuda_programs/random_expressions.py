#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random CUDA kernels, whose results under `heddle exec` are compared with the same functions on the CPU.

    random_expressions.py --heddle HEDDLE [--kernels 200] [--programs 1] [--seed 1] [--gpus rtx2060,h100]

A kernel evaluates a random function of elements, kernel parameters, a parameter structure and constant memory. Integers
are equal, floats near where the CPU's own precision allows to say. The function's text is in the program's message.
Exit code 77 without nvcc."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

BITS = {"short": 16, "int": 32, "unsigned": 32, "long long": 64, "unsigned long long": 64}
TYPES = ["float", "float", "double"] + list(BITS)
ELEMENTS = 64
OPERANDS = ["x", "y", "p", "q", "s.c[1]", "s.c[3]"]

HEAD = """#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
template <class T> __host__ __device__ T least(T a, T b) { return a < b ? a : b; }
template <class T> __host__ __device__ T most(T a, T b) { return a > b ? a : b; }
template <class T> __host__ __device__ T size(T a) { return a < T(0) ? -a : a; }
template <class T> struct constants { T c[4]; };
// Sums and products of signed types wrap around.
template <class T> struct wrapping { typedef unsigned long long type; };
template <> struct wrapping<int> { typedef unsigned type; };
template <> struct wrapping<unsigned> { typedef unsigned type; };
template <> struct wrapping<short> { typedef unsigned type; };
template <class T> T any() {
  if (T(0.5) != T(0)) return T(rand() %% 4001 - 2000) / T(64);
  return T((unsigned long long)rand() << 40 ^ (unsigned long long)rand() << 20 ^ rand());
}
const int n = %d;
int wrong = 0;
bool differs(double got, double same, double exact) {
  return std::fabs(same) < 1e30 && std::fabs(same - exact) <= 1e-4 * std::fmax(1, std::fabs(same)) &&
         !(std::fabs(got - exact) <= 2e-2 * std::fmax(1, std::fabs(exact)));
}
""" % ELEMENTS


class Expressions:
    """Expressions of type T, in C++."""

    def __init__(self, chance, kind):
        self.chance = chance
        self.bits = BITS.get(kind, 0)

    def make(self, depth, operands):
        c = self.chance
        if depth == 0 or c.random() < 0.12:
            return c.choice(operands) if c.random() < 0.72 else "T(%s)" % c.choice(self.literals())
        a, b = self.make(depth - 1, operands), self.make(depth - 1, operands)
        if c.random() < 0.2:
            compared = (self.make(depth - 1, operands), c.choice(["<", ">", "<=", ">="]), self.make(depth - 1, operands))
            return c.choice(["(%s %s %s ? %s : %s)" % (*compared, a, b), "least(%s, %s)" % (a, b), "most(%s, %s)" % (a, b)])
        return self.integers(a, b) if self.bits else self.floats(a, b)

    def literals(self):
        if self.bits:
            return ["0", "1", "-1", "2", "3", "-7", "8", "31", "100", "255", "256", "65535", "1000003", "0x7fffffff"]
        return ["0.0", "1.0", "-1.0", "0.5", "-0.125", "1.5", "-2.25", "3.0", "7.0"]

    def floats(self, a, b):
        return self.chance.choice(["(%s * %s)" % (a, b)] * 3 + ["(%s - %s)" % (a, b)] * 2 + ["(%s + %s)" % (a, b)] * 2 +
                                  ["(-%s)" % a, "size(%s)" % a, "T(int(least(most(%s, T(-1000)), T(1000))))" % a])

    def integers(self, a, b):
        c = self.chance
        amount = c.choice(["(%s & %d)" % (b, self.bits - 1), "%d" % c.randrange(self.bits)])
        divisor = c.choice(["((%s & 255) + 1)" % b, c.choice(["3", "7", "10", "16", "255", "1000"])])
        narrow = c.choice(["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t"])
        return c.choice(["T(U(%s) %s U(%s))" % (a, op, b) for op in "**++--&|^"] +
                        ["T(U(%s) << %s)" % (a, amount), "T(%s >> %s)" % (a, amount), "T(~%s)" % a, "T(0u - U(%s))" % a,
                         "T(%s / %s)" % (a, divisor), "T(%s %% %s)" % (a, divisor), "T((%s)(%s))" % (narrow, a)])


def function(chance, kind, name):
    """A function of the operands: assignments, conditional ones, short loops, a result."""
    e = Expressions(chance, kind)
    operands, body = list(OPERANDS), []
    for k in range(chance.randrange(1, 5)):
        v = "v%d" % k
        body.append("T %s = %s;" % (v, e.make(3, operands)))
        operands.append(v)
        if chance.random() < 0.3:
            body.append("if (%s < %s) %s = %s;" % (e.make(1, operands), e.make(1, operands), v, e.make(2, operands)))
        if chance.random() < 0.25:
            step = e.make(2, operands + ["T(k)"]) if e.bits else "%s * T(0.5) + %s" % (v, e.make(1, operands + ["T(k)"]))
            body.append("for (int k = 0; k < m; ++k) %s = %s;" % (v, step))
    return ("template <class T> __host__ __device__ T %s(T x, T y, T p, T q, const constants<T>& s, int m) {\n"
            "  typedef typename wrapping<T>::type U;\n  %s\n  return %s;\n}\n" %
            (name, "\n  ".join(body), e.make(4, operands)))


def kernel(chance, number):
    kind, name = chance.choice(TYPES), "f%d" % number
    values = {"kind": kind, "name": name, "from": chance.choice(["s", "s", name + "_constants"])}
    values["differs"] = ("h != o[i]" if kind in BITS else
                         "differs(o[i], h, %s<double>(a[i], a[i + n], p, q, wide, m))" % name)
    return function(chance, kind, name) + """__constant__ constants<%(kind)s> %(name)s_constants;
__global__ void %(name)s_kernel(%(kind)s* o, const %(kind)s* a, %(kind)s p, %(kind)s q, constants<%(kind)s> s, int m) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) o[i] = %(name)s<%(kind)s>(a[i], a[i + n], p, q, %(from)s, m);
}
void %(name)s_run() {
  typedef %(kind)s T;
  T *o, *a, p = any<T>(), q = any<T>();
  constants<T> s;
  constants<double> wide;
  const int m = rand() %% 5;
  cudaMallocManaged(&o, n * sizeof(T));
  cudaMallocManaged(&a, 2 * n * sizeof(T));
  for (int i = 0; i < 2 * n; ++i) a[i] = any<T>();
  for (int i = 0; i < 4; ++i) wide.c[i] = s.c[i] = any<T>();
  cudaMemcpyToSymbol(%(name)s_constants, &s, sizeof s);
  %(name)s_kernel<<<2, n / 2>>>(o, a, p, q, s, m);
  if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%(name)s failed\\n"), ++wrong;
  for (int i = 0; i < n; ++i) {
    const T h = %(name)s<T>(a[i], a[i + n], p, q, s, m);
    if (!(%(differs)s)) continue;
    std::printf("%(name)s of element %%d: %%g, on the CPU %%g\\n", i, double(o[i]), double(h));
    ++wrong;
    break;
  }
  cudaFree(o);
  cudaFree(a);
}
""" % values


def program(seed, kernels):
    chance = random.Random(seed)
    text = HEAD + "".join(kernel(chance, k) for k in range(kernels))
    runs = "".join("  f%d_run();\n" % k for k in range(kernels))
    return text + "int main() {\n  std::srand(%d);\n%s  return wrong != 0;\n}\n" % (seed, runs)


def check(nvcc, options, seed):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "random.cu"), os.path.join(folder, "random")
        with open(source, "w") as out:
            out.write(program(seed, options.kernels))
        subprocess.run([nvcc, "-w", "-Xcompiler", "-fwrapv,-ffp-contract=off", "-o", binary, source], check=True)
        for gpu in options.gpus.split(","):
            o = subprocess.run([options.heddle, "exec", "--gpu", gpu, "--quiet", "--", binary], capture_output=True, text=True)
            if o.returncode != 0:
                with open(source) as text:
                    sys.exit("seed %d on %s:\n%s%s\n%s" % (seed, gpu, o.stdout, o.stderr, text.read()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--heddle", required=True)
    parser.add_argument("--kernels", type=int, default=200, help="of a program")
    parser.add_argument("--programs", type=int, default=1, help="of seeds that follow each other")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gpus", default="rtx2060,h100")
    options = parser.parse_args()
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        print("nvcc was not found")
        sys.exit(77)
    for seed in range(options.seed, options.seed + options.programs):
        check(nvcc, options, seed)
    print("%d kernels are right on %s" % (options.programs * options.kernels, options.gpus))


if __name__ == "__main__":
    main()
