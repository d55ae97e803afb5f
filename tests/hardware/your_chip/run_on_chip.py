#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the rows of a suite for `heddle correlate` on the GPU of this machine and prints the suite with what was measured.

    run_on_chip.py SUITE.csv [--watts SECONDS] [--gpu NAME] > mine.csv

Each row's `run` is read as `heddle run` reads it: `--kernel FILE.ptx:ENTRY` with its arguments, or a job file with
buffers, memsets, copies and kernels; `launch` says which kernel of a job is measured (default: the last). Options
that configure the model are kept but mean nothing here. A row's time is that of many launches one after another,
divided by their number; with --watts the launches go on for SECONDS, and the mean power is the difference of the
board's energy counter. Needs the driver (libcuda, libnvidia-ml) and nothing else.
"""
import argparse
import csv
import ctypes as C
import json
import os
import re
import shlex
import struct
import sys
import time

EIGHT = {"u8": "<B", "s8": "<b", "u16": "<H", "s16": "<h", "u32": "<I", "s32": "<i", "u64": "<Q", "s64": "<q", "f32": "<f", "f64": "<d"}
MASK = (1 << 64) - 1


class Driver:
    """The few functions of the driver API that launches need."""

    def __init__(self):
        self.cuda = C.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = C.c_int()
        self.call("cuDeviceGet", C.byref(device), 0)
        self.device = device
        context = C.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", C.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.stream = C.c_void_p()
        self.call("cuStreamCreate", C.byref(self.stream), 1)

    def call(self, name, *arguments):
        error = getattr(self.cuda, name)(*arguments)
        if error:
            text = C.c_char_p()
            self.cuda.cuGetErrorString(error, C.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def allocate(self, size):
        at = C.c_uint64()
        self.call("cuMemAlloc_v2", C.byref(at), C.c_size_t(max(size, 1)))
        return at.value

    def load(self, path):
        with open(path, "rb") as f:
            text = f.read() + b"\0"
        module = C.c_void_p()
        self.call("cuModuleLoadData", C.byref(module), text)
        return module

    def function(self, module, name):
        function = C.c_void_p()
        self.call("cuModuleGetFunction", C.byref(function), module, name.encode())
        return function

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)


class Board:
    """Clock, power and energy, read through the management library."""

    def __init__(self):
        self.nvml = C.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.handle = C.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, C.byref(self.handle))

    def read(self, name, kind, *arguments):
        value = kind()
        if getattr(self.nvml, name)(self.handle, *arguments, C.byref(value)):
            return None
        return value.value

    def joules(self):
        return self.read("nvmlDeviceGetTotalEnergyConsumption", C.c_ulonglong) / 1000

    def clock_mhz(self):
        return self.read("nvmlDeviceGetClockInfo", C.c_uint, 1)

    def memory_mhz(self):
        return self.read("nvmlDeviceGetClockInfo", C.c_uint, 2)

    def degrees(self):
        return self.read("nvmlDeviceGetTemperature", C.c_uint, 0)

def splitmix(seed, count):
    import array
    words = array.array("Q")
    state = seed
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        words.append(z ^ (z >> 31))
    return words


def contents(size, fill):
    """The bytes of a buffer as a job fills it; random ones are repeated after a MiB. `halves`: of 0.5 to 2, either sign."""
    import array
    if fill == "iota32":
        return array.array("I", range(size // 4)).tobytes().ljust(size, b"\0")
    if fill == "iotaf":
        return array.array("f", map(float, range(size // 4))).tobytes().ljust(size, b"\0")
    if fill.startswith(("random", "halves")):
        words = splitmix(int(fill.split(":")[1]), (min(size, 1 << 20) + 7) // 8)
        if fill.startswith("halves"):  # of magnitude 0.5 to 2, either sign
            for i, word in enumerate(words):
                words[i] = word & 0x87ff87ff87ff87ff | 0x3800380038003800
        part = words.tobytes()
        return (part * (size // len(part) + 1))[:size]
    return None


class Job:
    """Buffers on the device and a list of operations."""

    def __init__(self, driver, path):
        self.driver = driver
        self.buffers, self.modules, self.operations, self.keep = {}, [], [], []

    def buffer(self, name, size, data=None):
        at = self.driver.allocate(size)
        if data:
            self.driver.call("cuMemcpyHtoD_v2", C.c_uint64(at), data, C.c_size_t(len(data)))
        else:
            self.driver.call("cuMemsetD8_v2", C.c_uint64(at), 0, C.c_size_t(max(size, 1)))
        self.buffers[name] = (at, size)
        return at

    def find(self, name):
        for module in self.modules:
            try:
                return self.driver.function(module, name)
            except RuntimeError:
                continue
        raise RuntimeError(f"no kernel {name}")

    def kernel(self, name, grid, block, shared, values, cluster=None):
        function = self.find(name)
        if shared > 48 * 1024:
            self.driver.call("cuFuncSetAttribute", function, 8, shared)
        if cluster and cluster[0] * cluster[1] * cluster[2] > 8:
            self.driver.call("cuFuncSetAttribute", function, 14, 1)
        held = [C.create_string_buffer(v, len(v)) for v in values]
        pointers = (C.c_void_p * max(len(held), 1))(*[C.addressof(h) for h in held])
        self.keep.append((held, pointers))

        def launch():
            if cluster:
                self.launch_cluster(function, grid, block, shared, pointers, cluster)
            else:
                self.driver.call("cuLaunchKernel", function, *grid, *block, shared, self.driver.stream, pointers, None)
        self.operations.append((name, launch))

    def launch_cluster(self, function, grid, block, shared, pointers, cluster):
        # CUlaunchConfig: grid, block, shared bytes, stream, attributes (id, pad, 64 bytes of value), count
        attribute = struct.pack("<II", 4, 0) + struct.pack("<III", *cluster).ljust(64, b"\0")
        held = C.create_string_buffer(attribute, len(attribute))
        config = struct.pack("<IIIIIIIxxxxQQIxxxx", *grid, *block, shared, self.driver.stream.value or 0, C.addressof(held), 1)
        held_config = C.create_string_buffer(config, len(config))
        self.driver.call("cuLaunchKernelEx", held_config, function, pointers, None)


def three(values):
    values = [int(v) for v in values]
    return values + [1] * (3 - len(values))


def scalar(kind, value):
    if kind in ("f32", "f64"):
        return struct.pack(EIGHT[kind], float(value))
    return struct.pack("<Q", int(str(value), 0) & MASK)[: struct.calcsize(EIGHT[kind])]


def from_options(driver, words, folder):
    job = Job(driver, folder)
    grid, block, shared, values, kernel, cluster = [1], [1], 0, [], None, None
    it = iter(words)
    for word in it:
        if word == "--kernel":
            path, _, kernel = next(it).partition(":")
            job.modules.append(driver.load(os.path.join(folder, path)))
        elif word == "--grid":
            grid = next(it).split(",")
        elif word == "--block":
            block = next(it).split(",")
        elif word == "--cluster":
            cluster = three(next(it).split(","))
        elif word == "--shared-bytes":
            shared = int(next(it))
        elif word == "--arg":
            kind, _, value = next(it).partition(":")
            if kind == "buf":
                size, _, fill = value.partition(":")
                values.append(struct.pack("<Q", job.buffer(str(len(values)), int(size), contents(int(size), fill or "zero"))))
            else:
                values.append(scalar(kind, value))
        elif word in ("--set", "--gpu", "--carveout"):
            next(it)
    job.kernel(kernel, three(grid), three(block), shared, values, cluster)
    return job


SWIZZLE = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
MAP_TYPES = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"]
WIDTH = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}


def tensor_map(driver, job, a):
    size, rank = a["size"], len(a["size"])
    strides = a.get("strides")
    if strides is None:
        strides, step = [], WIDTH.get(a["type"], 4)
        for extent in size[:-1]:
            step *= extent
            strides.append(step)
    memory = C.create_string_buffer(256)
    at = (C.addressof(memory) + 63) // 64 * 64
    driver.call("cuTensorMapEncodeTiled", C.c_void_p(at), MAP_TYPES.index(a["type"]), rank,
                C.c_void_p(job.buffers[a["buffer"]][0] + a.get("offset", 0)), (C.c_uint64 * rank)(*size),
                (C.c_uint64 * max(rank - 1, 1))(*strides), (C.c_uint32 * rank)(*a["box"]),
                (C.c_uint32 * rank)(*([1] + a.get("element_strides", [1] * (rank - 1)))), 0, SWIZZLE[a.get("swizzle", "none")], 0,
                1 if a.get("fill") == "nan" else 0)
    return C.string_at(at, 128)


def argument(driver, job, a):
    if "buffer" in a:
        return struct.pack("<Q", job.buffers[a["buffer"]][0] + a.get("offset", 0))
    if "bytes_hex" in a:
        return bytes.fromhex(a["bytes_hex"])
    if "tensor_map" in a:
        return tensor_map(driver, job, a["tensor_map"])
    (kind, value), = a.items()
    if kind not in EIGHT:
        raise RuntimeError(f"argument {kind} is not read here")
    return scalar(kind, value)


def add(driver, job, launches):
    for one in launches:
        if "repeat" in one:
            for _ in range(one.get("max", 1) if "while_nonzero" not in one else 1):
                add(driver, job, one["repeat"])
        elif "memset" in one:
            at, size = job.buffers[one["memset"]]
            at, n = at + one.get("offset", 0), one.get("bytes", size - one.get("offset", 0))
            job.operations.append(("", lambda at=at, n=n, b=one.get("byte", 0): driver.call(
                "cuMemsetD8Async", C.c_uint64(at), C.c_ubyte(b), C.c_size_t(n), driver.stream)))
        elif "copy" in one:
            c = one["copy"]
            to, source = job.buffers[c["to"]][0] + c.get("to_offset", 0), job.buffers[c["from"]][0] + c.get("from_offset", 0)
            n = c.get("bytes", job.buffers[c["from"]][1] - c.get("from_offset", 0))
            job.operations.append(("", lambda to=to, source=source, n=n: driver.call(
                "cuMemcpyDtoDAsync_v2", C.c_uint64(to), C.c_uint64(source), C.c_size_t(n), driver.stream)))
        else:
            job.kernel(one["kernel"], three(one["grid"]), three(one["block"]), one.get("shared_bytes", 0),
                       [argument(driver, job, a) for a in one.get("args", [])], three(one["cluster"]) if "cluster" in one else None)


def from_file(driver, path):
    with open(path) as f:
        text = json.load(f)
    folder = os.path.dirname(path)
    job = Job(driver, folder)
    for module in text.get("modules", [text["module"]] if "module" in text else []):
        job.modules.append(driver.load(os.path.join(folder, module)))
    if "textures" in text:
        raise RuntimeError("textures are not read here")
    for name, b in text.get("buffers", {}).items():
        if "file" in b:
            with open(os.path.join(folder, b["file"]), "rb") as f:
                data = f.read()
        else:
            data = contents(b["bytes"], b.get("fill", "zero"))
        job.buffer(name, b.get("bytes", len(data or b"")), data)
    add(driver, job, text["launches"])
    return job


def times(driver, operations, measured, watts, board):
    """Seconds a launch of operation `measured`, and watts, MHz and degrees while it runs again and again."""
    for _, operation in operations:
        operation()
    driver.synchronize()
    launch = operations[measured][1]

    def many(n):
        begin, end = C.c_void_p(), C.c_void_p()
        driver.call("cuEventCreate", C.byref(begin), 0)
        driver.call("cuEventCreate", C.byref(end), 0)
        driver.call("cuEventRecord", begin, driver.stream)
        for _ in range(n):
            launch()
        driver.call("cuEventRecord", end, driver.stream)
        driver.synchronize()
        ms = C.c_float()
        driver.call("cuEventElapsedTime", C.byref(ms), begin, end)
        driver.call("cuEventDestroy_v2", begin)
        driver.call("cuEventDestroy_v2", end)
        return ms.value / 1000
    once = min(many(1) for _ in range(5))
    count = max(1, min(200, int(0.02 / max(once, 1e-6))))
    graph, executable = C.c_void_p(), C.c_void_p()
    driver.call("cuStreamBeginCapture_v2", driver.stream, 2)
    for _ in range(count):
        launch()
    driver.call("cuStreamEndCapture", driver.stream, C.byref(graph))
    driver.call("cuGraphInstantiateWithFlags", C.byref(executable), graph, C.c_ulonglong(0))

    def batch():
        begin = time.perf_counter()
        driver.call("cuGraphLaunch", executable, driver.stream)
        driver.call("cuGraphLaunch", executable, driver.stream)
        driver.synchronize()
        return (time.perf_counter() - begin) / (2 * count)
    batch()
    result = {"seconds": min(batch() for _ in range(3))}
    if watts:
        until = time.perf_counter() + watts * 0.5
        while time.perf_counter() < until:
            batch()
        at, joules, n, clocks = time.perf_counter(), board.joules(), 0, []
        while time.perf_counter() < at + watts:
            driver.call("cuGraphLaunch", executable, driver.stream)
            clocks.append(board.clock_mhz())
            driver.call("cuGraphLaunch", executable, driver.stream)
            driver.synchronize()
            n += 2 * count
        used = time.perf_counter() - at
        result.update(mean_watts=(board.joules() - joules) / used, seconds=used / n, clock_mhz=sum(clocks) / len(clocks),
                      degrees=board.degrees(), memory_mhz=board.memory_mhz())
    driver.call("cuGraphExecDestroy", executable)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("--watts", type=float, default=0)
    parser.add_argument("--gpu", default="")
    parser.add_argument("--once", action="store_true", help="each row's launches once, for a profiler")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    driver, board = Driver(), Board()
    folder = os.path.dirname(os.path.abspath(given.suite))
    with open(given.suite) as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    out = csv.writer(sys.stdout)
    out.writerow(["gpu", "kernel", "run", "seconds", "mean_watts", "clock_mhz", "memory_mhz", "degrees", "once"])
    for row in rows:
        if not row.get("run") or (given.gpu and row["gpu"] != given.gpu) or not re.search(given.only, row["kernel"]):
            continue
        words = shlex.split(row["run"])
        try:
            if words[0] == "--kernel":
                job = from_options(driver, words, folder)
            else:
                job = from_file(driver, os.path.join(folder, words[0]))
            kernels = [i for i, (name, _) in enumerate(job.operations) if name]
            which = row.get("launch") or ""
            if which.isdigit():
                measured = int(which)
            elif which:
                measured = next(i for i in kernels if job.operations[i][0] == which)
            else:
                measured = kernels[-1]
            if given.once:
                for _, operation in job.operations:
                    operation()
                driver.synchronize()
                result = {"seconds": 0}
                result["once"] = f"{len(kernels)}:{kernels.index(measured)}:{job.operations[measured][0]}"
            else:
                result = times(driver, job.operations, measured, given.watts, board)
            out.writerow([row["gpu"], row["kernel"], row["run"]] + [result.get(k, "") for k in
                         ("seconds", "mean_watts", "clock_mhz", "memory_mhz", "degrees", "once")])
        except RuntimeError as error:
            out.writerow([row["gpu"], row["kernel"], row["run"], f"error: {error}"])
        sys.stdout.flush()
        for at, _ in job.buffers.values():
            driver.call("cuMemFree_v2", C.c_uint64(at))
        job.buffers.clear()


if __name__ == "__main__":
    main()
