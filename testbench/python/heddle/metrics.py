# SPDX-License-Identifier: MIT
"""Results: the metrics of a run, and the table of a sweep."""
from __future__ import annotations

import html
import json
import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import _worker
from .errors import InputError


def _frame(page: str) -> str:
    """A page within a notebook."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 800px; border: 0"></iframe>'


def _report(file: str) -> str:
    with tempfile.TemporaryDirectory(prefix='heddle-') as folder:
        page = Path(folder, 'report.html')
        _worker.ask(['report', file, '-o', str(page)])
        return page.read_text(encoding='utf-8')


def _leaves(value: Dict[str, Any], path: str = '') -> Iterator[Tuple[str, Any]]:
    """Numbers and texts of nested dicts under their paths; lists are left out."""
    for key, part in value.items():
        if isinstance(part, dict):
            yield from _leaves(part, f'{path}{key}.')
        elif not isinstance(part, list):
            yield path + key, part


class Metrics(dict):
    """The metrics of a run, a dict as `heddle run --metrics` writes it: `metrics['cycles']`,
    `metrics['kernels'][0]['metrics']['achieved_occupancy']`. The page use/metrics.md lists all of them. A notebook shows it as the report.
    """

    def stalls(self, kernel: int = 0) -> Dict[str, float]:
        """What the warps of a kernel did or waited for: the share of active warp-cycles in each state, the largest first. `kernel` is
        its place in `metrics['kernels']`."""
        states = self['kernels'][kernel]['warp_cycles']
        shares = {name: cycles / max(states['active'], 1) for name, cycles in states.items() if name != 'active' and cycles}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def dataframe(self) -> Any:
        """A pandas.DataFrame with a row for each kernel; columns have the paths of the metrics: `metrics.ipc`, `memory.l2.hits`."""
        import pandas

        return pandas.DataFrame([dict(_leaves(kernel)) for kernel in self['kernels']])

    def report(self, file: Optional[Union[str, 'os.PathLike[str]']] = None) -> str:
        """The report, one HTML page with everything in it. `file`: also written there."""
        with tempfile.TemporaryDirectory(prefix='heddle-') as folder:
            metrics = Path(folder, 'metrics.json')
            metrics.write_text(json.dumps(self), encoding='utf-8')
            page = _report(str(metrics))
        if file is not None:
            Path(file).write_text(page, encoding='utf-8')
        return page

    def _repr_html_(self) -> str:
        return _frame(self.report())


class Table(List[Dict[str, Any]]):
    """The points of a sweep: a list with a dict for each, whose keys are `position`, `id`, `status`, `reason`, the axes and the metrics.
    A notebook shows it as the sweep's report. `store` is the database."""

    def __init__(self, store: Union[str, 'os.PathLike[str]'], name: Optional[str] = None) -> None:
        """Reads the table of sweep `name` in a store that `heddle sweep` has written; None: the only one. Raises InputError."""
        self.store = os.fspath(store)
        try:
            database = sqlite3.connect(f'{Path(self.store).resolve().as_uri()}?mode=ro', uri=True)
        except sqlite3.Error as error:
            raise InputError(f"cannot read the store '{self.store}': {error}") from error
        try:
            views = database.execute("SELECT substr(name, 7) FROM sqlite_master WHERE type = 'view' AND name LIKE 'sweep %'")
            names = [row[0] for row in views]
            if name is None and len(names) == 1:
                name = names[0]
            if name not in names:
                raise InputError(f"the store '{self.store}' has the sweeps {', '.join(names)}, got {name!r}, expected one of them")
            found = database.execute('SELECT * FROM "sweep {}" ORDER BY position'.format(name.replace('"', '""')))
            columns = [about[0] for about in found.description]
            super().__init__(dict(zip(columns, row)) for row in found)
        except sqlite3.Error as error:
            raise InputError(f"'{self.store}' is no store of a sweep: {error}") from error
        finally:
            database.close()

    def dataframe(self) -> Any:
        """The same as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(list(self))

    def report(self, file: Optional[Union[str, 'os.PathLike[str]']] = None) -> str:
        """The sweep's report, one HTML page. `file`: also written there."""
        page = _report(self.store)
        if file is not None:
            Path(file).write_text(page, encoding='utf-8')
        return page

    def _repr_html_(self) -> str:
        return _frame(self.report())
