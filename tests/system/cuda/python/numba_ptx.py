# SPDX-License-Identifier: MIT
"""PTX of one's own through Numba's driver and linker, which need no libnvvm. Argument: driver_kernels.ptx."""
import ctypes
import sys

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import driver

N = 1000


def launch(function, *arguments):
    driver.launch_kernel(function.handle, 8, 1, 1, 128, 1, 1, 0, None, arguments)


def check(module):
    a, b = np.arange(N, dtype=np.float32), np.full(N, 0.5, np.float32)
    total = cuda.device_array(N, np.float32)
    arrays = [cuda.to_device(a), cuda.to_device(b), total]
    launch(module.get_function("add"), *(array.device_ctypes_pointer for array in arrays), ctypes.c_int(N))
    assert np.array_equal(total.copy_to_host(), a + b)


with open(sys.argv[1], "rb") as file:
    ptx = file.read()
context = cuda.current_context()
check(context.create_module_ptx(ptx))
linker = driver.Linker.new(cc=context.device.compute_capability)
linker.add_ptx(ptx)
image, _ = linker.complete()
check(context.create_module_image(ctypes.cast(image, ctypes.c_char_p)))
print("all is well")
