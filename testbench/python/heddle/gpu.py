# SPDX-License-Identifier: MIT
"""GPUs: a preset or a file, with overrides."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _compiler, _worker
from ._job import Job
from .errors import InputError
from .kernel import Copy, Dimensions, Fill, Kernel, Launch, Operation, at, caller, dimensions
from .metrics import Metrics, Table
from .sweeps import Values, run_sweep, setting


def gpus() -> List[Dict[str, Any]]:
    """The shipped GPUs with their main figures, the oldest first."""
    return json.loads(_worker.ask(['gpus', '--json']))


def _listed(operations: Union[Operation, Sequence[Operation]]) -> List[Operation]:
    listed = list(operations) if isinstance(operations, Iterable) else [operations]
    if not all(isinstance(o, (Launch, Fill, Copy)) for o in listed) or not any(isinstance(o, Launch) for o in listed):
        raise InputError('run() and sweep() take launches, as Kernel.launch makes them, Fill and Copy; at least one launch', caller())
    return listed


class Gpu:
    """A GPU to simulate kernels on. It holds a configuration, no simulation: each run begins with a fresh GPU.

        gpu = heddle.Gpu('h100', {'sub_partition.scheduler': 'lrr'})

    `name` is a preset (`heddle.gpus()` lists them) or a configuration file, `overrides` are parameters by name, as `config` has them (the
    page model/configuration.md describes all). Raises InputError for an unknown name or parameter, or a value out of range.
    """

    def __init__(self, name: Union[str, 'os.PathLike[str]'] = 'gtx1080', overrides: Optional[Mapping[str, Any]] = None) -> None:
        if not isinstance(name, (str, os.PathLike)):
            raise InputError(f'got a GPU of type {type(name).__name__}, expected the name of a preset or of a file')
        if overrides is not None and not isinstance(overrides, Mapping):
            raise InputError(f"got overrides of type {type(overrides).__name__}, expected a dict, such as {{'gpu.sm_count': 4}}")
        self.name = os.fspath(name)
        # Those that determine others come first: a value of one's own replaces what they determine.
        self.overrides = {key: setting(value) for key, value in
                          sorted((overrides or {}).items(), key=lambda item: item[0] not in ('dram.preset', 'dram.standard'))}
        # The working directory may change before a run.
        self._chosen = os.path.abspath(self.name) if self.name.endswith('.ini') else self.name
        self._options = ['--gpu', self._chosen]
        for key, value in self.overrides.items():
            self._options += ['--set', f'{key}={value}']
        self.config: Dict[str, str] = {}
        section = ''
        for line in _worker.ask(['config', *self._options]).splitlines():
            if line.startswith('['):
                section = line[1:line.index(']')]
            elif ' = ' in line and not line.startswith(('#', ';')):
                key, value = line.split(' = ', 1)
                self.config[f'{section}.{key}'] = value

    def __repr__(self) -> str:
        return f'heddle.Gpu({self.name!r}' + (f', {self.overrides!r})' if self.overrides else ')')

    def kernels(self, source: _compiler.Source, options: Sequence[str] = ()) -> Dict[str, Kernel]:
        """All kernels of a source, by their names in the PTX. `source` and `options` are those of `kernel`."""
        module = _compiler.load(source, self.config['gpu.compute_capability'], options)
        return {k.name: k for k in self._kernels_of(module, '-')}

    def kernel(self, source: _compiler.Source, name: Optional[str] = None, options: Sequence[str] = ()) -> Kernel:
        """A kernel of a source: PTX, CUDA C++ (which nvcc compiles, or clang++ if there is no nvcc), or the name of a file `.ptx` or
        `.cu`.

        name     the kernel's, as the CUDA source or the PTX has it; None: the only one
        options  for the compiler of CUDA C++, such as ['-DN=4']

        Raises CompileError, and InputError for PTX that Heddle cannot run on this GPU; both have the place of the line.
        """
        module = _compiler.load(source, self.config['gpu.compute_capability'], options)
        found = self._kernels_of(module, f'-:{name}' if name in module.entries() else '-')
        if name is not None:
            found = [k for k in found if ''.join(name.split()) in (''.join(known.split()) for known in (k.name, *k.names))]
        if len(found) != 1:
            known = ', '.join(module.entries())
            wanted = repr(name) if name is not None else '(expected a name)'
            raise InputError(f'{module.name} has {len(found)} kernels {wanted}; its kernels are {known}')
        return found[0]

    def _kernels_of(self, module: _compiler.Module, which: str) -> List[Kernel]:
        try:
            about = json.loads(_worker.ask(['disasm', '--json', *self._options, '--', which], module.ptx))
        except InputError as error:
            if error.place is not None and error.place.file == '-':
                error.__init__(error.message, error.place._replace(file=module.ptx_name))  # type: ignore[misc]
            raise
        return [Kernel(self, module, kernel) for kernel in about]

    def run(self, operations: Union[Operation, Sequence[Operation]], *, preempt: Sequence[Dict[str, Any]] = (),
            progress: Optional[_worker.Progress] = None, max_cycles: Optional[int] = None, cold: bool = False,
            threads: Optional[int] = None, options: Sequence[str] = ()) -> Metrics:
        """Simulates launches (`Kernel.launch`), `Fill`s and `Copy`s in one simulation and returns its metrics.

        All arrays are copied to the GPU before, and back when all has ended; read-only ones are not copied back. The same array, or
        overlapping ones, in several launches are the same memory of the GPU. If the simulation fails, no array has changed; an exception
        of `progress`, or a warning that is an exception, may come when they have.

        preempt     requests as a job file has them: {'at_cycle': 5000, 'sm': 'all', 'mode': 'switch', 'resume_after': 20000}
        progress    is called up to five times a second with a dict: cycle, blocks_done, blocks, warp_instructions, seconds_left (None if
                    unknown); an exception in it ends the run
        max_cycles  SimulationError when this many are reached
        cold        launches begin with empty caches, one at a time
        threads     of the host; results do not depend on it
        options     more options of `heddle run`, such as ['--timeline', 'timeline.json']

        What kernels print goes to sys.stdout; warnings go through `warnings`. Raises SimulationError (with the metrics up to there) if a
        kernel fails, InputError for what cannot run.
        """
        listed = _listed(operations)
        for operation in listed:
            if isinstance(operation, Launch) and operation.kernel.gpu._options != self._options:
                raise InputError(f"{operation!r} is of {operation.kernel.gpu!r}, expected a kernel of {self!r}", operation.place)
        job = Job(listed, preempt, caller())
        # This process's memory as a file: the worker reads and writes arrays where they are.
        with _worker.own_memory() as memory:
            return self._simulate(['-'], job.text(memory.fileno()), [memory.fileno()], job, progress,
                                  self._run_options(max_cycles, cold, threads, options))

    def run_job(self, file: Union[str, 'os.PathLike[str]'], *, progress: Optional[_worker.Progress] = None,
                max_cycles: Optional[int] = None, cold: bool = False, threads: Optional[int] = None,
                options: Sequence[str] = ()) -> Metrics:
        """Simulates a job file, as `heddle run` does, and returns its metrics."""
        name = os.fspath(file)
        return self._simulate(['./' + name if name.startswith('-') else name], '', [], None, progress,
                              self._run_options(max_cycles, cold, threads, options))

    @staticmethod
    def _run_options(max_cycles: Optional[int], cold: bool, threads: Optional[int], options: Sequence[str]) -> List[str]:
        if isinstance(options, str):
            raise InputError(f'options: got the text {options!r}, expected a list of texts, such as {options.split()}', caller())
        given = ['--quiet', '--progress', 'json', *map(str, options)]
        for name, number in (('--max-cycles', max_cycles), ('--threads', threads)):
            if number is not None:
                given += [name, str(number)]
        return given + ['--cold'] * cold

    def _simulate(self, what: List[str], text: str, keep: List[int], job: Optional[Job], progress: Optional[_worker.Progress],
                  options: List[str]) -> Metrics:
        with _worker.memory_file('heddle-metrics') as result:
            number = result.fileno()
            worker = _worker.Worker(['run', *what, *self._options, *options, '--metrics', f'/proc/self/fd/{number}'], text, [*keep, number])
            code = worker.run(progress, show=True)
            result.seek(0)
            written = result.read()
        metrics = Metrics(json.loads(written)) if written else None
        if code == 0 and metrics is None:
            raise InputError(f"heddle {' '.join(['run', *options])} has simulated nothing, expected options with which it runs", caller())
        if code != 0 or metrics is None:
            error = worker.error(code)
            if hasattr(error, 'metrics'):
                error.metrics = metrics
            raise job.own(error) if job else error
        return metrics

    def occupancy(self, block: Dimensions, registers_per_thread: int, shared_bytes: int = 0,
                  carveout: Optional[int] = None) -> Dict[str, Any]:
        """The occupancy calculator: blocks_per_sm, active_warps, theoretical_occupancy, limiters, and the limit of each resource alone.

        block                 threads of a block
        registers_per_thread  of its kernel
        shared_bytes          of a block, static and dynamic
        carveout              percent of the unified cache that is shared memory; None: the chip's choice
        """
        with at(caller()):
            threads = dimensions(block, 'block')
            if len(threads) == 3 and threads[2] > 64:
                raise InputError(f'a block of {threads} threads, at most 64 in z are allowed')
        given = ['--block', ','.join(str(n) for n in threads), '--registers-per-thread', str(registers_per_thread),
                 '--shared-bytes', str(shared_bytes)]
        if carveout is not None:
            given += ['--carveout', str(carveout)]
        return json.loads(_worker.ask(['occupancy', '--json', *self._options, *given]))

    def sweep(self, operations: Union[Operation, Sequence[Operation]], axes: Mapping[str, Values], store: Union[str, 'os.PathLike[str]'], *,
              metrics: Sequence[str] = (), constraints: Optional[Mapping[str, str]] = None, preempt: Sequence[Dict[str, Any]] = (),
              max_cycles: Optional[int] = None, timeout_seconds: Optional[float] = None, jobs: Optional[int] = None,
              resume: bool = False) -> Table:
        """Simulates launches at all points of a design space, several at a time, and returns the table of their metrics.

        axes             the values of each axis by name: parameters ('sub_partition.scheduler'), 'gpu', 'launch.block',
                         'launch.registers_per_thread', ... (the page use/sweeps.md lists them)
        store            the database, such as 'sweep.sqlite'; points that it holds are not run again. The launches, with a copy of their
                         arrays, are kept beside it in STORE.job; sweeps of one store wait for each other
        metrics          paths of metrics, such as 'kernels.0.metrics.ipc'; default: cycles, occupancy and IPC of the first kernel
        constraints      conditions by name; points for which one holds are dropped
        max_cycles, timeout_seconds   of a point
        jobs             points at a time; None: one a core
        resume           also runs points again that failed

        Arrays do not change. A point that fails has its status and reason in the table; SimulationError if none has run.
        """
        listed = _listed(operations)
        chosen = {'gpu': [self._chosen], **{key: [value] for key, value in self.overrides.items()}, **axes}
        limits = {'metrics': ', '.join(metrics), 'max_cycles': max_cycles, 'timeout_seconds': timeout_seconds}
        job = Job(listed, preempt, caller())
        with at(caller()):
            return run_sweep(job, chosen, store, {k: str(v) for k, v in limits.items() if v}, constraints or {}, jobs, resume)
