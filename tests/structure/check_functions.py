#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures every function of model/, tlm/ and testbench/, from its declaration to its closing bracket. None has more than 60 lines,
except those that functions.txt lists with their number and a reason; that list only shrinks. `check_functions.py [--all | --self-test]`

Lambdas count as part of the function around them. The sources are read as text, so that the check needs no compiler."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MOST = 60
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                   re.S | re.M)


def matching(text, at):
    """The place behind the bracket that closes the one at `at`."""
    opened, closed = text[at], {'{': '}', '(': ')'}[text[at]]
    depth = 0
    for found in re.compile(f'[{re.escape(opened + closed)}]').finditer(text, at):
        depth += 1 if found[0] == opened else -1
        if depth == 0:
            return found.end()
    return len(text)


def function_name(declaration):
    """The name of the function whose body follows `declaration`, or None if it is no function."""
    d = re.sub(r'\[\[.*?\]\]|\b(?:alignas|decltype|noexcept|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)', ' ', declaration)
    operator = re.search(r'\boperator\s*(\(\)|[^\s\w(]+|[\w:<>*& ]+?)\s*\(', d)
    if operator:
        return 'operator' + operator[1].strip()
    name = re.search(r'([A-Za-z_~][\w:~]*(?:<[^<>()]*>)?(?:::~?\w+)?)\s*\(', d)
    if not name or '=' in d[:name.start()]:
        return None
    return name[1]


def functions_in(text):
    """(name, lines) of every function in C++ text, its own line breaks included."""
    text = NOISE.sub(lambda m: ('0' if m[0][0] in '"\'R' else ' ') + '\n' * m[0].count('\n'), text)
    start = i = 0
    while i < len(text):
        c = text[i]
        if c == '(':
            i = matching(text, i)
        elif c in ';}':
            i += 1
            start = i
        elif c == '{':
            declaration = text[start:i]
            head = re.sub(r'^\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*', '', declaration)
            without_template = re.sub(r'^template\s*<(?:[^<>]|<[^<>]*>)*>\s*', '', head)
            if re.match(r'(?:inline\s+)?namespace\b|extern\s+0\s*$|(class|struct|union)\b(?!.*\)\s*(?:const|noexcept|\s)*$)', without_template, re.S):
                i += 1  # what is within is examined as well
                start = i
                continue
            end = matching(text, i)
            name = function_name(head)
            after = re.compile(r'\s*([{,;])').match(text, end)
            if name and after and after[1] in '{,' and re.search(r'\)\s*(?:noexcept\s*)?:(?!:)', head):
                i = end  # a member's initialiser in a constructor
                continue
            if name:
                begin = start + len(declaration) - len(declaration.lstrip())
                yield name, text.count('\n', begin, end) + 1
            i = end
            start = i
        else:
            i += 1


SAMPLE = '''
namespace one { namespace {
// int commented() { }
const int table[] = {1, 2};
template <class T> T plain(T a, int b = f(2)) {
  auto inner = [&](int c) { return c; };
  for (;;) { }
  return a;
}
}
struct shape : base<int> {
  shape(int a) : a_{a}, b_(a), c_{1} {
  }
  ~shape() override { }
  bool operator==(const shape&) const { return true;
  }
 private:
  enum class kind { a, b };
  int short_one() const { return "{{"[0]; }
  int a_ = 3, b_{4}, c_;
};
shape::shape(const shape& o)
    : a_(o.a_),
      b_{1} {
  /* a
     b */
}
}  // namespace
'''


def self_test():
    found = list(functions_in(SAMPLE))
    expected = [('plain', 5), ('shape', 2), ('~shape', 1), ('operator==', 2), ('short_one', 1), ('shape::shape', 6)]
    assert found == expected, found


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    allowed = {}
    for line in (ROOT / 'tests/structure/functions.txt').read_text().split('\n'):
        words = line.split('#')[0].split()
        if words:
            allowed[words[0]] = None if words[1] == 'table' else int(words[1])
    faults, longest = [], {}
    for folder in ('model', 'tlm', 'testbench'):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix not in ('.h', '.cpp') or not path.is_file():
                continue
            for name, lines in functions_in(path.read_text()):
                at = f'{path.relative_to(ROOT)}:{name}'
                longest[at] = max(lines, longest.get(at, 0))
    for at, lines in longest.items():
        if '--all' in sys.argv:
            print(lines, at)
        if at in allowed and allowed[at] is None:
            if lines <= MOST:
                faults.append(f'{at}: functions.txt calls it a table, it has {lines} lines')
        elif lines > allowed.get(at, MOST):
            faults.append(f'{at}: {lines} lines, at most {allowed.get(at, MOST)}')
        elif at in allowed and lines < allowed[at]:
            faults.append(f'{at}: functions.txt allows {allowed[at]} lines, it has {lines}')
    faults += [f'{at}: functions.txt names it, it is not there' for at in allowed if at not in longest]
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
