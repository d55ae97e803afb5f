# SPDX-License-Identifier: MIT
"""What of Triton is used, and where its versions 3.0 to 3.5 differ."""
from __future__ import annotations

import contextlib
import ctypes
import importlib
import threading
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from ._arrays import host_array, is_scalar, place_in, regions_of
from .errors import CompileError, InputError, Place
from .gpu import Gpu
from .kernel import Kernel

_LOCK = threading.RLock()  # Triton's active driver is one for the process


class Tensor:
    """An array whose elements are of a type that the array itself does not name, such as Tensor(numpy.zeros(64, numpy.uint16),
    'bfloat16'). Types are named as torch does."""

    def __init__(self, array: Any, type: str) -> None:
        self.array, self.dtype = array, type


class _Pointer:
    """What Triton sees of an array: its type, and an address that is aligned as on the GPU."""

    def __init__(self, dtype: str, address: int) -> None:
        self.dtype, self._address = dtype, address

    def data_ptr(self) -> int:
        return self._address


class _Driver:
    """Triton's active driver while it compiles: it has a target and nothing else. The device is the target's name, since Triton keeps
    kernels by device."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> str:
        return f'heddle sm_{self.target.arch}'

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def is_active(self) -> bool:
        return True


def _package() -> Any:
    """The package triton. Raises CompileError if there is none, or one that is too old."""
    try:
        package = importlib.import_module('triton')
    except ImportError as error:
        raise CompileError('Triton is not installed: heddle.triton compiles with the Python package triton, 3.0 or later '
                           f'({error})') from error
    try:
        importlib.import_module('triton.backends.compiler').GPUTarget
        package.runtime.driver.set_active
    except (ImportError, AttributeError) as error:
        version = getattr(package, '__version__', 'of unknown version')
        raise CompileError(f'heddle.triton needs Triton 3.0 or later, got triton {version} ({error})') from error
    return package


def is_autotuner(layer: Any) -> bool:
    return hasattr(layer, 'configs') and hasattr(layer, 'prune_configs')


def unwrap(function: Any) -> Tuple[List[Any], Any]:
    """The decorators above a function of @triton.jit, the outermost first, and that function."""
    layers = []
    inner = function
    while is_autotuner(inner) or (hasattr(inner, 'values') and hasattr(inner, 'fn')):
        layers.append(inner)
        inner = inner.fn
    if not (hasattr(inner, 'fn') and hasattr(inner, 'warmup') and hasattr(inner, 'arg_names')):
        raise InputError(f'got {type(function).__name__}, expected a function with @triton.jit, @triton.heuristics or @triton.autotune')
    return layers, inner


def argument(value: Any, what: str) -> Any:
    """A value as Kernel.launch takes it."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, (tuple, list, dict)) or hasattr(value, 'block_shape'):
        raise InputError(f'{what}: got {type(value).__name__}, expected an array or a number; tuples and tensor descriptors are not '
                         'supported')
    return value


def _array_of(value: Any, what: str) -> Any:
    """The memory of an argument, or None for numbers, texts, types and whatever else only Triton understands."""
    if value is None or is_scalar(value) or callable(value):
        return None
    given = value.array if isinstance(value, Tensor) else value
    return host_array(given, what)


def _type_of(value: Any, array: Any, what: str) -> str:
    if isinstance(value, Tensor):
        return value.dtype
    name = {'bool8': 'bool'}.get(array.type, array.type)
    if not name.rstrip('0123456789').startswith(('int', 'uint', 'float', 'bfloat', 'bool')):
        raise InputError(f'{what} is an array of {name}, whose elements have no type that Triton knows, expected one of NumPy or torch, or '
                         'heddle.triton.Tensor(array, type)')
    return name


def types_of(bound: Dict[str, Any]) -> List[str]:
    """The types of the arrays among the arguments."""
    found = [(name, value, _array_of(value, name)) for name, value in bound.items()]
    return [_type_of(value, array, name) for name, value, array in found if array is not None]


def key_of(value: Any) -> Any:
    """A value of an autotuner's key; an array counts by its type, which types_of() names."""
    return None if _array_of(value, 'key') is not None else repr(value)


def _pointers(bound: Dict[str, Any], name: str) -> Dict[str, Any]:
    """The arguments as Triton takes them. Arrays in one region of memory keep their distance, other ones begin aligned."""
    arrays = {key: _array_of(value, f"'{key}' of '{name}'") for key, value in bound.items()}
    regions = regions_of([array for array in arrays.values() if array is not None])
    seen = {}
    for key, value in bound.items():
        array = arrays[key]
        if array is None:
            numpys = is_scalar(value) and hasattr(value, 'item')
            seen[key] = value.item() if numpys else value
        else:
            number, offset = place_in(regions, array) if array.bytes else (0, 0)
            seen[key] = _Pointer(_type_of(value, array, f"'{key}' of '{name}'"), ((number + 1) << 40) + offset)
    return seen


def copies(bound: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments with copies of their arrays; arrays that share memory share it in the copy."""
    arrays = {key: _array_of(value, key) for key, value in bound.items()}
    regions = regions_of([array for array in arrays.values() if array is not None])
    memory = [memoryview(bytearray(ctypes.string_at(r.begin, r.end - r.begin))) for r in regions]
    copied = dict(bound)
    for key, array in arrays.items():
        if array is not None and array.bytes:
            number, offset = place_in(regions, array)
            copied[key] = Tensor(memory[number][offset:offset + array.bytes], _type_of(bound[key], array, key))
    return copied


@contextlib.contextmanager
def _target(gpu: Gpu) -> Iterator[None]:
    """Triton compiles for this GPU."""
    package = _package()
    config = package.runtime.driver
    capability = int(gpu.config['gpu.compute_capability'].replace('.', ''))
    before = vars(config).get('active', vars(config).get('_active'))
    with _LOCK:
        config.set_active(_Driver(importlib.import_module('triton.backends.compiler').GPUTarget('cuda', capability, 32)))
        try:
            yield
        finally:
            if before is not None:
                config.set_active(before)
            else:
                config.reset_active()


def compile_for(gpu: Gpu, function: Any, bound: Dict[str, Any], settings: Dict[str, Any]) -> Any:
    """Triton's compiled kernel. Triton itself finds out which arguments it knows at compile time and which are divisible by 16: its
    warmup compiles and does not launch. Raises CompileError."""
    with _target(gpu):
        try:
            made = function.warmup(grid=(1,), **_pointers(bound, function.__name__), **settings)
            return made.result() if hasattr(made, 'result') else made
        except InputError:
            raise
        except Exception as error:
            said = str(error).strip() or type(error).__name__
            node = getattr(error, 'node', None)
            code = function.fn.__code__
            line = code.co_firstlineno + (node.lineno if node is not None and hasattr(node, 'lineno') else 0)
            first = said.split('\n')[-1] if node is not None else said.split('\n')[0]
            raise CompileError(f"Triton refuses '{function.__name__}' for compute capability {gpu.config['gpu.compute_capability']}: "
                               f'{type(error).__name__}: {first}', Place(code.co_filename, line), said) from error


def ptx_of(made: Any, name: str) -> str:
    """The PTX that Triton has kept."""
    try:
        ptx = made.asm['ptx']
    except (AttributeError, KeyError, TypeError):
        raise CompileError(f"Triton has compiled '{name}', but the result has no PTX, expected one of its CUDA backend") from None
    return ptx if isinstance(ptx, str) else ptx.decode()


def parameters_left(made: Any, names: Sequence[str]) -> Tuple[str, ...]:
    """The function's parameters that the kernel still has, in their order. Versions name parameters by number, by name, or by a tuple
    with the number, and leave out constants from the signature or mark them in it."""
    def name_of(key: Any) -> str:
        key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        return names[key] if isinstance(key, int) else key

    source = made.src
    constants = getattr(source, 'constants', None) or getattr(source, 'constexprs', None) or {}
    known = {name_of(key) for key in [*constants, *(getattr(getattr(source, 'attrs', None), 'equal_to_1', None) or ())]}
    signature = {name_of(key): kind for key, kind in source.signature.items()}
    return tuple(name for name in names if name in signature and name not in known and signature[name] != 'constexpr')


def scratch(metadata: Any, kernel: Kernel, given: int, blocks: Sequence[int], name: str) -> List[Any]:
    """The arguments behind the function's own: pointers to scratch memory (one from 3.2 on, two from 3.5 on)."""
    more = len(kernel.parameters) - given
    if not 0 <= more <= 2:
        raise InputError(f"the kernel of '{name}' has {len(kernel.parameters)} parameters, expected {given} and up to two pointers to "
                         'scratch memory: this version of Triton passes arguments in another way')
    count = 1
    for n in blocks:
        count *= n
    sizes = [int(getattr(metadata, f'{kind}_scratch_size', 0) or 0) for kind in ('global', 'profile')]
    return [bytearray(size * count) if size else None for size in sizes[:more]]
