# SPDX-License-Identifier: MIT
"""What the tests of the Python module share."""
import importlib.util
import unittest
from pathlib import Path

import heddle

SOURCE = Path(__file__).resolve().parents[2]
WORKLOADS = SOURCE / 'testbench/workloads'
SAXPY = WORKLOADS / 'saxpy/saxpy.ptx'

CUDA_SAXPY = '''extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
'''


def has(module):
    return importlib.util.find_spec(module) is not None


class HeddleTest(unittest.TestCase):
    """A test with a small GPU, on which runs are short."""

    @classmethod
    def setUpClass(cls):
        cls.gpu = heddle.Gpu('gtx1080', {'gpu.sm_count': 4})
        cls.saxpy = cls.gpu.kernel(SAXPY)

    def refused(self, pattern, call, *arguments, **options):
        """The exception of a call whose message fits; it is one sentence in one line."""
        with self.assertRaisesRegex(heddle.InputError, pattern) as caught:
            call(*arguments, **options)
        self.assertNotIn('\n', str(caught.exception))
        return caught.exception
