#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the table of docs/use/sampling_within.md: launches simulated whole, and with --sample-blocks.

within_launches.py DIR [--heddle FILE] [--gpu NAME]... [--part] [--again] [--error PERCENT] [--waves N]
                   [--only NAME]... [--runs N] [--json FILE]

The workloads of testbench/workloads are launched with so many blocks that they fill the GPU --waves times, and
blocks of unequal length (unequal_blocks.ptx) beside them. The outputs of both runs must be the same bytes. Launches
of less than 8 waves are not counted. With --part the chips have a part of their SMs, channels and L2 (PARTS). With
--again it launches kernels three times over the same buffers, which are a quarter to four times of the L2 (SIZES). CPU
time is the least of --runs runs.
"""
import argparse
import array
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = os.path.join(HERE, "..", "..", "testbench", "workloads")
LEAST_WAVES = 8
# SMs, channels, bytes of L2. The rules were made with the first three. What the next three showed led to two more: the
# order of blocks in the L2, and the bound's part for the beginning. No rule was changed after the last two.
PARTS = {"gtx1080": (5, 2, 1 << 19), "v100": (10, 8, 6 << 17), "h100": (12, 8, 5 << 20),
         "a100": (12, 8, 4 << 20), "rtx2060": (6, 2, 1 << 19), "rtx3080": (8, 4, 1 << 20),
         "gtx980": (4, 2, 1 << 19), "rtx4090": (8, 4, 1 << 21)}
BYTES_OF_L2 = {"gtx1080": 2 << 20, "v100": 6 << 20, "h100": 50 << 20,
               "a100": 40 << 20, "rtx2060": 3 << 20, "rtx3080": 5 << 20, "gtx980": 2 << 20, "rtx4090": 72 << 20}


def buffer(n):
    return {"buffer": n}


def zeros(count):
    return {"bytes": count}


def iota(count):
    return {"bytes": count, "fill": "iotaf"}


def noise(count, seed=7):
    return {"bytes": count, "fill": f"random:{seed}"}


class case:
    """A launch, or several, of one kernel. `make(blocks, folder)` returns buffers, launches, and other members."""

    def __init__(self, name, kernel, threads, make, module=None, waves=1.0, needs=0):
        self.name, self.kernel, self.threads, self.make = name, kernel, threads, make
        self.module = module or f"{WORKLOADS}/{name}/{name}.ptx"
        self.waves, self.needs = waves, needs


def launch(kernel, grid, block, *args):
    return {"kernel": kernel, "grid": list(grid) + [1] * (3 - len(grid)), "block": list(block) + [1] * (3 - len(block)),
            "args": [a if isinstance(a, dict) else buffer(a) if isinstance(a, str) else {"s32": a} for a in args]}


def along(kernel, threads, buffers, args):
    """One dimension: buffers and arguments by the number of threads."""
    def make(blocks, _):
        n = blocks * threads
        return buffers(n), [launch(kernel, [blocks], [threads], *args(n))], {}
    return make


def image(kernel, block, tile, buffers, args, more=lambda w, h: {}):
    """An image 64 blocks wide: buffers and arguments by width and height."""
    def make(blocks, _):
        rows = max(1, blocks // 64)
        w, h = 64 * tile[0], rows * tile[1]
        return buffers(w, h), [launch(kernel, [64, rows], block, *args(w, h))], more(w, h)
    return make


def product(kernel, block, n, rows, columns, element):
    """n columns, and so many rows that there are enough blocks."""
    def make(blocks, _):
        down = max(1, blocks // (n // columns))
        buffers = {"a": noise(down * rows * n * element), "b": noise(n * n * element, 8), "c": zeros(down * rows * n * 4)}
        return buffers, [launch(kernel, [n // columns, down], block, n, "a", "b", "c")], {}
    return make


def write(folder, name, values, kind):
    with open(f"{folder}/{name}", "wb") as f:
        array.array(kind, values).tofile(f)
    return {"file": name}


def sparse(length):
    """spmv with 8 rows a block; `length(row, rows, random)` is the number of values of a row."""
    def make(blocks, folder):
        rows, generator = 8 * blocks, random.Random(5)
        starts = [0]
        for row in range(rows):
            starts.append(starts[-1] + length(row, rows, generator))
        n = starts[-1]
        columns = [generator.randrange(1 << 16) for _ in range(n)]
        buffers = {"starts": write(folder, "starts.bin", starts, "i"), "columns": write(folder, "columns.bin", columns, "i"),
                   "values": iota(4 * n), "x": iota(4 << 16), "y": zeros(4 * rows)}
        return buffers, [launch("spmv", [blocks], [256], "starts", "columns", "values", "x", "y", rows)], {}
    return make


def graph(blocks, folder):
    """A level of a search that has all nodes."""
    nodes, generator = 128 * blocks, random.Random(6)
    starts, edges = [0], []
    for _ in range(nodes):
        edges += [generator.randrange(nodes) for _ in range(generator.randrange(9))]
        starts.append(len(edges))
    buffers = {"starts": write(folder, "starts.bin", starts, "i"), "edges": write(folder, "edges.bin", edges, "i"),
               "levels": zeros(4 * nodes), "level": zeros(4), "again": zeros(4)}
    return buffers, [launch("bfs", [blocks], [128], "starts", "edges", "levels", "level", "again", nodes)], {}


def chase(blocks, folder):
    words, generator = 1 << 16, random.Random(4)
    ring = list(range(words))
    generator.shuffle(ring)
    following = [0] * words
    for k in range(words):
        following[ring[k - 1]] = ring[k]
    walkers = 2 * blocks
    apart = max(1, words // walkers)
    buffers = {"next": write(folder, "next.bin", following * (walkers * apart // words + 1), "I"), "last": zeros(4 * walkers)}
    return buffers, [launch("pointer_chase", [blocks], [64], "next", "last", {"u32": 60}, {"u32": apart})], {}


def unequal(base, slope, mask, late_at=2.0, late=0):
    """`slope`: rounds that the last block has more than the first."""
    def make(blocks, _):
        args = [{"s32": v} for v in (base, slope * 1024 // blocks, mask, int(late_at * blocks), late)]
        return {"out": zeros(blocks * 512)}, [launch("unequal_blocks", [blocks], [128], "out", *args)], {}
    return make


def search(blocks, folder):
    """All levels of a search in a graph whose nodes have 0 to 8 edges."""
    buffers, [level], _ = graph(blocks, folder)
    buffers["levels"] = {"bytes": 4 * 128 * blocks}
    launches = [{"memset": "levels", "byte": 255}, {"memset": "levels", "byte": 0, "offset": 20, "bytes": 4}]
    for _ in range(16):
        launches += [level, launch("next_level", [1], [1], "level")]
    return buffers, launches, {}


def thrice(kernel, threads, bytes_of_thread, names, rounds, fill=iota, before=(), after=lambda n: []):
    """Launches over the same buffers, in the order of `rounds`; each buffer has bytes_of_thread bytes of each thread."""
    def make(blocks, _):
        n = blocks * threads
        launches = [launch(kernel, [blocks], [threads], *(list(before) and [n, *before]), *r, *after(n)) for r in rounds]
        return {b: fill(bytes_of_thread * n) for b in names}, launches, {}
    return make


UNEQUAL = HERE + "/unequal_blocks.ptx"
f32 = lambda v: {"f32": v}
CASES = [
    case("vector_add", "vector_add", 256, along("vector_add", 256, lambda n: {"a": iota(4 * n), "b": iota(4 * n), "c": zeros(4 * n)},
                                                lambda n: ["a", "b", "c", n])),
    case("saxpy", "saxpy", 256, along("saxpy", 256, lambda n: {"x": iota(4 * n), "y": iota(4 * n)}, lambda n: [n, f32(0.5), "x", "y"])),
    case("black_scholes", "black_scholes", 128,
         along("black_scholes", 128, lambda n: {"p": iota(4 * n), "s": iota(4 * n), "t": iota(4 * n), "c": zeros(4 * n), "q": zeros(4 * n)},
               lambda n: ["p", "s", "t", "c", "q", n, f32(0.02), f32(0.3)])),
    case("convolution", "convolution", 256,
         image("convolution", [32, 8], [32, 8], lambda w, h: {"in": iota(4 * w * h), "out": zeros(4 * w * h)},
               lambda w, h: ["in", "out", w, h])),
    case("divergent", "divergent", 128, along("divergent", 128, lambda n: {"in": noise(4 * n), "out": zeros(4 * n)}, lambda n: ["in", "out", n])),
    case("fft", "fft", 128, along("fft", 128, lambda n: {"in": iota(16 * n), "out": zeros(16 * n), "roots": {"file": f"{WORKLOADS}/fft/roots.bin"}},
                                  lambda n: ["in", "out", "roots"])),
    case("histogram", "histogram", 192, along("histogram", 192, lambda n: {"in": noise(8 * n), "totals": zeros(1024)},
                                              lambda n: ["in", {"u32": 2 * n}, "totals"])),
    case("hotspot", "hotspot", 256,
         image("hotspot", [16, 16], [16, 16], lambda w, h: {"p": iota(4 * w * h), "e": iota(4 * w * h), "o": zeros(4 * w * h)},
               lambda w, h: ["p", "e", "o", w, h, f32(0.1), f32(0.08), f32(0.02), f32(80.0)])),
    case("kmeans", "nearest", 128, along("nearest", 128, lambda n: {"p": iota(16 * n), "c": {"file": f"{WORKLOADS}/kmeans/centres.bin"}, "o": zeros(4 * n)},
                                         lambda n: ["p", "c", "o", n, 8])),
    case("mandelbrot", "mandelbrot", 256,
         image("mandelbrot", [32, 8], [32, 8], lambda w, h: {"r": zeros(w * h)},
               lambda w, h: ["r", w, h, f32(-2.1), f32(-1.1), f32(2.2 / h), 64])),
    case("nbody", "nbody", 64, along("nbody", 64, lambda n: {"b": iota(16 * n), "v": zeros(16 * n), "m": zeros(16 * n)},
                                     lambda n: ["b", "v", "m", 128, f32(0.01)]), waves=0.6),
    case("reduction (words)", "sum_words", 256, along("sum_words", 256, lambda n: {"w": noise(8 * n), "t": zeros(4)},
                                                      lambda n: ["w", {"u32": 2 * n}, "t"]), f"{WORKLOADS}/reduction/reduction.ptx"),
    case("reduction (floats)", "sum_floats", 256, along("sum_floats", 256, lambda n: {"w": iota(8 * n), "t": zeros(n // 64)},
                                                        lambda n: ["w", {"u32": 2 * n}, "t"]), f"{WORKLOADS}/reduction/reduction.ptx"),
    case("scan (blocks)", "scan_blocks", 256, along("scan_blocks", 256, lambda n: {"i": noise(4 * n), "o": zeros(4 * n), "t": zeros(n // 64)},
                                                    lambda n: ["i", "o", "t", n]), f"{WORKLOADS}/scan/scan.ptx"),
    case("scan (add)", "add_totals", 256, along("add_totals", 256, lambda n: {"o": noise(4 * n), "t": noise(n // 64)},
                                                lambda n: ["o", "t", n]), f"{WORKLOADS}/scan/scan.ptx"),
    case("sgemm", "sgemm", 256, product("sgemm", [16, 16], 64, 16, 16, 4), waves=0.6),
    case("sgemm_register_tiled", "sgemm_register_tiled", 256, product("sgemm_register_tiled", [16, 16], 64, 64, 64, 4), waves=0.6),
    case("wmma_gemm", "wmma_gemm", 128, product("wmma_gemm", [64, 2], 128, 32, 32, 2), needs=70),
    case("spmv", "spmv", 256, sparse(lambda row, rows, r: r.randrange(96))),
    case("spmv, longer and longer", "spmv", 256, sparse(lambda row, rows, r: 96 * row // rows + r.randrange(32)), f"{WORKLOADS}/spmv/spmv.ptx"),
    case("stencil_f64", "stencil", 256,
         image("stencil", [32, 8], [32, 8], lambda w, h: {"e": noise(8 * w * h), "o": zeros(8 * w * h)},
               lambda w, h: ["e", "o", w, h, {"f64": 0.4}, {"f64": 0.15}])),
    case("texture_filter", "texture_filter", 256,
         image("texture_filter", [32, 8], [32, 8], lambda w, h: {"i": iota(4 * w * h), "f": zeros(4 * w * h)},
               lambda w, h: [{"texture": "i"}, w, h, "f"],
               lambda w, h: {"textures": {"i": {"buffer": "i", "type": "f32", "width": w, "height": h, "filter": "linear"}}}), waves=0.6),
    case("transpose (naive)", "transpose_naive", 256,
         image("transpose_naive", [32, 8], [32, 32], lambda w, h: {"i": noise(4 * w * h), "o": zeros(4 * w * h)},
               lambda w, h: ["i", "o", w, h]), f"{WORKLOADS}/transpose/transpose.ptx", waves=0.6),
    case("transpose (padded)", "transpose_padded", 256,
         image("transpose_padded", [32, 8], [32, 32], lambda w, h: {"i": noise(4 * w * h), "o": zeros(4 * w * h)},
               lambda w, h: ["i", "o", w, h]), f"{WORKLOADS}/transpose/transpose.ptx", waves=0.6),
    case("bitonic_sort (blocks)", "sort_in_block", 512, along("sort_in_block", 512, lambda n: {"k": noise(8 * n)},
                                                              lambda n: ["k", {"u32": 512}, {"u32": 1024}]), f"{WORKLOADS}/bitonic_sort/bitonic_sort.ptx"),
    case("bitonic_sort (merge)", "merge_step", 256, along("merge_step", 256, lambda n: {"k": noise(8 * n)},
                                                          lambda n: ["k", {"u32": 4096}, {"u32": 2048}]), f"{WORKLOADS}/bitonic_sort/bitonic_sort.ptx"),
    case("pointer_chase", "pointer_chase", 64, chase),
    case("bfs", "bfs", 128, graph, waves=0.4),
    case("bfs, levels", "bfs", 128, search, f"{WORKLOADS}/bfs/bfs.ptx"),
    case("equal", "unequal_blocks", 128, unequal(40, 0, 0), UNEQUAL),
    case("random", "unequal_blocks", 128, unequal(20, 0, 63), UNEQUAL),
    case("triangle, rising", "unequal_blocks", 128, unequal(10, 100, 0), UNEQUAL),
    case("triangle, falling", "unequal_blocks", 128, unequal(110, -100, 0), UNEQUAL),
    case("slightly rising", "unequal_blocks", 128, unequal(50, 10, 15), UNEQUAL),
    case("late change", "unequal_blocks", 128, unequal(30, 0, 15, 0.7, 30), UNEQUAL),
]

SIZES = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4]  # of all buffers, in L2s
# Bytes of a block's data in all buffers, and the case.
AGAIN = [
    (3072, case("vector_add", "vector_add", 256, thrice("vector_add", 256, 4, "abc", ["abc", "abc", "bca"], after=lambda n: [n]))),
    (2048, case("saxpy", "saxpy", 256, thrice("saxpy", 256, 4, "xy", ["xy", "xy", "yx"], before=[f32(0.5)]))),
    (2560, case("black_scholes", "black_scholes", 128,
                thrice("black_scholes", 128, 4, "pstcq", ["pstcq", "pstcq", "cqtps"], after=lambda n: [n, f32(0.02), f32(0.3)]))),
    (2048, case("reduction (words)", "sum_words", 256,
                along("sum_words", 256, lambda n: {"w": noise(8 * n), "t": zeros(4)}, lambda n: ["w", {"u32": 2 * n}, "t"]),
                f"{WORKLOADS}/reduction/reduction.ptx")),
    (2048, case("scan (blocks)", "scan_blocks", 256,
                along("scan_blocks", 256, lambda n: {"i": noise(4 * n), "o": zeros(4 * n), "t": zeros(n // 64)}, lambda n: ["i", "o", "t", n]),
                f"{WORKLOADS}/scan/scan.ptx")),
]


class table:
    def __init__(self, options):
        self.o, self.rows, self.held = options, [], {}

    def heddle(self, *words, **more):
        return subprocess.run([self.o.heddle, *words], capture_output=True, text=True, **more)

    def run(self, folder, gpu, *words):
        metrics = f"{folder}/metrics.json"
        if self.o.part:
            sms, channels, bytes_of_l2 = PARTS[gpu]
            settings = {"gpu.sm_count": sms, "gpu.gpc_count": 1, "gpu.cpcs_per_gpc": 1, "memory.channels": channels,
                        "l2.size_bytes": bytes_of_l2}
            words += tuple(w for s in settings.items() for w in ("--set", "%s=%s" % s))
        r = self.heddle("run", f"{folder}/job.json", "--gpu", gpu, "--quiet", "--metrics", metrics, "--log-level", "error",
                        "--set", "energy.account=false", *words)
        if r.returncode:
            sys.exit(f"{folder}: {r.stderr}")
        with open(metrics) as f:
            return json.load(f)

    def write_job(self, c, blocks, folder, least_launches=1):
        os.makedirs(folder, exist_ok=True)
        buffers, launches, more = c.make(blocks, folder)
        while len(launches) < least_launches:
            launches.append(launches[0])
        outputs = [{"buffer": name, "file": f"{name}.out"} for name, b in buffers.items() if "file" not in b]
        job = {"module": os.path.abspath(c.module), "buffers": buffers, "launches": launches, "outputs": outputs, **more}
        with open(f"{folder}/job.json", "w") as f:
            json.dump(job, f)
        return [o["file"] for o in outputs]

    def wave(self, c, gpu):
        """Blocks that the GPU holds."""
        folder = f"{self.o.folder}/probe"
        self.write_job(c, 64, folder)
        m = self.run(folder, gpu, "--set", "energy.account=false")
        k = next(k for k in m["kernels"] if k["name"] == c.kernel)
        return k["blocks_per_sm"] * m["gpu"]["config"]["gpu.sm_count"]

    def measure(self, c, gpu):
        blocks = max(64, int(self.wave(c, gpu) * self.o.waves * c.waves + 17) // 64 * 64)
        self.compare(c, gpu, blocks, c.name)

    def measure_again(self, c, gpu, bytes_of_block):
        for size in SIZES:
            bytes_of_l2 = PARTS[gpu][2] if self.o.part else BYTES_OF_L2[gpu]
            self.compare(c, gpu, max(1, int(size * bytes_of_l2 / bytes_of_block)), f"{c.name}, {size:g} of the L2", 3)

    def compare(self, c, gpu, blocks, name, least_launches=1):
        folder = f"{self.o.folder}/{gpu}-{name.replace(' ', '_')}"
        outputs = self.write_job(c, blocks, folder, least_launches)
        wholes, parts = [], []
        for _ in range(self.o.runs):
            wholes.append(self.run(folder, gpu))
            contents = [open(f"{folder}/{f}", "rb").read() for f in outputs]
            parts.append(self.run(folder, gpu, "--sample-blocks", str(self.o.error)))
            for f, content in zip(outputs, contents):
                if open(f"{folder}/{f}", "rb").read() != content:
                    sys.exit(f"{folder}: {f} differs")
        seconds = [min(m["host"]["cpu_seconds"] for m in runs) for runs in (wholes, parts)]
        compared = [(a, b) for a, b in zip(wholes[0]["kernels"], parts[0]["kernels"]) if a["waves"] >= LEAST_WAVES]
        for k, (a, b) in enumerate(compared):
            self.add(gpu, name if len(compared) == 1 else f"{name} ({k + 1})", a, b, seconds)

    def add(self, gpu, name, whole, part, seconds):
        s = part["sampled"]
        true = (s["cycles"] - whole["cycles"]) / whole["cycles"]
        row = {"gpu": gpu, "name": name, "waves": whole["waves"], "cycles": whole["cycles"], "estimate": s["cycles"],
               "bound": s["error"], "error": true, "part": s["simulated_blocks"] / s["blocks"],
               "speed_up": seconds[0] / max(seconds[1], 1e-9), "within": abs(s["cycles"] - whole["cycles"]) <= s["error"] * s["cycles"] + 0.5,
               "steady_from": s["steady_from"], "seconds": seconds[0]}
        self.rows.append(row)
        print(f"| {gpu} | {name} | {row['waves']:.1f} | {whole['cycles']:,} | {s['cycles']:,} | {100 * s['error']:.2f} % "
              f"| {100 * true:+.2f} % | {100 * row['part']:.0f} % | {row['speed_up']:.1f} |" + ("" if row["within"] else " outside"),
              flush=True)

    def finish(self):
        sampled = [r for r in self.rows if r["part"] < 1]
        within = sum(r["within"] for r in sampled)
        print(f"\n{len(self.rows)} launches, {len(sampled)} of them stopped early; {within} within the bound"
              f" ({100 * within / max(1, len(sampled)):.1f} %)")
        if self.o.json:
            with open(self.o.json, "w") as f:
                json.dump(self.rows, f, indent=1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--heddle", default="build/release/heddle")
    p.add_argument("--gpu", action="append")
    p.add_argument("--part", action="store_true")
    p.add_argument("--error", type=float, default=2)
    p.add_argument("--waves", type=float, default=30)
    p.add_argument("--only", action="append")
    p.add_argument("--again", action="store_true")
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--json")
    t = table(p.parse_args())
    print("| chip | launch | waves | cycles | estimate | bound | error | simulated | times less |\n|---|---|---|---|---|---|---|---|---|")
    for gpu in t.o.gpu or ["gtx1080", "v100", "h100"]:
        for bytes_of_block, c in AGAIN if t.o.again else []:
            if not t.o.only or c.name in t.o.only:
                t.measure_again(c, gpu, bytes_of_block)
        for c in [] if t.o.again else CASES:
            if (not t.o.only or c.name in t.o.only) and not (c.needs and gpu == "gtx1080"):
                t.measure(c, gpu)
    t.finish()


main()
