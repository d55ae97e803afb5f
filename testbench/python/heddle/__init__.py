# SPDX-License-Identifier: MIT
"""Heddle: a cycle-level model of a GPU's streaming multiprocessors, which runs CUDA kernels (PTX). No GPU is needed.

To start:

    import heddle, numpy
    gpu = heddle.Gpu('v100')                              # a preset; heddle.gpus() lists them
    saxpy = gpu.kernel('saxpy.cu')                        # PTX or CUDA C++, a file or a text
    x, y = numpy.ones(4096, numpy.float32), numpy.zeros(4096, numpy.float32)
    metrics = saxpy(16, 256, x.size, 2.0, x, y)           # grid, block, arguments: y has the result
    metrics['kernels'][0]['cycles']                       # a dict; metrics.stalls(), metrics.dataframe(), metrics.report()

Gpu          a configuration: a preset or a file, and overrides of parameters. kernel(), kernels(), run() (several launches, streams,
             preemption), run_job() (a job file), occupancy(), sweep()
Kernel       call it to simulate one launch; launch() makes one of several for Gpu.run; occupancy()
Fill, Copy   what else Gpu.run does, in the order of a stream
Metrics      a dict; in a notebook the report
Table        the points of a sweep, a list of dicts; in a notebook the report
sweep()      runs a sweep file
heddle.triton  a module of its own: kernels with @triton.jit, where the package triton is installed
HeddleError  the base of all exceptions: InputError, CompileError, SimulationError, InternalError; `place` is a file and line

Arrays are NumPy's, or anything with a buffer or with `__dlpack__` in the host's memory: contiguous, in the host's byte order. The GPU
gets a copy of their bytes, and writable arrays have its result when the run has ended. Each run is a simulation of its own, in a process
of its own, so any number can run one after another, or at the same time in threads.

The page library/python.md has examples and figures.
"""
from __future__ import annotations

from .errors import CompileError, HeddleError, HeddleWarning, InputError, InternalError, Place, SimulationError
from .gpu import Gpu, gpus
from .kernel import Copy, Fill, Kernel, Launch, Parameter
from .metrics import Metrics, Table
from .sweeps import sweep

__version__ = '0.1.0'
__all__ = ['CompileError', 'Copy', 'Fill', 'Gpu', 'HeddleError', 'HeddleWarning', 'InputError', 'InternalError', 'Kernel', 'Launch',
           'Metrics', 'Parameter', 'Place', 'SimulationError', 'Table', 'gpus', 'sweep']
