# SPDX-License-Identifier: MIT
"""A program of Numba's CUDA target; each result is compared with numpy's. Prints a line for each part."""
import math
import warnings

import numpy as np
from llvmlite import ir
from numba import cuda, float32, int32, vectorize
from numba.cuda.cudadrv import nvvm

warnings.simplefilter("ignore")
THREADS = 128
random = np.random.default_rng(7)


def state_ir_version(module):
    """Numba before 0.58 states version 1.6 of NVVM's IR, which the libnvvm of CUDA 12 and later rejects."""
    numbers = [ir.IntType(32)(i) for i in (*nvvm.NVVM().get_ir_version()[:2], 3, 0)]
    module.add_named_metadata("nvvmir.version", module.add_metadata(numbers))


nvvm.add_ir_version = state_ir_version


@cuda.jit
def add(a, b, total):
    i = cuda.grid(1)
    if i < total.size:
        total[i] = a[i] + b[i]


@cuda.jit
def reverse_tiles(values, reversed_values):
    tile = cuda.shared.array(THREADS, dtype=float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = values[i]
    cuda.syncthreads()
    reversed_values[i] = tile[THREADS - 1 - cuda.threadIdx.x]


@cuda.jit
def multiply(a, b, product):
    tile_a = cuda.shared.array((8, 8), dtype=float32)
    tile_b = cuda.shared.array((8, 8), dtype=float32)
    x, y = cuda.grid(2)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(a.shape[1] // 8):
        tile_a[row, column] = a[y, column + i * 8]
        tile_b[row, column] = b[row + i * 8, x]
        cuda.syncthreads()
        for j in range(8):
            total += tile_a[row, j] * tile_b[j, column]
        cuda.syncthreads()
    product[y, x] = total


@cuda.jit
def count(values, counts, extremes, locked):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i] % counts.size, 1)
        cuda.atomic.max(extremes, 0, values[i])
        cuda.atomic.min(extremes, 1, values[i])
        cuda.atomic.compare_and_swap(locked, 0, values[i])


@cuda.jit
def add_doubles(values, total):
    cuda.atomic.add(total, 0, values[cuda.grid(1)])


@cuda.jit
def warp_sums(values, sums, votes):
    i = cuda.grid(1)
    value = values[i]
    votes[i] = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, value > 50))
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        sums[i // 32] = value


@cuda.jit
def functions(x, results):
    i = cuda.grid(1)
    if i < x.size:
        results[0, i] = math.sin(x[i])
        results[1, i] = math.exp(-x[i])
        results[2, i] = math.log(x[i])
        results[3, i] = math.sqrt(x[i])
        results[4, i] = math.pow(x[i], 1.5)
        results[5, i] = math.tanh(x[i])
        results[6, i] = math.erf(x[i])
        results[7, i] = math.lgamma(x[i])


@cuda.jit
def own_and_constant_memory(results):
    table = cuda.const.array_like(TABLE)
    own = cuda.local.array(16, dtype=int32)
    i = cuda.grid(1)
    for j in range(16):
        own[j] = table[(i + j) % 16] * j
    total = 0
    for j in range(16):
        total += own[(i * 7 + j * 3) % 16] * (j + 1)
    results[i] = total


@cuda.jit(device=True)
def clamp(value, low, high):
    return min(max(value, low), high)


@cuda.jit
def clamp_all(values):
    i = cuda.grid(1)
    values[i] = clamp(values[i], 0.25, 0.75)


@cuda.reduce
def sum_of(a, b):
    return a + b


@vectorize(["float32(float32, float32)"], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@cuda.jit(debug=True, opt=False)
def divide(values, by):
    values[cuda.grid(1)] //= by[cuda.grid(1)]


TABLE = np.arange(3, 19, dtype=np.int32)


@cuda.jit
def add_rows(matrix):
    column = cuda.grid(1)
    all_blocks = cuda.cg.this_grid()
    for row in range(1, matrix.shape[0]):
        matrix[row, column] = matrix[row - 1, matrix.shape[1] - column - 1] + 1
        all_blocks.sync()


@cuda.jit(max_registers=32)
def own_sums(values):
    i = cuda.grid(1)
    own = cuda.local.array(40, float32)
    for j in range(40):
        own[j] = values[(i + j) % values.size]
    cuda.syncthreads()
    for j in range(40):
        own[0] += own[39 - j] * own[j * 7 % 40]
    values[i] = own[0]


def show(part, good):
    print(part + ":", "right" if good else "WRONG", flush=True)
    if not good:
        raise SystemExit(1)


def arrays():
    a, b = random.random(1000, dtype=np.float32), random.random(1000, dtype=np.float32)
    total = np.zeros_like(a)
    add[8, THREADS](a, b, total)
    show("addition with host arrays", np.array_equal(total, a + b))
    on_device, result = cuda.to_device(a), cuda.device_array_like(a)
    add[8, THREADS](on_device, on_device, result)
    show("addition with device arrays", np.array_equal(result.copy_to_host(), a + a))
    show("slices of device arrays", np.array_equal(result[10:500:3].copy_to_host(), (a + a)[10:500:3]))
    result[:100] = 1.5
    show("assignment to a slice", np.all(result.copy_to_host()[:100] == 1.5))
    pinned = cuda.pinned_array(1000, dtype=np.float32)
    pinned[:] = a
    managed = cuda.managed_array(1000, dtype=np.float32)
    add[8, THREADS](cuda.to_device(pinned), on_device, managed)
    cuda.synchronize()
    show("pinned and managed arrays", np.array_equal(managed, a + a))
    mapped = cuda.mapped_array(1000, dtype=np.float32)
    add[8, THREADS](on_device, on_device, mapped)
    cuda.synchronize()
    show("mapped arrays", np.array_equal(mapped, a + a))


def shared():
    values = random.random(8 * THREADS, dtype=np.float32)
    reversed_values = np.zeros_like(values)
    reverse_tiles[8, THREADS](values, reversed_values)
    show("shared memory", np.array_equal(reversed_values, values.reshape(8, THREADS)[:, ::-1].ravel()))
    a, b = random.random((32, 32), dtype=np.float32), random.random((32, 32), dtype=np.float32)
    product = np.zeros_like(a)
    multiply[(4, 4), (8, 8)](a, b, product)
    show("matrix product", np.allclose(product, a @ b, rtol=1e-5))


def atomics():
    values = random.integers(0, 10000, 2000).astype(np.int32)
    counts, extremes, locked = np.zeros(10, np.int32), np.array([-1, 99999], np.int32), np.array([-7], np.int32)
    count[16, THREADS](values, counts, extremes, locked)
    show("integer atomics", np.array_equal(counts, np.bincount(values % 10, minlength=10)))
    show("extremes", extremes[0] == values.max() and extremes[1] == values.min() and locked[0] == -7)
    doubles, total = random.random(4 * THREADS), np.zeros(1)
    add_doubles[4, THREADS](doubles, total)
    show("atomics of doubles", np.allclose(total, doubles.sum()))


def warps():
    values = random.integers(0, 100, 256).astype(np.int32)
    sums, votes = np.zeros(8, np.int32), np.zeros(256, np.int32)
    warp_sums[2, 128](values, sums, votes)
    rows = values.reshape(8, 32)
    show("shuffles", np.array_equal(sums, rows.sum(axis=1)))
    show("votes", np.array_equal(votes.reshape(8, 32)[:, 0], (rows > 50).sum(axis=1)))


def computations():
    for real in (np.float32, np.float64):
        x = random.uniform(0.1, 4, 300).astype(real)
        results = np.zeros((8, 300), real)
        functions[3, THREADS](x, results)
        wide = x.astype(np.float64)
        expected = [np.sin(wide), np.exp(-wide), np.log(wide), np.sqrt(wide), wide**1.5, np.tanh(wide)]
        expected += [np.vectorize(math.erf)(wide), np.vectorize(math.lgamma)(wide)]
        near = dict(rtol=2e-5, atol=2e-6) if real == np.float32 else dict(rtol=1e-13, atol=1e-13)
        show("functions of " + real.__name__, np.allclose(results, expected, **near))
    results = np.zeros(64, np.int32)
    own_and_constant_memory[2, 32](results)
    i, j = np.arange(64)[:, None], np.arange(16)[None, :]
    index = (i * 7 + j * 3) % 16
    show("local and constant memory", np.array_equal(results, (TABLE[(i + index) % 16] * index * (j + 1)).sum(axis=1)))
    values = random.random(256)
    clamped = values.copy()
    clamp_all[2, 128](clamped)
    show("device functions", np.array_equal(clamped, np.clip(values, 0.25, 0.75)))
    show("a reduction", np.isclose(sum_of(values), values.sum()))
    whole = random.integers(0, 100, 3000)
    show("a reduction of integers", sum_of(whole) == whole.sum())
    a, b = random.random(500, dtype=np.float32), random.random(500, dtype=np.float32)
    show("a vectorized function", np.allclose(hypotenuse(a, b), np.hypot(a, b), rtol=1e-5))


def streams_and_events():
    a = random.random(8 * THREADS, dtype=np.float32)
    streams = [cuda.stream() for _ in range(3)]
    begin, end = cuda.event(), cuda.event()
    results = []
    begin.record()
    for stream in streams:
        with stream.auto_synchronize():
            on_device = cuda.to_device(a, stream=stream)
            result = cuda.device_array_like(a, stream=stream)
            add[8, THREADS, stream](on_device, on_device, result)
            results.append(result.copy_to_host(stream=stream))
    end.record()
    end.synchronize()
    show("streams", all(np.array_equal(result, a + a) for result in results))
    milliseconds = cuda.event_elapsed_time(begin, end)
    show("time between events", 0 < milliseconds < 10 and begin.query() and end.query())
    called = []
    streams[0].add_callback(lambda stream, status, data: called.append(data), 42)
    streams[0].synchronize()
    show("callbacks", called == [42])


def devices():
    context = cuda.current_context()
    free, total = context.get_memory_info()
    show("sizes of memory", 0 < free <= total)
    show("the device", context.device.MULTIPROCESSOR_COUNT > 0 and cuda.is_available())
    kernel = next(iter(add.overloads.values()))
    show("attributes of kernels", 0 < kernel.regs_per_thread < 256)
    show("occupancy", context.get_active_blocks_per_multiprocessor(kernel._codelibrary.get_cufunc(), THREADS, 0) > 0)
    values, by = np.array([6, 9]), np.array([2, 0])
    try:
        divide[1, 2](values, by)
        cuda.synchronize()
        show("errors of kernels", False)
    except ZeroDivisionError:
        show("errors of kernels", True)


def grids():
    matrix = np.zeros((9, 4 * THREADS), np.int32)
    matrix[0] = np.arange(matrix.shape[1])
    expected = matrix.copy()
    for row in range(1, len(expected)):
        expected[row] = expected[row - 1][::-1] + 1
    add_rows[4, THREADS](matrix)
    show("synchronisation of a grid", np.array_equal(matrix, expected))
    kernel = next(iter(add_rows.overloads.values()))
    show("blocks of a cooperative grid", kernel.cooperative and kernel.max_cooperative_grid_blocks(THREADS) >= 4)
    own_sums[2, THREADS](random.random(2 * THREADS, dtype=np.float32))
    show("a limit of registers", max(own_sums.get_regs_per_thread().values()) <= 32)


def closing():
    held = cuda.to_device(TABLE)
    del held
    cuda.close()
    show("a device after its closing", np.array_equal(cuda.to_device(TABLE).copy_to_host(), TABLE))


cuda.detect()
for part in (arrays, shared, atomics, warps, computations, streams_and_events, devices, grids, closing):
    part()
print("all is well")
