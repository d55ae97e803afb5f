#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the table "What to touch" of docs/CONTRIBUTING.md to the patches in examples/: each row has one that applies to the present sources and
touches as many files, besides tests/ and docs/, as the row says; and each patch has a row. Exit code 77 without git."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / 'tests/structure/examples'


def rows(page):
    """{example: files} of the rows that have one."""
    found = {}
    for line in page.split('\n'):
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if len(cells) == 4 and re.fullmatch(r'\d+( \+ \d+)*', cells[1]) and re.fullmatch(r'\w+', cells[2]):
            found[cells[2]] = sum(int(n) for n in cells[1].split('+'))
    return found


def touched(patch):
    names = re.findall(r'^diff --git a/(\S+) b/\S+$', patch, re.M)
    return [n for n in names if not n.startswith(('tests/', 'docs/')) or n.startswith('tests/hardware/')]


def check():
    table = rows((ROOT / 'docs/CONTRIBUTING.md').read_text())
    faults = [] if table else ['docs/CONTRIBUTING.md: no table of examples']
    patches = {p.stem: p for p in EXAMPLES.glob('*.patch')}
    faults += [f'{name}: a patch without a row of docs/CONTRIBUTING.md' for name in sorted(patches.keys() - table.keys())]
    for name, files in table.items():
        if name not in patches:
            faults.append(f'{name}: docs/CONTRIBUTING.md names a patch that there is not')
            continue
        count = len(touched(patches[name].read_text()))
        if count != files:
            faults.append(f'{name}: the patch touches {count} files, docs/CONTRIBUTING.md says {files}')
        # -C1: lines further away may have changed.
        said = subprocess.run(['git', 'apply', '--check', '-C1', str(patches[name])], cwd=ROOT, text=True, capture_output=True)
        if said.returncode != 0:
            faults.append(f'{name}: the patch does not apply to these sources: {said.stderr.strip()}')
    return faults


def main():
    if shutil.which('git') is None:
        return 77
    faults = check()
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
