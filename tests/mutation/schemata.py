# SPDX-License-Identifier: MIT
"""Chooses mutants and writes a copy of the sources that holds all of them, each behind a switch."""
import collections
import json
import os
import random
import re
import shutil
from pathlib import Path

import cpp_sites

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUFFIXES = ('.cpp', '.h', '.inc')


def fail(message):
    raise SystemExit(f'mutants: {message}')


def listed(folder='', suffixes=()):
    """The project's files below a folder, without what is built or fetched."""
    found = []
    for path, folders, names in os.walk(ROOT / folder):
        folders[:] = [f for f in folders if f not in ('build', 'node_modules') and not f.startswith('.')]
        found += [os.path.relpath(os.path.join(path, n), ROOT) for n in names if not suffixes or n.endswith(suffixes)]
    return sorted(n for n in found if (ROOT / n).is_file() and not n.endswith('.git') and '__pycache__' not in n)


def including_files():
    """For each file the numbers of .cpp files, and of those of tests, that are compiled anew when it changes."""
    files = listed('', SUFFIXES)
    known = set(files)
    includes = {}
    for name in files:
        found = set()
        for wanted in re.findall(r'^\s*#include "([^"]+)"', (ROOT / name).read_text(), re.M):
            if wanted.startswith('heddle/'):
                wanted = wanted[len('heddle/'):]
            for folder in ('model', '', os.path.dirname(name)):
                other = os.path.normpath(os.path.join(folder, wanted))
                if other in known:
                    found.add(other)
                    break
        includes[name] = found
    all_, tests = collections.Counter(), collections.Counter()
    for name in files:
        if name.endswith('.cpp'):
            seen, open_ = {name}, [name]
            while open_:
                new = includes[open_.pop()] - seen
                seen |= new
                open_ += new
            all_.update(seen)
            if name.startswith('tests/'):
                tests.update(seen)
    return all_, tests


def room_of(name):
    """The folder below model/ that a file belongs to; frontend has two rooms."""
    parts = name.split('/')
    return '/'.join(parts[1:3]) if parts[1] == 'frontend' else parts[1]


def named(path=HERE / 'named_mutants.txt'):
    """Mutants by hand: blocks of `name`, `file`, lines with `-` as they are and lines with `+` that replace them, `@` being the switch."""
    mutants = []
    for block in re.split(r'\n\s*\n', path.read_text()):
        lines = [l for l in block.split('\n') if l and not l.startswith('#')]
        if not lines:
            continue
        fields = dict(l.split(' ', 1) for l in lines if l[0] not in '-+')
        old = '\n'.join(l[2:] for l in lines if l[0] == '-')
        new = '\n'.join(l[2:] for l in lines if l[0] == '+')
        name = fields['file']
        text = (ROOT / name).read_text()
        if text.count(old) != 1:
            fail(f'named_mutants.txt: {fields["name"]}: {text.count(old)} places in {name} read as it says, expected one')
        start = text.index(old)
        mutants.append({'key': fields['name'], 'kind': 'named', 'file': name, 'room': room_of(name), 'line': text.count('\n', 0, start) + 1,
                        'shown': fields['what'], 'start': start, 'end': start + len(old),
                        'text': new.replace('@', cpp_sites.SWITCH)})
    return mutants


def chosen(count, seed, most_sources=60, most_tests=6):
    """The named mutants, then `count` mutants and a fifth more in case that some do not compile, spread over the rooms by their lines."""
    by_hand = named()
    sources, tests = including_files()
    rooms = collections.defaultdict(list)
    for name in listed('model', SUFFIXES):
        if name.endswith('.cpp') or sources[name] <= most_sources:
            rooms[room_of(name)].append(name)
    lines = {r: sum((ROOT / n).read_text().count('\n') for n in names) for r, names in rooms.items()}
    whole = sum(lines.values())
    # Largest remainders: the quotas add up.
    quotas = {r: count * lines[r] // whole for r in rooms}
    for r in sorted(rooms, key=lambda r: (-(count * lines[r] % whole), r))[:count - sum(quotas.values())]:
        quotas[r] += 1
    mutants = list(by_hand)
    for room in sorted(rooms):
        mutants += of_room(room, rooms[room], quotas[room], random.Random(f'{seed} {room}'), by_hand)
    for number, m in enumerate(mutants):
        m['number'] = number
    return [m for m in mutants if m['kind'] == 'named' or m['file'].endswith('.cpp') or tests[m['file']] <= most_tests]


def of_room(room, names, quota, dice, by_hand):
    """Mutants of one room, those to be run before the spare ones."""
    kinds = collections.defaultdict(list)
    for name in sorted(names):
        text = (ROOT / name).read_text()
        same = collections.Counter()
        for s in cpp_sites.sites_of(text):
            same[s.kind, s.shown] += 1
            kinds[s.kind].append((name, s, same[s.kind, s.shown], text.count('\n', 0, s.start) + 1))
    mutants, taken = [], collections.defaultdict(list)
    for m in by_hand:
        taken[m['file']].append((m['start'], m['end']))
    while len(mutants) < quota + -(-quota // 5) and any(kinds.values()):
        # Rare kinds come more often than their share: by the square root of their sites.
        kind = dice.choices(sorted(kinds), [len(kinds[k]) ** 0.5 for k in sorted(kinds)])[0]
        if not kinds[kind]:
            continue
        name, s, nth, line = kinds[kind].pop(dice.randrange(len(kinds[kind])))
        if any(s.start <= end + 1 and start <= s.end + 1 for start, end in taken[name]):
            continue
        taken[name].append((s.start, s.end))
        mutants.append({'key': f'{name} | {kind} | {s.shown}' + (f' #{nth}' if nth > 1 else ''), 'kind': kind, 'file': name, 'room': room,
                        'line': line, 'shown': s.shown, 'start': s.start, 'end': s.end, 'text': s.text,
                        'quota': quota})
    return mutants


def write_if_new(path, data):
    """A file that stays the same keeps its time, and what was made of it."""
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def write_tree(tree, mutants):
    """The copy of the sources; mutants that did not compile are marked so and left out."""
    names = listed()
    by_file = collections.defaultdict(list)
    for m in mutants:
        if not m.get('refused'):
            by_file[m['file']].append(m)
    for name in names:
        if name in by_file or (name.startswith('model/') and name.endswith('.cpp') and re.search(r'^#include "[^"]+\.inc"', (ROOT / name).read_text(), re.M)):
            write_if_new(tree / name, with_mutants(name, by_file.get(name, [])).encode())
        else:
            write_if_new(tree / name, (ROOT / name).read_bytes())
        shutil.copymode(ROOT / name, tree / name)
    write_if_new(tree / 'model/mutant_switch.h', (HERE / 'mutant_switch.h').read_bytes())
    kept = set(names) | {'model/mutant_switch.h'}
    for folder, folders, files in os.walk(tree):
        folders[:] = [f for f in folders if f != 'build']
        for f in files:
            path = Path(folder) / f
            if str(path.relative_to(tree)) not in kept:
                path.unlink()


def with_mutants(name, mutants):
    text = (ROOT / name).read_text()
    for m in sorted(mutants, key=lambda m: -m['start']):
        text = text[:m['start']] + m['text'].replace(cpp_sites.SWITCH, f'heddle_mutant({m["number"]})') + text[m['end']:]
    include = '#include "heddle/mutant_switch.h"\n'
    if name.endswith('.inc'):   # included within a namespace, by files that have the switch
        return text
    # After the licence in the first line, or after #pragma once.
    once = text.find('#pragma once\n')
    first = once + len('#pragma once\n') if once >= 0 else text.index('\n') + 1
    return text[:first] + include + text[first:]


def lines_of(path):
    """For each line of a file of the copy the mutants that it is part of."""
    text = path.read_text()
    found = collections.defaultdict(set)
    for match in re.finditer(r'heddle_mutant\((\d+)\)', text):
        # The switch stands in the first bracket of what replaces the site, which ends with that bracket; an early return is its line alone.
        depth, end = 0, match.end()
        while end < len(text) and depth >= 0:
            depth += {'(': 1, '{': 1, ')': -1, '}': -1}.get(text[end], 0)
            end += 1
        first = text.count('\n', 0, match.start()) + 1
        for line in range(first, min(text.count('\n', 0, end) + 1, first + 30) + 1):
            found[line].add(int(match[1]))
    return found


def refuse(tree, build, mutants, output):
    """Marks the mutants that a compiler's messages name by their lines; returns how many."""
    numbers = set()
    files = {}
    of_error = False
    for said in output.split('\n'):
        # Warnings name lines, too; a note belongs to what came before it.
        of_error = ': error: ' in said or (of_error and ': warning: ' not in said)
        place = re.match(r'(?:.*from )?(\S+?\.(?:cpp|h|inc)):(\d+)[:,]', said)
        if not of_error or not place:
            continue
        name, line = place.groups()
        path = Path(os.path.normpath(os.path.join(build, name)))
        if tree in path.parents and path.is_file():
            if path not in files:
                files[path] = lines_of(path)
            numbers |= files[path].get(int(line), set())
    for m in mutants:
        if m['number'] in numbers:
            m['refused'] = True
    return len(numbers)


def save(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix('.new')
    temporary.write_text(json.dumps(data, indent=1))
    temporary.replace(path)
