# SPDX-License-Identifier: MIT
"""Runs: streams, preemption, progress, errors with their places, several simulations in one process."""
import array
import concurrent.futures
import contextlib
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import heddle
from heddle.errors import split_place
from support import SAXPY, WORKLOADS, HeddleTest


def floats(count, value=0):
    return array.array('f', [value] * count)


class Runs(HeddleTest):
    def test_the_metrics_are_those_of_the_program(self):
        y = array.array('f')
        y.frombytes((WORKLOADS / 'saxpy/y.bin').read_bytes())
        gpu = heddle.Gpu('v100')
        metrics = gpu.kernel(SAXPY)(40, 256, 40000, 0.1, array.array('f', range(40000)), y)
        self.assertEqual(y.tobytes(), (WORKLOADS / 'saxpy/y.ref.bin').read_bytes())
        by_job = gpu.run_job(WORKLOADS / 'saxpy/job.json')
        for m in (metrics, by_job):
            del m['host']
        self.assertEqual(json.dumps(metrics), json.dumps(by_job))
        self.assertAlmostEqual(sum(metrics.stalls().values()), 1)
        self.assertIn('memory_dependency', metrics.stalls())

    def test_launches_of_different_streams_overlap_and_those_of_one_do_not(self):
        def times(streams):
            launches = [self.saxpy.launch(1, 64, 64, 1.0, floats(64), floats(64), stream=s) for s in streams]
            kernels = sorted(self.gpu.run(launches)['kernels'], key=lambda k: k['launch'])
            return [(k['start_cycle'], k['end_cycle'], k['stream']) for k in kernels]

        first, second = times([0, 0])
        self.assertGreaterEqual(second[0], first[1])
        first, second = times([0, 7])
        self.assertLess(second[0], first[1])
        self.assertEqual((first[2], second[2]), (0, 7))

    def test_operations_of_a_stream_run_in_order(self):
        x, y, z = floats(64, 5), floats(64), floats(64)
        self.gpu.run([heddle.Fill(x), heddle.Copy(x, z), self.saxpy.launch(1, 64, 64, 1.0, x, y), heddle.Fill(x, 255)])
        self.assertEqual((y.tolist(), z.tolist(), x.tobytes()), ([0] * 64, [0] * 64, b'\xff' * 256))
        self.refused('expected equal sizes', heddle.Copy, x, floats(3))
        self.refused('expected an array', heddle.Fill, 7)

    def test_an_operation_that_is_given_twice_is_done_twice(self):
        x, y = floats(64, 1), floats(64)
        launch, fill = self.saxpy.launch(1, 64, 64, 1.0, x, y), heddle.Fill(y)
        self.assertEqual(len(self.gpu.run([launch, launch])['kernels']), 2)
        self.assertEqual(y.tolist(), [2] * 64)
        self.gpu.run([launch, fill, launch, launch])
        self.assertEqual(y.tolist(), [2] * 64)
        with self.assertRaises(heddle.InputError) as caught:
            self.gpu.run([self.saxpy.launch(1, 4096, 64, 1.0, x, y)] * 2)
        self.assertEqual(caught.exception.place[:2], (__file__, inspect.currentframe().f_lineno - 1))

    def test_kernels_of_one_name_are_each_of_their_own_module(self):
        ptx = SAXPY.read_text()
        twice = re.sub(r'(fma\.rn\.f32\s+(%f\d+),.*?;)', r'\1\n\tadd.f32 \2, \2, \2;', ptx)
        self.assertNotEqual(ptx, twice)
        for link in ('.visible .entry', '.weak .entry'):  # that of a template
            again, doubling = (self.gpu.kernel(text.replace('.visible .entry', link)) for text in (ptx, twice))
            self.assertEqual(doubling.name, again.name)
            results = [floats(64, 1) for _ in range(4)]
            kernels = [again, doubling, again, self.saxpy]
            metrics = self.gpu.run([k.launch(1, 64, 64, 3.0, floats(64, 1), y) for k, y in zip(kernels, results)])
            self.assertEqual([y.tolist() for y in results], [[4] * 64, [8] * 64, [4] * 64, [4] * 64], link)
            self.assertEqual(len(metrics['kernels']), 4)
        with self.assertRaises(heddle.InputError) as caught:
            self.gpu.run([again.launch(1, 64, 64, 3.0, floats(64), results[0]),
                          doubling.launch(1, 4096, 64, 3.0, floats(64), results[0])])
        self.assertEqual(caught.exception.place[:2], (__file__, inspect.currentframe().f_lineno - 1))
        with tempfile.TemporaryDirectory() as folder:
            launches = [k.launch(1, 64, 64, 3.0, floats(64), floats(64)) for k in (again, doubling)]
            executed = [f'kernels.{n}.metrics.inst_executed' for n in range(2)]
            row = self.gpu.sweep(launches, {'gpu': 'gtx1080'}, Path(folder, 's.sqlite'), metrics=executed)[0]
            self.assertLess(row[executed[0]], row[executed[1]])

    def test_an_error_says_which_source_of_a_name_it_is_in(self):
        ptx = SAXPY.read_text()
        x, before = floats(64), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            kernels = []
            for number in range(2):
                place = Path(folder, f'f{number}')
                place.mkdir()
                Path(place, 'k.ptx').write_text('\n' * number + ptx)
                os.chdir(place)
                try:
                    kernels.append(self.gpu.kernel('k.ptx'))
                finally:
                    os.chdir(before)
            line = inspect.currentframe().f_lineno + 1
            fine, wild = kernels[0].launch(1, 64, 64, 1.0, x, x), kernels[1].launch(64, 256, 1 << 14, 1.0, x, x)
            for launches, number in (([heddle.Fill(x), fine, wild], 2), ([wild, fine], 0)):
                with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
                    self.gpu.run(launches)
                self.assertEqual(caught.exception.place.file, os.path.join(folder, 'f1', 'k.ptx'))
                self.assertIn(f'(k.ptx of launch {number}, which is made at {__file__}:{line})', str(caught.exception))
            with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
                self.gpu.sweep([fine, wild], {'gpu': ['gtx1080']}, Path(folder, 's.sqlite'))
            self.assertEqual(caught.exception.place.file, os.path.join(folder, 'f1', 'k.ptx'))
            self.assertIn('(k.ptx of launch 1, which is made at ', str(caught.exception))
        one, other = (self.gpu.kernel(text) for text in (ptx, ptx + '\n'))
        for kernel in (one, other):
            launches = [k.launch(1, 64, 64, 1.0, x, x, registers_per_thread=1 if k is kernel else None) for k in (one, other)]
            said = self.refused(r'1 registers per thread.*\(<ptx> of launch \d, which is made at ', self.gpu.run, launches)
            self.assertEqual(said.place.file, '<ptx>')
            self.assertIn(f'of launch {int(kernel is other)},', said.message)
        said = self.refused('1 registers per thread', one, 1, 64, 64, 1.0, x, x, registers_per_thread=1)
        self.assertEqual(said.place.file, '<ptx>')
        self.assertNotIn('of launch', said.message)

    def test_a_preemption_is_that_of_a_job_file(self):
        x, y = floats(8192, 1), floats(8192)
        request = {'at_cycle': 1500, 'sm': 'all', 'mode': 'switch', 'resume_after': 3000}
        metrics = self.saxpy(32, 256, 8192, 1.0, x, y, preempt=[request])
        self.assertEqual(y.tolist(), [1] * 8192)
        self.assertTrue(metrics['context_switches'])
        self.assertEqual(metrics['context_switches'][0]['mode'], 'switch')
        said = self.refused('nonsense', self.saxpy, 32, 256, 8192, 1.0, x, y, preempt=[{**request, 'mode': 'nonsense'}])
        self.assertEqual(Path(said.place.file).name, 'support.py')

    def test_progress_is_reported_and_can_end_a_run(self):
        told = []
        x = floats(1 << 16)
        self.saxpy(64, 256, 1 << 16, 1.0, x, x, progress=told.append)
        self.assertEqual(set(told[-1]), {'cycle', 'blocks_done', 'blocks', 'warp_instructions', 'seconds_left'})
        self.assertEqual((told[-1]['blocks_done'], told[-1]['blocks']), (64, 64))

        def stop(_):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.saxpy(64, 256, 1 << 16, 1.0, x, x, progress=stop)

    def test_simulations_run_one_after_another_and_at_the_same_time(self):
        results = []

        def simulate():
            y = floats(256)
            metrics = self.saxpy(1, 256, 256, 1.0, floats(256, 2), y)
            results.append((metrics['cycles'], sum(y)))

        for _ in range(3):
            simulate()
        threads = [threading.Thread(target=simulate) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, [results[0]] * 7)
        self.assertEqual(results[0][1], 512)

    def test_what_a_kernel_prints_goes_to_stdout_of_python(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.gpu.kernel(PRINTING_PTX)(1, 1)
        self.assertEqual(said.getvalue(), 'hello\n')
        with contextlib.redirect_stdout(None):  # as in a program without a terminal
            self.gpu.kernel(PRINTING_PTX)(1, 1)
        # More than a read of the pipe returns: 66,000 characters of three bytes.
        said = io.StringIO()
        euros = ', '.join(str(byte) for byte in '€€\n'.encode()) + ', 0'
        ptx = re.sub(r'\{104.*?\}', f'{{{euros}}}', PRINTING_PTX).replace('[7]', '[8]')
        with contextlib.redirect_stdout(said):
            self.gpu.kernel(ptx)(33, 1000)
        self.assertEqual(said.getvalue(), '€€\n' * 33000)
        bare = io.TextIOWrapper(io.BytesIO(), encoding='ascii')
        with contextlib.redirect_stdout(bare):
            self.gpu.kernel(ptx)(1, 1)
            bare.flush()
            self.assertEqual(bare.buffer.getvalue(), b'\\u20ac\\u20ac\n')
            bare.close()
            self.gpu.kernel(ptx)(1, 1)

    def test_a_warning_is_one_of_python(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            gpu = heddle.Gpu('gtx1080', {'gpu.sm_count': 1})
            x = floats(32)
            gpu.kernel(SAXPY)(1, 32, 32, 1.0, x, x, preempt=[{'at_cycle': 10**9}])
        self.assertEqual([w.category for w in caught], [heddle.HeddleWarning])
        self.assertTrue(str(caught[0].message).startswith('nothing was preempted'), str(caught[0].message))
        self.assertEqual(caught[0].filename, __file__)

    def test_the_occupancy_is_the_calculators(self):
        table = heddle.Gpu('v100').occupancy((16, 16), 40, shared_bytes=1024)
        self.assertEqual((table['blocks_per_sm'], table['active_warps'], table['limiters']), (6, 48, ['registers']))
        self.assertEqual(self.saxpy.occupancy(256)['theoretical_occupancy'], 1)
        self.refused('at most 64 in z', self.saxpy.occupancy, (1, 1, 65))

    def test_a_run_may_have_views_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            x = floats(32)
            self.saxpy(1, 32, 32, 1.0, x, x, options=['--timeline', f'{folder}/t.json'])
            self.assertTrue(json.loads(Path(folder, 't.json').read_text()))

    def test_options_that_simulate_nothing_are_refused(self):
        with contextlib.redirect_stdout(io.StringIO()):
            launch = self.saxpy.launch(1, 1, 1, 1.0, floats(1), floats(1))
            self.refused('--help has simulated nothing', self.gpu.run, launch, options=['--help'])
        self.refused('expected a dict', heddle.Gpu, 'gtx1080', 'abc')

    def test_a_program_without_descriptors_of_its_own_runs(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed), tempfile.TemporaryDirectory() as folder:
                script = (f'import os, array, heddle\nfor n in {closed}: os.close(n)\ny = array.array("f", [1])\n'
                          f'heddle.Gpu("gtx1080").kernel({str(SAXPY)!r})(1, 1, 1, 2.0, array.array("f", [3]), y)\n'
                          f'open({folder + "/result"!r}, "w").write(str(y[0]))\n')
                subprocess.run([sys.executable, '-c', script], capture_output=True, check=False,
                               env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})
                self.assertEqual(Path(folder, 'result').read_text(), '7.0')


class Errors(HeddleTest):
    def test_a_gpu_or_a_parameter_that_does_not_exist_is_refused(self):
        self.refused("unknown GPU 'h10'", heddle.Gpu, 'h10')
        self.refused("sm.max_warp.*max_warps", heddle.Gpu, 'h100', {'sm.max_warp': 3})
        self.refused('sub_partition.scheduler', heddle.Gpu, 'h100', {'sub_partition.scheduler': 'best'})
        self.assertIn('h100', [g['name'] for g in heddle.gpus()])
        self.assertEqual(heddle.Gpu('h100', {'sub_partition.scheduler': 'lrr'}).config['sub_partition.scheduler'], 'lrr')
        self.assertEqual(heddle.Gpu('v100', {'shared_memory.carveouts_kb': [0, 96]}).config['shared_memory.carveouts_kb'], '0,96')

    def test_a_gpu_is_that_of_the_folder_in_which_it_was_made(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'other').mkdir()
            Path(folder, 'my.ini').write_text(subprocess.run([os.environ.get('HEDDLE_PROGRAM', 'heddle'), 'config', '--gpu', 'gtx1080'],
                                                             capture_output=True, text=True, check=True).stdout)
            os.chdir(folder)
            try:
                gpu = heddle.Gpu('my.ini', {'gpu.sm_count': 2})
                os.chdir('other')
                x = floats(32)
                launch = gpu.kernel(SAXPY).launch(1, 32, 32, 1.0, x, x)
                self.assertEqual(gpu.run(launch)['kernels'][0]['name'], 'saxpy')
                self.assertEqual(len(gpu.sweep(launch, {}, ' first.sqlite')), 1)
                self.assertEqual(len(heddle.Table(' first.sqlite')), 1)
                self.refused("'last.sqlite ' is empty, ends with a blank", gpu.sweep, launch, {}, 'last.sqlite ')
            finally:
                os.chdir(before)
        self.refused('of type NoneType', heddle.Gpu, None)

    def test_operations_are_launches_fills_and_copies(self):
        with tempfile.TemporaryDirectory() as folder:
            for wrong in ([], heddle.Fill(floats(4)), 'abc', [None], 3, None):
                self.refused('at least one launch', self.gpu.run, wrong)
                self.refused('at least one launch', self.gpu.sweep, wrong, {'gpu': 'v100'}, Path(folder, 's.sqlite'))

    def test_a_source_is_ptx_or_cuda_or_a_file(self):
        self.refused('neither PTX .* nor CUDA', self.gpu.kernel, 'int main() { return 0; }')
        self.refused("cannot read 'nothing.ptx': No such file", self.gpu.kernel, 'nothing.ptx')
        self.refused('type int', self.gpu.kernel, 7)
        self.refused('is empty', self.gpu.kernel, '')
        self.refused("0 kernels 'saxpi'; its kernels are saxpy", self.gpu.kernel, SAXPY, 'saxpi')

    def test_ptx_that_is_wrong_has_the_place_of_its_line(self):
        text = SAXPY.read_text().replace('fma.rn.f32', 'fmma.rn.f32')
        line = text[:text.index('fmma')].count('\n') + 1
        said = self.refused('fmma', self.gpu.kernel, text)
        self.assertEqual((said.place.file, said.place.line), ('<ptx>', line))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, 'wrong.ptx')
            file.write_text(text)
            self.assertEqual(self.refused('fmma', self.gpu.kernel, file).place[:2], (str(file), line))

    def test_a_wrong_number_of_arguments_says_what_the_kernel_takes(self):
        said = self.refused('takes 4 arguments', self.saxpy, 1, 32, 7)
        self.assertEqual(said.message, "kernel 'saxpy' takes 4 arguments (saxpy_param_0, u32; saxpy_param_1, f32; saxpy_param_2, u64; "
                                       'saxpy_param_3, u64), got 1')
        self.refused('grid: got 0', self.saxpy, 0, 32, 1, 1.0, None, None)
        self.refused('block: got 1.5', self.saxpy, 1, 1.5, 1, 1.0, None, None)
        self.refused('run.. and sweep.. take launches', self.gpu.run, [])
        said = self.refused("options: got the text '--cold', expected a list of texts, such as ..--cold..", self.saxpy, 1, 1, 0, 1.0, None,
                            None, options='--cold')
        self.assertEqual(Path(said.place.file).name, 'support.py')
        self.refused('overrides of type list, expected a dict', heddle.Gpu, 'v100', [('gpu.sm_count', 4)])
        self.refused("cannot read './--help'", self.gpu.run_job, '--help')
        self.refused('expected a kernel of', heddle.Gpu('v100').run, self.saxpy.launch(1, 32, 0, 1.0, None, None))

    def test_a_launch_that_cannot_run_has_the_place_of_its_line(self):
        x = floats(32)
        launches = [self.saxpy.launch(1, 32, 32, 1.0, x, x)]
        launches += [self.saxpy.launch(1, 4096, 32, 1.0, x, x)]
        line = inspect.currentframe().f_lineno - 1
        said = self.refused('a block of 4096x1x1 threads', self.gpu.run, launches)
        self.assertEqual(said.place[:2], (__file__, line))

    def test_a_fault_has_its_place_and_the_metrics_so_far_and_changes_no_array(self):
        x, y = floats(64, 1), floats(64)
        with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
            self.saxpy(1 << 10, 256, 1 << 18, 1.0, x, y)
        self.assertEqual(caught.exception.place.file, str(SAXPY))
        self.assertIn('ld.global.f32', SAXPY.read_text().split('\n')[caught.exception.place.line - 1])
        self.assertEqual(caught.exception.metrics['kernels'][0]['name'], 'saxpy')
        self.assertEqual(y.tolist(), [0] * 64)
        with self.assertRaisesRegex(heddle.SimulationError, 'limit of 900 cycles'):
            self.saxpy(1, 64, 64, 1.0, x, y, max_cycles=900)
        self.assertEqual(y.tolist(), [0] * 64)
        self.saxpy(1, 64, 64, 1.0, x, y)
        self.assertEqual(y.tolist(), [1] * 64, 'the next simulation is a new one')

    def test_a_place_is_that_of_a_file_with_any_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("quo'te.ptx", 'a(1).ptx', 'a:b.ptx', 'with space.ptx', 'x".ptx'):
                file = Path(folder, name)
                file.write_text(SAXPY.read_text())
                with self.assertRaisesRegex(heddle.SimulationError, 'illegal address') as caught:
                    self.gpu.kernel(file)(1, 32, 32, 1.0, None, None)
                self.assertEqual(caught.exception.place.file, str(file))
        for text in ("unknown GPU 'a:3: b'", "point 0 (refused): j.json:6:1: kernel", 'a:3 is wrong: b'):
            self.assertEqual(split_place(text), (None, text))
        self.assertEqual(split_place("it's.ptx:3:1: 'a:4: b'"), (("it's.ptx", 3, 1), "'a:4: b'"))

    def test_failures_are_known_where_sigchld_is_ignored(self):
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            self.refused('nope', heddle.Gpu, 'nope')
            with self.assertRaisesRegex(heddle.SimulationError, 'illegal address'):
                self.saxpy(1, 32, 32, 1.0, None, None)
            self.refused('cannot read', heddle.Table, 'nothing.sqlite')
            self.assertIs(signal.getsignal(signal.SIGCHLD), signal.SIG_IGN)
            with concurrent.futures.ThreadPoolExecutor(1) as other:
                with self.assertRaisesRegex(heddle.InputError, 'SIGCHLD is ignored'):
                    other.submit(self.saxpy, 1, 32, 0, 1.0, None, None).result()
        finally:
            signal.signal(signal.SIGCHLD, before)

    def test_a_missing_program_is_said(self):
        before = os.environ.get('HEDDLE_PROGRAM')
        os.environ['HEDDLE_PROGRAM'] = '/nothing/heddle'
        try:
            self.refused("'/nothing/heddle' cannot be started: No such file", heddle.gpus)
        finally:
            del os.environ['HEDDLE_PROGRAM']
            if before is not None:
                os.environ['HEDDLE_PROGRAM'] = before

    def test_a_worker_ends_when_python_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder, 'worker')
            text = ('import heddle, array, os, sys, signal\n'
                    f'kernel = heddle.Gpu("gtx1080").kernel({str(SAXPY)!r})\n'
                    'def told(_):\n'
                    '  children = open(f"/proc/self/task/{os.getpid()}/children").read()\n'
                    f'  open({str(mark)!r}, "w").write(children)\n'
                    '  os.kill(os.getpid(), signal.SIGKILL)\n'
                    'x = array.array("f", [0]) * (1 << 24)\n'
                    'kernel(1 << 14, 1024, 1 << 24, 1.0, x, x, progress=told)\n')
            environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
            subprocess.run([sys.executable, '-c', text], check=False, env=environment, timeout=300)
            worker = int(mark.read_text().split()[0])
            deadline = threading.Event()
            for _ in range(600):
                if not Path(f'/proc/{worker}').exists() or Path(f'/proc/{worker}/stat').read_text().split()[2] == 'Z':
                    return
                deadline.wait(0.1)
            self.fail('the worker goes on')


PRINTING_PTX = '''.version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry say() {
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd2, %rd1;
  mov.u64 %rd3, 0;
  { .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd3; .param .b32 q;
    call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }
  ret;
}
'''
