# SPDX-License-Identifier: MIT
"""PTX from what a user gives: PTX itself, CUDA C++ by nvcc or clang, a file of either."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._worker import exit_codes
from .errors import CompileError, InputError, Place

Source = Union[str, 'os.PathLike[str]']
_ENTRY = re.compile(r'\.entry\s+([A-Za-z_$%][\w$]*)')
_MESSAGE = r'^(?P<file>{own}|[^\s(:][^(:\n]*)(?:\((?P<a>\d+)\)|:(?P<b>\d+):(?P<column>\d+)): (?:fatal )?error:? (?P<text>.*)$'


class Module(NamedTuple):
    """PTX, and the name that stands for its source in messages."""

    name: str
    ptx: str
    compiled: bool = False  # the source is CUDA C++
    file: str = ''  # of the source, absolute; none if it was a text

    @property
    def ptx_name(self) -> str:
        """The name that stands for the PTX, whose lines are not those of a CUDA source."""
        return f'{self.name}.ptx' if self.compiled else self.name

    def full(self, name: str) -> str:
        """`name`, that of the source or of its PTX, with the folder of the file."""
        return self.file + name[len(self.name):] if self.file else name

    def entries(self) -> List[str]:
        """The names of its kernels, as they stand there."""
        return _ENTRY.findall(self.ptx)


def load(source: Source, capability: str, options: Sequence[str]) -> Module:
    """The PTX of a text or a file. Raises InputError for what is neither, CompileError."""
    text, name, folder = _text_of(source)
    file = os.path.abspath(name) if name else ''
    if re.search(r'^\s*\.version\s+\d', text, re.MULTILINE):
        if options:
            raise InputError('options are for the compiler of CUDA C++, but the source is PTX')
        return Module(name or '<ptx>', text, file=file)
    if '__global__' not in text:
        raise InputError(f'{name or "the source"} is neither PTX (no .version directive) nor CUDA C++ (no __global__ function)')
    return _compile(text, name or '<cuda>', folder, capability, tuple(str(option) for option in options))._replace(file=file)


def _text_of(source: Source) -> Tuple[str, str, Optional[Path]]:
    """The text, the name of its file, and the file's folder."""
    if isinstance(source, str) and ('\n' in source or not source.endswith(('.ptx', '.cu'))):
        if not source.strip():
            raise InputError('the source is empty, expected PTX, CUDA C++ or the name of a file .ptx or .cu')
        return source.lstrip('\ufeff'), '', None
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f'got a source of type {type(source).__name__}, expected PTX, CUDA C++ or the name of a file .ptx or .cu')
    file = Path(source)
    try:
        # A file may begin with a byte order mark.
        return file.read_text(encoding='utf-8-sig', errors='surrogateescape'), str(file), file.resolve().parent
    except OSError as error:
        raise InputError(f"cannot read '{file}': {error.strerror}") from error


def _nvcc() -> Optional[str]:
    return os.environ.get('NVCC') or shutil.which('nvcc') or shutil.which('nvcc', path='/usr/local/cuda/bin')


def _clang() -> Optional[str]:
    return shutil.which('clang++')


def _libclc() -> Optional[str]:
    """The bitcode of libclc, which has the mathematics for clang; its functions are OpenCL's."""
    files = (Path(folder, 'clc/nvptx64--nvidiacl.bc') for folder in ('/usr/lib', '/usr/share', '/usr/local/share'))
    return next((str(file) for file in files if file.is_file()), None)


def is_compilers(file: str) -> bool:
    """True for a file of a compiler or of the system, such as CUDA's headers; such a file is no source of the user."""
    nvcc = shutil.which(_nvcc() or '')
    folders = ['/usr/include', '/usr/lib', os.path.dirname(__file__)]
    folders += [os.path.dirname(os.path.dirname(at)) for at in {nvcc, os.path.realpath(nvcc)}] if nvcc else []
    real = [os.path.realpath(folder) + os.sep for folder in folders if folder.strip('/') not in ('', 'usr')]
    return os.path.realpath(file).startswith(tuple(real))


def _state(program: Optional[str]) -> Tuple[Any, ...]:
    """What changes with a program: its file, and that file's time and size."""
    try:
        about = os.stat(program or '')
    except OSError:
        return (program,)
    return program, about.st_mtime_ns, about.st_size


_compiled: dict = {}
_READS = re.compile(r'include|import|embed')  # a source with none of these words reads no other file
_READS_NOTHING = re.compile(r'-[DUO].*|-std=.*')  # options


def _compile(text: str, name: str, folder: Optional[Path], capability: str, options: Tuple[str, ...]) -> Module:
    nvcc, clang, libclc = _nvcc(), _clang(), _libclc()
    more = os.environ.get('NVCC_PREPEND_FLAGS'), os.environ.get('NVCC_APPEND_FLAGS')
    key = (text, name, capability, options, _state(nvcc or clang), _state(libclc), more)
    # A file that it reads may have changed.
    reads = folder is not None or any(more) or _READS.search(text) or not all(_READS_NOTHING.fullmatch(o) for o in options)
    if reads or key not in _compiled:
        chosen = list(options)
        if nvcc:
            command = [nvcc, '-ptx', '-O3', '-lineinfo', '-arch=compute_' + _nvcc_architecture(nvcc, capability)]
        elif clang:
            header = Path(__file__).with_name('clang_cuda.cuh')
            command = [clang, '-x', 'cuda', '--cuda-device-only', '-S', '-O3', '-gline-tables-only', '-nocudainc', '-nocudalib',
                       '-Wno-unknown-cuda-version', '--cuda-gpu-arch=sm_70', '-Xclang', '-target-feature', '-Xclang', '+ptx63',
                       '-include', str(header)]
            if libclc:
                command += ['-DHEDDLE_LIBCLC', '-Xclang', '-mlink-builtin-bitcode', '-Xclang', libclc, '-Wno-linker-warnings']
            chosen = [option for option in options if option != '-ffp-contract=fast']
            if not any(option.startswith('-ffp-contract') for option in chosen):
                chosen += ['-ffp-contract=on', '-DHEDDLE_CONTRACT']  # of the user's code: the header says how, and why not of libclc's
        else:
            raise CompileError('CUDA C++ needs a compiler, nvcc or clang++, and neither was found in PATH; PTX needs none')
        _compiled[key] = _run(command + chosen, text, name, folder)
    return Module(name, _compiled[key], compiled=True)


def _nvcc_architecture(nvcc: str, capability: str) -> str:
    """The newest architecture of nvcc that the chip has; otherwise nvcc's oldest, since PTX is virtual."""
    said = _call([nvcc, '--list-gpu-arch']).stdout
    known = sorted(int(n) for n in re.findall(r'compute_(\d+)\s', said + '\n'))
    wanted = int(capability.replace('.', ''))
    return str(max((n for n in known if n <= wanted), default=min(known, default=wanted)))


def _call(command: List[str]) -> 'subprocess.CompletedProcess[str]':
    """Runs a compiler in the user's folder, as its options may be relative. Raises CompileError if it cannot be started."""
    try:
        with exit_codes():
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace', check=False,
                                  env={**os.environ, 'PWD': os.getcwd()})
    except OSError as error:
        raise CompileError(f"the compiler '{command[0]}' cannot be started: {error.strerror}") from error


def _run(command: List[str], text: str, name: str, folder: Optional[Path]) -> str:
    with tempfile.TemporaryDirectory(prefix='heddle-') as place:
        source, result = Path(place, 'kernel.cu'), Path(place, 'kernel.ptx')
        quoted = name.replace('\\', '\\\\').replace('"', '\\"')
        source.write_text(f'#line 1 "{quoted}"\n{text}', encoding='utf-8', errors='surrogateescape')
        include = ['-I', str(folder)] if folder else []
        said = _call([*command, *include, str(source), '-o', str(result)])
        if said.returncode != 0:
            none = re.search(r'error in backend: Undefined external symbol "(\w+)"', said.stderr)
            if none:
                raise CompileError(f"the device has no function '{none[1]}' of these arguments: CUDA's mathematics library needs nvcc, "
                                   "or for clang++ Debian's package libclc", None, said.stderr)
            found = re.search(_MESSAGE.format(own=re.escape(name)), said.stderr + said.stdout, re.MULTILINE)
            if not found:
                raise CompileError(f'{Path(command[0]).name} has failed:\n{(said.stderr + said.stdout).strip()}', None, said.stderr)
            where = Place(found['file'], int(found['a'] or found['b']), int(found['column'] or 0))
            raise CompileError(found['text'], where, said.stderr)
        # Line numbers are those of the source under its own name. libclc reads two bytes behind this table, which do not matter.
        ptx = result.read_text(encoding='utf-8', errors='surrogateescape').replace('PIBITS_TBL[158]', 'PIBITS_TBL[160]')
        return ptx.replace(f'"{os.getcwd()}/{name}"', f'"{name}"')
