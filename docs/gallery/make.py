#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py [--into FOLDER] [NAME...] : runs the notebooks of this folder (all, or those named) and writes their pages, NAME.md and
pictures/NAME-N.svg, with what their cells have printed. It needs Python 3, NumPy and Matplotlib, and the program `heddle` where the module
looks for it. Exit code 2 if a notebook cannot be read or a cell fails; its page is then not written."""
import argparse
import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
STYLE = {'figure.figsize': (7, 3.4), 'figure.constrained_layout.use': True, 'axes.grid': True, 'grid.color': '#dddddd',
         'axes.axisbelow': True, 'svg.fonttype': 'none', 'svg.hashsalt': 'heddle', 'font.family': ['sans-serif'], 'font.size': 10}


class NotebookError(Exception):
    """A notebook that cannot be read, or whose cell fails; the message names file and cell."""


def cells_of(file):
    """The cells of a notebook as (kind, text). Raises NotebookError unless it is nbformat 4 without outputs."""
    try:
        notebook = json.loads(Path(file).read_text(encoding='utf-8'))
        if notebook['nbformat'] != 4:
            raise NotebookError(f'{file}: got nbformat {notebook["nbformat"]}, expected 4')
        cells = [(cell['cell_type'], ''.join(cell['source'])) for cell in notebook['cells']]
        stored = [n for n, cell in enumerate(notebook['cells']) if cell.get('outputs') or cell.get('execution_count')]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotebookError(f'{file}: {type(error).__name__}: {error}, expected a notebook of nbformat 4') from error
    if stored:
        raise NotebookError(f'{file}: cell {stored[0]} has a stored output, expected none: clear them')
    return cells


def run_cell(text, names, where):
    """Runs a cell as Jupyter does; returns what it printed, with the value of its last expression."""
    tree = ast.parse(text, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    shown = not text.rstrip().endswith(';')
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, where, 'exec'), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, 'eval'), names)
            if value is not None and shown:
                print(repr(value))
    return printed.getvalue()


def save_pictures(name, number, folder):
    """Writes the open figures and closes them; returns the lines that show them."""
    if 'matplotlib.pyplot' not in sys.modules:
        return []
    plt = sys.modules['matplotlib.pyplot']
    lines = []
    for figure in map(plt.figure, plt.get_fignums()):
        number += 1
        file = folder / 'pictures' / f'{name}-{number}.svg'
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={'Date': None, 'Creator': None})
        text = re.sub(r'<metadata>.*?</metadata>\s*', '', file.read_text(encoding='utf-8'), flags=re.DOTALL)
        file.write_text('\n'.join(line.rstrip() for line in text.split('\n')), encoding='utf-8')
        lines.append(f'![{figure.axes[0].get_title() or name}](pictures/{file.name})')
    plt.close('all')
    return lines


def page_of(notebook, folder):
    """Runs a notebook in its own folder, writes its pictures below `folder`, returns its page. Raises NotebookError."""
    name, pictures, names = notebook.stem, 0, {'__name__': '__main__'}
    parts = ['<!-- SPDX-License-Identifier: MIT -->',
             f'<!-- Made by docs/gallery/make.py from {notebook.name}: change the notebook. -->']
    for number, (kind, text) in enumerate(cells_of(notebook)):
        if kind == 'markdown':
            parts.append(text)
            continue
        try:
            printed = run_cell(text, names, f'{notebook.name}, cell {number}')
        except BaseException as error:
            said = ''.join(traceback.format_exception_only(type(error), error)).strip()
            line = traceback.extract_tb(error.__traceback__)[-1]
            raise NotebookError(f'{notebook.name}: cell {number}: {said} ({line.filename}:{line.lineno})') from error
        parts.append(f'```python\n{text}\n```')
        if printed:
            parts.append(f'```text\n{printed.rstrip()}\n```')
        shown = save_pictures(name, pictures, folder)
        pictures += len(shown)
        parts += shown
    return '\n\n'.join(parts) + '\n'


def make_one(name, folder):
    """Writes the page of one notebook; in a process of its own, so that notebooks share nothing."""
    os.environ.setdefault('MPLBACKEND', 'Agg')
    sys.path.insert(0, str(HERE.parents[1] / 'testbench/python'))
    os.chdir(HERE)
    import matplotlib
    matplotlib.rcParams.update(STYLE)
    page = page_of(HERE / f'{name}.ipynb', folder)
    (folder / f'{name}.md').write_text(page, encoding='utf-8')


def main(arguments):
    known = sorted(file.stem for file in HERE.glob('*.ipynb'))
    parser = argparse.ArgumentParser(description=__doc__, prog='make.py')
    parser.add_argument('--into', type=Path, default=HERE, metavar='FOLDER', help='where pages and pictures go (default: docs/gallery)')
    parser.add_argument('--here', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('names', nargs='*', metavar='NAME', help=f'notebooks: {", ".join(known)} (default: all)')
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in known:
            parser.error(f'there is no notebook {name!r}; there are {", ".join(known)}')
    given.into.mkdir(parents=True, exist_ok=True)
    if given.here:
        try:
            make_one(given.names[0], given.into.resolve())
        except NotebookError as error:
            print(f'make.py: {error}', file=sys.stderr)
            return 2
        return 0
    worst = 0
    for name in given.names or known:
        said = subprocess.run([sys.executable, __file__, '--here', '--into', str(given.into), name], check=False)
        worst = max(worst, said.returncode)
        if said.returncode == 0:
            print(given.into / f'{name}.md')
    return worst


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
