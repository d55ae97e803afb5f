#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the public member functions of every class of model/, tlm/ and testbench/, with the functions that its public
part names as friends. None has more than 30, except those that classes.txt lists with their number and a reason; that list
only shrinks. No invariant changes what it checks, and no parameter is cut off by a cast to fewer bits: narrow<T>
(heddle/config/error.h) throws instead. `check_classes.py [--all | --self-test]`

Constructors, destructors, deleted functions and inherited functions are not counted; each overload is. The sources are read as
text, so that the check needs no compiler."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MOST = 30
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                   re.S | re.M)
HEAD = re.compile(r'\b(class|struct)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*([A-Za-z_]\w*)(?:\s+final)?\s*(?::[^;{}()]*(?:\([^()]*\)[^;{}()]*)*)?\{')


def matching(text, at):
    """The place behind the bracket that closes the one at `at`."""
    opened, closed = text[at], {'{': '}', '(': ')'}[text[at]]
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == opened) - (text[i] == closed)
        if depth == 0:
            return i + 1
    return len(text)


def behind_template(text, at):
    """The place behind the <...> that begins at `at`, or `at` if it is none."""
    depth = 0
    i = at
    while i < len(text):
        if text[i] == '<':
            depth += 1
        elif text[i] == '>':
            depth -= 1
            if depth == 0:
                return i + 1
        elif text[i] == '(':
            i = matching(text, i) - 1
        elif text[i] in ';{}':
            return at
        i += 1
    return at


def function_name(declaration):
    """The name of the member function or friend that is declared, or None."""
    d = declaration.strip()
    while d.startswith('template'):
        d = d[behind_template(d, d.index('<')):].strip()
    d = re.sub(r'\[\[.*?\]\]|\b(?:alignas|decltype|noexcept|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)', ' ', d).strip()
    if not re.match(r'friend\s+(class|struct)\b', d):
        d = re.sub(r'^friend\s+', '', d)
    if re.match(r'(using|typedef|friend|static_assert)\b|(enum|class|struct|union)\b(?!\s+\w+(\s*[&*])?\s+\w+\s*\()', d):
        return None
    operator = re.search(r'\boperator\s*(\(\)|[^\s\w(]+|[\w:<>*& ]+?)\s*\(', d)
    before = d[:operator.start()] if operator else d
    if operator and '=' not in before and '(' not in before:
        return 'operator' + operator[1]
    i = 0
    while i < len(d):
        if d[i] == '<':
            end = behind_template(d, i)
            i = end if end > i else i + 1
        elif d[i] in '={':
            return None
        elif d[i] == '(':
            name = re.search(r'(~?\s*[A-Za-z_]\w*)\s*$', d[:i])
            return name[1].replace(' ', '') if name and not name[1].isupper() else None
        else:
            i += 1
    return None


def classes_in(text):
    """(name, names of its public member functions) of every class in C++ text."""
    text = NOISE.sub(lambda m: ' ' if m[0][0] not in '"\'' else '0', text)
    for head in HEAD.finditer(text):
        if text[:head.start()].rstrip().endswith('enum'):
            continue
        kind, name = head[1], head[2]
        body = text[head.end():matching(text, head.end() - 1) - 1]
        public, found, start, i = kind == 'struct', [], 0, 0
        while i < len(body):
            label = re.compile(r'\s*(public|private|protected)\s*:(?!:)').match(body, start)
            if label and i == start:
                public = label[1] == 'public'
                start = i = label.end()
                continue
            ends = False
            if body[i] == '(':
                i = matching(body, i)
                continue
            if body[i] == '{':
                i = matching(body, i)
                declaration = body[start:i]
                rest = re.compile(r'\s*([;,])').match(body, i)
                is_type = re.match(r'\s*(?:template\s*<.*?>\s*)?(class|struct|union|enum)\b', declaration)
                if rest and rest[1] == ';':
                    i, ends = rest.end(), True
                else:
                    ends = not is_type and '(' in declaration and not (rest and rest[1] == ',')
                    # A member's initialiser in a constructor is followed by the next one, or by the body.
                    if ends and re.compile(r'\s*\{').match(body, i):
                        ends = False
            elif body[i] == ';':
                declaration = body[start:i]
                i, ends = i + 1, True
            else:
                i += 1
            if not ends:
                continue
            called = function_name(declaration) if public else None
            if called and called.lstrip('~') != name and not re.search(r'=\s*delete\s*$', declaration.strip().rstrip(';')):
                found.append(called)
            start = i
        yield name, found


def effects_in(text):
    """The invariants of C++ text whose condition increments, decrements or assigns."""
    text = NOISE.sub(lambda m: ' ' if m[0][0] not in '"\'' else '0', text)
    for call in re.finditer(r'\binvariant\s*\(', text):
        condition = text[call.end() - 1:matching(text, call.end() - 1)]
        if re.search(r'\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=', re.sub(r'\[=\]', '', condition)):
            yield ' '.join(condition.split())


def cuts_in(text):
    """The casts to 8 or 16 bits of C++ text whose operand is a parameter or computed from one."""
    text = NOISE.sub(lambda m: ' ' if m[0][0] not in '"\'' else '0', text)
    for cast in re.finditer(r'\bstatic_cast<(?:std::u?int(?:8|16)_t|(?:unsigned )?(?:char|short))>\s*\(', text):
        operand = text[cast.end() - 1:matching(text, cast.end() - 1)]
        if re.search(r'\b(?:config|parameters|timing)_?(?:\.|->|\(\)\.)\w', operand):
            yield ' '.join((cast[0][:-1] + operand).split())


SAMPLE = '''
// class commented { public: int f(); };
template <class T> class sample : public base<int, 3>, private other {
 public:
  explicit sample(int a) : a_{a}, b_(f(a)) {}
  sample(const sample&) = delete;
  ~sample() override;
  int one() const { return "};"[0]; }
  template <class U> void two(U u) const;
  static std::function<void(int)> three(int x = g());
  bool operator==(const sample& o) const { return a_ == o.a_; }
  void operator()(int) const;
  std::function<void(int)> member;
  int initialised = f(3);
  std::array<int, 4> braces{f(1)};
  alignas(64) int aligned;
  struct nested { void inner(); int x; } placed;
  enum class kind { a, b };
  using type = int (*)(int);
  friend bool equal(const sample&, const sample&);
  friend class other;
  tlm::phase& four(int) override;
  SC_HAS_PROCESS(sample);
 protected:
  int hidden();
 public:
  auto five() const { return [this](int s) { return s; }; }
 private:
  void also_hidden();
  int a_, b_;
};
'''


def self_test():
    found = dict(classes_in(SAMPLE))
    effects = [f'invariant({c}, "a = b");' for c in ('++n <= 3', 'n-- > 0', 'a = b', '(a |= b) != 0', '(a <<= 1) != 0')]
    for c in effects:
        assert len(list(effects_in(c))) == 1, c
    for c in ('a == b', 'a <= b && c >= d', 'a != b', 'f(a - -b)', 'std::all_of(a, b, [=](int k) { return k < n; })'):
        assert not list(effects_in(f'invariant({c}, "++a = b--");  // ++a')), c
    for c in ('config_.fp32.latency_cycles', '2 * (config.sm.warps + 1)', 'gpu.config().sm.warps', 'parameters.a'):
        assert len(list(cuts_in(f'x = static_cast<std::uint16_t>({c});'))) == 1, c
    for c in ('static_cast<std::uint64_t>(config.a)', 'narrow<std::uint8_t>(config.a)', 'static_cast<std::uint8_t>(mask & 3)'):
        assert not list(cuts_in(c)), c
    assert found == {'sample': ['one', 'two', 'three', 'operator==', 'operator()', 'equal', 'four', 'five'], 'nested': ['inner']}, found


def main():
    self_test()
    if '--self-test' in sys.argv:
        return 0
    allowed = {}
    for line in (ROOT / 'tests/structure/classes.txt').read_text().split('\n'):
        words = line.split('#')[0].split(None, 2)
        if words:
            allowed[words[0]] = int(words[1])
    faults, seen = [], set()
    for folder in ('model', 'tlm', 'testbench'):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix not in ('.h', '.cpp') or not path.is_file():
                continue
            for condition in effects_in(path.read_text()):
                faults.append(f'{path.relative_to(ROOT)}: an invariant has a side effect: {condition}')
            for cast in cuts_in(path.read_text()):
                faults.append(f'{path.relative_to(ROOT)}: a parameter may be cut off, expected narrow<T>: {cast}')
            for name, functions in classes_in(path.read_text()):
                at = f'{path.relative_to(ROOT)}:{name}'
                if '--all' in sys.argv:
                    print(len(functions), at)
                if len(functions) > allowed.get(at, MOST):
                    faults.append(f'{at}: {len(functions)} public functions, at most {allowed.get(at, MOST)}: {", ".join(functions)}')
                elif at in allowed and len(functions) < allowed[at]:
                    faults.append(f'{at}: classes.txt allows {allowed[at]} public functions, it has {len(functions)}')
                if at in allowed:
                    seen.add(at)
    faults += [f'{at}: classes.txt names it, it is not there' for at in allowed if at not in seen]
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
