#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applies all patches of examples/ to a copy of the sources, builds heddle there, and uses what each of them adds. `build_examples.py [FOLDER]`: the
copy is made in FOLDER, which must be new (default: a temporary folder). Exit code 77 without git."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
JOB = 'testbench/workloads/vector_add/job.json'
KERNEL = '''.version 7.0
.target sm_60
.address_size 64
.visible .entry both(.param .u64 to) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x; clz.b32 %r2, %r1; flo.u32 %r3, %r1;
  ld.param.u64 %rd1, [to]; cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd3, %rd1, %rd2;
  st.global.v2.u32 [%rd3], {%r2, %r3}; ret;
}
'''
# What selects the choice that a patch adds.
CHOICES = {
    'scheduling_policy': ['--gpu', 'rtx3070', '--set', 'sub_partition.youngest_slots=4'],
    'placement_policy': ['--set', 'cwd.placement=last_first'],
    'replacement_policy': ['--gpu', 'v100', '--set', 'l2.replacement=highest_way', '--set', 'l1.replacement=highest_way'],
    'dram_policy': ['--set', 'dram.row_policy=short_timeout'],
    'dram_standard': ['--set', 'dram.standard=hbm3e'],
    'dram_preset': ['--set', 'dram.preset=gddr7'],
    'parameter': ['--set', 'int.vote_latency_cycles=40'],
    'gpu': ['--gpu', 'rtx3090'],
}


def copy(folder):
    """The sources that git lists, with what differs from the last commit."""
    names = subprocess.check_output(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT, text=True)
    for name in names.split('\0')[:-1]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def build(folder):
    subprocess.run(['git', 'init', '-q'], cwd=folder, check=True)
    for patch in sorted((ROOT / 'tests/structure/examples').glob('*.patch')):
        subprocess.run(['git', 'apply', '-C1', str(patch)], cwd=folder, check=True)
    subprocess.run(['cmake', '-G', 'Ninja', '-S', '.', '-B', 'build', '-DCMAKE_BUILD_TYPE=Release'], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    jobs = os.environ.get('HEDDLE_JOBS') or str(os.cpu_count())
    if subprocess.run(['cmake', '--build', 'build', '--target', 'heddle', '-j', jobs], cwd=folder, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit('build_examples: the sources with all examples do not compile')


def heddle(folder, *arguments):
    made = subprocess.run([str(folder / 'build/heddle'), *arguments], cwd=folder, capture_output=True, text=True)
    return made.returncode, made.stdout, made.stderr


def checks(folder):
    """What the structure checks find in the sources with all examples."""
    subprocess.run(['git', 'add', '-A'], cwd=folder, check=True)
    found = []
    for check in ('check_rooms', 'check_functions', 'check_classes', 'check_words'):
        said = subprocess.run([sys.executable, f'tests/structure/{check}.py'], cwd=folder, capture_output=True, text=True)
        if said.returncode != 0:
            found.append(f'{check}: {said.stdout}{said.stderr}')
    return found


def use(folder):
    """What does not work."""
    faults = checks(folder)
    for name, options in CHOICES.items():
        code, said, error = heddle(folder, 'run', JOB, *options)
        if code != 0 or error:
            faults.append(f'{name}: heddle run {" ".join(options)} ends with {code}: {error or said}')
    code, said, _ = heddle(folder, 'hello')
    if (code, said) != (0, 'hello\n'):
        faults.append(f'command: heddle hello says {said!r}')
    code, _, error = heddle(folder, 'run', JOB, '--metrics', 'm.json', '--quiet')
    metrics = (folder / 'm.json').read_text() if code == 0 else error
    for name, key in (('metric', 'warps'), ('metric_of_a_new_event', 'back_edges'), ('stall_reason', 'switching')):
        if f'"{key}"' not in metrics:
            faults.append(f'{name}: no {key} in the metrics')
    (folder / 'both.ptx').write_text(KERNEL)
    code, said, error = heddle(folder, 'disasm', 'both.ptx')
    for name, opcode in (('machine_opcode', 'LZC'), ('ptx_instruction', 'FLO')):
        if opcode not in said:
            faults.append(f'{name}: no {opcode} in {said}{error}')
    code, said, error = heddle(folder, 'run', '--kernel', 'both.ptx', '--grid', '1', '--block', '64', '--arg', 'out:512:o.bin', '--quiet')
    words = memoryview((folder / 'o.bin').read_bytes()).cast('I').tolist() if code == 0 else []
    expected = [w for i in range(64) for w in (32 - i.bit_length(), i.bit_length() - 1 & 0xffffffff)]
    if words != expected:
        faults.append(f'machine_opcode, ptx_instruction: the kernel computes {words}{error}')
    (folder / 'one.csv').write_text('\n'.join([line for line in (folder / 'tests/hardware/textbook.csv').read_text().split('\n')
                                               if not line.startswith('rtx') or line.startswith('rtx3080,mat_vec_tiles 512')]))
    for name in ('textbook.ptx',):
        shutil.copy2(folder / 'tests/hardware' / name, folder / name)
    code, said, error = heddle(folder, 'correlate', 'one.csv', '--json', 'one.json')
    rows = json.dumps(json.loads((folder / 'one.json').read_text())) if code == 0 else ''
    if 'mat_vec_tiles 512 again' not in rows or 'inst_issued1' not in (folder / 'testbench/correlate/metric_names.cpp').read_text():
        faults.append(f'measured_launch: {code} {said}{error}')
    return faults


def main():
    if shutil.which('git') is None:
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary) / 'sources'
        folder.mkdir(parents=True)
        copy(folder)
        build(folder)
        faults = use(folder)
    print('\n'.join(faults) or f'{len(list((ROOT / "tests/structure/examples").glob("*.patch")))} examples work')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
