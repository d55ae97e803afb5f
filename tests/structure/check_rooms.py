#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the folders of model/, tlm/ and testbench/ to the order of rooms.txt: a file includes only its own room and rooms above it in that
list. Also no file above 400 lines but tables, and no folder above 30 files. `check_rooms.py [--arrows]`"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MOST_LINES, MOST_FILES = 400, 30


def listed():
    said = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], cwd=ROOT, text=True, capture_output=True)
    if said.returncode == 0:
        return [n for n in said.stdout.split('\n') if n and (ROOT / n).is_file()]
    return [str(p.relative_to(ROOT)) for p in ROOT.rglob('*') if p.is_file() and 'build' not in p.relative_to(ROOT).parts]


def place(wanted, includer):
    """The file that an include names, or None if it is none of the project's."""
    if wanted.startswith('heddle/'):
        wanted = wanted[len('heddle/'):]
        for folder in ('model', ''):
            if (ROOT / folder / wanted).is_file():
                return str(Path(folder) / wanted)
    for folder in ('', Path(includer).parent):
        if (ROOT / folder / wanted).is_file():
            return str(Path(folder) / wanted)
    return None


def order():
    """The rooms of rooms.txt from the ground up, and the tables, which may be long."""
    rooms, tables = [], set()
    for line in (ROOT / 'tests/structure/rooms.txt').read_text().split('\n'):
        words = line.split('#')[0].split()
        if words[:1] == ['table']:
            tables.add(words[1])
        elif words:
            rooms.append(words[0])
    return rooms, tables


def survey():
    """What is wrong, and how many includes lead from one room to another."""
    rooms, tables = order()
    floor = {room: i for i, room in enumerate(rooms)}
    faults = []
    arrows = collections.Counter()
    folders = collections.Counter()
    for name in listed():
        folder = str(Path(name).parent)
        if name.endswith(('.cpp', '.h', '.inc', '.py', '.sh')):
            folders[folder] += 1
            lines = (ROOT / name).read_text().count('\n')
            if lines > MOST_LINES and name not in tables:
                faults.append(f'{name}: {lines} lines, at most {MOST_LINES}')
        if not name.startswith(('model/', 'tlm/', 'testbench/')) or not name.endswith(('.cpp', '.h', '.inc')):
            continue
        if folder not in floor:
            if not folder.startswith(('testbench/cosim', 'testbench/parts', 'testbench/workloads')) and folder != 'model':
                faults.append(f'{name}: rooms.txt has no room {folder}')
            continue
        for number, line in enumerate((ROOT / name).read_text().split('\n'), 1):
            found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            other = found and place(found[1], name)
            if not other:
                continue
            target = str(Path(other).parent)
            if target == folder or target not in floor:
                continue
            arrows[folder, target] += 1
            if floor[target] > floor[folder]:
                faults.append(f'{name}:{number}: includes {other}, and {target} stands above {folder}')
    for folder, count in sorted(folders.items()):
        if count > MOST_FILES:
            faults.append(f'{folder}: {count} sources, at most {MOST_FILES}')
    return faults, arrows


def main():
    faults, arrows = survey()
    if '--arrows' in sys.argv:
        for (a, b), n in sorted(arrows.items()):
            print(f'{a} -> {b} ({n})')
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
