# SPDX-License-Identifier: MIT
"""Runs tests, each in a process group of its own with limits of time, memory and file size, a few at once."""
import collections
import concurrent.futures
import copy
import fnmatch
import functools
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time

# What opens viewers, builds other projects or waits for the clock: dear, and near to testbench/ rather than to the model.
LEFT_OUT = r'^(gtkwave|speedscope|report_pages|sweep_report_rules|install|packages|sweep_kill|registers_like|mutation|long_|terminal)|_kills?\.'
MEMORY = 6 << 30
FILE_SIZE = 1 << 30
# Tests come in stages, each with those of the stages before it and a share of the budget: what is near to the sources and cheap, then
# workloads, whose golden metrics notice most of what is left, then whatever else runs whole programs, then all. A test belongs to the first
# stage whose expression is found in `PROGRAM NAME`. A stage's tests are run without a mutant only when a mutant has come so far.
STAGES = ((r'^(unit_tests (?!parameter_extremes|window_order)|conformance_tests (?!differential))', 0.2),
          (r'^system_tests all/workload\.', 0.4), (r'^system_tests ', 0.6), (r'', 1.0))


class test:
    def __init__(self, entry, name, command):
        self.name = name
        self.command = command
        properties = {p['name']: p['value'] for p in entry.get('properties', [])}
        self.labels = properties.get('LABELS', [])
        self.folder = properties.get('WORKING_DIRECTORY') or '.'
        self.environment = dict(e.split('=', 1) for e in properties.get('ENVIRONMENT', []))
        self.skip_code = properties.get('SKIP_RETURN_CODE')
        self.alone = properties.get('RUN_SERIAL', False)
        self.program = os.path.basename(self.command[0]) if self.command else ''
        # Tests of GoogleTest in one folder and environment can run in one process.
        self.alike = (self.command[0], self.folder, *sorted(self.environment.items())) if '--gtest_filter=' + name in self.command else None


def tests_of(build, programs):
    """The normal suite: what ctest knows without the label long, and without what is left out above and what other programs do. An entry
    of ctest is a suite of a program; here each of its tests is one, for a test comes past fewer mutants, and one that is new is seen."""
    listing = subprocess.run(['ctest', '--test-dir', str(build), '--show-only=json-v1'], check=True, capture_output=True, text=True).stdout
    found = [t for e in json.loads(listing)['tests'] if e.get('command') for t in split(e)]
    found = [t for t in found if not any(l.endswith('long') for l in t.labels) and not re.search(LEFT_OUT, t.name)
             and not t.name.endswith('_not_built') and re.search(programs, t.program)]
    for name, times in collections.Counter(t.name for t in found).items():
        if times > 1:
            raise SystemExit(f'mutants: {times} tests are named {name}')
    return found


def split(entry):
    """The tests of one entry of ctest: those of a suite if its program is one of GoogleTest."""
    command = entry['command']
    if len(command) != 2 or not command[1].startswith('--gtest_filter='):
        return [test(entry, entry['name'], command)]
    wanted, _, unwanted = command[1].partition('=')[2].partition('-')
    found = [n for n in names_in(command[0]) if matches(n, wanted) and not matches(n, unwanted)]
    return [test(entry, name, [command[0], f'--gtest_filter={name}']) for name in found]


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns.split(':'))


@functools.lru_cache(maxsize=None)
def names_in(program):
    """The tests of a program of GoogleTest."""
    output = subprocess.run([program, '--gtest_list_tests'], check=True, capture_output=True, text=True).stdout
    names, suite = [], ''
    for line in output.split('\n'):
        if re.match(r'[^ ]+\.( *#.*)?$', line):
            suite = line.split('#')[0].strip()
        elif line.startswith('  ') and 'DISABLED_' not in suite + line:
            names.append(suite + line.split('#')[0].strip())
    return names


def stage_of(t):
    return next(n for n, (found, _) in enumerate(STAGES) if re.search(found, f'{t.program} {t.name}'))


def limits(cpu_seconds):
    def set_them():
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)   # a shell ignores it in what it starts behind itself
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_them


class runner:
    """Runs tests with what is set in `environment`; after stop() those that run are killed and no others begin."""

    def __init__(self, environment):
        self.environment = environment
        self.running = set()
        self.lock = threading.Lock()
        self.stopped = False

    def run(self, t, cpu_limit, **more):
        """('passed' | 'failed' | 'time' | 'stopped', CPU seconds with those of children that ended)."""
        with self.lock:
            if self.stopped:
                return 'stopped', 0.0
            child = subprocess.Popen(t.command, cwd=t.folder, env={**os.environ, **t.environment, **self.environment, **more},
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     preexec_fn=limits(int(cpu_limit) + 1))
            self.running.add(child.pid)
        # Other processes may have the cores: the limit of the clock is only for what sleeps.
        out_of_time = threading.Event()
        watch = threading.Timer(60 + 12 * cpu_limit, lambda: (out_of_time.set(), kill(child.pid)))
        watch.daemon = True
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.cancel()
        with self.lock:
            self.running.discard(child.pid)
        kill(child.pid)   # what it left behind
        seconds = usage.ru_utime + usage.ru_stime
        if self.stopped and child.returncode == -signal.SIGKILL:
            return 'stopped', seconds
        if out_of_time.is_set() or child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return 'time', seconds
        good = child.returncode == 0 or (t.skip_code is not None and child.returncode == int(t.skip_code))
        return ('passed' if good else 'failed'), seconds

    def stop(self):
        with self.lock:
            self.stopped = True
            for pid in self.running:
                kill(pid)


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def reach(tests, jobs, folder, most):
    """Runs every test once without a mutant: {name: {'seconds', 'reached': [numbers], 'passed'}}."""
    r = runner({})
    results = {}

    def one(t):
        path = folder / f'reached.{threading.get_ident()}'
        path.write_bytes(bytes(65536))
        outcome, seconds = r.run(t, 600, HEDDLE_MUTANTS_REACHED=str(path))
        reached = [n for n, byte in enumerate(path.read_bytes()[:most]) if byte]
        path.unlink()
        results[t.name] = {'seconds': round(seconds, 3), 'reached': reached, 'passed': outcome == 'passed'}

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(one, t) for t in tests]:
            future.result()
    return results


class kill_rates:
    """How likely a test is to fail with a mutant that it reaches, from what it did with others. Before that, what comes past few mutants is
    taken to be near to them."""
    def __init__(self, results):
        self.tries, self.kills = collections.Counter(), collections.Counter()
        for result in results:
            self.add(result)

    def add(self, result):
        self.tries.update(result.get('passed', ()))
        by = (result.get('by') or '').split(' or ') if result['result'] == 'killed' else []
        for name in by:   # one of those that ran together
            self.tries[name] += 1 / len(by)
            self.kills[name] += 1 / len(by)

    def of(self, name, reached):
        return (2 / (1 + len(reached)) + self.kills[name]) / (2 + self.tries[name])


def ordered(number, tests, reached, rates):
    """The tests that reach a mutant, those with the most kills per second first. A suite's tests are alike, so each further one of the
    same suite is put back."""
    def score(t):
        return (reached[t.name]['seconds'] + 0.01) / rates.of(t.name, reached[t.name]['reached'])
    by_suite = {}
    for t in sorted((t for t in tests if number in reached[t.name]['set']), key=lambda t: (score(t), t.name)):
        by_suite.setdefault((t.program, t.name.split('.')[0]), []).append(t)
    placed = [(score(t) * (1 + rank / 4), t.name, t) for group in by_suite.values() for rank, t in enumerate(group)]
    return [t for _, _, t in sorted(placed, key=lambda p: p[:2])]


def batches(tests, reached, most=16, seconds=1.0):
    """The tests in their order, cheap ones of one program together, for many are shorter than the start of their program: (test, names,
    CPU seconds). A program's first batch is one test, each further one up to twice as many, as most mutants die early."""
    open_, sizes = {}, collections.Counter()

    def closed(program):
        batch = open_.pop(program)
        sizes[program] += 1
        together = copy.copy(batch[0])
        names = [t.name for t in batch]
        if len(batch) > 1:
            together.command = [batch[0].command[0], '--gtest_filter=' + ':'.join(names), '--gtest_fail_fast']
        return together, names, sum(reached[n]['seconds'] for n in names)

    for t in tests:
        if not t.alike or reached[t.name]['seconds'] > seconds:
            yield t, [t.name], reached[t.name]['seconds']
            continue
        batch = open_.setdefault(t.alike, [])
        batch.append(t)
        if len(batch) >= min(most, 1 << sizes[t.alike]) or sum(reached[b.name]['seconds'] for b in batch) > seconds:
            yield closed(t.alike)
    for program in list(open_):
        yield closed(program)


def try_mutant(number, tests, reached, jobs, budget):
    """Runs tests with the mutant on until one fails: a dict with 'result' (killed, survived, budget), 'by', 'passed', 'seconds'. Tests
    that would exceed the budget are left out; then the result is 'budget' unless another kills the mutant."""
    r = runner({'HEDDLE_MUTANT': str(number)})
    waiting = batches(tests, reached)
    lock = threading.Lock()
    state = {'result': 'survived', 'by': None, 'passed': [], 'seconds': 0.0}

    def affordable():
        for batch in waiting:
            if state['seconds'] + batch[2] <= budget:
                return batch
            if state['result'] == 'survived':
                state['result'] = 'budget'
        return None

    def work():
        while not r.stopped:
            with lock:
                batch = affordable()
            if batch is None:
                return
            t, names, usual = batch
            outcome, seconds = r.run(t, 5 + 10 * usual)
            with lock:
                state['seconds'] += seconds
                if outcome == 'passed':
                    state['passed'] += names
                if outcome in ('failed', 'time') and state['result'] != 'killed':
                    state.update(result='killed', by=' or '.join(names), how=outcome)
            if outcome in ('failed', 'time'):
                r.stop()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(work) for _ in range(jobs)]:
            future.result()
    state['seconds'] = round(state['seconds'], 2)
    return state
