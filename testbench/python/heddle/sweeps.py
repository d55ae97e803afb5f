# SPDX-License-Identifier: MIT
"""Sweeps: the same launches on many GPUs. docs/use/sweeps.md describes files and stores."""
from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import _worker
from ._arrays import is_scalar
from ._job import Job
from .errors import HeddleError, InputError, split_place
from .kernel import dimensions
from .metrics import Table

Values = Union[str, int, float, bool, Sequence[Any]]


def setting(value: Any) -> str:
    """A parameter's value, of Python or NumPy, as an INI file has it."""
    if isinstance(value, (list, tuple)):
        return ','.join(setting(v) for v in value)
    if is_scalar(value) and hasattr(value, 'item'):
        value = value.item()
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return 'null' if value is None else str(value)


def _axis(name: str, values: Values) -> str:
    listed = [values] if isinstance(values, str) or is_scalar(values) else list(values)
    if not listed:
        raise InputError(f"axis '{name}' has no values, expected at least one")
    texts = ['x'.join(map(str, dimensions(v, f"axis '{name}'"))) if name == 'launch.block' and not isinstance(v, str) else setting(v)
             for v in listed]
    # A text alone may be a range, such as '64:512:64'.
    return f'{name} = ' + ', '.join(f'"{t}"' if ',' in t else t for t in texts)


def _gpu(value: Any) -> str:
    """A GPU of an axis as the sweep file, which lies in another folder, has it."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"axis 'gpu' has a value of type {type(value).__name__}, expected names of presets or of files")
    name = os.fspath(value)
    return str(Path(name).resolve()) if name.endswith('.ini') else name


def _lines_of_file(lines: List[str]) -> str:
    """Lines as a sweep file's text. Raises InputError for one that would be read as less or more than a line."""
    for line in lines:
        if len(line.splitlines()) != 1 or re.search(r'\s[;#]', line):
            raise InputError(f'{line!r} cannot be kept in a sweep file, expected one line without a blank and then # or ;')
    return '\n'.join(lines) + '\n'


def run_sweep(job: Job, axes: Mapping[str, Values], store: Union[str, 'os.PathLike[str]'], limits: Mapping[str, str],
              constraints: Mapping[str, str], jobs: Optional[int], resume: bool) -> Table:
    """Writes job and sweep file beside the store, and sweeps."""
    database = Path(store)
    if str(store) != str(store).rstrip() or len(str(store).splitlines()) != 1:
        raise InputError(f'the store {str(store)!r} is empty, ends with a blank or has several lines, expected the name of a file')
    gpu = axes['gpu']
    axes = {**axes, 'gpu': [_gpu(value) for value in (gpu if isinstance(gpu, Iterable) and not isinstance(gpu, str) else [gpu])]}
    lines = ['[sweep]', 'job = job.json', f'store = {os.path.join(os.curdir, database)}',
             *(f'{key} = {value}' for key, value in limits.items()), '[axes]', *(_axis(name, values) for name, values in axes.items()),
             '[constraints]', *(f'{name} = {condition}' for name, condition in constraints.items())]
    text = _lines_of_file(lines)
    folder = Path(f'{database}.job')
    with _alone_in(folder):
        job.save(folder)
        file = folder / f'{database.stem}.ini'
        file.write_text(text, encoding='utf-8')
        try:
            return sweep(file, store=database, jobs=jobs, resume=resume)
        except HeddleError as error:
            raise job.own(error)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Makes a folder and waits until no other thread or process is in it, since each writes its own job there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"the folder '{folder}' of the store's job cannot be made: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sweep(file: Union[str, 'os.PathLike[str]'], *, store: Optional[Union[str, 'os.PathLike[str]']] = None, jobs: Optional[int] = None,
          resume: bool = False, options: Sequence[str] = ()) -> Table:
    """Runs a sweep file, as `heddle sweep` does, and returns the table of its store.

    store    where the file's `store` lies; None: as the file says
    jobs     points at a time; None: one a core
    resume   also runs points again that failed
    options  more options of `heddle sweep`, such as ['--engine', 'slurm']

    A point that fails has its status and reason in the table; SimulationError if none has run.
    """
    name = os.fspath(file)
    given: List[str] = ['sweep', './' + name if name.startswith('-') else name, '--quiet', *options]
    if jobs is not None:
        given += ['--jobs', str(jobs)]
    worker = _worker.Worker(given + ['--resume'] * resume)
    code = worker.run()
    if code not in (0, 1):
        raise worker.error(code)
    table = Table(store if store is not None else _store_of(Path(file)), Path(file).stem)
    if code == 1 and not any(row['status'] == 'done' for row in table):
        raise _placed(worker.error(code), table)
    return table


def _placed(error: HeddleError, table: Table) -> HeddleError:
    """The error of a sweep with the place that the reason of a point within it begins with."""
    for row in table:
        place, text = split_place(row['reason'])
        if place and row['reason'] in error.message:
            error.__init__(error.message.replace(row['reason'], text), place)  # type: ignore[misc]
            break
    return error


def _store_of(file: Path) -> str:
    for line in file.read_text(encoding='utf-8').splitlines():
        key, _, value = re.split(r'(?:^|\s)[;#]', line)[0].partition('=')
        if key.strip() == 'store':
            return value.strip()
    raise InputError(f"'{file}' names no store")
