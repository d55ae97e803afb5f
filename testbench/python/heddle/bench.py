# SPDX-License-Identifier: MIT
"""Benchmarks in simulated time, in the form of triton.testing."""
from __future__ import annotations

import contextlib
import csv
import os
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Union

from .errors import InputError

_open = threading.local()


def note_run(milliseconds: float) -> None:
    """A run has taken this simulated time; the benchmarks of this thread that are in progress count it."""
    for times in getattr(_open, 'lists', []):
        times.append(milliseconds)


@contextlib.contextmanager
def _noted() -> Iterator[List[float]]:
    times: List[float] = []
    _open.lists = [*getattr(_open, 'lists', []), times]
    try:
        yield times
    finally:
        _open.lists = _open.lists[:-1]


def do_bench(fn: Callable[[], Any], warmup: int = 0, rep: int = 1, grad_to_none: Any = None, quantiles: Optional[Sequence[float]] = None,
             return_mode: str = 'mean') -> Union[float, List[float]]:
    """The simulated milliseconds of the Triton kernels that `fn` runs, as triton.testing.do_bench returns them.

    One run suffices, since each begins with empty caches and takes the same time: `warmup` and `rep` change nothing, all quantiles and
    modes are equal, and `return_mode='all'` is a list with one time. Raises InputError if `fn` runs no kernel."""
    if return_mode not in ('min', 'max', 'mean', 'median', 'all'):
        raise InputError(f'return_mode: got {return_mode!r}, expected min, max, mean, median or all')
    with _noted() as times:
        fn()
    if not times:
        raise InputError('do_bench: the function has run no kernel of heddle.triton, expected at least one')
    total = sum(times)
    if quantiles is not None:
        return total if len(quantiles) == 1 else [total] * len(quantiles)
    return [total] if return_mode == 'all' else total


class Benchmark:
    """What `perf_report` varies, with the fields of triton.testing.Benchmark, which it takes, too."""

    def __init__(self, x_names: Sequence[str], x_vals: Sequence[Any], line_arg: str, line_vals: Sequence[Any], line_names: Sequence[str],
                 plot_name: str, args: Dict[str, Any], xlabel: str = '', ylabel: str = '', **style: Any) -> None:
        self.x_names, self.x_vals, self.line_arg, self.line_vals = list(x_names), list(x_vals), line_arg, list(line_vals)
        self.line_names, self.plot_name, self.args, self.xlabel, self.ylabel = list(line_names), plot_name, args, xlabel, ylabel


class Report:
    """A function with benchmarks; `perf_report` makes it."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Sequence[Any]) -> None:
        self.fn, self.benchmarks = fn, list(benchmarks)

    def run(self, print_data: bool = False, save_path: Optional[Union[str, 'os.PathLike[str]']] = None,
            **more: Any) -> List[Dict[str, Any]]:
        """Calls the function for all values. Returns a row for each x with the value of each line; if it returns several values, such as
        quantiles, the first one counts. `save_path`: a folder for PLOT_NAME.csv. `more` is for the function."""
        all_rows: List[Dict[str, Any]] = []
        for bench in self.benchmarks:
            rows = [self._row(bench, x, more) for x in bench.x_vals]
            if print_data:
                print(f'{bench.plot_name}:')
                for row in rows:
                    shown = {key: f'{value:g}' if isinstance(value, float) else value for key, value in row.items()}
                    print('  ' + '  '.join(f'{key} {value}' for key, value in shown.items()))
            if save_path is not None and rows:
                os.makedirs(save_path, exist_ok=True)
                with open(os.path.join(save_path, f'{bench.plot_name}.csv'), 'w', newline='', encoding='utf-8') as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
            all_rows += rows
        return all_rows

    def _row(self, bench: Any, x: Any, more: Dict[str, Any]) -> Dict[str, Any]:
        values = list(x) if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
        if len(values) != len(bench.x_names):
            raise InputError(f'{bench.plot_name}: got {len(values)} values for {len(bench.x_names)} names')
        row = dict(zip(bench.x_names, values))
        for value, name in zip(bench.line_vals, bench.line_names):
            result = self.fn(**dict(zip(bench.x_names, values)), **{bench.line_arg: value}, **bench.args, **more)
            row[name] = result[0] if isinstance(result, (tuple, list)) else result
        return row


def perf_report(benchmarks: Any) -> Callable[[Callable[..., Any]], Report]:
    """Marks a function as triton.testing.perf_report does; its `run` returns a table."""
    listed = benchmarks if isinstance(benchmarks, (tuple, list)) else [benchmarks]
    return lambda fn: Report(fn, listed)
