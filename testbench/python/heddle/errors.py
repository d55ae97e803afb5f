# SPDX-License-Identifier: MIT
"""Exceptions: each message is one sentence, with the place where one is at fault."""
from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional, Tuple


class Place(NamedTuple):
    """A place in a source: of a kernel, a job file, or the Python program. `column` is 0 if it is not known."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f'{self.file}:{self.line}' + (f':{self.column}' if self.column else '')


class HeddleError(Exception):
    """The base of Heddle's exceptions. `place` is a `Place` or None; `message` is the text without it."""

    def __init__(self, message: str, place: Optional[Place] = None) -> None:
        super().__init__(f'{place}: {message}' if place else message)
        self.message = message
        self.place = place


class InputError(HeddleError, ValueError):
    """Wrong input: an unknown GPU or parameter, PTX that cannot be read, an argument that the kernel does not take, a block that fits no
    SM. Nothing was simulated, and no array has changed."""


class CompileError(InputError):
    """The compiler has refused a CUDA source, or there is no compiler. `output` is all that it said."""

    def __init__(self, message: str, place: Optional[Place] = None, output: str = '') -> None:
        super().__init__(message, place)
        self.output = output


class SimulationError(HeddleError, RuntimeError):
    """The simulated program failed: an illegal address, a deadlock, `max_cycles`. `metrics` has the metrics up to there, or None; arrays
    have not changed."""

    metrics: Any = None


class InternalError(HeddleError, RuntimeError):
    """A fault in Heddle itself; the message says how to report it."""


class HeddleWarning(UserWarning):
    """What Heddle warns of, through Python's `warnings`."""


def split_place(text: str) -> Tuple[Optional[Place], str]:
    """The place at the beginning of a message of `heddle`, and the rest of the message. A quote that begins a word is not part of a file's
    name, and neither are a colon and a blank."""
    found = re.match(r'(?P<file>[^\s\'"](?:(?!: |\n)(?:[^\'"]|(?<=\S)[\'"]))*?):(?P<line>\d+)(?::(?P<column>\d+))?: ', text)
    if not found:
        return None, text
    return Place(found['file'], int(found['line']), int(found['column'] or 0)), text[found.end():]
