# SPDX-License-Identifier: MIT
"""The worker: SystemC simulates once in a process, so each simulation is a process of the program `heddle`."""
from __future__ import annotations

import codecs
import contextlib
import fcntl
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import IO, Any, Callable, Dict, Iterator, List, Optional, Sequence

from .errors import HeddleError, HeddleWarning, InputError, InternalError, SimulationError, split_place

Progress = Callable[[Dict[str, Any]], None]
_BAD_INPUT, _FAULT = 2, 3  # exit codes


def program() -> str:
    """The program `heddle`: HEDDLE_PROGRAM, that of this source tree or of this installation, or one in PATH."""
    named = os.environ.get('HEDDLE_PROGRAM')
    if named:
        return named
    here = Path(__file__).resolve()
    beside = [here.parents[3] / 'build/release/heddle'] if here.parents[2].name == 'testbench' else [p / 'bin/heddle' for p in here.parents]
    for file in beside:
        if file.is_file() and os.access(file, os.X_OK):
            return str(file)
    found = shutil.which('heddle')
    if not found:
        raise InputError("the program 'heddle' was not found, expected it in PATH or named by the environment's HEDDLE_PROGRAM")
    return found


def _kept(number: int) -> int:
    """A descriptor that the worker can keep: 0 to 2, where this process has closed its own, are the worker's."""
    if number > 2:
        return number
    above = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(number)
    return above


def memory_file(name: str, content: bytes = b'') -> IO[bytes]:
    """A file that is only in memory."""
    file = os.fdopen(_kept(os.memfd_create(name, os.MFD_CLOEXEC)), 'w+b', buffering=0)
    view = memoryview(content)
    while view:
        view = view[file.write(view):]
    file.seek(0)
    return file


def own_memory() -> IO[bytes]:
    """The memory of this process as a file, in which addresses are places."""
    try:
        return os.fdopen(_kept(os.open('/proc/self/mem', os.O_RDWR | os.O_CLOEXEC)), 'r+b', buffering=0)
    except OSError as error:
        raise InputError(f'cannot open /proc/self/mem, through which arrays are passed: {error.strerror}') from error


@contextlib.contextmanager
def exit_codes() -> Iterator[None]:
    """Programs that are started and end within have their exit codes. The system drops these while SIGCHLD is ignored, which a parent
    may leave so; a thread other than the main one cannot change that."""
    if signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        raise InputError('SIGCHLD is ignored, so that no exit code is known, expected signal.signal(signal.SIGCHLD, signal.SIG_DFL)')
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class Worker:
    """One process of `heddle`. `messages` are its errors, `output` what it has written to stdout."""

    def __init__(self, arguments: Sequence[str], text: str = '', keep: Sequence[int] = ()) -> None:
        """`text` is its standard input; the descriptors of `keep` stay open in it."""
        self.arguments = list(arguments)
        self.output = b''
        self.messages: List[str] = []
        self._rest = b''
        self._decoder = codecs.getincrementaldecoder('utf-8')('replace')  # a read may end within a character
        self._codes = contextlib.ExitStack()
        try:
            self._codes.enter_context(exit_codes())
            with memory_file('heddle-input', text.encode('utf-8', 'surrogateescape')) as given:
                self._process = subprocess.Popen([program(), *self.arguments], stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                 pass_fds=tuple(keep))
        except BaseException as error:
            self._codes.close()
            if isinstance(error, OSError):
                raise InputError(f"'{program()}' cannot be started: {error.strerror}") from error
            raise

    def run(self, progress: Optional[Progress] = None, show: bool = False) -> int:
        """Waits for its end; returns its exit code. `progress` is called in this thread; `show`: what kernels print goes to
        sys.stdout. An exception, such as KeyboardInterrupt, ends the process."""
        process = self._process
        assert process.stdout and process.stderr
        try:
            with selectors.DefaultSelector() as ready:
                ready.register(process.stdout, selectors.EVENT_READ, lambda data: self._take_output(data, show))
                ready.register(process.stderr, selectors.EVENT_READ, lambda data: self._take_messages(data, progress))
                while ready.get_map():
                    for key, _ in ready.select():
                        data = os.read(key.fd, 1 << 16)
                        key.data(data)
                        if not data:
                            ready.unregister(key.fileobj)
            return process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            process.stdout.close()
            process.stderr.close()
            self._codes.close()

    def _take_output(self, data: bytes, show: bool) -> None:
        if show:
            text = self._decoder.decode(data, final=not data)
            if text:
                _show(text)
        else:
            self.output += data

    def _take_messages(self, data: bytes, progress: Optional[Progress]) -> None:
        lines = (self._rest + data).split(b'\n')
        self._rest = lines.pop() if data else b''
        for line in lines:
            text = line.decode('utf-8', 'replace')
            if text.startswith('{"progress": '):
                if progress:
                    progress(json.loads(text)['progress'])
                continue
            found = re.match(r'heddle: (error|warning|info|debug): ', text)
            if found and found[1] == 'warning':
                said = re.sub(r'^-:\d+:\d+: ', '', text[found.end():])  # a place in the job, which the user has not written
                warnings.warn(said, HeddleWarning, stacklevel=2 + _frames_of_this_package())
            elif found and found[1] == 'error':
                self.messages.append(text[found.end():])
            elif self.messages and text:
                self.messages[-1] += '\n' + text

    def error(self, code: int) -> HeddleError:
        """The exception for an exit code that is not 0."""
        place, text = split_place(self.messages[0] if self.messages else '')
        text = '\n'.join([text, *self.messages[1:]])
        if not text:
            text = f'heddle {self.arguments[0]} ended ' + (f'by signal {-code}' if code < 0 else f'with exit code {code}')
        kind = {_BAD_INPUT: InputError, _FAULT: InternalError}.get(code, InternalError if code < 0 else SimulationError)
        return kind(text, place)


def _show(text: str) -> None:
    """Writes to sys.stdout, which may be none, closed, or of an encoding that lacks characters."""
    out = sys.stdout
    if out is None or getattr(out, 'closed', False):
        return
    try:
        out.write(text)
    except UnicodeEncodeError:
        encoding = getattr(out, 'encoding', None) or 'ascii'
        out.write(text.encode(encoding, 'backslashreplace').decode(encoding))


def _frames_of_this_package() -> int:
    """How many frames lie between _take_messages() and the user's."""
    frame, count = sys._getframe(1), 0
    while frame is not None and frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        frame, count = frame.f_back, count + 1  # type: ignore[assignment]
    return count - 1


def ask(arguments: Sequence[str], text: str = '') -> str:
    """What a command of `heddle` prints. Raises HeddleError."""
    worker = Worker(arguments, text)
    code = worker.run()
    if code != 0:
        raise worker.error(code)
    return worker.output.decode('utf-8', 'replace')
