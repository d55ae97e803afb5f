# SPDX-License-Identifier: MIT
"""heddle.triton with a stand-in for the package triton (stand_in/triton, triton_ptx.py): kernels of Triton's tutorials against NumPy."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

import heddle
import heddle.triton as ht
from support import SOURCE, has

STAND_IN = Path(__file__).resolve().parent / 'stand_in'
sys.path.insert(0, str(STAND_IN))
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

if has('numpy'):
    import numpy as np


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pass


@triton.jit
def softmax_kernel(output_ptr, input_ptr, input_row_stride, output_row_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    pass


@triton.jit
def _layer_norm_fwd_fused(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    pass


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    pass


@triton.jit
def _attn_fwd(Q, K, V, Out, sm_scale, N_CTX, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr):
    pass


@triton.jit
def unknown_kernel(x_ptr):
    pass


class OfTorch:
    """A tensor in the host's memory as torch has it: DLPack and a type, no buffer."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@unittest.skipUnless(has('numpy'), 'NumPy is not installed')
class Triton(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gpu = heddle.Gpu('a100', {'gpu.sm_count': 4})
        cls.random = np.random.default_rng(3) if has('numpy') else None

    def setUp(self):
        triton.style = '3.5'
        triton.compilations.clear()
        for function in (add_kernel, softmax_kernel, _layer_norm_fwd_fused, matmul_kernel, _attn_fwd):
            function.cache.clear()

    def floats(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def add(self, n=3000, function=add_kernel, **options):
        x, y, out = self.floats(n), self.floats(n), np.zeros(n, np.float32)
        jit = ht.jit_on(self.gpu, function)
        metrics = jit[lambda meta: (triton.cdiv(n, meta['BLOCK_SIZE']),)](x, y, out, n, **options)
        self.assertTrue((out == x + y).all())
        return jit, metrics

    def test_vector_add_in_the_forms_of_all_versions(self):
        for style, scratch in (('3.0', 0), ('3.2', 1), ('3.5', 2)):
            triton.style = style
            add_kernel.cache.clear()
            jit, metrics = self.add(BLOCK_SIZE=1024)
            self.assertEqual(jit.compiled.arguments, ('x_ptr', 'y_ptr', 'output_ptr', 'n_elements'))
            self.assertEqual(len(jit.compiled.kernel.parameters), 4 + scratch)
            self.assertEqual((metrics['kernels'][0]['grid'], metrics['kernels'][0]['block']), ([3, 1, 1], [128, 1, 1]))
            jit, metrics = self.add(BLOCK_SIZE=1024, num_warps=8)
            self.assertEqual(metrics['kernels'][0]['block'], [256, 1, 1])
            self.assertEqual(jit.compiled.num_warps, 8)

    def test_softmax(self):
        rows, columns = 12, 781
        x, out = self.floats(rows, columns), np.zeros((rows, columns), np.float32)
        jit = ht.jit_on(self.gpu, softmax_kernel)
        jit[(rows,)](out, x, columns, columns, columns, BLOCK_SIZE=1024)
        power = np.exp(x - x.max(axis=1, keepdims=True))
        np.testing.assert_allclose(out, power / power.sum(axis=1, keepdims=True), rtol=1e-5)
        self.assertEqual(jit.compiled.shared_bytes, 16)

    def test_layer_norm(self):
        rows, columns = 9, 500
        x, w, b, y = self.floats(rows, columns), self.floats(columns), self.floats(columns), np.zeros((rows, columns), np.float32)
        mean, rstd = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
        ht.jit_on(self.gpu, _layer_norm_fwd_fused)[(rows,)](x, y, w, b, mean, rstd, columns, columns, 1e-5, BLOCK_SIZE=512)
        wanted = 1 / np.sqrt(x.var(axis=1) + 1e-5)
        np.testing.assert_allclose(mean, x.mean(axis=1), atol=1e-6)
        np.testing.assert_allclose(rstd, wanted, rtol=1e-5)
        np.testing.assert_allclose(y, (x - mean[:, None]) * wanted[:, None] * w + b, atol=1e-5)

    def matrices(self, m, n, k):
        return (*(self.random.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n))), np.zeros((m, n), np.float16))

    def test_matmul(self):
        for m, n, k in ((128, 64, 96), (100, 72, 40)):
            a, b, c = self.matrices(m, n, k)
            jit = ht.jit_on(self.gpu, matmul_kernel)
            jit[lambda meta: (triton.cdiv(m, meta['BLOCK_SIZE_M']) * triton.cdiv(n, meta['BLOCK_SIZE_N']),)](
                a, b, c, m, n, k, k, 1, n, 1, n, 1, BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=32)
            self.assertTrue((c == (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)).all())
            self.assertNotIn('stride_ak', jit.compiled.arguments)  # 1, so Triton knows it
            self.assertIn('stride_am', jit.compiled.arguments)

    def test_attention(self):
        heads, n, dim = 2, 128, 64
        q, k, v = (self.floats(heads, n, dim).astype(np.float16) for _ in range(3))
        out = np.zeros_like(q)
        ht.jit_on(self.gpu, _attn_fwd)[(n // 64, heads)](q, k, v, out, 0.125, n, BLOCK_M=64, BLOCK_N=32, HEAD_DIM=dim)
        scores = np.einsum('hid,hjd->hij', q.astype(np.float32), k.astype(np.float32)) * 0.125
        power = np.exp(scores - scores.max(axis=2, keepdims=True))
        wanted = np.einsum('hij,hjd->hid', power / power.sum(axis=2, keepdims=True), v.astype(np.float32))
        np.testing.assert_allclose(out.astype(np.float32), wanted, atol=3e-3)

    def test_triton_specialises_as_for_the_gpus_addresses(self):
        base = np.zeros(4096 + 4, np.float32)
        jit = ht.jit_on(self.gpu, add_kernel)
        x, y, out = base[1:1025], self.floats(1024), np.zeros(1024, np.float32)
        jit.compile(x, y, out, 1024, BLOCK_SIZE=1024)
        alone = triton.compilations[-1].attrs
        self.assertTrue(alone['x_ptr'] and alone['n_elements'])  # memory of the GPU begins aligned, wherever the array lies here
        jit.compile(base, base[1:1025], out, 1001, BLOCK_SIZE=1024)
        shared = triton.compilations[-1].attrs
        self.assertTrue(shared['x_ptr'])
        self.assertFalse(shared['y_ptr'] or shared['n_elements'])

    def test_arrays_of_other_types(self):
        jit = ht.jit_on(self.gpu, add_kernel)
        x, y, out = self.floats(64), self.floats(64), np.zeros(64, np.float32)
        jit[(1,)](OfTorch(x), ht.Tensor(bytearray(y.tobytes()), 'float32'), OfTorch(out), np.int64(64), BLOCK_SIZE=1024)
        self.assertTrue((out == x + y).all())
        jit.compile(ht.Tensor(np.zeros(4, np.uint16), 'bfloat16'), OfTorch(x), out, 4, BLOCK_SIZE=1024)
        self.assertEqual(triton.compilations[-1].signature['x_ptr'], '*bf16')
        with self.assertRaisesRegex(heddle.InputError, "'x_ptr' of 'add_kernel' is an array of bytearray, .*heddle.triton.Tensor"):
            jit[(1,)](bytearray(256), y, out, 64, BLOCK_SIZE=1024)

    def configurations(self):
        return [triton.Config({'BLOCK_SIZE': block}, num_warps=warps) for block, warps in ((128, 1), (1024, 4), (1024, 8))]

    def test_autotune_keeps_the_best(self):
        for jobs in (1, 3):
            tuned = triton.autotune(self.configurations(), key=['n_elements'])(add_kernel)
            n = 5000
            x, y, out = self.floats(n), self.floats(n), np.zeros(n, np.float32)
            jit = ht.jit_on(self.gpu, tuned, jobs=jobs)
            grid = lambda meta: (triton.cdiv(n, meta['BLOCK_SIZE']),)  # noqa: E731
            metrics = jit[grid](x, y, out, n)
            self.assertTrue((out == x + y).all())
            self.assertEqual(len(jit.trials), 3)
            best = min(jit.trials, key=lambda trial: trial.milliseconds)
            self.assertIs(jit.best_config, best.config)
            clock = float(self.gpu.config['gpu.core_clock_mhz'])
            self.assertAlmostEqual(metrics['kernels'][0]['cycles'] / clock / 1e3, best.milliseconds, places=9)
            compiled, jit.trials = len(triton.compilations), []
            jit[grid](x, y, out, n)
            self.assertEqual((len(triton.compilations), jit.trials), (compiled, []))  # the same key: nothing is tried again
            jit[grid](x[:4000], y[:4000], out[:4000], 4000)
            self.assertEqual(len(jit.trials), 3)
            with self.assertRaisesRegex(heddle.InputError, "'BLOCK_SIZE' is given to 'add_kernel', and is in its configurations"):
                jit[grid](x, y, out, 3000, BLOCK_SIZE=64)

    def test_autotune_leaves_arrays_alone_and_passes_over_what_cannot_run(self):
        configs = self.configurations() + [triton.Config({'BLOCK_SIZE': 1 << 15}, num_warps=64)]
        tuned = triton.autotune(configs, key=['n_elements'], reset_to_zero=['y_ptr'])(add_kernel)
        jit = ht.jit_on(self.gpu, tuned)
        x, y = self.floats(256), self.floats(256)
        wanted = x.copy()
        jit[(2,)](x, y, x, 256)  # in place: each trial begins with the same x, and the run that counts with y = 0
        self.assertTrue((x == wanted).all())
        self.assertEqual([trial.error is None for trial in jit.trials], [True, True, True, False])
        self.assertIsInstance(jit.trials[-1].error, heddle.InputError)
        y.flags.writeable = False
        with self.assertRaisesRegex(heddle.InputError, "'y_ptr' is a read-only array"):
            jit[(2,)](x, y, x, 256)
        with self.assertRaisesRegex(heddle.InputError, 'none of the 2 configurations'):
            ht.jit_on(self.gpu, triton.autotune(configs[-1:] * 2, key=[])(add_kernel))[(1,)](x, y, x, 256)

    def test_heuristics_and_pruning(self):
        sized = triton.heuristics({'BLOCK_SIZE': lambda given: 1024 if given['n_elements'] > 1000 else 512})(add_kernel)
        self.add(function=sized)
        self.assertEqual(triton.compilations[-1].constants, {(4,): 1024})
        second = {'early_config_prune': lambda configs, named, **others: configs[1:2]}
        pruned = triton.autotune(self.configurations(), key=[], prune_configs_by=second)(add_kernel)
        jit, _ = self.add(function=pruned)
        self.assertEqual(jit.best_config.num_warps, 4)

    def test_benchmarks_in_simulated_time(self):
        jit, metrics = self.add(BLOCK_SIZE=1024)
        n = 3000
        x, y, out = self.floats(n), self.floats(n), np.zeros(n, np.float32)
        milliseconds = ht.do_bench(lambda: jit[(3,)](x, y, out, n, BLOCK_SIZE=1024))
        self.assertAlmostEqual(milliseconds, metrics['kernels'][0]['cycles'] / float(self.gpu.config['gpu.core_clock_mhz']) / 1e3)
        twice = ht.do_bench(lambda: [jit[(3,)](x, y, out, n, BLOCK_SIZE=1024) for _ in range(2)], quantiles=[0.5, 0.2, 0.8])
        self.assertEqual(twice, [2 * milliseconds] * 3)
        self.assertRaisesRegex(heddle.InputError, 'has run no kernel', ht.do_bench, lambda: None)
        self.assertRaisesRegex(heddle.InputError, "return_mode: got 'best'", ht.do_bench, lambda: None, return_mode='best')

        @ht.perf_report(ht.Benchmark(x_names=['size'], x_vals=[1024, 3000], line_arg='warps', line_vals=[4, 8],
                                     line_names=['four', 'eight'], plot_name='add', args={}))
        def benchmark(size, warps):
            return ht.do_bench(lambda: jit[(3,)](x, y, out, size, BLOCK_SIZE=1024, num_warps=warps), quantiles=[0.5, 0.2, 0.8])
        rows = benchmark.run()
        self.assertEqual([list(row) for row in rows], [['size', 'four', 'eight']] * 2)
        self.assertEqual(rows[1]['four'], milliseconds)

    def test_errors_say_what_is_wrong(self):
        x = self.floats(64)
        jit = ht.jit_on(self.gpu, add_kernel)
        refused = {
            "'add_kernel' has no value for BLOCK_SIZE": lambda: jit[(1,)](x, x, x, 64),
            'KeyError: .*num_warp was specified': lambda: jit[(1,)](x, x, x, 64, BLOCK_SIZE=64, num_warp=4),
            'too many positional arguments': lambda: jit[(1,)](x, x, x, 64, 64, 64),
            'TypeError: Unsupported type': lambda: jit[(1,)]('x', x, x, 64, BLOCK_SIZE=1024),
            'expected a function with @triton.jit': lambda: ht.jit_on(self.gpu, print),
            'grid: got': lambda: jit[(0,)](x, x, x, 64, BLOCK_SIZE=1024)}
        for pattern, call in refused.items():
            with self.subTest(pattern), self.assertRaisesRegex(heddle.InputError, pattern) as caught:
                call()
            self.assertNotIn('\n', str(caught.exception))
        with self.assertRaisesRegex(heddle.CompileError, "refuses 'unknown_kernel' for compute capability 8.0.*is not defined") as caught:
            ht.jit_on(self.gpu, unknown_kernel)[(1,)](x)
        self.assertEqual(Path(caught.exception.place.file).name, 'test_triton.py')
        self.assertIsNone(triton.runtime.driver.active)  # Triton's driver is as before

    def test_the_pages_example_runs(self):
        page = (SOURCE / 'docs/library/triton.md').read_text(encoding='utf-8')
        script = page.split('```python\n')[1].split('```')[0]
        paths = [str(SOURCE / 'testbench/python'), str(STAND_IN), str(STAND_IN.parent)]
        said = subprocess.run([sys.executable, '-c', script], text=True, capture_output=True, check=False,
                              env={**os.environ, 'PYTHONPATH': os.pathsep.join(paths)})
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"^\{'BLOCK_SIZE': \d+\} \[0\.\d+, 0\.\d+, 0\.\d+\]\n[\d.]+ GB/s ")

    def test_without_triton(self):
        script = ('import sys, types, heddle, heddle.triton as ht\n'
                  'f = types.SimpleNamespace(fn=lambda x: None, warmup=None, arg_names=["x"], __name__="f")\n'
                  'try: ht.jit_on(heddle.Gpu("a100"), f)[(1,)](1)\n'
                  'except heddle.CompileError as error: print(error)\n')
        environment = {**os.environ, 'PYTHONPATH': str(SOURCE / 'testbench/python')}
        said = subprocess.run([sys.executable, '-c', script], text=True, capture_output=True, check=False, env=environment)
        if has('triton') and 'stand_in' not in str(triton.__file__):
            self.skipTest('Triton is installed')
        self.assertRegex(said.stdout, 'Triton is not installed: heddle.triton compiles with the Python package triton, 3.0', said.stderr)
