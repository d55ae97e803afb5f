# SPDX-License-Identifier: MIT
"""Triton kernels on a simulated GPU: Triton compiles, for a target that need not be there, and Heddle runs the PTX.

    import heddle, heddle.triton, numpy as np
    gpu = heddle.Gpu('a100')
    add = heddle.triton.jit_on(gpu, add_kernel)           # add_kernel is a function with @triton.jit (and @triton.autotune)
    metrics = add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK_SIZE=1024, num_warps=4)
    heddle.triton.do_bench(lambda: add[grid](x, y, out, n, BLOCK_SIZE=1024))     # milliseconds of simulated time

Arrays are NumPy's, tensors of torch in the host's memory, or `Tensor(array, type)` where the array's own type is not Triton's. Triton is a
package of its own, version 3.0 or later; it is imported when the first kernel is compiled. The page library/triton.md has more.
"""
from __future__ import annotations

import concurrent.futures
import ctypes
import inspect
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _triton
from ._arrays import HostArray, host_array
from ._triton import Tensor
from .bench import Benchmark, do_bench, note_run, perf_report
from .errors import HeddleError, InputError
from .gpu import Gpu
from .kernel import Kernel, Launch
from .metrics import Metrics

__all__ = ['Benchmark', 'Compiled', 'Jit', 'Tensor', 'Trial', 'do_bench', 'jit_on', 'perf_report']

Grid = Union[int, Sequence[int], Callable[[Dict[str, Any]], Any]]


def jit_on(gpu: Gpu, function: Any, jobs: int = 1) -> 'Jit':
    """A Triton function that runs on a simulated GPU.

    function  what @triton.jit, @triton.heuristics or @triton.autotune has made
    jobs      trials of the autotuner at a time

    Raises InputError if it is none of these."""
    return Jit(gpu, function, jobs)


class Compiled(NamedTuple):
    """A kernel as Triton has compiled it. `kernel` is Heddle's, with the PTX; `arguments` are the places of the function's parameters that
    the kernel still has: those that Triton knows at compile time are no parameters of it."""

    kernel: Kernel
    metadata: Any
    arguments: Tuple[str, ...]

    @property
    def num_warps(self) -> int:
        return int(self.metadata.num_warps)

    @property
    def shared_bytes(self) -> int:
        return int(self.metadata.shared)


class Trial(NamedTuple):
    """A configuration that the autotuner has tried: its time in milliseconds, None if it cannot run, and then the error."""

    config: Any
    milliseconds: Optional[float]
    error: Optional[HeddleError]


class Jit:
    """A Triton function on a GPU; `jit_on` makes it. `jit[grid](*arguments, **options)` simulates one launch and returns its metrics.

    Attributes after a call: `compiled`, the kernel that ran; for an autotuned function `best_config` and `trials`.
    """

    def __init__(self, gpu: Gpu, function: Any, jobs: int = 1) -> None:
        self.gpu, self.jobs = gpu, jobs
        self._layers, self._function = _triton.unwrap(function)
        self.name: str = self._function.__name__
        self.signature = inspect.signature(self._function.fn)
        self.compiled: Optional[Compiled] = None
        self.best_config: Any = None
        self.trials: List[Trial] = []
        self._best: Dict[Tuple[Any, ...], Any] = {}
        self._kernels: Dict[Tuple[str, str], Kernel] = {}

    def __getitem__(self, grid: Grid) -> Callable[..., Metrics]:
        return lambda *arguments, **options: self.run(grid, *arguments, **options)

    def run(self, grid: Grid, *arguments: Any, **options: Any) -> Metrics:
        """Simulates one launch. `options`: parameters by name, and Triton's options, such as num_warps. Raises CompileError if Triton
        refuses the function, InputError for arguments that it does not take, SimulationError as Kernel does."""
        bound, settings = self._bind(arguments, options)
        bound, settings = self._configure(grid, bound, settings)
        self.compiled = self._compile(bound, settings)
        metrics = self.gpu.run(self._launch(self.compiled, grid, bound))
        note_run(self._milliseconds(metrics))
        return metrics

    def compile(self, *arguments: Any, **options: Any) -> Compiled:
        """The kernel for such arguments, without a run; of an autotuned function give the configuration's values, too."""
        bound, settings = self._bind(arguments, options)
        for layer in self._layers:
            if not _triton.is_autotuner(layer):
                bound.update({name: value(bound) for name, value in layer.values.items()})
        return self._compile(bound, settings)

    def _bind(self, arguments: Sequence[Any], options: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The function's parameters by name, as far as they are given, and the other options."""
        named = {name: value for name, value in options.items() if name in self.signature.parameters}
        try:
            given = self.signature.bind_partial(*arguments, **named)
        except TypeError as error:
            raise InputError(f"arguments of '{self.name}': {error}") from error
        given.apply_defaults()
        return dict(given.arguments), {name: value for name, value in options.items() if name not in named}

    def _configure(self, grid: Grid, bound: Dict[str, Any], settings: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """What the decorators add, the outermost first."""
        for layer in self._layers:
            if _triton.is_autotuner(layer):
                config = self._choose(layer, grid, bound, settings)
                bound, settings = self._with(config, bound, settings)
                _prepare(layer, config, bound)
            else:
                bound = {**bound, **{name: value(bound) for name, value in layer.values.items()}}
        return bound, settings

    def _with(self, config: Any, bound: Dict[str, Any], settings: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        options = {name: getattr(config, name, None) for name in ('num_warps', 'num_ctas', 'num_stages', 'maxnreg')}
        values = config.all_kwargs() if hasattr(config, 'all_kwargs') else {**config.kwargs, **options}
        for name in config.kwargs:
            if name in bound:
                raise InputError(f"'{name}' is given to '{self.name}', and is in its configurations, expected one of both")
        parameters = {name: value for name, value in values.items() if name in self.signature.parameters}
        return {**bound, **parameters}, {**settings, **{n: v for n, v in values.items() if n not in parameters and v is not None}}

    def _choose(self, tuner: Any, grid: Grid, bound: Dict[str, Any], settings: Dict[str, Any]) -> Any:
        """The best configuration: of an earlier call with the same key, or of one run of each."""
        key = tuple(_triton.key_of(bound.get(name)) for name in tuner.keys) + tuple(_triton.types_of(bound))
        if key not in self._best:
            tuner.nargs = bound
            try:
                configs = list(tuner.prune_configs(settings)) if len(tuner.configs) > 1 else list(tuner.configs)
            finally:
                tuner.nargs = None
            self.trials = self._try_all(configs, grid, bound, settings) if len(configs) > 1 else [Trial(configs[0], 0.0, None)]
            done = [trial for trial in self.trials if trial.milliseconds is not None]
            if not done:
                raise InputError(f"none of the {len(configs)} configurations of '{self.name}' runs; the first one: {self.trials[0].error}")
            self._best[key] = min(done, key=lambda trial: trial.milliseconds or 0.0).config
        self.best_config = self._best[key]
        return self.best_config

    def _try_all(self, configs: Sequence[Any], grid: Grid, bound: Dict[str, Any], settings: Dict[str, Any]) -> List[Trial]:
        """Runs each configuration on copies of the arrays. Triton compiles one after another, since it is not made for threads."""
        launches: List[Union[Launch, HeddleError]] = []
        for config in configs:
            try:
                values, options = self._with(config, _triton.copies(bound), settings)
                for layer in self._layers[self._layers.index(self._tuner()) + 1:]:
                    values.update({name: value(values) for name, value in layer.values.items()})
                launches.append(self._launch(self._compile(values, options), grid, values))
            except HeddleError as error:
                launches.append(error)
        with concurrent.futures.ThreadPoolExecutor(max(1, self.jobs)) as pool:
            return list(pool.map(self._try_one, configs, launches))

    def _tuner(self) -> Any:
        return next(layer for layer in self._layers if _triton.is_autotuner(layer))

    def _try_one(self, config: Any, launch: Union[Launch, HeddleError]) -> Trial:
        if isinstance(launch, HeddleError):
            return Trial(config, None, launch)
        try:
            return Trial(config, self._milliseconds(self.gpu.run(launch, threads=1 if self.jobs > 1 else None)), None)
        except HeddleError as error:
            return Trial(config, None, error)

    def _compile(self, bound: Dict[str, Any], settings: Dict[str, Any]) -> Compiled:
        missing = [name for name in self.signature.parameters if name not in bound]
        if missing:
            raise InputError(f"'{self.name}' has no value for {', '.join(missing)}")
        made = _triton.compile_for(self.gpu, self._function, bound, settings)
        ptx = _triton.ptx_of(made, self.name)
        key = (made.metadata.name, ptx)
        if key not in self._kernels:
            self._kernels[key] = self.gpu.kernel(ptx, made.metadata.name)
        return Compiled(self._kernels[key], made.metadata, _triton.parameters_left(made, list(self.signature.parameters)))

    def _launch(self, compiled: Compiled, grid: Grid, bound: Dict[str, Any]) -> Launch:
        blocks = grid(bound) if callable(grid) else grid
        blocks = list(blocks) if isinstance(blocks, (tuple, list)) else [blocks]
        ctas = int(getattr(compiled.metadata, 'num_ctas', 1) or 1)
        cluster = [int(n) for n in getattr(compiled.metadata, 'cluster_dims', None) or (ctas, 1, 1)]
        if ctas > 1 or max(cluster) > 1:
            blocks = [n * c for n, c in zip(blocks + [1] * (3 - len(blocks)), cluster)]
        values = [_triton.argument(bound[name], f"'{name}' of '{self.name}'") for name in compiled.arguments]
        values += _triton.scratch(compiled.metadata, compiled.kernel, len(values), blocks, self.name)
        return compiled.kernel.launch(blocks, 32 * compiled.num_warps, *values, shared_bytes=compiled.shared_bytes,
                                      cluster=cluster if max(cluster) > 1 else None)

    def _milliseconds(self, metrics: Metrics) -> float:
        return sum(k['cycles'] for k in metrics['kernels']) / float(self.gpu.config['gpu.core_clock_mhz']) / 1e3


def _prepare(tuner: Any, config: Any, bound: Dict[str, Any]) -> None:
    """What an autotuner does before the run that counts: arrays of reset_to_zero are cleared, the configuration's hook is called."""
    for name in getattr(tuner, 'reset_to_zero', None) or getattr(tuner, 'reset_idx', None) or ():
        where = name if isinstance(name, str) else tuner.arg_names[name]
        array = host_array(_triton.argument(bound[where], where), where)
        if isinstance(array, HostArray) and array.bytes:
            if not array.writable:
                raise InputError(f"'{where}' is a read-only array, expected one that the autotuner can clear (reset_to_zero)")
            ctypes.memset(array.address, 0, array.bytes)
    if getattr(config, 'pre_hook', None) is not None:
        config.pre_hook(bound)
