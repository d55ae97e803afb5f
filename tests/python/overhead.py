# SPDX-License-Identifier: MIT
"""What a run through Python costs beyond `heddle run`: processor time of both, with all their processes, for the SGEMM workload, each as
often as asked, in turn. `run_tests.py --overhead [TIMES] [GPU]`; `run_tests.py --overhead once` runs it once, for callgrind."""
import os
import resource
import subprocess
import sys
from pathlib import Path

import heddle
from heddle import _worker

SGEMM = Path(__file__).resolve().parents[2] / 'testbench/workloads/sgemm'


def cpu():
    """Seconds of processor time of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(r.ru_utime + r.ru_stime for r in both)


def measured(work):
    begun = cpu()
    work()
    return cpu() - begun


def main(arguments):
    import numpy as np
    once = arguments[:1] == ['once']
    times = int(arguments[0]) if arguments and not once else 5
    name = arguments[1] if arguments[1:] else 'gtx1080'
    a, b = (np.fromfile(SGEMM / f'{m}.bin', np.float32) for m in 'ab')
    expected = np.fromfile(SGEMM / 'c.ref.bin', np.float32)
    c = np.zeros_like(expected)

    def prepare():
        return heddle.Gpu(name).kernel(SGEMM / 'sgemm.ptx')

    def with_python():
        c[:] = 0
        prepare()((16, 16), (16, 16), 256, a, b, c, threads=1)

    def alone():
        subprocess.run([_worker.program(), 'run', str(SGEMM / 'job.json'), '--gpu', name, '--threads', '1', '--quiet', '--metrics',
                        os.devnull], check=True)

    if once:
        with_python()
        assert (c == expected).all()
        return 0
    pairs = []
    for _ in range(times):
        pairs.append((measured(alone), measured(with_python)))
        assert (c == expected).all()
    script = 'import sys; sys.path.insert(0, {!r}); import heddle'.format(str(Path(heddle.__file__).parents[1]))
    start = min(measured(lambda: subprocess.run([sys.executable, '-c', script], check=True)) for _ in range(times))
    # The least of all is the one that other work on the machine has disturbed least.
    run, python = (min(p[k] for p in pairs) for k in (0, 1))
    print(f'heddle run            {run:.3f} s of processor time (least of {times})')
    print(f'Gpu, kernel and run   {python:.3f} s')
    print(f'overhead              {100 * (python / run - 1):.1f} %')
    print(f'preparing             {min(measured(prepare) for _ in range(5 * times)):.3f} s, Gpu and kernel alone')
    print(f'starting Python       {start:.3f} s, import heddle included, once a program')
    return 0
