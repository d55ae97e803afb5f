# SPDX-License-Identifier: MIT
"""Arrays in and out: NumPy, the buffer protocol, DLPack; what cannot be passed."""
import array
import copy
import ctypes
import inspect
import os
import pickle
import resource
import unittest

import heddle
from support import SAXPY, HeddleTest, has

if has('numpy'):
    import numpy as np


# Stores a byte and a double.
NUMBERS = '''.version 7.0
.target sm_60
.address_size 64
.visible .entry numbers(.param .u64 at, .param .u64 to, .param .u8 byte, .param .f64 number) {
  .reg .u64 %p<2>;
  .reg .u16 %b;
  .reg .f64 %d;
  ld.param.u64 %p0, [at];
  ld.param.u64 %p1, [to];
  ld.param.u8 %b, [byte];
  ld.param.f64 %d, [number];
  st.global.u8 [%p0], %b;
  st.global.f64 [%p1], %d;
  ret;
}
'''


class Buffers(HeddleTest):
    """The buffer protocol, which needs no NumPy."""

    def test_an_array_of_pythons_own_gets_the_result(self):
        x, y = array.array('f', range(1000)), array.array('f', [1] * 1000)
        metrics = self.saxpy(4, 256, 1000, 2.0, x, y)
        self.assertEqual(y.tolist(), [1 + 2 * i for i in range(1000)])
        self.assertEqual(metrics['kernels'][0]['name'], 'saxpy')
        self.assertGreater(metrics['cycles'], 0)

    def test_what_refers_to_memory_of_this_process_is_neither_copied_nor_sent(self):
        x = array.array('f', [1] * 64)
        launch = self.saxpy.launch(1, 64, 64, 2.0, x, x)
        for operation in (launch, heddle.Fill(x), heddle.Copy(x, array.array('f', x))):
            for refused in (pickle.dumps, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, 'refers to the arrays of its process and cannot be copied or sent'):
                    refused(operation)
        again = pickle.loads(pickle.dumps(launch.kernel)).launch(1, 64, 64, 2.0, x, x)
        self.assertEqual((again.grid, again.block), (launch.grid, launch.block))

    def test_read_only_memory_is_an_input_and_stays_as_it_is(self):
        x, y = bytes(array.array('f', [3] * 64)), bytearray(256)
        self.saxpy(1, 64, 64, 1.0, x, y)
        self.assertEqual(bytes(y), x)
        frozen = bytes(256)
        self.saxpy(1, 64, 64, 1.0, x, frozen)
        self.assertEqual(frozen, bytes(256))

    def test_whole_numbers_of_both_ranges_and_no_others_are_taken(self):
        kernel = self.gpu.kernel(NUMBERS)
        byte, double = bytearray(1), array.array('d', [0])
        for number, expected in ((-1, 255), (-128, 128), (255, 255), (127, 127)):
            kernel(1, 1, byte, double, number, 10**300)
            self.assertEqual((byte[0], double[0]), (expected, 1e300))
        for number in (-129, 256):
            self.refused('out of range of u8', kernel, 1, 1, byte, double, number, 0)
        for number in (10**400, -10**400):
            self.refused('out of range of f64', kernel, 1, 1, byte, double, 0, number)

    def test_memory_with_gaps_is_refused(self):
        gaps = memoryview(array.array('f', [0] * 64))[::2]
        self.refused(r"argument 3 of 'saxpy' .* without gaps", self.saxpy, 1, 32, 32, 1.0, gaps, bytearray(128))


@unittest.skipUnless(has('numpy'), 'NumPy is not installed')
class Numpy(HeddleTest):
    def test_numpy_arrays_are_read_and_written_in_place(self):
        x, y = np.arange(3000, dtype=np.float32), np.ones(3000, np.float32)
        self.saxpy(12, 256, x.size, 0.5, x, y)
        np.testing.assert_array_equal(y, 1 + 0.5 * np.arange(3000, dtype=np.float32))

    def test_views_of_one_array_are_the_same_memory_of_the_gpu(self):
        both = np.arange(512, dtype=np.float32)
        # y is the second half of the array that x begins; x of the second launch is what the first has written.
        first = self.saxpy.launch(1, 256, 256, 1.0, both[:256], both[256:])
        second = self.saxpy.launch(1, 256, 256, 1.0, both[256:], both[:256])
        self.gpu.run([first, second])
        halves = np.arange(512, dtype=np.float32).reshape(2, 256)
        np.testing.assert_array_equal(both, np.concatenate([halves[0] * 2 + halves[1], halves[0] + halves[1]]))

    def test_a_matrix_of_rows_is_passed_and_its_transpose_refused(self):
        m = np.ones((8, 32), np.float32)
        self.saxpy(1, 256, 256, 1.0, m, m.copy())
        said = self.refused('argument 3 .*numpy.ascontiguousarray', self.saxpy, 1, 256, 256, 1.0, m.T, m)
        self.assertIn('shape (32, 8), strides (4, 128) bytes', str(said))
        self.refused('without gaps', self.saxpy, 1, 64, 64, 1.0, m[:, ::2], m)

    def test_dtypes_that_no_kernel_can_read_are_refused(self):
        y = np.zeros(4, np.float32)
        self.refused('array of Python objects', self.saxpy, 1, 4, 4, 1.0, np.array([None] * 4), y)
        self.refused('byte order', self.saxpy, 1, 4, 4, 1.0, np.zeros(4, '>f4'), y)
        for wrong, why in (('O', 'array of Python objects'), ('>f4', 'byte order')):
            for fields in ([('a', '<i4'), ('b', wrong)], [('a', [('b', wrong, (2,))])]):
                self.refused(why, self.saxpy, 1, 4, 4, 1.0, np.zeros(4, fields), y)
        for interface in ({'data': bytes(16)}, {'data': None}, {'shape': 3}, {'typestr': '<'}):
            given = type('Given', (), {'__array_interface__': {**y.__array_interface__, **interface}})()
            self.refused('a Given (does not give its memory|whose .* has no address)', self.saxpy, 1, 4, 4, 1.0, given, y)
        self.refused('is a number, got an array of float32', self.saxpy, 1, 4, y, 1.0, y, y)
        self.refused('a masked array', self.saxpy, 1, 4, 4, 1.0, np.ma.masked_less(y, 1), y)

    def test_times_are_arrays_of_whole_numbers(self):
        x, y = np.ones(4, np.float32).view('m8[s]'), np.zeros(2, 'M8[ns]')
        self.saxpy(1, 4, 4, 2.0, x, y)
        self.assertEqual(y.view(np.float32).tolist(), [2] * 4)

    def test_an_empty_array_is_a_null_pointer(self):
        empty = np.zeros(0, np.float32)
        self.saxpy(1, 32, 0, 1.0, empty, None)

    def test_numbers_take_the_type_of_the_parameter(self):
        x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
        self.saxpy(1, 4, np.int64(4), np.float64(0.1), x, y)
        np.testing.assert_array_equal(y, np.float32(0.1))
        self.saxpy(1, 4, True, 2, x, y)
        self.assertEqual(y[0], np.float32(2) + np.float32(0.1))
        self.refused('takes a whole number, got float 4.5', self.saxpy, 1, 4, 4.5, 1.0, x, y)
        self.refused('takes a whole number, got float32', self.saxpy, 1, 4, np.float32(4), 1.0, x, y)
        self.refused('out of range of u32', self.saxpy, 1, 4, 2**32, 1.0, x, y)
        self.refused('out of range of f32', self.saxpy, 1, 4, 4, 1e300, x, y)
        self.refused('got complex', self.saxpy, 1, 4, 4, 1j, x, y)
        self.refused('got list, expected an array', self.saxpy, 1, 4, 4, 1.0, [1, 2], y)
        self.refused('got NoneType, expected an array or a number', self.saxpy, 1, 4, None, 1.0, x, y)
        self.refused('got str', self.saxpy, 1, 4, 4, 1.0, 'x', y)

    def test_numbers_of_numpy_are_options_too(self):
        x, y = np.ones(2048, np.float32), np.zeros(2048, np.float32)
        options = {'shared_bytes': np.int64(64), 'stream': np.uint8(1), 'priority': np.int16(2), 'at_cycle': np.int64(5),
                   'carveout': np.int32(50), 'registers_per_thread': np.uint64(32)}
        launch = heddle.Gpu('v100').kernel(SAXPY).launch(np.int8(8), (np.int64(128), np.uint16(2)), 2048, 1.0, x, y, **options)
        fill, copy = heddle.Fill(y, np.uint8(0), np.int64(1)), heddle.Copy(x, y, np.int64(1))
        request = {'at_cycle': np.int64(1500), 'sm': np.arange(1), 'mode': 'switch', 'resume_after': np.uint32(500)}
        metrics = launch.kernel.gpu.run([fill, copy, launch], preempt=(r for r in [request]), max_cycles=np.int64(10**6))
        self.assertEqual(metrics['kernels'][0]['stream'], 1)
        self.assertEqual([s['sm'] for s in metrics['context_switches']], [0])
        self.assertEqual(y[:1024].tolist(), [2] * 1024)
        said = self.refused('got .* of type object, expected numbers', self.gpu.run, self.saxpy.launch(1, 1, 0, 1.0, x, y, stream=object()))
        self.assertEqual(said.place.file, __file__)
        self.refused('type object', self.gpu.run, self.saxpy.launch(1, 1, 0, 1.0, x, y), preempt=object())
        self.refused('keys', self.gpu.run, self.saxpy.launch(1, 1, 0, 1.0, x, y), preempt=[{np.int64(1): 2}])
        for number in (float('nan'), np.inf):
            said = self.refused('Out of range float values', self.gpu.run, self.saxpy.launch(1, 1, 0, 1.0, x, y, at_cycle=number))
            self.assertEqual(said.place.file, __file__)
        self.assertEqual(self.saxpy(1, 1, 1, 1.0, x, y, options=['--max-cycles', np.int64(10**6)])['kernels'][0]['grid'], [1, 1, 1])
        self.refused('block: got 1.0, expected a whole number', self.saxpy, 1, np.ones(2), 0, 1.0, x, y)

    def test_arrays_of_numpy_are_grids_and_blocks_too(self):
        x, y = np.ones(2048, np.float32), np.zeros(2048, np.float32)
        for grid, block in ((np.array(8), np.array([128, 2], np.uint16)), (np.array([8]), np.int32([128, 2, 1])),
                            (array.array('i', [8, 1]), [np.int8(64), np.array(4)])):
            launch = self.saxpy.launch(grid, block, 1024, 1.0, x, y, cluster=np.array([1, 1]))
            self.assertEqual(launch.grid[0], 8)
            self.assertEqual(launch.block[0] * launch.block[1], 256)
            self.assertEqual(self.gpu.run(launch)['kernels'][0]['block'], (launch.block + [1])[:3])
        self.assertEqual(self.saxpy.occupancy(np.array([16, 16])), self.saxpy.occupancy(256))
        self.refused(r'grid: got an array of shape \(2, 2\), expected a whole number or up to three', self.saxpy, np.ones((2, 2), int), 1,
                     0, 1.0, x, y)
        self.refused(r'block: got array\(\[\], .*, expected one to three whole numbers above 0', self.saxpy, 1, np.array([], int), 0,
                     1.0, x, y)
        self.refused('block: got .*, expected one to three', self.saxpy, 1, np.array([4, 4, 4, 4]), 0, 1.0, x, y)
        self.refused('block: got .*, expected one to three', self.saxpy, 1, np.array([4, -4]), 0, 1.0, x, y)

    def test_errors_of_a_launch_have_the_line_that_made_it(self):
        x = np.ones(4, np.float32)
        for pattern, arguments in (('grid: got 0, expected', (0, 32, 1, 1.0, x, x)),
                                   ("block: got 'a', expected a whole number", (1, 'a', 1, 1.0, x, x)),
                                   ('takes 4 arguments .*, got 1', (1, 1, 1)),
                                   (r"argument 2 of 'saxpy' \(.*, f32\): 1e\+300 is out of range of f32", (1, 1, 1, 1e300, x, x)),
                                   (r"argument 3 of 'saxpy' .* does not lie row by row", (1, 1, 1, 1.0, x[::2], x))):
            for call in (self.saxpy, self.saxpy.launch):
                with self.assertRaisesRegex(heddle.InputError, pattern) as caught:
                    call(*arguments)
                self.assertEqual(caught.exception.place[:2], (__file__, inspect.currentframe().f_lineno - 1))
        for make in (lambda: heddle.Fill(x[::2]), lambda: heddle.Copy(x, x[:2]), lambda: self.saxpy.occupancy(0), lambda: self.gpu.run([]),
                     lambda: heddle.Gpu('v100').run(self.saxpy.launch(1, 1, 1, 1.0, x, x))):
            with self.assertRaises(heddle.InputError) as caught:
                make()
            self.assertEqual(caught.exception.place.file, __file__)

    def test_a_struct_is_passed_by_value(self):
        kernel = self.gpu.kernel(STRUCT_PTX)
        self.assertEqual([(p.type, p.bytes) for p in kernel.parameters], [(None, 8), ('u64', 8)])
        out = np.zeros(2, np.uint32)
        kernel(1, 1, np.array([(7, 9)], 'u4,u4')[0], out)
        self.assertEqual(out.tolist(), [7, 9])

        class Pair(ctypes.Structure):
            _fields_ = [('a', ctypes.c_uint32), ('b', ctypes.c_uint32)]

        kernel(1, 1, Pair(3, 4), out)
        self.assertEqual(out.tolist(), [3, 4])
        swapped = type('Swapped', (ctypes.BigEndianStructure,), {'_fields_': Pair._fields_})
        within = type('Within', (ctypes.Structure,), {'_fields_': [('pair', swapped * 1)]})
        for other in (swapped(3, 4), within(), np.array([(7, 9)], '>u4,<u4')[0], np.zeros(2, '>u4')):
            self.refused("byte order is not the GPU's", kernel, 1, 1, other, out)
        self.refused('a struct of 8 bytes, got 4 bytes', kernel, 1, 1, b'abcd', out)
        self.refused('a struct of 8 bytes', kernel, 1, 1, 5, out)

    def test_no_array_is_copied_in_this_process(self):
        size = 64 << 20
        x, y = np.ones(size // 4, np.float32), np.full(size // 4, 0, np.float32)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        metrics = self.saxpy(1, 32, 32, 1.0, x, y)
        self.assertEqual(y[:33].tolist(), [1] * 32 + [0])
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 8 << 10, 'KiB more than before')
        if not os.environ.get('HEDDLE_SANITIZERS'):  # their own memory grows with the program's
            self.assertLess(metrics['host']['peak_rss_bytes'], 2 * size + (96 << 20), 'of the worker, which holds both once')


class Tensor:
    """An array that has nothing but DLPack."""

    def __init__(self, data, device=(1, 0)):
        self.data, self.device = data, device

    def __dlpack__(self, **_):
        return self.data.__dlpack__()

    def __dlpack_device__(self):
        return self.device


@unittest.skipUnless(has('numpy') and hasattr(np, 'from_dlpack'), 'NumPy, with DLPack, is not installed')
class Dlpack(HeddleTest):
    def test_a_tensor_is_read_and_written_in_place(self):
        x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
        self.saxpy(1, 64, 64, 3.0, Tensor(x), Tensor(y))
        np.testing.assert_array_equal(y, 3 * x)

    def test_gaps_and_other_devices_are_refused(self):
        x = np.zeros((8, 8), np.float32)
        self.refused('without gaps', self.saxpy, 1, 64, 64, 3.0, Tensor(x.T[:4]), Tensor(x))
        self.refused('on another device', self.saxpy, 1, 64, 64, 3.0, Tensor(x, (2, 0)), Tensor(x))


    def test_a_tensor_that_cannot_be_had_is_refused(self):
        x = np.zeros(64, np.float32)

        class Grad(Tensor):
            def __dlpack__(self, **_):
                raise BufferError('a tensor that requires grad')

        why = 'a Grad does not give its memory .BufferError: a tensor that requires grad'
        said = self.refused(why, self.saxpy, 1, 64, 64, 3.0, Grad(x), x)
        self.assertIsInstance(said.__cause__, BufferError)
        half = type('Half', (), {'__dlpack__': lambda self: x.__dlpack__()})()
        self.refused('a Half does not give its memory .AttributeError', self.saxpy, 1, 64, 64, 3.0, half, x)
        released = memoryview(x)
        released.release()
        self.refused('a memoryview does not give its memory', self.saxpy, 1, 64, 64, 3.0, released, x)


STRUCT_PTX = '''.version 7.0
.target sm_60
.address_size 64
.visible .entry pair(.param .align 4 .b8 s[8], .param .u64 out) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [s];
  ld.param.u32 %r2, [s+4];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [%rd1+4], %r2;
  ret;
}
'''
