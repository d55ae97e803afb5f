# SPDX-License-Identifier: MIT
"""Kernels, and what a GPU is asked to do."""
from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import struct
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _compiler
from ._arrays import HostArray, host_array, is_scalar, is_swapped
from .errors import InputError, Place

if TYPE_CHECKING:
    from .gpu import Gpu
    from .metrics import Metrics

Dimensions = Union[int, Sequence[int]]


class Parameter(NamedTuple):
    """A parameter of a kernel. `type` is that of the PTX (`u32`, `f32`, `u64` of pointers), None for a struct by value."""

    name: str
    type: Optional[str]
    bytes: int

    def __str__(self) -> str:
        return f'{self.name}, {self.type or f"{self.bytes} bytes"}'


def caller() -> Place:
    """The line of the user's program that has called this package."""
    frame = sys._getframe(1)
    folder = os.path.dirname(__file__)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == folder:
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


@contextlib.contextmanager
def at(place: Place) -> Iterator[None]:
    """An InputError in its block gets this place if it has none."""
    try:
        yield
    except InputError as error:
        if error.place is None:
            error.__init__(error.message, place)  # type: ignore[misc]
        raise


def dimensions(value: Dimensions, what: str) -> List[int]:
    """One to three numbers above 0, also those of an array. Raises InputError."""
    if getattr(value, 'ndim', 0) > 1:
        raise InputError(f'{what}: got an array of shape {tuple(value.shape)}, '  # type: ignore[union-attr]
                         'expected a whole number or up to three of them in a row')
    listed = value.tolist() if hasattr(value, 'tolist') else value
    given = list(listed) if isinstance(listed, (tuple, list)) else [listed]
    numbers = []
    for number in given:
        try:
            numbers.append(operator.index(number))
        except TypeError:
            raise InputError(f'{what}: got {number!r}, expected a whole number or up to three of them') from None
    if not 1 <= len(numbers) <= 3 or not all(1 <= n < 2**32 for n in numbers):
        raise InputError(f'{what}: got {value!r}, expected one to three whole numbers above 0')
    return numbers


class Launch:
    """A kernel with its grid, block and arguments, as `Kernel.launch` makes it. `Gpu.run` simulates one or several."""

    def __init__(self, kernel: 'Kernel', grid: Dimensions, block: Dimensions, arguments: Sequence[Any], options: Dict[str, Any]) -> None:
        self.kernel = kernel
        self.place = caller()
        with at(self.place):
            self._take(kernel, grid, block, arguments, options)

    def _take(self, kernel: 'Kernel', grid: Dimensions, block: Dimensions, arguments: Sequence[Any], options: Dict[str, Any]) -> None:
        self.grid, self.block = dimensions(grid, 'grid'), dimensions(block, 'block')
        self.options = {key: value for key, value in options.items() if value is not None}
        if 'cluster' in self.options:
            self.options['cluster'] = dimensions(self.options['cluster'], 'cluster')
        expected = kernel.parameters
        if len(arguments) != len(expected):
            takes = '; '.join(str(p) for p in expected) or 'none'
            raise InputError(f"kernel '{kernel.name}' takes {len(expected)} argument{'s' * (len(expected) != 1)} ({takes}), got "
                             f'{len(arguments)}')
        self.arguments = [_argument(value, p, f"argument {i + 1} of '{kernel.name}' ({p})")
                          for i, (value, p) in enumerate(zip(arguments, expected))]

    def __repr__(self) -> str:
        return f'<launch of {self.kernel.name}, grid {self.grid}, block {self.block}>'


class Fill:
    """Sets every byte of an array's copy on the GPU, in the order of its stream."""

    def __init__(self, array: Any, byte: int = 0, stream: int = 0) -> None:
        self.byte, self.stream, self.place = byte, stream, caller()
        with at(self.place):
            self.array = _needed(array, 'array')


class Copy:
    """Copies an array to another one of the same size, on the GPU, in the order of its stream."""

    def __init__(self, source: Any, target: Any, stream: int = 0) -> None:
        self.stream, self.place = stream, caller()
        with at(self.place):
            self.source, self.target = _needed(source, 'source'), _needed(target, 'target')
            if self.source.bytes != self.target.bytes:
                raise InputError(f'the source has {self.source.bytes} bytes and the target {self.target.bytes}, expected equal sizes')


Operation = Union[Launch, Fill, Copy]


def _needed(value: Any, what: str) -> HostArray:
    array = host_array(value, what)
    if array is None or not array.bytes:
        raise InputError(f'{what}: got {type(value).__name__}, expected an array that is not empty')
    return array


def _argument(value: Any, p: Parameter, what: str) -> Union[HostArray, bytes]:
    """An array, or the bytes of anything else."""
    if p.type is None:
        given = value.tobytes() if hasattr(value, 'tobytes') else None
        if isinstance(value, (bytes, bytearray, ctypes.Structure)):
            given = bytes(value)
        if given is None or len(given) != p.bytes:
            size = f'{len(given)} bytes' if given is not None else type(value).__name__
            raise InputError(f'{what} is a struct of {p.bytes} bytes, got {size}, expected bytes, a ctypes.Structure or a NumPy record')
        if is_swapped(value):
            raise InputError(f"{what} is a struct, got one whose byte order is not the GPU's, expected little-endian numbers")
        return given
    if is_scalar(value):
        return _scalar(value, p, what)
    if value is None and p.bytes == 8 and p.type[0] != 'f':
        return bytes(p.bytes)
    array = host_array(value, what)
    if array is None:
        raise InputError(f'{what}: got {type(value).__name__}, expected an array or a number, such as numpy.array(..., dtype=...)')
    if p.bytes != 8 or p.type[0] == 'f':
        raise InputError(f'{what} is a number, got an array of {array.type}')
    return array


def _scalar(value: Any, p: Parameter, what: str) -> bytes:
    """The bytes of a number in the parameter's type."""
    assert p.type
    number = value.item() if hasattr(value, 'item') else value
    if isinstance(number, complex) or not isinstance(number, (bool, int, float)):
        raise InputError(f'{what}: got {type(value).__name__}, expected a whole number or one with a fraction')
    bits = 8 * p.bytes
    if p.type[0] == 'f' or (p.type[0] == 'b' and isinstance(number, float)):
        try:
            return struct.pack({2: '<e', 4: '<f', 8: '<d'}[p.bytes], number)
        except (OverflowError, struct.error):
            raise InputError(f'{what}: {number} is out of range of {p.type}') from None
        except KeyError:
            raise InputError(f'{what}: got a number with a fraction, expected a whole number') from None
    if isinstance(number, float):
        raise InputError(f'{what} takes a whole number, got {type(value).__name__} {number}')
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise InputError(f'{what}: {number} is out of range of {p.type}')
    return (number % (1 << bits)).to_bytes(p.bytes, 'little')


class Kernel:
    """A kernel of a GPU; `Gpu.kernel` makes it. Call it to simulate one launch:

        metrics = kernel(grid, block, x, y, 2.0)

    Attributes: `name` (in the PTX), `parameters`, `registers_per_thread`, `shared_bytes` (static, of a block), `local_bytes` (of a
    thread), `ptx` (the module's text).
    """

    def __init__(self, gpu: 'Gpu', module: _compiler.Module, about: Dict[str, Any]) -> None:
        self.gpu, self.module = gpu, module
        self.name: str = about['name']
        self.names: List[str] = about['names']
        self.parameters: Tuple[Parameter, ...] = tuple(Parameter(p['name'], p['type'], p['bytes']) for p in about['parameters'])
        self.registers_per_thread: int = about['registers_per_thread']
        self.shared_bytes: int = about['shared_bytes']
        self.local_bytes: int = about['local_bytes']

    @property
    def ptx(self) -> str:
        return self.module.ptx

    def launch(self, grid: Dimensions, block: Dimensions, *arguments: Any, shared_bytes: int = 0, stream: int = 0, priority: int = 0,
               at_cycle: int = 0, carveout: Optional[int] = None, registers_per_thread: Optional[int] = None,
               cluster: Optional[Dimensions] = None) -> Launch:
        """A launch for `Gpu.run` and `Gpu.sweep`; nothing is simulated yet.

        grid, block           blocks of the grid, threads of a block: a number or up to three (a tuple, a list or an array)
        arguments             one for each parameter: an array (its address; the GPU reads and writes its bytes), a number (converted to
                              the parameter's type; out of its range, with a sign or without, is an error), None (a null pointer), or the bytes of a struct
        shared_bytes          dynamic shared memory of a block
        stream                launches of one stream run in order, those of different streams may run at the same time
        priority              larger is more urgent
        at_cycle              the cycle before which it is not launched
        carveout              percent of the unified cache that is shared memory; None: the chip's choice
        registers_per_thread  most registers of a thread; what finds no room is kept in local memory
        cluster               blocks of a thread block cluster

        Raises InputError, with the caller's line as its place, for arguments that the kernel does not take.
        """
        return Launch(self, grid, block, arguments,
                      {'shared_bytes': shared_bytes, 'stream': stream, 'priority': priority, 'at_cycle': at_cycle, 'carveout': carveout,
                       'registers_per_thread': registers_per_thread, 'cluster': cluster})

    def __call__(self, grid: Dimensions, block: Dimensions, *arguments: Any, shared_bytes: int = 0, carveout: Optional[int] = None,
                 registers_per_thread: Optional[int] = None, cluster: Optional[Dimensions] = None, **options: Any) -> 'Metrics':
        """Simulates one launch: `launch` with these arguments, and `Gpu.run` with `options` (preempt, progress, max_cycles, ...)."""
        launch = self.launch(grid, block, *arguments, shared_bytes=shared_bytes, carveout=carveout,
                             registers_per_thread=registers_per_thread, cluster=cluster)
        return self.gpu.run(launch, **options)

    def occupancy(self, block: Dimensions, shared_bytes: int = 0, carveout: Optional[int] = None) -> Dict[str, Any]:
        """How many of its blocks fit an SM, and what limits them; `shared_bytes`: dynamic shared memory. See `Gpu.occupancy`."""
        return self.gpu.occupancy(block, self.registers_per_thread, self.shared_bytes + shared_bytes, carveout)

    def __repr__(self) -> str:
        return f"<kernel {self.name}({'; '.join(str(p) for p in self.parameters)}) of {self.gpu.name}>"
