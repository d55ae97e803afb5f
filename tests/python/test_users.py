# SPDX-License-Identifier: MIT
"""What users do: the page's example, CUDA sources, sweeps, tables, the report in a notebook, help()."""
import array
import concurrent.futures
import inspect
import os
import pydoc
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import heddle
from heddle import _compiler
from support import CUDA_SAXPY, SAXPY, SOURCE, WORKLOADS, HeddleTest, has


ENVIRONMENT = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}


def example(number):
    """A Python block of the page."""
    return re.findall(r'```python\n(.*?)```', (SOURCE / 'docs/library/python.md').read_text(), re.DOTALL)[number]


class Page(HeddleTest):
    @unittest.skipUnless(has('numpy') and has('matplotlib'), 'NumPy and Matplotlib are not installed')
    def test_the_notebook_of_ten_lines_ends_with_a_stall_chart(self):
        text = example(0)
        self.assertLessEqual(len(text.strip().split('\n')), 10)
        # The same with PTX, which needs no compiler.
        texts = [re.sub(r'"""\n__global__.*?"""', lambda _: repr(SAXPY.read_text()), text, flags=re.DOTALL)]
        self.assertNotIn('__global__', texts[0])
        if _compiler._nvcc() or _compiler._clang():
            texts.append(text)
        else:
            print('skipped: the notebook with CUDA C++: neither nvcc nor clang++ is installed')
        for text in texts:
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                script = text + '\nplt.savefig("chart.png")\nprint(max(metrics.stalls(), key=metrics.stalls().get))\n'
                said = subprocess.run([sys.executable, '-c', script], cwd=folder, text=True, capture_output=True, check=False,
                                      env={**ENVIRONMENT, 'MPLBACKEND': 'Agg', 'MPLCONFIGDIR': folder})
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertIn(said.stdout.strip(), ('memory_dependency', 'exec_dependency', 'inst_fetch', 'constant_memory_dependency'))
                self.assertEqual(Path(folder, 'chart.png').read_bytes()[1:4], b'PNG')

    @unittest.skipUnless(has('numpy'), 'NumPy is not installed')
    def test_all_other_examples_run_as_they_stand(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'saxpy.ptx').write_text(SAXPY.read_text())
            number = 1
            blocks = []
            while True:
                try:
                    blocks.append(example(number))
                except IndexError:
                    break
                number += 1
            if not has('pandas'):
                blocks = ['\n'.join(line for line in block.split('\n') if 'dataframe' not in line) for block in blocks]
            said = subprocess.run([sys.executable, '-c', '\n'.join(blocks)], cwd=folder, text=True, capture_output=True, check=False,
                                  env=ENVIRONMENT)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertGreaterEqual(len(blocks), 4)
            self.assertNotIn('Warning', said.stderr)
            saved = re.search(r'^\[(\d+(?:, \d+)*)\]$', said.stdout, re.MULTILINE)
            self.assertTrue(saved, 'the preemption request has saved no warp')
            self.assertGreater(min(int(n) for n in saved[1].split(', ')), 0)

    def test_help_is_enough_to_start(self):
        text = pydoc.render_doc(heddle, renderer=pydoc.plaintext)
        for word in ('heddle.Gpu(\'v100\')', 'saxpy = gpu.kernel(', 'shared_bytes', 'preempt', 'progress', 'place', 'sweep(file'):
            self.assertIn(word, text)
        for name in heddle.__all__:
            self.assertTrue(getattr(heddle, name).__doc__, name)
        self.assertTrue((SOURCE / 'testbench/python/heddle/py.typed').exists())


class Compilers(HeddleTest):
    @unittest.skipUnless(_compiler._nvcc(), 'nvcc is not installed')
    def test_cuda_is_compiled_by_nvcc(self):
        self.compile_and_run()

    @unittest.skipUnless(_compiler._clang(), 'clang is not installed')
    def test_cuda_is_compiled_by_clang_where_no_nvcc_is(self):
        with mock.patch.object(_compiler, '_nvcc', lambda: None), mock.patch.object(_compiler, '_compiled', {}):
            self.compile_and_run()

    def compile_and_run(self):
        kernel = self.gpu.kernel(CUDA_SAXPY)
        x, y = array.array('f', range(500)), array.array('f', [1] * 500)
        metrics = kernel(2, 256, 500, 2.0, x, y)
        self.assertEqual(y.tolist(), [1 + 2 * i for i in range(500)])
        sources = {line['source'] for line in metrics['kernels'][0]['lines'] if 'source' in line}
        self.assertIn('<cuda>:3', sources)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'own.h').write_text('#define OWN 3\n')
            file = Path(folder, 'two.cu')
            file.write_text('#include "own.h"\ntemplate <int N> __global__ void add(int* p) { *p += N * OWN * FOUR; }\n'
                            'template __global__ void add<2>(int*);\n__global__ void none() {}\n')
            add = self.gpu.kernel(file, 'add', ['-DFOUR=4'])
            p = array.array('i', [1])
            add(1, 1, p)
            self.assertEqual(p[0], 25)
            self.assertEqual(len(self.gpu.kernels(file, ['-DFOUR=4'])), 2)
            self.refused('2 kernels .expected a name.', self.gpu.kernel, file, options=['-DFOUR=4'])
            said = self.refused('FOUR', self.gpu.kernel, file)
            self.assertIsInstance(said, heddle.CompileError)
            self.assertEqual(said.place[:2], (str(file), 2))
        said = self.refused('b', self.gpu.kernel, CUDA_SAXPY.replace('a * x', 'b * x'))
        self.assertEqual(said.place[:2], ('<cuda>', 3))
        self.assertIn('error', said.output)
        # A place is a line of the CUDA source; one of its PTX has a name of its own.
        with self.assertRaisesRegex(heddle.SimulationError, r'illegal address .*\(line \d+ of its PTX\)') as caught:
            kernel(1 << 10, 256, 1 << 18, 1.0, x, y)
        self.assertEqual(caught.exception.place[:2], ('<cuda>', 3))
        said = self.refused('1 registers per thread', kernel, 2, 256, 500, 2.0, x, y, registers_per_thread=1)
        self.assertEqual(said.place.file, '<cuda>.ptx')

    @unittest.skipUnless(_compiler._nvcc() or _compiler._clang(), 'neither nvcc nor clang++ is installed')
    def test_what_a_text_includes_and_the_compiler_may_change(self):
        text = '#include "c.h"\n__global__ void f(int* p) { *p = C; }'
        with tempfile.TemporaryDirectory() as folder:
            for number in ('71', '72'):
                Path(folder, 'c.h').write_text(f'#define C {number}\n')
                self.assertRegex(self.gpu.kernel(text, options=['-I' + folder]).ptx, rf'\b{number};')
                forced = self.gpu.kernel(text.split('\n')[1], options=['-include', f'{folder}/c.h'])
                self.assertRegex(forced.ptx, rf'\b{number};')
        with mock.patch.object(_compiler, '_run', wraps=_compiler._run) as run:
            for _ in range(2):
                self.gpu.kernel(CUDA_SAXPY + '// a text of its own', options=['-DN=4'])
            self.assertEqual(run.call_count, 1, 'compiled once')
            with mock.patch.object(_compiler, '_state', lambda program: (program, 1, 2)):
                self.gpu.kernel(CUDA_SAXPY + '// a text of its own', options=['-DN=4'])
            self.assertEqual(run.call_count, 2, 'compiled by another compiler')

    def test_a_kernel_of_ptx_is_found_by_its_name(self):
        other = SAXPY.read_text().replace('.visible .entry saxpy(', '.visible .entry other(')
        both = SAXPY.read_text() + other[other.index('.visible'):].replace('saxpy_param', 'other_param')
        self.assertEqual(self.gpu.kernel(both, 'other').name, 'other')
        self.assertEqual(self.gpu.kernel(both, 'saxpy').name, 'saxpy')
        self.refused("0 kernels 'third'; its kernels are saxpy, other", self.gpu.kernel, both, 'third')
        if _compiler._nvcc() or _compiler._clang():
            text = 'template <class T, int n> __global__ void t(T* p) { *p = n; }\n' + ''.join(
                f'template __global__ void t<int, {n}>(int*);\n' for n in (2, 3))
            for name in ('t<int, 3>', 't<int,3>', 'void t<int,3>(int*)'):
                self.assertIn('i', self.gpu.kernel(text, name).name)

    @unittest.skipUnless(_compiler._nvcc() or _compiler._clang(), 'neither nvcc nor clang++ is installed')
    def test_options_of_the_compiler_are_relative_to_the_users_folder(self):
        text = '#include "c.h"\n#include "d.h"\n__global__ void f(int* p) { *p = C + D + E; }\n'
        compilers = [mock.patch.object(_compiler, '_nvcc', _compiler._nvcc)] * bool(_compiler._nvcc())
        compilers += [mock.patch.object(_compiler, '_nvcc', lambda: None)] * bool(_compiler._clang())
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            for file in ('i/c.h', 's/d.h', 'f/e.h'):
                Path(folder, file).parent.mkdir()
                Path(folder, file).write_text(f'#define {file[2].upper()} 31\n')
            os.chdir(folder)
            try:
                for compiler in compilers:
                    with compiler:
                        ptx = self.gpu.kernel(text, options=['-Ii', '-isystem', 's', '-include', 'f/e.h']).ptx
                        self.assertRegex(ptx, r'\b93;')
                        self.assertRegex(ptx, r'\.file\s+\d+ "<cuda>"')
                self.assertEqual(sorted(os.listdir()), ['f', 'i', 's'], 'what a compiler writes is not left there')
            finally:
                os.chdir(before)

    @unittest.skipUnless(_compiler._clang(), 'clang is not installed')
    def test_names_of_files_may_have_any_character(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(_compiler, '_nvcc', lambda: None):
            for name in ('a(1).cu', 'a:b.cu', 'a "b".cu', "it's.cu", 'back\\slash.cu'):
                file = Path(folder, name)
                file.write_text('__global__ void f(int* p) {\n  *p = undefined;\n}\n')
                self.assertEqual(self.refused('undefined', self.gpu.kernel, file).place[:2], (str(file), 2))
            for name in ('a(1).cu', 'a:b.cu', "it's.cu"):
                file = Path(folder, name)
                file.write_text('__global__ void f(int* p) {\n  *p = 1;\n}\n')
                with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
                    self.gpu.kernel(file)(1, 1, None)
                self.assertEqual(caught.exception.place[:2], (str(file), 2))

    def test_a_compiler_that_cannot_be_started_is_said(self):
        with mock.patch.dict(os.environ, {'NVCC': '/nothing/nvcc'}):
            why = "the compiler '/nothing/nvcc' cannot be started: No such file"
            said = self.refused(why, self.gpu.kernel, CUDA_SAXPY + '// once more\n')
        self.assertIsInstance(said, heddle.CompileError)
        self.assertIsInstance(said.__cause__, OSError)

    def test_no_compiler_is_said(self):
        with mock.patch.object(_compiler, '_nvcc', lambda: None), mock.patch.object(_compiler, '_clang', lambda: None):
            self.refused('needs a compiler, nvcc or clang', self.gpu.kernel, CUDA_SAXPY + '// another\n')
        self.refused('options are for the compiler', self.gpu.kernel, SAXPY, options=['-O2'])


class Sweeps(HeddleTest):
    def launch(self):
        x, y = array.array('f', [1] * 4096), array.array('f', [0] * 4096)
        return self.saxpy.launch(8, 256, 4096, 1.0, x, y)

    def test_a_sweep_is_a_table_and_its_store_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder, 'first.sqlite')
            axes = {'sub_partition.scheduler': ['lrr', 'gto'], 'launch.block': '128:256:128'}
            less = {'one': 'launch.block = 128 and sub_partition.scheduler = gto'}
            table = self.gpu.sweep(self.launch(), axes, store, constraints=less)
            self.assertEqual([(r['sub_partition.scheduler'], int(r['launch.block'])) for r in table],
                             [('lrr', 128), ('lrr', 256), ('gto', 256)])
            self.assertEqual({r['status'] for r in table}, {'done'})
            self.assertTrue(all(r['cycles'] > 0 for r in table))
            self.assertEqual(list(heddle.Table(store)), list(table))
            self.assertIn('<iframe srcdoc=', table._repr_html_())
            chosen = self.gpu.sweep(self.launch(), {'gpu': ['gtx1080', 'v100']}, Path(folder, 'second.sqlite'),
                                    metrics=['kernels.0.metrics.ipc'], jobs=2)
            self.assertEqual(len({r['kernels.0.metrics.ipc'] for r in chosen}), 2)
            if has('numpy'):
                import numpy as np
                self.assertEqual(len(self.gpu.sweep(self.launch(), {'gpu.sm_count': np.int64(2)}, Path(folder, 'third.sqlite'))), 1)
            if has('pandas'):
                self.assertEqual(list(table.dataframe()['cycles']), [r['cycles'] for r in table])

    def test_a_launch_that_is_given_twice_is_swept_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            launch = self.launch()
            table = self.gpu.sweep([launch, launch], {'gpu': 'gtx1080'}, Path(folder, 's.sqlite'), metrics=['kernels.1.cycles'])
            self.assertGreater(table[0]['kernels.1.cycles'], 0)

    def test_sweeps_of_one_store_at_the_same_time_are_each_their_own(self):
        def cycles(store, blocks):
            data = array.array('f', [1] * 32 * blocks)
            launch = self.saxpy.launch(blocks, 32, 32 * blocks, 1.0, data, data)
            return [row['cycles'] for row in self.gpu.sweep(launch, {'gpu.sm_count': [1, 2]}, store, metrics=['cycles'])]

        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
            sizes = [1, 40, 200, 500]
            wanted = [cycles(Path(folder, f'{blocks}.sqlite'), blocks) for blocks in sizes]
            self.assertEqual(len({tuple(w) for w in wanted}), 4)
            got = list(pool.map(lambda blocks: cycles(Path(folder, 'one.sqlite'), blocks), sizes))
            self.assertEqual(got, wanted)

    def test_a_value_of_ones_own_wins_over_what_a_memory_determines(self):
        own = heddle.Gpu('gtx1080', {'dram.banks': 2, 'dram.preset': 'hbm2'})
        self.assertEqual(own.config['dram.banks'], '2')
        with tempfile.TemporaryDirectory() as folder:
            axes = {'dram.banks': [1, 16], 'dram.preset': ['hbm2']}
            table = self.gpu.sweep(self.launch(), axes, Path(folder, 's.sqlite'))
            self.assertEqual(len({r['cycles'] for r in table}), 2)

    def test_a_sweep_file_is_run(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, 'own.ini')
            file.write_text(f'[sweep]\njob = {WORKLOADS}/saxpy/job.json\nstore = {folder}/own.sqlite  # kept; here\n[axes]\ngpu = gtx1080\n')
            self.assertEqual(len(heddle.sweep(file)), 1)

    def test_wrong_axes_and_stores_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder, 's.sqlite')
            said = self.refused('sm.max_warp', self.gpu.sweep, self.launch(), {'sm.max_warp': [3]}, store)
            self.assertEqual(Path(said.place.file).name, 'support.py')
            self.refused('has no values', self.gpu.sweep, self.launch(), {'sm.max_warps': []}, store)
            self.refused('cannot read the store|no store', heddle.Table, store)
            store.write_text('no database at all, but some text that is long enough for its header ' * 4)
            self.refused('no store of a sweep', heddle.Table, store)
            self.refused("cannot be made: Not a directory", self.gpu.sweep, self.launch(), {'sm.max_warps': [32]}, store / 's.sqlite')
            with self.assertRaisesRegex(heddle.SimulationError, 'illegal address'):
                x = array.array('f', [0])
                self.gpu.sweep(self.saxpy.launch(64, 256, 1 << 14, 1.0, x, x), {'gpu': ['gtx1080']}, Path(folder, 'f.sqlite'))

    def failed(self, launches, store, **options):
        with self.assertRaisesRegex(heddle.SimulationError, r'^[^:]+:\d+:(\d+:)? \w: 1 \w+; point 0 ') as caught:
            launches[0].kernel.gpu.sweep(launches, {'gpu': ['gtx1080']}, store, **options)
        self.assertNotIn('.job', str(caught.exception))
        return caught.exception

    def test_a_name_that_a_sweep_file_cannot_hold_is_refused_before_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ('x # y.sqlite', 'x ;y.sqlite'):
                self.refused('cannot be kept in a sweep file', self.gpu.sweep, self.launch(), {'gpu': 'v100'}, Path(folder, name))
            self.refused('cannot be kept', self.gpu.sweep, self.launch(), {'gpu': 'a\nb'}, Path(folder, 's.sqlite'))
            self.assertEqual(os.listdir(folder), [])
            before = os.getcwd()
            os.chdir(folder)
            try:
                self.assertEqual(len(self.gpu.sweep(self.launch(), {}, '-d.sqlite')), 1)
                self.assertIn('-d.sqlite', os.listdir())
            finally:
                os.chdir(before)

    def test_axes_take_tuples_as_blocks_and_names_as_gpus(self):
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder, 's.sqlite')
            table = self.gpu.sweep(self.launch(), {'launch.block': [32, (16, 2), '8x4', (4, 4, 2)]}, store)
            self.assertEqual([str(r['launch.block']) for r in table], ['32', '16x2', '8x4', '4x4x2'])
            for block in ((16, 'a'), (0, 2), (1, 1, 1, 1), 1.5):
                said = self.refused("axis 'launch.block': got", self.gpu.sweep, self.launch(), {'launch.block': [block]}, store)
                self.assertEqual(Path(said.place.file).name, 'support.py')
            for gpu in (self.gpu, [self.gpu], 5):
                self.refused("axis 'gpu' has a value of type", self.gpu.sweep, self.launch(), {'gpu': gpu}, store)

    def test_an_error_of_a_sweep_has_the_users_place(self):
        x = array.array('f', [0])
        with tempfile.TemporaryDirectory() as folder:
            launches = [self.launch()]
            launches += [self.saxpy.launch(1, 4096, 1, 1.0, x, x)]
            line = inspect.currentframe().f_lineno - 1
            self.assertEqual(self.failed(launches, Path(folder, 'a.sqlite')).place[:2], (__file__, line))
            said = self.failed([self.saxpy.launch(64, 256, 1 << 14, 1.0, x, x)], Path(folder, 'b.sqlite'))
            self.assertEqual(said.place.file, str(SAXPY))
            with self.assertRaises(heddle.InputError) as caught:
                self.gpu.sweep(self.launch(), {'gpu.sm_counts': 4}, Path(folder, 'c.sqlite'))
            self.assertEqual(caught.exception.place[:2], (__file__, inspect.currentframe().f_lineno - 1))
            with self.assertRaisesRegex(heddle.SimulationError, '^d: 1 failed; point 0 .failed.: the limit of 900 cycles') as caught:
                self.gpu.sweep(self.launch(), {'gpu': ['gtx1080']}, Path(folder, 'd.sqlite'), max_cycles=900)
            self.assertIsNone(caught.exception.place)
            if _compiler._clang():
                with mock.patch.object(_compiler, '_nvcc', lambda: None):
                    kernel = self.gpu.kernel('__global__ void f(int* p) {\n  *p = 1;\n}\n')
                self.assertEqual(self.failed([kernel.launch(1, 1, None)], Path(folder, 'e.sqlite')).place[:2], ('<cuda>', 2))


class Results(HeddleTest):
    def metrics(self):
        x = array.array('f', [0] * 64)
        return self.gpu.run([self.saxpy.launch(1, 64, 64, 1.0, x, x), self.saxpy.launch(1, 32, 32, 1.0, x, x)])

    def test_a_notebook_shows_the_report(self):
        metrics = self.metrics()
        page = metrics._repr_html_()
        self.assertTrue(page.startswith('<iframe srcdoc="&lt;!'), page[:60])
        self.assertIn('saxpy', page)
        with tempfile.TemporaryDirectory() as folder:
            metrics.report(Path(folder, 'r.html'))
            self.assertIn('<html', Path(folder, 'r.html').read_text())

    @unittest.skipUnless(has('pandas'), 'pandas is not installed')
    def test_a_dataframe_has_a_row_for_each_kernel(self):
        metrics = self.metrics()
        frame = metrics.dataframe()
        self.assertEqual(list(frame['cycles']), [k['cycles'] for k in metrics['kernels']])
        self.assertIn('metrics.achieved_occupancy', frame.columns)
