#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of lowered kernels against those that ptxas (of the CUDA toolkit) emits for the same PTX.

    compare_instructions.py HEDDLE FILE.ptx...

Counts what stands in the program, not what is executed. Both unroll loops, with different code for the trips that remain:
kernels that branch backwards are listed and left out of the median. Without ptxas it is skipped (exit code 77)."""
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

CHIPS = (("sm_75", "rtx2060"), ("sm_80", "a100"), ("sm_90", "h100"))
NOP, BRANCH = 0x918, 0x947   # opcodes in the low 12 bits of an instruction's 16 bytes


def sections(elf):
    """Names and contents of an ELF file's sections."""
    table, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQ", elf, table + size * k) for k in range(count)]
    for row in rows:
        start = rows[names][4] + row[0]
        yield elf[start:elf.index(b"\0", start)].decode(), elf[row[4]:row[4] + row[5]]


def ptxas_counts(path):
    """The GPU that stands for the first chip that takes the file, and instructions by kernel without the padding at the end."""
    for chip, gpu in CHIPS:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as out:
            if subprocess.run(["ptxas", "-arch=" + chip, "-o", out.name, path], capture_output=True).returncode != 0:
                continue
            counts = {}
            for name, code in sections(out.read()):
                if not name.startswith(".text."):
                    continue
                ops = [struct.unpack_from("<Q", code, at)[0] & 0xfff for at in range(0, len(code), 16)]
                while ops and ops[-1] == NOP:
                    ops.pop()
                if ops and ops[-1] == BRANCH:   # to itself, behind the last exit
                    ops.pop()
                counts[name[len(".text."):]] = len(ops)
            return gpu, counts
    return None, {}


def loops(listing):
    """Whether a branch goes to a label that stands above it."""
    seen = set()
    for line in listing.splitlines():
        if label := re.match(r"(L\d+):", line):
            seen.add(label.group(1))
        elif (jump := re.search(r"BRA (L\d+)", line)) and jump.group(1) in seen:
            return True
    return False


def main(heddle, *files):
    if shutil.which("ptxas") is None:
        print("skipped: no ptxas here")
        return 77
    ratios = []
    for path in files:
        gpu, counts = ptxas_counts(path)
        for kernel, theirs in counts.items():
            run = subprocess.run([heddle, "disasm", f"{path}:{kernel}", "--gpu", gpu], capture_output=True, text=True)
            found = re.search(r": (\d+) instructions", run.stdout)
            if run.returncode != 0 or found is None:
                continue
            ours, repeats = int(found.group(1)), loops(run.stdout)
            if not repeats:
                ratios.append(ours / theirs)
            print(f"{kernel:36} {ours:5}  ptxas {theirs:5}  ratio {ours / theirs:.2f}{'  loops' if repeats else ''}")
    if not ratios:
        print("no kernel to compare")
        return 1
    median = statistics.median(ratios)
    print(f"{len(ratios)} kernels without loops, median of the ratios {median:.3f}, {sum(0.8 <= r <= 1.25 for r in ratios)} of them between 0.8 and 1.25")
    return 0 if 0.8 <= median <= 1.25 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
