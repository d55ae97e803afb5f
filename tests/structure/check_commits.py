#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No commit since FIRST has a subject of more than 72 characters, or no subject. Exit code 77 without git or without that commit, as in a
source archive or a shallow clone. `check_commits.py [--self-test]`"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST = '97128f0c1bfc5979b61d57158d54a33f8af63e2f'
MOST = 72


def git(*arguments):
    """What git says; None if it fails or is not here."""
    try:
        said = subprocess.run(['git', *arguments], cwd=ROOT, text=True, capture_output=True)
    except OSError:
        return None
    return said.stdout if said.returncode == 0 else None


def faults_in(log):
    """`log`: a line `HASH SUBJECT` for each commit."""
    faults = []
    for line in log.splitlines():
        commit, _, subject = line.partition(' ')
        if not subject.strip():
            faults.append(f'{commit}: no subject')
        elif len(subject) > MOST:
            faults.append(f'{commit}: a subject of {len(subject)} characters, at most {MOST}: {subject}')
    return faults


def self_test():
    assert not faults_in(f'1a {"x" * 72}\n2b short\n')
    assert faults_in(f'1a {"x" * 73}\n')[0].startswith('1a: a subject of 73 characters, at most 72: x')
    assert faults_in('1a \n') == ['1a: no subject']


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    if git('cat-file', '-e', f'{FIRST}^{{commit}}') is None:
        print(f'no git, or no commit {FIRST[:8]} here: nothing is checked')
        return 77
    log = git('log', '--format=%h %s', f'{FIRST}..HEAD')
    if log is None:
        return 77
    faults = faults_in(log)
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
