#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the folders of model/, tlm/ and testbench/ to the order of rooms.txt: a file includes only its own room and rooms above it in that
list, and the folders that docs/develop/architecture.md allows it; the files of one room include each other in no circle, where NAME.h and NAME.cpp
are one. Also no file above 400 lines but tables (of a page, the rows of tables do not count; of an INI file, which is a table, those of
keys), no folder above 30 files, and no link of a page to a file that does not exist. `check_rooms.py [--arrows | --self-test]`"""
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


def allowed(page):
    """What each folder may include directly, by the table of architecture.md: {folder: folders}; None: all."""
    rows = {}
    for line in page.split('\n'):
        cells = [cell.strip() for cell in line.strip('|').split('|')] if line.startswith('| `') else []
        if len(cells) == 3 and re.fullmatch(r'`(model/|tlm/|testbench/)[a-z_/]*`', cells[0]):
            names = {n if n == 'tlm' else 'model/' + n for n in re.findall(r'`([a-z_/]+)`', cells[2])}
            rows[cells[0].strip('`/')] = None if cells[2] == 'all' else names
    return rows


def against_table(arrows, rows):
    """Includes from folder to folder that the table does not allow, and folders that it names without need."""
    def row(room):
        return max((r for r in rows if room == r or room.startswith(r + '/')), key=len, default=None)

    faults, used = [], set()
    for (a, b), _ in sorted(arrows.items()):
        above, below = row(a), row(b)
        if above is None or below is None:
            faults.append(f'docs/develop/architecture.md: the table of folders has no row for {b if above else a}')
        elif above != below:
            used.add((above, below))
            if rows[above] is not None and below not in rows[above]:
                faults.append(f'docs/develop/architecture.md: {above} may not include {below}, but {a} includes {b}')
    faults += [f'docs/develop/architecture.md: {a} may include {b}, but does not' for a, names in rows.items() for b in sorted(names or ())
               if (a, b) not in used]
    return faults


def circles(includes):
    """The groups of units that include each other in a circle. `includes`: (file, file that it includes, line) within one room."""
    arrows = collections.defaultdict(dict)
    for includer, included, line in includes:
        a, b = (str(Path(n).with_suffix('')) for n in (includer, included))
        if a != b:
            arrows[a].setdefault(b, f'{includer}:{line} includes {included}')
    number, least, stack, found = {}, {}, [], []

    def visit(unit):  # Tarjan's strongly connected components
        number[unit] = least[unit] = len(number)
        stack.append(unit)
        for other in arrows.get(unit, ()):
            if other not in number:
                visit(other)
                least[unit] = min(least[unit], least[other])
            elif other in stack:
                least[unit] = min(least[unit], number[other])
        if least[unit] == number[unit]:
            group = set(stack[stack.index(unit):])
            del stack[stack.index(unit):]
            if len(group) > 1:
                found.append('a circle: ' + ', '.join(said for a in sorted(group) for b, said in sorted(arrows[a].items()) if b in group))

    for unit in sorted(arrows):
        if unit not in number:
            visit(unit)
    return found


def self_test():
    chain = [('r/a.h', 'r/b.h', 1), ('r/b.cpp', 'r/c.h', 2), ('r/a.cpp', 'r/a.h', 1), ('r/a.cpp', 'r/c.h', 3)]
    assert not circles(chain), circles(chain)
    assert circles(chain + [('r/c.cpp', 'r/a.h', 4)]) == [
        'a circle: r/a.h:1 includes r/b.h, r/a.cpp:3 includes r/c.h, r/b.cpp:2 includes r/c.h, r/c.cpp:4 includes r/a.h']
    assert len(circles([('r/a.h', 'r/b.h', 1), ('r/b.h', 'r/a.h', 1), ('r/c.h', 'r/d.h', 1), ('r/d.cpp', 'r/c.h', 1)])) == 2
    rows = allowed('| `model/a/` | text | nothing |\n| `model/b/` | text | `a`, `tlm` |\n| `tlm/` | text | nothing |\n| `testbench/` | x | all |\n')
    assert rows == {'model/a': set(), 'model/b': {'model/a', 'tlm'}, 'tlm': set(), 'testbench': None}, rows
    assert against_table({('model/b/x', 'model/a'): 1, ('model/b', 'tlm/kernel'): 1, ('testbench/run', 'model/b'): 2}, rows) == []
    assert against_table({('model/b', 'model/a'): 1, ('model/a/x', 'tlm/kernel'): 1}, rows) == [
        'docs/develop/architecture.md: model/a may not include tlm, but model/a/x includes tlm/kernel',
        'docs/develop/architecture.md: model/b may include tlm, but does not']
    assert len(against_table({('model/c', 'tlm'): 1}, rows)) == 3
    page = '| row |\n' * 500 + 'text\n' * 400
    assert dead_links('docs/CONTRIBUTING.md', '[a](CHANGELOG.md#x) [b](../nothing.md) [c](https://x.org) [d](#here)\n```\n[i](j)\n```\n') == [
        'docs/CONTRIBUTING.md: ../nothing.md leads to no file']
    assert lines_of('docs/a.md', page) == 400 and lines_of('a.cpp', page) == 900
    assert lines_of('a.ini', '[sm]\n; two\nkey = 1  ; source\n  ; more\n') == 3


def lines_of(name, text):
    """How many lines count."""
    row = {'.md': r'\|', '.ini': r'\w+ = '}.get(Path(name).suffix)
    if row:
        return sum(1 for line in text.split('\n')[:-1] if not re.match(row, line))
    return text.count('\n')


def dead_links(name, text):
    """The relative links of a page that lead to no file."""
    links = re.findall(r'\]\(([^)\s#]+)[^)\s]*\)', re.sub(r'```.*?```', '', text, flags=re.S))
    return [f'{name}: {link} leads to no file' for link in links
            if not re.match(r'[a-z]+:', link) and not (ROOT / name).parent.joinpath(link).exists()]


def survey():
    """What is wrong, and how many includes lead from one room to another."""
    rooms, tables = order()
    floor = {room: i for i, room in enumerate(rooms)}
    faults = []
    arrows = collections.Counter()
    inside = collections.defaultdict(list)  # includes within a room
    folders = collections.Counter()
    for name in listed():
        folder = str(Path(name).parent)
        folders[folder] += 1
        if name.endswith('.md'):
            faults += dead_links(name, (ROOT / name).read_text())
        if name.endswith(('.cpp', '.h', '.inc', '.py', '.sh', '.md', '.js', '.mjs', '.css', '.cu', '.cuh', '.ini')):
            lines = lines_of(name, (ROOT / name).read_text())
            if lines > MOST_LINES and name not in tables:
                faults.append(f'{name}: {lines} lines, at most {MOST_LINES}')
        if not name.startswith(('model/', 'tlm/', 'testbench/')) or not name.endswith(('.cpp', '.h', '.inc')):
            continue
        if folder.startswith('testbench/workloads/'):
            folder = 'testbench/workloads'
        if folder not in floor:
            faults.append(f'{name}: rooms.txt has no room {folder}')
            continue
        for number, line in enumerate((ROOT / name).read_text().split('\n'), 1):
            found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            other = found and place(found[1], name)
            if not other:
                continue
            target = str(Path(other).parent)
            if target == folder:
                inside[folder].append((name, other, number))
            if target == folder or target not in floor:
                continue
            arrows[folder, target] += 1
            if floor[target] > floor[folder]:
                faults.append(f'{name}:{number}: includes {other}, and {target} stands above {folder}')
    faults += against_table(arrows, allowed((ROOT / 'docs/develop/architecture.md').read_text()))
    for _, includes in sorted(inside.items()):
        faults += circles(includes)
    for folder, count in sorted(folders.items()):
        if count > MOST_FILES:
            faults.append(f'{folder}: {count} files, at most {MOST_FILES}')
    return faults, arrows


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    faults, arrows = survey()
    if '--arrows' in sys.argv:
        for (a, b), n in sorted(arrows.items()):
            print(f'{a} -> {b} ({n})')
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
