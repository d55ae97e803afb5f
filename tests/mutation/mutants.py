#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing: small changes of model/, one at a time, each of which the normal suite is to notice.

All mutants are compiled at once into a copy of the sources (build/mutants/tree), each behind a switch in the environment. One run of
every test without a mutant records which mutants it comes past; then each mutant is tried with these tests alone, the cheapest and nearest
first, until one fails. What was done is kept: the same command goes on where it was stopped, and starts anew when model/ or the seed changed.
"""
import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True   # the sources stay as they are

import cpp_sites
import runs
import schemata

OUT = schemata.ROOT / 'build/mutants'
TREE = OUT / 'tree'
BUILD = TREE / 'build/fast'
REASONS = schemata.HERE / 'survivors.txt'
CLASSES = ('equivalent', 'speed', 'text')


def say(text):
    print(f'mutants: {text}', flush=True)


def reasons():
    """Survivors that were examined: {key: (class, reason)}. A block is the key, `at: line of the source`, `class: reason`. The number behind
    # in a key counts places alike; it is found anew by the line, for what is inserted before moves it."""
    found = {}
    lines = [l for l in REASONS.read_text().split('\n') if l and not l.startswith('#')]
    for key, place, reason in zip(lines[::3], lines[1::3], lines[2::3]):
        name, text = reason.strip().split(': ', 1)
        if name not in CLASSES or not place.startswith('  at: '):
            schemata.fail(f'survivors.txt: {key}: expected "at: LINE" and one of {", ".join(CLASSES)}')
        keys = keys_on(key, place.strip().split(': ', 1)[1])
        if not keys:
            schemata.fail(f'survivors.txt: no such mutant any more: {key}')
        found[key if key in keys else keys[0]] = (name, text)
    return found


def keys_on(key, line):
    """The keys of all mutants that read like this one and are on such a line of its file."""
    name, kind, shown = key.split(' | ', 2)
    shown = re.sub(r' #\d+$', '', shown)
    text = (schemata.ROOT / name).read_text()
    lines = text.split('\n')
    alike = [s for s in cpp_sites.sites_of(text) if s.kind == kind and s.shown == shown]
    return [f'{name} | {kind} | {shown}' + (f' #{nth}' if nth > 1 else '') for nth, s in enumerate(alike, 1)
            if lines[text.count('\n', 0, s.start)].strip() == line]


def arguments():
    parser = argparse.ArgumentParser(description='Mutants of model/ against the normal test suite; see docs/develop/testing.md.')
    parser.add_argument('count', nargs='?', type=int, default=200, help='mutants, besides those of named_mutants.txt (default 200)')
    parser.add_argument('seed', nargs='?', default='1', help='which ones (default 1)')
    parser.add_argument('--list', action='store_true', help='only print them')
    parser.add_argument('--check', action='store_true', help="only hold this script against a sample, and its lists against model/")
    parser.add_argument('--least', type=float, default=0, metavar='PERCENT', help='fail when fewer are killed')
    parser.add_argument('--jobs', type=int, default=int(os.environ.get('HEDDLE_JOBS') or os.cpu_count() or 2))
    parser.add_argument('--budget', type=float, default=120, metavar='SECONDS', help='CPU seconds of tests for a mutant (default 120)')
    parser.add_argument('--programs', metavar='REGEX', default='.', help='build and run only those test programs (default: all)')
    parser.add_argument('--again', action='store_true', help='go on with mutants whose tests took longer than the budget')
    parser.add_argument('--only', metavar='TEXT', help='only mutants with this in their key; what is known of them is forgotten')
    return parser.parse_args()


def ninja(*targets, keep_going=False):
    command = ['ninja', '-C', str(BUILD), f'-j{options.jobs}', *(['-k0'] if keep_going else []), *targets]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build(mutants, state):
    """Writes the copy, compiles it, and takes out what the compiler refuses until it has no more to say."""
    for attempt in range(8):
        schemata.write_tree(TREE, mutants)
        if not (BUILD / 'build.ninja').is_file():
            linker = ['-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -Wl,--allow-shlib-undefined'] if shutil.which('ld.lld') else []
            subprocess.run(['cmake', '--preset', 'release', '-B', 'build/fast', '-DHEDDLE_BUILD_BENCH=OFF',
                            '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -g0 -fno-ipa-cp -DNDEBUG', *linker], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
        before = time.time()
        done = ninja('heddle', 'heddle_program', keep_going=True)
        (OUT / f'build.{attempt}.log').write_text(done.stdout)
        refused = 0 if done.returncode == 0 else schemata.refuse(TREE, BUILD, mutants, done.stdout)
        say(f'built the model in {time.time() - before:.0f} s, {refused} mutants do not compile')
        schemata.save(state, mutants)
        if done.returncode == 0:
            break
        if refused == 0:
            sys.stdout.write(done.stdout[-3000:])
            schemata.fail('the copy of the sources does not compile, and no mutant is named')
    before = time.time()
    targets = subprocess.run(['ninja', '-C', str(BUILD), '-t', 'targets', 'all'], capture_output=True, text=True).stdout
    programs = re.findall(r'^(tests/\S+): CXX_EXECUTABLE_LINKER', targets, re.M)
    done = ninja(*[p for p in programs if re.search(options.programs, os.path.basename(p))])
    (OUT / 'build.tests.log').write_text(done.stdout)
    if done.returncode != 0:
        sys.stdout.write(done.stdout[-3000:])
        schemata.fail('the tests do not compile')
    say(f'built the tests in {time.time() - before:.0f} s')


def to_run(mutants):
    """Those that compile, as many of each room as are due."""
    taken = collections.Counter()
    for m in mutants:
        if m.get('refused'):
            continue
        taken[m['room']] += m['kind'] != 'named'
        if m['kind'] == 'named' or taken[m['room']] <= m['quota']:
            yield m


def summary(mutants, results, explained):
    rows = collections.defaultdict(collections.Counter)
    for m in mutants:
        if m['key'] in results:
            result = results[m['key']]['result']
            if result != 'killed' and m['key'] in explained:
                result = explained[m['key']][0]
            rows['by hand' if m['kind'] == 'named' else m['room']][result] += 1
    heads = ['killed', 'survived', 'unreached', 'budget', *CLASSES]
    print(f'{"room":22}{"mutants":>9}' + ''.join(f'{h:>11}' for h in heads))
    total = collections.Counter()
    for room in sorted(rows):
        if room != 'by hand':
            total += rows[room]
        print(f'{room:22}{sum(rows[room].values()):9}' + ''.join(f'{rows[room][h]:11}' for h in heads))
    print(f'{"all but by hand":22}{sum(total.values()):9}' + ''.join(f'{total[h]:11}' for h in heads))
    for m in mutants:
        if m['key'] in results and results[m['key']]['result'] != 'killed':
            known = explained.get(m['key'])
            print(f'{results[m["key"]]["result"]}: {m["file"]}:{m["line"]}\n  {m["key"]}' + (f'\n  {known[0]}: {known[1]}' if known else ''))
    every = sum(total.values())
    killed = 100.0 * total['killed'] / max(1, every)
    print(f'killed: {total["killed"]} of {every} ({killed:.1f} %); without equivalent ones '
          f'{100.0 * total["killed"] / max(1, every - total["equivalent"]):.1f} %')
    return killed


SAMPLE = """// a < b in a comment
void f(int a, const std::vector<int>& v) {
  if (a < 3 && !v.empty()) ++a;   /* b + c */
  int b = std::min(a, 0x1f);
  g("a + b", a << 1);
  constexpr int c = 5 + 6;
}
"""
FOUND = ['f(...) -> returns at once', 'a < 3 -> a <= 3', 'a < 3 && !v.empty() -> a < 3 || !v.empty()', '3 -> 2', '3 -> 4', '!v.empty() -> v.empty()',
         '++a; -> nothing', 'std::min(a, 0x1f) -> std::max(a, 0x1f)', '0x1f -> 30', '0x1f -> 32', 'g("a + b", a << 1); -> nothing',
         'a << 1 -> a >> 1', '1 -> 0', '1 -> 2']


def check():
    """What a test of the normal suite can say of this script in a second: it finds what it should, and its lists speak of what is there."""
    sites = cpp_sites.sites_of(SAMPLE)
    missing = set(FOUND) ^ {s.shown for s in sites}
    if missing:
        schemata.fail(f'the sample has other mutants than expected: {sorted(missing)}')
    print(f'{len(sites)} mutants in the sample, {len(schemata.named())} by hand')
    print(f'{len(reasons())} survivors with a reason')
    return 0


def main():
    if options.check:
        return check()
    mutants = schemata.chosen(options.count, options.seed)
    digest = hashlib.sha256(json.dumps([options.count, options.seed, mutants], sort_keys=True).encode()).hexdigest()[:12]
    if options.list:
        for m in mutants:
            print(f'{m["number"]:4} {m["kind"]:13} {m["file"]}:{m["line"]}  {m["shown"]}')
        return 0
    explained = reasons()
    folder = OUT / f'{options.seed}-{options.count}-{digest}'
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / 'mutants.json'
    if state.is_file():
        mutants = json.loads(state.read_text())
    say(f'{sum(m["kind"] != "named" for m in mutants)} candidates, results in {folder.relative_to(schemata.ROOT)}')
    build(mutants, state)
    due = list(to_run(mutants))
    results = {}
    log = folder / 'results.jsonl'
    if log.is_file():
        results = {r['key']: r for r in map(json.loads, log.read_text().splitlines())}
    tests = runs.tests_of(BUILD, options.programs)
    for stage in range(len(runs.STAGES)):
        some = [t for t in tests if runs.stage_of(t) <= stage]
        waiting = [m for m in due if (not options.only or options.only in m['key']) and not is_done(m, stage, results, explained)]
        if waiting:
            reached = reach(folder, some, 1 + max(m['number'] for m in mutants))
            try_all(stage, waiting, [t for t in some if reached[t.name]['passed']], reached, results, log)
    return 1 if summary(due, results, explained) < options.least else 0


def is_done(m, stage, results, explained):
    """Whether nothing more is to be tried in this stage. What was not killed is tried again with tests that are new since; what took too
    long in this stage only when asked for. What has a reason is held against the nearest tests alone."""
    known = results.get(m['key'])
    if known is None or options.only:
        return known is not None and known['result'] == 'killed' and stage > 0
    if known['result'] == 'killed' or (stage > 0 and m['key'] in explained):
        return True
    return known['result'] == 'budget' and known['stage'] >= stage and not (options.again and stage == len(runs.STAGES) - 1)


def try_all(stage, waiting, tests, reached, results, log):
    rates = runs.kill_rates(results.values())
    for m in waiting:
        known = {} if options.only and stage == 0 else results.get(m['key'], {})
        near = [t for t in runs.ordered(m['number'], tests, reached, rates) if t.name not in known.get('passed', ())]
        if not near and known:
            continue
        budget = options.budget * runs.STAGES[stage][1]
        result = runs.try_mutant(m['number'], near, reached, options.jobs, budget) if near else {'result': 'unreached'}
        rates.add(result)
        result['passed'] = sorted({*known.get('passed', ()), *result.get('passed', ())})
        results[m['key']] = {'key': m['key'], 'number': m['number'], 'file': m['file'], 'line': m['line'], 'stage': stage, **result}
        with log.open('a') as file:
            file.write(json.dumps(results[m['key']]) + '\n')
        say(f'{m["number"]}: {result["result"]} {m["file"]}:{m["line"]} {m["shown"]}'
            + (f' by {result["by"]}' if result.get('by') else '') + f' ({len(result["passed"])} passed, {result.get("seconds", 0)} s)')


def reach(folder, tests, most):
    """What each of these tests comes past; those that are new since, or did not pass, are run again."""
    path = folder / 'reached.json'
    known = json.loads(path.read_text()) if path.is_file() else {}
    missing = [t for t in tests if not known.get(t.name, {}).get('passed')]
    say(f'{len(tests)} tests, of which {len(missing)} run without a mutant first')
    for first in range(0, len(missing), 100):   # who is stopped here goes on here
        known.update(runs.reach(missing[first:first + 100], options.jobs, folder, most))
        schemata.save(path, known)
        say(f'{min(first + 100, len(missing))} of {len(missing)} tests')
    failed = [t.name for t in tests if not known[t.name]['passed']]
    if failed:
        say(f'{len(failed)} fail without a mutant and are left out: {", ".join(failed)}')
    say(f'{sum(known[t.name]["seconds"] for t in tests):.0f} CPU seconds for these tests')
    for r in known.values():
        r['set'] = set(r['reached'])
    return known


options = arguments()
sys.exit(main())
