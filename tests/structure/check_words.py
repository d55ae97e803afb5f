#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No text of sources, tests, configurations and pages, comments included, has one of the former names for which the field has a term, no
identifier of the sources is made of a former word, and no text has a metaphor in place of a term. `check_words.py [--self-test]`"""
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
# Words that an identifier of model/, tlm/ and testbench/ is not made of: "bulk_piece", "ahead_until". In sentences they may stand.
WORDS = {
    'piece': 'segment, chunk', 'pieces': 'segments, chunks', 'ahead': 'window, lookahead, offset', 'turn': 'window, pass, iteration',
    'turns': 'windows, passes, iterations', 'look': 'sample, find, visit', 'looks': 'samples', 'looked': 'sampled', 'looking': 'search',
    'deal': 'assign, process', 'deals': 'assigns', 'dealt': 'assigned', 'dealing': 'assignment', 'tell': 'notify', 'tells': 'notifies',
    'told': 'notified', 'way': 'route, path, direction', 'ways': 'paths, exits', 'asker': 'initiator',
}
# The same words in a term of the field, in a fixed name of the library, and in keys and metrics that users' files have.
WORDS_EXCEPT = re.compile(r'look_ups?|look_up_\w+|\w+_look_ups|simulates?_ahead|release_ahead|atomic_turns|convergence_patience_turns|warp_dealing')
# Where `way` is that of a set-associative memory.
WAYS = ('model/config/', 'model/memory/', 'model/sub_partition/fetch/', 'testbench/parts/')
# Metaphors and their terms, in names (with _ for blanks), comments, messages and pages.
PHRASES = {
    'on (?:its|their) way': 'in flight', 'gives? way': 'is evicted, is replaced, yields', 'takes? turns': 'round robin, serialised',
    'nobody': 'no unit, no thread', 'whoever': 'the caller, any process', 'ways? out': 'exit', 'come by a way': 'route',
    'hears? (?:of|no more)': 'is notified', 'is told of': 'is notified of', 'goes? round': 'visits, loops', 'passes? the l1 by': 'bypasses',
    'pieces?': 'segment, chunk, part', 'somebody|anybody': 'a thread, a caller', 'under way': 'in flight, not complete',
    '(?:look|looks|looked|looking) (?:at|again|anew)': 'sample, read, check, examine', '(?:is|are|was|were|has|have) told(?! (?:from|apart))': 'is notified of',
    '(?:on|by) (?:all|every) ways?': 'path', 'ways? (?:back|there)': 'return, route', 'deals?|dealt': 'assign, process',
    'askers?': 'initiator', 'passages?': 'code sequence',
    'beats greed': 'beats greedy-then-oldest', 'fares? as with': 'is accepted or refused as by', 'comes? back (?:from a context|where)': 'is restored',
}
READ = ('.h', '.cpp', '.inc', '.cu', '.ptx', '.py', '.sh', '.md', '.ini', '.txt', '.js', '.mjs')
# Where a former name is still read.
EXCEPT = {name: {'warp_dealing'} for name in (
    'model/config/config.h', 'model/config/parameter_table.cpp', 'model/config/parameter_table.h', 'tests/system/command_line/summary_test.cpp', 'tests/system/correlate/correlate_test.cpp',
    'tests/system/sweep/sweep_test.cpp', 'tests/unit/config/config_test.cpp')}
WORD = re.compile(r'\b(' + '|'.join(FORMER) + r')\b')
IDENTIFIER = re.compile(r'\b[a-z][a-z0-9_]*\b')
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
GAP = r'(?: |_|\s*\n\s*(?:///?|#|;)?\s*)'
PHRASE = re.compile('(?<![a-z])(?:' + '|'.join('(' + p.replace(' ', GAP) + ')' for p in PHRASES) + ')(?![a-z])', re.IGNORECASE)
# What quotes former words: this list, its history, and sentences before and after their rewriting.
# later.js: its page is built with Node.js, and would have to be built again.
QUOTES = {'tests/structure/check_words.py', 'testbench/report/page/src/later.js', 'docs/CHANGELOG.md', 'docs/develop/readers.md'}


def former_in(name, text):
    """The former names in a text, but for those that it may read."""
    return [f'{name}:{number}: {word} is {FORMER[word]} now' for number, line in enumerate(text.split('\n'), 1)
            for word in WORD.findall(line) if word not in EXCEPT.get(name, ())]


def words_in(name, text):
    """The identifiers of a source that have a former word. What is quoted and comments are sentences."""
    return [f'{name}:{number}: {identifier}, say {WORDS[word]}' for number, line in enumerate(text.split('\n'), 1)
            for identifier in IDENTIFIER.findall(QUOTED.sub('', line).split('//')[0]) if not WORDS_EXCEPT.fullmatch(identifier)
            for word in identifier.split('_') if word in WORDS and not (word in ('way', 'ways') and name.startswith(WAYS))]


def phrases_in(name, text):
    """The metaphors in a text; a line break or `//` within one does not hide it."""
    return [f'{name}:{text.count(chr(10), 0, m.start()) + 1}: "{re.sub(GAP, " ", m[0])}", say what happens: {list(PHRASES.values())[m.lastindex - 1]}'
            for m in PHRASE.finditer(text)]


def self_test():
    assert former_in('a.h', 'int way_in;  // way_out\nint away_in;\n') == ['a.h:1: way_in is request_latency now',
                                                                          'a.h:1: way_out is response_latency now']
    assert not former_in('model/config/parameter_table.cpp', '{"sm.warp_dealing", "x"}')
    assert words_in('model/a.h', 'int ahead_until, lookahead, turns_;  // a turn\ncall("look", look_up(way));') == [
        'model/a.h:1: ahead_until, say window, lookahead, offset', 'model/a.h:1: turns_, say windows, passes, iterations',
        'model/a.h:2: way, say route, path, direction']
    assert not words_in('model/memory/a.h', 'unsigned ways_; void simulate_ahead();')
    assert phrases_in('a.md', 'Reads are\nlooked at.')[0].startswith('a.md:2: "looked at"')
    assert not phrases_in('a.md', 'It looks up the line, and looks for races. It is ahead of time, in turn.')
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
            if path.suffix in ('.h', '.cpp', '.inc') and folder in ('model', 'tlm', 'testbench'): faults += words_in(name, text)
            faults += former_in(name, text)
            if not name.startswith('testbench/report/licenses/'): faults += phrases_in(name, text)
    for name in ('README.md', 'CMakeLists.txt'): faults += phrases_in(name, (ROOT / name).read_text())
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
