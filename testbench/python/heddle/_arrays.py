# SPDX-License-Identifier: MIT
"""The memory of arrays: NumPy's interface, the buffer protocol, DLPack. Nothing here needs NumPy, and nothing copies."""
from __future__ import annotations

import ctypes
import re
import sys
from typing import Any, Iterator, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

from .errors import InputError


class HostArray(NamedTuple):
    """Contiguous memory of this process. `owner` keeps it alive."""

    address: int
    bytes: int
    writable: bool
    type: str  # for messages
    owner: Any

    def __reduce__(self) -> NoReturn:
        # An address means nothing in another process, and what a copy of the address refers to is not a copy of the array.
        raise TypeError('a launch refers to the arrays of its process and cannot be copied or sent to another process; '
                        'make it there, with Kernel.launch and arrays of its own')


class _Buffer(ctypes.Structure):
    """Py_buffer of Python's C interface."""

    _fields_ = [('buf', ctypes.c_void_p), ('obj', ctypes.c_void_p), ('len', ctypes.c_ssize_t), ('itemsize', ctypes.c_ssize_t),
                ('readonly', ctypes.c_int), ('ndim', ctypes.c_int), ('format', ctypes.c_char_p),
                ('shape', ctypes.POINTER(ctypes.c_ssize_t)), ('strides', ctypes.POINTER(ctypes.c_ssize_t)),
                ('suboffsets', ctypes.POINTER(ctypes.c_ssize_t)), ('internal', ctypes.c_void_p)]


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack."""

    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


_CONTIGUOUS = 0x18  # PyBUF_ND | PyBUF_STRIDES
_CPU_DEVICES = (1, 3)  # kDLCPU, kDLCUDAHost
_CODES = {0: 'int', 1: 'uint', 2: 'float', 4: 'bfloat', 5: 'complex', 6: 'bool'}


def is_scalar(value: Any) -> bool:
    """True for a number, of Python or of NumPy."""
    numpy = sys.modules.get('numpy')
    return isinstance(value, (bool, int, float, complex)) or (numpy is not None and isinstance(value, numpy.generic))


def host_array(value: Any, what: str) -> Optional[HostArray]:
    """The memory of an array; None if `value` is no array. Raises InputError, which begins with `what`."""
    if is_scalar(value) or isinstance(value, (str, list, tuple, dict)):
        return None
    masked = sys.modules.get('numpy.ma')
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise InputError(f'{what} is a masked array, whose mask a GPU does not know, expected its data, such as value.filled(0)')
    try:
        if hasattr(value, '__array_interface__'):
            return _of_numpy(value, what)
        try:
            memoryview(value).release()
        except TypeError:
            return _of_dlpack(value, what) if hasattr(value, '__dlpack__') else None
        return _of_buffer(value, what)
    except InputError:
        raise
    except Exception as error:  # whatever the object's own methods raise
        said = ' '.join(str(error).split())
        raise InputError(f'{what}: a {type(value).__name__} does not give its memory ({type(error).__name__}: {said}), expected an array '
                         "in the host's memory") from error


def _contiguous(shape: Sequence[int], strides: Optional[Sequence[int]], item: int) -> bool:
    """True if the elements lie row by row without gaps; strides in bytes."""
    if strides is None or 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != item:
            return False
        item *= extent
    return True


def _refuse_gaps(what: str, kind: str, shape: Sequence[int], strides: Sequence[int]) -> None:
    raise InputError(f'{what} is an array of {kind} that does not lie row by row without gaps (shape {tuple(shape)}, strides '
                     f'{tuple(strides)} bytes), expected a contiguous one, such as numpy.ascontiguousarray makes')


def _types(about: Any) -> Iterator[str]:
    """The types of an element's fields, also of those within fields, as `typestr` and `descr` of NumPy's interface have them."""
    if isinstance(about, str):
        yield about
    else:
        for field in about:
            yield from _types(field[1])


def _swapped(types: Sequence[str]) -> bool:
    return any(t[0] == ('>' if sys.byteorder == 'little' else '<') for t in types)


def is_swapped(value: Any) -> bool:
    """True if a struct, of NumPy or ctypes, has a number in the other byte order."""
    if isinstance(value, ctypes.Structure):
        return _is_swapped_type(type(value))
    dtype = getattr(value, 'dtype', None)
    return hasattr(dtype, 'descr') and _swapped([dtype.str, *_types(dtype.descr)])


def _is_swapped_type(kind: Any) -> bool:
    while issubclass(kind, ctypes.Array):
        kind = kind._type_
    return hasattr(kind, '_swappedbytes_') or any(_is_swapped_type(field[1]) for field in getattr(kind, '_fields_', []))


def _of_numpy(value: Any, what: str) -> HostArray:
    about = value.__array_interface__
    shape, kind = about['shape'], str(getattr(value, 'dtype', about['typestr']))
    types = [about['typestr'], *_types(about.get('descr', []))]
    if any(t[1] == 'O' for t in types):
        raise InputError(f'{what} is an array of Python objects (dtype {kind}), which a GPU cannot read, expected numbers')
    if _swapped(types):
        raise InputError(f"{what} is an array of {kind}, whose byte order is not the GPU's, expected little-endian numbers")
    item = int(re.findall(r'\d+', about['typestr'])[0]) * (4 if about['typestr'][1] == 'U' else 1)
    if not _contiguous(shape, about.get('strides'), item):
        _refuse_gaps(what, kind, shape, about['strides'])
    size = item
    for extent in shape:
        size *= extent
    if not isinstance(about.get('data'), tuple):
        raise InputError(f'{what} is a {type(value).__name__} whose __array_interface__ has no address, expected '
                         "its 'data' to be (address, read-only)")
    address, readonly = about['data']
    return HostArray(address, size, not readonly, kind, value)


def _of_buffer(value: Any, what: str) -> HostArray:
    view = _Buffer()
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    get.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
    release.argtypes = [ctypes.POINTER(_Buffer)]
    kind = type(value).__name__
    get(value, ctypes.byref(view), _CONTIGUOUS)
    shape = [view.shape[i] for i in range(view.ndim)]
    strides = [view.strides[i] for i in range(view.ndim)] if view.strides else None
    found = HostArray(view.buf or 0, view.len, not view.readonly, kind, value)
    item = view.itemsize
    # A memoryview holds the buffer, so that its owner can neither move nor free it.
    held = memoryview(value)
    release(ctypes.byref(view))
    if strides and not _contiguous(shape, strides, item):
        _refuse_gaps(what, kind, shape, strides)
    return found._replace(owner=held)


def _of_dlpack(value: Any, what: str) -> HostArray:
    device = value.__dlpack_device__()
    if int(device[0]) not in _CPU_DEVICES:
        raise InputError(f"{what} is an array on another device (DLPack type {int(device[0])}), expected one in the host's memory")
    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The capsule keeps its name, so it frees the tensor itself.
    tensor = _Tensor.from_address(pointer(capsule, b'dltensor'))
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    item = tensor.bits * tensor.lanes // 8
    kind = f'{_CODES.get(tensor.code, "type")}{tensor.bits}'
    if tensor.bits * tensor.lanes % 8:
        raise InputError(f'{what} is an array of {kind}, expected elements of whole bytes')
    if tensor.strides:
        strides = [tensor.strides[i] * item for i in range(tensor.ndim)]
        if not _contiguous(shape, strides, item):
            _refuse_gaps(what, kind, shape, strides)
    size = item
    for extent in shape:
        size *= extent
    return HostArray((tensor.data or 0) + tensor.byte_offset, size, True, kind, (value, capsule))


class Region:
    """Memory of overlapping arrays, which is one buffer of the GPU."""

    def __init__(self, array: HostArray) -> None:
        self.begin, self.end, self.writable = array.address, array.address + array.bytes, array.writable


def regions_of(arrays: Sequence[HostArray]) -> List[Region]:
    """The regions of all arrays, in the order in which arrays first lie in them, so that results do not depend on the host's addresses.
    Empty arrays have none."""
    regions: List[Region] = []
    for array in sorted((a for a in arrays if a.bytes), key=lambda a: a.address):
        if regions and array.address < regions[-1].end:
            regions[-1].end = max(regions[-1].end, array.address + array.bytes)
            regions[-1].writable |= array.writable
        else:
            regions.append(Region(array))
    ordered: List[Region] = []
    for array in arrays:
        for region in regions:
            if array.bytes and region.begin <= array.address < region.end and region not in ordered:
                ordered.append(region)
    return ordered


def place_in(regions: Sequence[Region], array: HostArray) -> Tuple[int, int]:
    """The region of an array that is not empty, and its offset there."""
    for number, region in enumerate(regions):
        if region.begin <= array.address < region.end:
            return number, array.address - region.begin
    raise AssertionError('an array without a region')
