#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_tests.py CLASS... : tests of the Python module against the program that HEDDLE_PROGRAM names; CLASS.WORD: the tests of a class with
that word in their names. Exit code 77 if all were skipped. It uses Debian's Python where this one has no NumPy, because Debian's packages
are for that one. `run_tests.py --overhead` measures what the module costs."""
import importlib.util
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEBIANS = '/usr/bin/python3'


def use_debians_python():
    if importlib.util.find_spec('numpy') is None and os.path.exists(DEBIANS) and 'HEDDLE_TEST_PYTHON' not in os.environ:
        os.environ['HEDDLE_TEST_PYTHON'] = 'debian'
        os.execv(DEBIANS, [DEBIANS, *sys.argv])


def chosen(test, names):
    """Whether a test is one of those that the command line names: all, a class, or a class and a word of the test's name."""
    kind, method = test.id().split('.')[-2:]
    return not names or any(kind == name.split('.')[0] and name.partition('.')[2] in method for name in names)


def main():
    use_debians_python()
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'testbench/python')]
    if sys.argv[1:2] == ['--overhead']:
        import overhead
        return overhead.main(sys.argv[2:])
    suite = unittest.TestSuite()
    for file in sorted(HERE.glob('test_*.py')):
        for tests in unittest.defaultTestLoader.loadTestsFromName(file.stem):
            for test in tests:
                if chosen(test, sys.argv[1:]):
                    suite.addTest(test)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, why in result.skipped:
        print(f'skipped: {test}: {why}')
    if not result.testsRun or not result.wasSuccessful():
        return 1
    return 77 if len(result.skipped) == result.testsRun else 0


if __name__ == '__main__':
    sys.exit(main())
