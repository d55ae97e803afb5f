#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes traces of what a transformer executes while it generates text, and their list.

    decoder_traces.py FOLDER [--launches N] [--distinct]

A decoder layer is ten kernels: norms, four matrix products (one for query, key and value), rotary embedding, attention
over the keys of all earlier tokens, softmax, activation, residual. The lengths of the texts and of what was generated
vary, and with them attention and softmax; all else repeats. Launches of the same work name one trace; with --distinct each
has a file of its own (hard links). Blocks are few and short, so that each launch is simulated in a fraction of a second.
"""
import argparse
import math
import os
import random

HEAD = """-kernel name = {name}
-kernel id = {number}
-grid dim = ({blocks},1,1)
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = 40
-binary version = 90
-cuda stream id = 0
-shmem base_addr = 0x00007f5000000000
-local mem base_addr = 0x00007f4e00000000
-nvbit version = 1.7
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

"""
WEIGHTS, KEYS, ACTIVATIONS = 0x7f0000000000, 0x7f1000000000, 0x7f2000000000
LAYERS = 4
# Kernel: blocks, reads of a warp, operations between two of them, reads of what grows with the text.
KERNELS = {
    "layer_norm": (4, 8, 4, False),
    "gemm_qkv": (8, 40, 24, False),
    "rotary": (4, 6, 6, False),
    "attention_scores": (8, 1, 12, True),
    "softmax": (4, 1, 6, True),
    "attention_values": (8, 1, 12, True),
    "gemm_out": (8, 24, 24, False),
    "gemm_up": (8, 60, 24, False),
    "gelu": (4, 10, 10, False),
    "gemm_down": (8, 60, 24, False),
}


def warp_text(number, reads, between, base):
    """A loop that loads a row of 128 bytes and computes with it, and a store."""
    loop = [f"{16 * (1 + k):04x} ffffffff 1 R{8 + k % 8} FFMA 3 R4 R{8 + k % 8} R5 0 0" for k in range(between)]
    lines = []
    for r in range(reads):
        lines += [f"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 {base + 4096 * r:#x} 4 0", *loop]
    end = 16 * (1 + between)
    lines += [f"{end:04x} ffffffff 0 STG.E 2 R6 R8 4 1 {ACTIVATIONS + 128 * number:#x} 4 0", f"{end + 16:04x} ffffffff 0 EXIT 0 0 0"]
    return f"warp = {number % 4}\ninsts = {len(lines)}\n" + "\n".join(lines) + "\n\n"


def trace(kernel, number, length):
    """A launch of a kernel for a text of so many tokens."""
    blocks, reads, between, grows = KERNELS[kernel]
    if grows:
        reads = max(1, length // 16)
    base = KEYS if grows else WEIGHTS + (hash_of(kernel) << 24)
    text = HEAD.format(name=kernel, number=number, blocks=blocks, threads=128, shared=4096)
    for b in range(blocks):
        warps = "".join(warp_text(4 * b + w, reads, between, base + 128 * (4 * b + w)) for w in range(4))
        text += f"#BEGIN_TB\n\nthread block = {b},0,0\n\n{warps}#END_TB\n\n"
    return text


def hash_of(name):
    return sum(ord(c) * 31**k for k, c in enumerate(name)) % 251


def lengths(random_numbers):
    """Tokens that are there before each one that is generated: texts of 50 to 1,000, answers of 20 to 400."""
    while True:
        begin = int(math.exp(random_numbers.uniform(math.log(50), math.log(1000))))
        for token in range(int(math.exp(random_numbers.uniform(math.log(20), math.log(400))))):
            yield begin + token


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--launches", type=int, default=100000)
    parser.add_argument("--distinct", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    files, names = {}, []
    for length in lengths(random.Random(1)):
        for _ in range(LAYERS):
            for kernel, (_, _, _, grows) in KERNELS.items():
                work = (kernel, length // 16 if grows else 0)
                number = len(names) + 1
                if work not in files:
                    files[work] = f"kernel-{number}.traceg"
                    with open(os.path.join(options.folder, files[work]), "w") as out:
                        out.write(trace(kernel, number, length))
                name = files[work]
                if options.distinct and name != f"kernel-{number}.traceg":
                    name = f"kernel-{number}.traceg"
                    os.link(os.path.join(options.folder, files[work]), os.path.join(options.folder, name))
                names.append(name)
                if len(names) == options.launches:
                    with open(os.path.join(options.folder, "kernelslist.g"), "w") as out:
                        out.write("\n".join(names) + "\n")
                    print(f"{len(names)} launches, {len(files)} different")
                    return


if __name__ == "__main__":
    main()
