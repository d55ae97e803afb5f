#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs CUDA programs that are already built under `heddle exec` and tells what became of each.

    run_programs.py [options] LIST=FOLDER...      e.g. cuda_samples=~/cuda-samples/Samples

LIST names a file here (cuda_samples.list): one program a line, its columns separated by `|`:

    folder | executable | arguments | options of heddle exec | what shows that the result is right

FOLDER is where the collection was built by its own makefiles. An executable is looked for in its folder below FOLDER, where
it is started. In the arguments {inputs} is a folder with files that this script makes (inputs.py), {common} FOLDER itself,
{here} this script's folder.
The last column is a regular expression, `exit` (the program's exit code tells), or `none` (the program checks nothing); a
first word `not:` and a sentence say why a program is not expected to work. For a program that checks nothing, but writes
its results, it may name another program that computes the same on the CPU:

    like FOLDER COMMAND -> FILE        e.g. like ../openmp/bfs ./bfs 1 {inputs}/graph_2048 -> result.txt
    like FOLDER COMMAND -> /REGEX/     the groups that match in what both print

COMMAND is started in FOLDER below the collection's. All numbers in both files (or groups) have to be the same within a
thousandth, in the same order. Behind them `within N` allows a difference of N (pixels), `in any order` sorts the numbers, `as bytes`
compares the bytes of the files, which have the same name but for their endings: FILE.a,FILE.b.
"""
import argparse
import contextlib
import fnmatch
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|-?\bnan\b|-?\binf\b")
WRONG = re.compile(r"\bFAIL(ED|URE)?\b|Test failed|verification failed", re.IGNORECASE)
FUNCTIONAL = re.compile(r"^(\d+) launch(?:es were| was) executed functionally: ([0-9.]+) million warp instructions", re.MULTILINE)


def read_list(name):
    with open(os.path.join(HERE, name + ".list")) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            columns = [c.strip() for c in line.split("|", 4)]
            if len(columns) != 5:
                sys.exit(f"{name}.list:{number}: five columns are wanted: {line.strip()}")
            yield columns


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_limited(command, folder, limit):
    """Exit code (None after `limit` seconds of a processor, or thirty times as long), processor seconds, all that was written."""
    before = processor_seconds()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
        try:
            code = process.wait(30 * limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        if code in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            code = None
        return code, processor_seconds() - before, output.read(4 << 20).decode("utf-8", "replace")


def counts(metrics, output):
    """Launches and warp instructions, those in detail and the functional ones together."""
    launches, instructions = 0, 0
    if os.path.exists(metrics):
        with open(metrics) as file:
            for kernel in json.load(file)["kernels"]:
                launches += 1
                instructions += sum(kernel["instructions"].values())
    for found in FUNCTIONAL.finditer(output):
        launches += int(found.group(1))
        instructions += round(float(found.group(2)) * 1e6)
    return launches, instructions


def judge(code, output, right, limit):
    if code is None:
        return f"no end in {limit} s"
    missing = re.search(r"^heddle: (?!warning)(.*)$", output, re.MULTILINE)
    if code != 0 and missing:
        return "ends: " + missing.group(1)[:200]
    if right == "exit":
        return "right" if code == 0 else f"wrong: exit code {code}"
    if right == "none":
        return "ends" if code == 0 else f"wrong: exit code {code}"
    if re.search(right, output):
        return "wrong: it says so" if WRONG.search(output) else "right"
    return f"wrong: exit code {code}, not the sentence that was expected"


def numbers(text):
    return [float(n) for n in NUMBER.findall(text)]


def difference(ours, reference, comparison=""):
    """What is not the same in two texts, or nothing."""
    a, b = numbers(ours), numbers(reference)
    if comparison == "in any order":
        a, b = sorted(a), sorted(b)
    if not b or len(a) != len(b):
        return f"{len(a)} numbers, the reference has {len(b)}"
    least = 1e-6 * max(abs(n) for n in b)  # of sums of which little is left
    if comparison.startswith("within "):
        least = float(comparison.split()[1])
    for i, (x, y) in enumerate(zip(a, b)):
        if not abs(x - y) <= max(1e-3 * abs(y), least):
            return f"number {i} is {x:g}, the reference has {y:g}"
    return ""


REFERENCE = re.compile(r"like (\S+ \S.*) -> (/.*\(.*\).*/|[^/\s]\S*)(?: (within [0-9.]+|in any order|as bytes))?")


def results_of(right):
    """The FILE or /REGEX/ of a last column that names a reference, else nothing."""
    return REFERENCE.fullmatch(right)[2] if right.startswith("like ") else ""


def forget_results(place, what):
    """So that a file of an earlier run is not taken for a result."""
    for name in what.split(",") if what and not what.startswith("/") else []:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(place, name))


def read_results(place, output, what, comparison=""):
    """What a program has written to a file, or printed where `what` is /REGEX/; of bytes, their numbers."""
    if what.startswith("/"):
        return " ".join(" ".join(m.groups()) for m in re.finditer(what.strip("/"), output, re.MULTILINE))
    paths = [os.path.join(place, name) for name in what.split(",")]
    if not all(os.path.exists(path) for path in paths):
        return ""
    if comparison == "as bytes":
        return " ".join(str(byte) for path in paths for byte in pathlib.Path(path).read_bytes())
    return "\n".join(pathlib.Path(path).read_text(errors="replace") for path in paths)


def judge_by_reference(code, output, place, root, right, words, limit):
    if code != 0:
        return judge(code, output, "exit", limit)
    command, what, comparison = REFERENCE.fullmatch(right).groups("")
    folder, *command = words(command)
    reference_place = os.path.join(root, folder)
    ours = read_results(place, output, what, comparison)
    forget_results(reference_place, what)
    try:
        reference_code, _, reference = run_limited(command, reference_place, limit)
    except OSError as e:
        return f"ends; not compared: {e.strerror}: {command[0]}"
    if reference_code != 0:
        return f"ends; not compared: {command[0]} ended with {reference_code}"
    found = difference(ours, read_results(reference_place, reference, what, comparison), comparison)
    name = os.path.basename(command[0]) if os.path.isabs(command[0]) else os.path.normpath(os.path.join(folder, command[0]))
    return f"wrong: {found}" if found else f"right: as {name}"


def run_one(options, root, columns):
    folder, executable, arguments, heddle_options, right = columns
    place = os.path.join(root, folder)
    program = os.path.join(place, executable)
    entry = {"program": folder, "executable": executable, "arguments": arguments, "options": heddle_options, "launches": 0, "instructions": 0, "seconds": 0.0}
    reason = ""
    if right.startswith("not:"):
        reason, right = right[4:].strip(), "exit"
    if not os.access(program, os.X_OK):
        return {**entry, "result": "not built" + (f": {reason}" if reason else "")}
    with tempfile.TemporaryDirectory() as scratch:
        metrics = os.path.join(scratch, "metrics.json")

        def words(text):
            return [w.replace("{inputs}", options.inputs).replace("{common}", os.path.abspath(root)).replace("{here}", HERE)
                    for w in text.split()]

        given = heddle_options.split()
        gpu = [] if "--gpu" in given else ["--gpu", options.gpu]
        views = [] if "--skip-functional" in given and "--launches" not in given and "--kernel-name" not in given else ["--metrics", metrics]
        forget_results(place, results_of(right))
        code, seconds, output = run_limited([options.heddle, "exec", *gpu, *given, *views, "--", "./" + os.path.relpath(program, place), *words(arguments)], place, options.limit)
        launches, instructions = counts(metrics, output)
    if options.logs:
        os.makedirs(options.logs, exist_ok=True)
        with open(os.path.join(options.logs, folder.replace("/", "_") + "_" + executable.replace("/", "_") + ".txt"), "w") as log:
            log.write(output)
    if right.startswith("like "):
        result = judge_by_reference(code, output, place, root, right, words, options.limit)
    else:
        result = judge(code, output, right, options.limit)
    if reason:
        result = f"not right: {reason}"
    return {**entry, "launches": launches, "instructions": instructions, "seconds": round(seconds, 1), "result": result}


def amount(n):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if n >= size:
            return f"{n / size:.3g} {letter}" if n < 999.5 * size else f"{n / size:.0f} {letter}"
    return str(n)


def table(entries):
    yield "| program | arguments | how | launches | warp instructions | result | s |"
    yield "|---|---|---|---:|---:|---|---:|"
    for e in entries:
        how = "functional" if "--skip-functional" in e["options"] else "detail"
        name = e["program"] if os.path.basename(e["program"]) == e["executable"] or e["executable"] == "main" else f"{e['program']}: {e['executable']}"
        result = e["result"].replace("|", "\\|")
        yield f"| {name} | {e['arguments']} | {how} | {e['launches']} | {amount(e['instructions'])} | {result} | {e['seconds']:.1f} |"


def check():
    """The lists, and how results are judged, without any program."""
    for name in sorted(f[:-5] for f in os.listdir(HERE) if f.endswith(".list")):
        seen = set()
        for folder, executable, arguments, heddle_options, right in read_list(name):
            key = (folder, executable)
            if not folder or not executable or not right or key in seen:
                sys.exit(f"{name}.list: {folder}: a column is empty, or the program is there twice")
            seen.add(key)
            if right.startswith("like "):
                if not REFERENCE.fullmatch(right):
                    sys.exit(f"{name}.list: {folder}: like FOLDER COMMAND -> FILE is wanted: {right}")
            elif not right.startswith("not:"):
                re.compile(right)
    cases = [((0, "Test PASSED", "PASSED"), "right"), ((1, "Test PASSED", "PASSED"), "right"), ((0, "PASSED, then FAILED", "PASSED"), "wrong: it says so"),
             ((0, "", "exit"), "right"), ((3, "", "exit"), "wrong: exit code 3"), ((0, "", "none"), "ends"), ((None, "PASSED", "PASSED"), "no end in 9 s"),
             ((0, "nothing", "PASSED"), "wrong: exit code 0, not the sentence that was expected"),
             ((2, "heddle: the program calls cudaX, which is not there", "exit"), "ends: the program calls cudaX, which is not there")]
    for given, wanted in cases:
        if judge(*given, 9) != wanted:
            sys.exit(f"{given} is judged {judge(*given, 9)!r}, not {wanted!r}")
    for ours, reference, comparison, wanted in (("2 1", "1 2", "in any order", ""), ("7 8", "8 8", "within 1", ""),
                                                ("6 8", "8 8", "within 1", "number 0 is 6, the reference has 8")):
        if difference(ours, reference, comparison) != wanted:
            sys.exit(f"{ours!r} beside {reference!r} {comparison}: {difference(ours, reference, comparison)!r}, not {wanted!r}")
    for ours, reference, wanted in (("1: 2.0", "1\t2.001", ""), ("1 2", "1 2.1", "number 1 is 2, the reference has 2.1"), ("1e-9 7", "0 7", ""),
                                    ("1 nan", "1 nan", "number 1 is nan, the reference has nan"), ("1", "1 2", "1 numbers, the reference has 2"),
                                    ("", "", "0 numbers, the reference has 0")):
        if difference(ours, reference) != wanted:
            sys.exit(f"{ours!r} beside {reference!r}: {difference(ours, reference)!r}, not {wanted!r}")
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(os.path.join(scratch, "other"))
        with open(os.path.join(scratch, "result.txt"), "w") as file:
            file.write("3 4\n")
        for right, wanted in (("like . echo t 3 4 -> /t (.*)/", "right: as echo"), ("like . echo t 3 5 -> /t (.*)/", "wrong: number 1 is 4, the reference has 5"),
                              ("like other cp ../result.txt . -> result.txt", "right: as other/cp"), ("like other ./none -> result.txt", "ends; not compared: No such file or directory: ./none"),
                              ("like other cp ../result.txt . -> result.txt as bytes", "right: as other/cp"),
                              ("like other false -> result.txt", "ends; not compared: false ended with 1")):
            judged = judge_by_reference(0, "t 3 4\n", scratch, scratch, right, str.split, 9)
            if judged != wanted:
                sys.exit(f"{right} is judged {judged!r}, not {wanted!r}")
        counted = counts(os.path.join(scratch, "none"), "3 launches were executed functionally: 1.5 million warp instructions in 0.1 s\n")
        if counted != (3, 1500000):
            sys.exit(f"launches are counted {counted}")
        code, _, output = run_limited(["sh", "-c", "echo here; exit 5"], scratch, 5)
        if (code, output) != (5, "here\n"):
            sys.exit(f"a program's end is taken as {code}, {output!r}")
        if run_limited(["sh", "-c", "while :; do :; done"], scratch, 1)[0] is not None:
            sys.exit("a program without an end has one")


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("collections", nargs="+", metavar="LIST=FOLDER", help="a list of programs beside this script, and where they were built")
    parser.add_argument("--heddle", default="heddle", help="the heddle to use")
    parser.add_argument("--gpu", default="rtx2060", help="the GPU, where a list names none (rtx2060: nvcc's own choice of PTX)")
    parser.add_argument("--limit", type=int, default=60, help="seconds of a processor for each program")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="programs to run, by folder")
    parser.add_argument("--results", metavar="FILE", help="JSON with what became of each; entries of other programs stay")
    parser.add_argument("--rest", action="store_true", help="only programs that FILE has nothing of, or that were not built then")
    parser.add_argument("--table", metavar="FILE", help="the table, Markdown")
    parser.add_argument("--logs", metavar="FOLDER", help="what each program wrote")
    parser.add_argument("--inputs", metavar="FOLDER", default="cuda_program_inputs", help="where input files are made")
    options = parser.parse_args()
    options.heddle = os.path.abspath(options.heddle) if os.sep in options.heddle else options.heddle
    options.inputs = os.path.abspath(options.inputs)
    inputs.make(options.inputs)
    done = {}
    if options.results and os.path.exists(options.results):
        with open(options.results) as file:
            done = json.load(file)
    wrong = 0
    for collection in options.collections:
        name, _, root = collection.partition("=")
        if not os.path.isdir(root):
            sys.exit(f"{collection}: LIST=FOLDER is wanted, with a folder that is there")
        for columns in read_list(name):
            if options.only and not any(fnmatch.fnmatch(columns[0], g) for g in options.only):
                continue
            key = f"{name}|{columns[0]}|{columns[1]}"
            if options.rest and not done.get(key, {"result": "not built"})["result"].startswith("not built"):
                continue
            entry = run_one(options, root, columns)
            wrong += not entry["result"].startswith(("right", "ends", "not right", "not built")) or entry["result"].startswith("ends: ")
            print(f"{name}\t{entry['program']}\t{entry['executable']}\t{entry['launches']}\t{amount(entry['instructions'])}\t{entry['seconds']}\t{entry['result']}", flush=True)
            done[key] = entry
            if options.results:
                with open(options.results + ".new", "w") as file:
                    json.dump(done, file, indent=1)
                os.replace(options.results + ".new", options.results)
    if options.table:
        with open(options.table, "w") as file:
            for collection in options.collections:
                name = collection.partition("=")[0]
                file.write(f"## {name}\n\n" + "\n".join(table([e for k, e in done.items() if k.startswith(name + "|")])) + "\n\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
