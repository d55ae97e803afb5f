#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No identifier of the sources is one of the former names for which the field has a term, and no text of sources, tests, configurations
and pages has a metaphor in place of a term. `check_words.py [--self-test]`"""
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
    'horizon_': 'longest_constraint_', 'come_near': 'move_to_window', 'asleep_': 'idle_', 'passage': 'code_sequence', 'shelf': 'recording_target',
    'meeting_points': 'reconvergence_points', 'gives_way': 'yields', 'give_way': 'yield_to_other_path', 'standing_of': 'lane_places_of',
    'somebody_waits': 'a_request_waits', 'most_told': 'most_warnings', 'tell_oddities': 'warn_of_oddities', 'data_come': 'data_arrive',
    'looks_anew': 'reevaluates', 'revived_warps': 'warps_after_exit', 'unended_warps': 'warps_without_exit', 'part_taker': 'part_consumer',
    'seldom_families': 'rare_families', 'forgetful_cwd': 'cwd_without_wakes', 'distrust': 'restrict_untrusted_schema', 'era_': 'generation_',
    'away_context': 'saved_context', 'culprit': 'thread, origin', 'on_way': 'in_flight', 'under_way': 'in_flight', 'comes_back': 'is_return_point',
    'nobody': 'none, no_part', 'somebody': 'a thread, a request, an observer',
}
# Metaphors and their terms, in names (with _ for blanks), comments, messages and pages.
PHRASES = {
    'on (?:its|their) way': 'in flight', 'gives? way': 'is evicted, is replaced, yields', 'takes? turns': 'round robin, serialised',
    'nobody': 'no unit, no thread', 'whoever': 'the caller, any process', 'ways? out': 'exit', 'come by a way': 'route',
    'hears? (?:of|no more)': 'is notified', 'is told of': 'is notified of', 'goes? round': 'visits, loops', 'passes? the l1 by': 'bypasses',
    'beats greed': 'beats greedy-then-oldest', 'fares? as with': 'is accepted or refused as by', 'comes? back (?:from a context|where)': 'is restored',
}
READ = ('.h', '.cpp', '.inc', '.cu', '.ptx', '.py', '.sh', '.md', '.ini', '.txt', '.js', '.mjs')
# Where a former name is still read.
EXCEPT = {name: {'warp_dealing'} for name in (
    'model/config/parameter_table.cpp', 'tests/system/command_line/summary_test.cpp', 'tests/system/correlate/correlate_test.cpp',
    'tests/system/sweep/sweep_test.cpp', 'tests/unit/config/config_test.cpp')}
WORD = re.compile(r'\b(' + '|'.join(FORMER) + r')\b')
GAP = r'(?: |_|\s*\n\s*(?:///?|#|;)?\s*)'
PHRASE = re.compile('(?<![a-z])(?:' + '|'.join('(' + p.replace(' ', GAP) + ')' for p in PHRASES) + ')(?![a-z])', re.IGNORECASE)
# What quotes former words: this list, its history, and sentences before and after their rewriting.
QUOTES = {'tests/structure/check_words.py', 'docs/CHANGELOG.md', 'docs/develop/readers.md'}


def former_in(name, text):
    """The former names in a source, but for those that it may read."""
    return [f'{name}:{number}: {word} is {FORMER[word]} now' for number, line in enumerate(text.split('\n'), 1)
            for word in WORD.findall(line.split('//')[0]) if word not in EXCEPT.get(name, ())]


def phrases_in(name, text):
    """The metaphors in a text; a line break or `//` within one does not hide it."""
    return [f'{name}:{text.count(chr(10), 0, m.start()) + 1}: "{re.sub(GAP, " ", m[0])}", say what happens: {list(PHRASES.values())[m.lastindex - 1]}'
            for m in PHRASE.finditer(text)]


def self_test():
    assert former_in('a.h', 'int way_in;  // way_out\nint away_in;\n') == ['a.h:1: way_in is request_latency now']
    assert not former_in('model/config/parameter_table.cpp', '{"sm.warp_dealing", "x"}')
    assert phrases_in('a.h', 'int x;\n// A line on\n// its way.\n') == ['a.h:2: "on its way", say what happens: in flight']
    assert phrases_in('a.cpp', 'TEST(l2, the_line_gives_way) {')[0].startswith('a.cpp:1: "gives way"')
    assert not phrases_in('a.h', '// each way of a set, in any case, is in flight; bodybuilding')


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    faults = []
    for folder in ('model', 'tlm', 'testbench', 'tests', 'configs', 'docs'):
        for path in sorted((ROOT / folder).rglob('*')):
            name = str(path.relative_to(ROOT))
            if path.suffix not in READ or name in QUOTES or not path.is_file() or '/node_modules/' in name: continue
            text = path.read_text()
            if path.suffix in ('.h', '.cpp', '.inc'): faults += former_in(name, text)
            if not name.startswith('testbench/report/licenses/'): faults += phrases_in(name, text)
    faults += phrases_in('README.md', (ROOT / 'README.md').read_text())
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
