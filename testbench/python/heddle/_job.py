# SPDX-License-Identifier: MIT
"""Job files: what `heddle run` and `heddle sweep` read. docs/use/job.md describes them."""
from __future__ import annotations

import json
import operator
import re
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ._arrays import HostArray, Region, is_scalar, place_in, regions_of
from ._compiler import Module, is_compilers
from ._worker import own_memory
from .errors import HeddleError, InputError, Place
from .kernel import Copy, Fill, Launch, Operation


class _Source(NamedTuple):
    """The source of a module, and the first launch of one of its kernels: its number among the operations, and where it was made."""

    module: Module
    launch: int
    place: Place
    shared: bool = False  # another source has its name


class Job:
    """The job of some operations. Each entry has a line of its own, so that a message's line leads to the user's."""

    def __init__(self, operations: Sequence[Operation], preempt: Sequence[Dict[str, Any]], place: Place) -> None:
        self._operations, self._preempt, self._place = operations, preempt, place
        self.regions: List[Region] = regions_of([a for o in operations for a in _arrays_of(o)])
        self.modules: Dict[str, str] = {}  # PTX, by the names of modules in the job
        self._sources: Dict[str, _Source] = {}  # by these names
        self._names: Dict[Tuple[str, str], str] = {}  # these names, by the source's name and the PTX
        self._add_modules()
        self._places: Dict[int, Place] = {}
        self._folder: Optional[Path] = None
        self._files: Dict[str, str] = {}  # what those of the folder stand for
        self._module_files: Dict[str, str] = {}  # of the folder, by the modules' names

    def _add_modules(self) -> None:
        """Names the modules as their sources. Those of one name and different texts are named by their first launch, too."""
        first: Dict[Tuple[str, str], _Source] = {}
        for number, operation in enumerate(self._operations):
            if isinstance(operation, Launch):
                module = operation.kernel.module
                first.setdefault((module.ptx_name, module.ptx), _Source(module, number, operation.place))
        for (name, ptx), source in first.items():
            shared = sum(other == name for other, _ in first) > 1
            known = f'{name} (launch {source.launch})' if shared else name
            while known in self.modules:
                known += ' again'
            self._names[name, ptx], self.modules[known], self._sources[known] = known, ptx, source._replace(shared=shared)

    def text(self, memory: int) -> str:
        """The job in which arrays are memory of this process, open at descriptor `memory`."""
        modules = [{'name': name, 'text': ptx} for name, ptx in self.modules.items()]
        lines = [f'{{"modules": {json.dumps(modules)},', '"buffers": {']
        at = [{'descriptor': memory, 'at': region.begin, 'bytes': region.end - region.begin} for region in self.regions]
        lines.append(',\n'.join(f'"{number}": {json.dumps(buffer)}' for number, buffer in enumerate(at)) + '},')
        outputs = [{'buffer': str(n), 'descriptor': memory, 'at': r.begin} for n, r in enumerate(self.regions) if r.writable]
        return self._with_operations(lines, [f'"outputs": {json.dumps(outputs)}}}'])

    def save(self, folder: Path) -> Path:
        """Writes the job with its modules and arrays as files; returns the job's file."""
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        self._folder, self._files = folder.absolute(), {'job.json': '-'}
        for number, (name, ptx) in enumerate(self.modules.items()):
            files.append(f'module{number}.ptx')
            Path(folder, files[-1]).write_text(ptx, encoding='utf-8', errors='surrogateescape')
            self._files[files[-1]], self._module_files[name] = name, files[-1]
        buffers = []
        with own_memory() as memory:
            for number, region in enumerate(self.regions):
                with open(folder / f'buffer{number}.bin', 'wb') as file:
                    _copy(memory, region, file)
                buffers.append(f'"{number}": {{"file": "buffer{number}.bin"}}')
        lines = [f'{{"modules": {json.dumps(files)},', '"buffers": {', ',\n'.join(buffers) + '},']
        job = folder / 'job.json'
        job.write_text(self._with_operations(lines, [])[:-2] + '}\n', encoding='utf-8')
        return job

    def _with_operations(self, lines: List[str], rest: List[str]) -> str:
        text = '\n'.join(lines) + '\n"launches": [\n'
        first = text.count('\n') + 1
        self._places = {first + number: operation.place for number, operation in enumerate(self._operations)}
        text += ',\n'.join(_json(self._entry(operation), operation.place) for operation in self._operations)
        text += '\n],\n"preempt": ' + _json(self._preempt, self._place) + ',\n'
        return text + '\n'.join(rest)

    def _entry(self, operation: Operation) -> Dict[str, Any]:
        if isinstance(operation, Fill):
            name, offset = self._buffer(operation.array)
            return {'memset': name, 'offset': offset, 'bytes': operation.array.bytes, 'byte': operation.byte, 'stream': operation.stream}
        if isinstance(operation, Copy):
            source, target = self._buffer(operation.source), self._buffer(operation.target)
            return {'copy': {'from': source[0], 'from_offset': source[1], 'to': target[0], 'to_offset': target[1],
                             'bytes': operation.source.bytes}, 'stream': operation.stream}
        module = self._names[operation.kernel.module.ptx_name, operation.kernel.module.ptx]
        return {'kernel': operation.kernel.name, 'module': self._module_files.get(module, module), 'grid': operation.grid,
                'block': operation.block, **operation.options, 'args': [self._argument(a) for a in operation.arguments]}

    def _argument(self, argument: Any) -> Dict[str, Any]:
        if not isinstance(argument, HostArray):
            return {'bytes_hex': argument.hex()}
        if not argument.bytes:
            return {'u64': 0}
        name, offset = self._buffer(argument)
        return {'buffer': name, 'offset': offset}

    def _buffer(self, array: HostArray) -> Tuple[str, int]:
        number, offset = place_in(self.regions, array)
        return str(number), offset

    def own(self, error: HeddleError) -> HeddleError:
        """An error at a line of the job or of compiled PTX as one at the user's line. A job that was saved is one of its folder."""
        if error.place is not None and Path(error.place.file).absolute().parent == self._folder:
            file = self._files.get(Path(error.place.file).name)
            error.__init__(error.message, error.place._replace(file=file) if file else self._place)  # type: ignore[misc]
        source = self._sources.get(error.place.file) if error.place is not None else None
        if source is not None:
            _show_source(error, source)
        if error.place is None or error.place.file != '-':
            return error
        place: Optional[Place] = self._places.get(error.place.line, self._place)
        error.__init__(error.message, place)  # type: ignore[misc]
        return error


def _show_source(error: HeddleError, source: _Source) -> None:
    """An error at a line of PTX gets the line of its CUDA source; if several sources have that name, also which one it is."""
    assert error.place is not None
    name, module, message, place = source.module.ptx_name, source.module, error.message, error.place._replace(file=source.module.ptx_name)
    found = re.findall(r', (?:called )?at ([^\n]+?):(\d+)', message) if module.compiled else []
    if found:
        message = f'{message} (line {place.line} of its PTX)'
        # The innermost line that is the user's: an atomic function, say, is of a header of CUDA.
        file, line = next((at for at in found if at[0] == module.name or not is_compilers(at[0])), found[0])
        name, place = module.name, Place(file, int(line))
    if source.shared:
        message = f'{message} ({name} of launch {source.launch}, which is made at {source.place})'
        place = place._replace(file=module.full(name)) if place.file == name else place
    error.__init__(message, place)  # type: ignore[misc]


def _json(value: Any, place: Place) -> str:
    """A value of the user as JSON, with numbers and arrays of NumPy. Raises InputError for what has no counterpart there."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f'{error}, expected numbers, texts, lists and dicts with texts as keys', place) from error


def _plain(value: Any) -> Any:
    """What JSON does not know, in types that it knows. Raises TypeError."""
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, Iterable):  # an array, a generator
            return list(value)
        if is_scalar(value) and type(value.item()) is not type(value):
            return value.item()
        raise TypeError(f'got {value!r} of type {type(value).__name__}') from None


def _arrays_of(operation: Operation) -> List[HostArray]:
    if isinstance(operation, Fill):
        return [operation.array]
    if isinstance(operation, Copy):
        return [operation.source, operation.target]
    return [a for a in operation.arguments if isinstance(a, HostArray)]


def _copy(memory: Any, region: Region, file: Any) -> None:
    memory.seek(region.begin)
    left = region.end - region.begin
    while left:
        data = memory.read(min(left, 1 << 20))
        file.write(data)
        left -= len(data)
