#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No source, and no code block of a page, uses what IEEE 1666-2023 (SystemC 3.0) or an earlier standard has deprecated or removed, so that a build with
SystemC 3.0 needs no SC_ALLOW_DEPRECATED_IEEE_API. `check_deprecated.py [--self-test]`"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Name: what is used in its place.
DEPRECATED = {
    'SC_HAS_PROCESS': 'HEDDLE_HAS_PROCESS (tlm/kernel/has_process.h)', 'SC_CURRENT_USER_MODULE': 'HEDDLE_HAS_PROCESS',
    'SC_ALLOW_DEPRECATED_IEEE_API': 'nothing that needs it', 'sc_cycle': 'sc_start', 'sc_initialize': 'sc_start(SC_ZERO_TIME)',
    'sc_sensitive_pos': 'sensitive << port.pos()', 'sc_sensitive_neg': 'sensitive << port.neg()', 'notify_delayed': 'notify(SC_ZERO_TIME)',
    'end_module': 'sc_module_name', 'sc_set_default_time_unit': 'sc_time with a unit', 'sc_get_default_time_unit': 'sc_time with a unit',
    'sc_simulation_time': 'sc_time_stamp', 'get_data_ref': 'read', 'get_new_value': 'read', 'sc_string': 'std::string',
    'sc_type_index': 'std::type_index (3.0 has no other)',
}
NAME = re.compile(r'\b(' + '|'.join(DEPRECATED) + r')\b')
# The one place that chooses by SystemC's version.
EXCEPT = {'tlm/kernel/has_process.h'}


def code_of(name, text):
    """The lines with their numbers that are code: of a source without comments, of a page those within ``` of C++."""
    inside = not name.endswith('.md')
    for number, line in enumerate(text.split('\n'), 1):
        if name.endswith('.md') and line.startswith('```'):
            inside = line == '```cpp'
        elif inside:
            yield number, line.split('//')[0]


def faults_in(name, text):
    return [f'{name}:{number}: {found} is deprecated, expected {DEPRECATED[found]}' for number, line in code_of(name, text)
            for found in NAME.findall(line)]


def self_test():
    assert faults_in('a.cpp', 'x\n  SC_HAS_PROCESS(x);') == ['a.cpp:2: SC_HAS_PROCESS is deprecated, expected HEDDLE_HAS_PROCESS (tlm/kernel/has_process.h)']
    assert not faults_in('a.cpp', 'HEDDLE_HAS_PROCESS(x);  // as SC_HAS_PROCESS')
    assert not faults_in('a.md', 'SC_HAS_PROCESS') and faults_in('a.md', '```cpp\nSC_HAS_PROCESS(x);\n```')


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    names = [p for folder in ('model', 'tlm', 'testbench', 'tests') for end in ('*.h', '*.cpp', '*.inc', '*.cmake') for p in (ROOT / folder).rglob(end)]
    faults = []
    for path in sorted(names + list((ROOT / 'docs').rglob('*.md'))):
        name = str(path.relative_to(ROOT))
        if name not in EXCEPT:
            faults += faults_in(name, path.read_text(errors='replace'))
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
