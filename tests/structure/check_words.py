#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No identifier of model/, tlm/ and testbench/ is one of the former names for which the field has a term. `check_words.py [--self-test]`"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Former name: the term that replaces it.
FORMER = {
    'horizon': 'safe_time', 'stay_before': 'safe_time', 'has_passed': 'safe_time', 'look_at': 'sample_at', 'who_looks': 'observer',
    'loop_turn': 'back_edge', 'turn_': 'next_ (round robin), window', 'deal': 'assign', 'warp_dealing': 'warp_assignment',
    'counter_dealing': 'counter_allocation', 'stand_at': 'seek', 'take_up': 'resume', 'asker': 'initiator', 'bring_near': 'prefetch',
    'pass_by': 'bypass', 'tell_retry': 'notify_retry', 'spoken_for': 'claimed', 'way_in': 'request_latency', 'way_out': 'response_latency',
    'way_there': 'minimum_round_trip', 'who_waits': 'waiting_blocks_text', 'tell_fault': 'report_fault', 'bring_back': 'restore_next',
    'go_deeper': 'advance', 'respond_ahead': 'respond_after', 'warp_came': 'warp_entered', 'block_came': 'block_entered',
}
# Where a former name is still read.
EXCEPT = {'model/config/parameter_table.cpp': {'warp_dealing'}}
WORD = re.compile(r'\b(' + '|'.join(FORMER) + r')\b')


def former_in(name, text):
    """The former names in a source, but for those that it may read."""
    return [f'{name}:{number}: {word} is {FORMER[word]} now' for number, line in enumerate(text.split('\n'), 1)
            for word in WORD.findall(line.split('//')[0]) if word not in EXCEPT.get(name, ())]


def self_test():
    assert former_in('a.h', 'int way_in;  // way_out\nint away_in;\n') == ['a.h:1: way_in is request_latency now']
    assert not former_in('model/config/parameter_table.cpp', '{"sm.warp_dealing", "x"}')


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    faults = [fault for folder in ('model', 'tlm', 'testbench') for path in sorted((ROOT / folder).rglob('*'))
              if path.suffix in ('.h', '.cpp', '.inc') and path.is_file()
              for fault in former_in(str(path.relative_to(ROOT)), path.read_text())]
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
