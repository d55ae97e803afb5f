# SPDX-License-Identifier: MIT
"""Finds the places of a C++ source where one small change makes a mutant that the compiler takes.

It reads tokens, not C++: what it proposes in a place where an expression must be constant, or where the types do not fit, the compiler
refuses, and schemata.py takes it out again. Operators count as binary where there is a space on both sides, which is this project's style
and tells them from template brackets, references and signs.
"""
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)'
    r'|(?P<string>(?:u8|u|U|L)?(?:R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"))'
    r"|(?P<character>'(?:[^'\\\n]|\\.)+')"
    r"|(?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*\.?[\d']*(?:[eE][+-]?\d+)?|\.\d+)[a-zA-Z]*)"
    r'|(?P<word>[A-Za-z_]\w*)'
    r'|(?P<sign><<=|>>=|->\*|<=>|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])',
    re.S | re.M)

SWITCH = '\x1a'   # no character of a source

# What an operator becomes, the name of that change, and how tightly it binds.
SWAPS = {
    '<': ('<=', 'relation', 9), '<=': ('<', 'relation', 9), '>': ('>=', 'relation', 9), '>=': ('>', 'relation', 9),
    '==': ('!=', 'relation', 8), '!=': ('==', 'relation', 8),
    '&&': ('||', 'logic', 4), '||': ('&&', 'logic', 3),
    '+': ('-', 'arithmetic', 11), '-': ('+', 'arithmetic', 11), '*': ('/', 'arithmetic', 12), '/': ('*', 'arithmetic', 12),
    '<<': ('>>', 'bits', 10), '>>': ('<<', 'bits', 10), '&': ('|', 'bits', 7), '|': ('&', 'bits', 5),
    '+=': ('-=', 'assignment', 1), '-=': ('+=', 'assignment', 1), '|=': ('&=', 'assignment', 1), '&=': ('|=', 'assignment', 1),
}
BINDS = {**{s: b for s, (_, _, b) in SWAPS.items()}, '%': 12, '^': 6, '?': 2, ':': 2, '=': 1, '*=': 1, '/=': 1, '%=': 1, '^=': 1,
         '<<=': 1, '>>=': 1, ',': 0, ';': 0}
OPENING, CLOSING = {'(': ')', '[': ']', '{': '}'}, {')': '(', ']': '[', '}': '{'}
NO_OPERAND = {'return', 'throw', 'case', 'else', 'do', 'new', 'delete', 'co_return'}
NO_STATEMENT = {
    'return', 'throw', 'if', 'for', 'while', 'do', 'switch', 'case', 'default', 'using', 'typedef', 'static', 'const', 'constexpr', 'auto',
    'struct', 'class', 'enum', 'union', 'public', 'private', 'protected', 'template', 'friend', 'explicit', 'virtual', 'inline',
    'namespace', 'extern', 'goto', 'try', 'catch', 'static_assert', 'else', 'operator', 'unsigned', 'int', 'bool', 'char', 'double', 'float',
    'mutable', 'volatile', 'asm', 'invariant', 'static_cast'}


@dataclass
class token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class site:
    """One mutant: what stands between start and end of the source, and what replaces it, in which SWITCH stands for the mutant's switch."""
    kind: str
    start: int
    end: int
    text: str
    shown: str


class source:
    def __init__(self, text):
        self.text = text
        self.tokens = [token(m.lastgroup if m.lastgroup != 'mark' else 'string', m.group(), m.start(), m.end()) for m in TOKEN.finditer(text)
                       if m.lastgroup not in ('comment', 'directive')]
        self.partner = {}
        self.inside = []   # the innermost bracket that is open before each token
        stack = []
        for k, t in enumerate(self.tokens):
            self.inside.append(stack[-1] if stack else None)
            if t.kind != 'sign':
                continue
            if t.text in OPENING:
                stack.append(k)
            elif t.text in CLOSING and stack and OPENING[self.tokens[stack[-1]].text] == t.text:
                self.partner[k] = stack.pop()
                self.partner[self.partner[k]] = k
        self.constant = self._constant_places()

    def is_at(self, k, *texts):
        return 0 <= k < len(self.tokens) and self.tokens[k].text in texts

    def spaced(self, k):
        t = self.tokens[k]
        return 0 < t.start and self.text[t.start - 1].isspace() and t.end < len(self.text) and self.text[t.end].isspace()

    def between(self, first, last):
        """The text from token `first` to token `last`, both included."""
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def _constant_places(self):
        """Indices of tokens within what a compiler must know: constexpr, static_assert, enum, template<...>, case labels."""
        found = set()
        for k, t in enumerate(self.tokens):
            if t.kind != 'word':
                continue
            end = None
            if t.text in ('constexpr', 'enum', 'static_assert', 'alignas', 'using', 'typedef'):
                end = self._find(k, ';', '{')
                if end is not None and self.is_at(end, '{'):
                    end = self.partner.get(end, end)
            elif t.text == 'case':
                end = self._find(k, ':')
            elif t.text == 'template' and self.is_at(k + 1, '<'):
                end = self._angle_end(k + 1)
            if end is not None:
                found.update(range(k, end + 1))
        return found

    def _find(self, k, *texts):
        while k < len(self.tokens):
            if self.tokens[k].text in texts and self.tokens[k].kind == 'sign':
                return k
            k = self.partner[k] + 1 if self.is_at(k, '(', '[', '{') and k in self.partner and '{' not in texts[1:] else k + 1
        return None

    def _angle_end(self, k):
        depth = 0
        while k < len(self.tokens):
            depth += {'<': 1, '>': -1, '>>': -2}.get(self.tokens[k].text, 0)
            if depth <= 0:
                return k
            k += 1
        return None

    def run_around(self, k, binds):
        """The operands of the operator at k and of all that bind as tightly or tighter: (first token, last token), or None."""
        first = k
        while first > 0:
            p = first - 1
            t = self.tokens[p]
            if t.text in (')', ']') and p in self.partner:
                first = self.partner[p]
                continue
            if t.text in OPENING or t.text == '}' or t.text in NO_OPERAND or self._looser(p, binds):
                break
            first = p
        last = k
        while last + 1 < len(self.tokens):
            n = last + 1
            t = self.tokens[n]
            if t.text in OPENING and n in self.partner and (t.text != '{' or self.tokens[last].end == t.start):
                last = self.partner[n]
                continue
            if t.text in CLOSING or t.text == '{' or self._looser(n, binds):
                break
            last = n
        if first == k or last == k or self.is_at(first - 1, ']') or self.is_at(first, 'if', 'for', 'while'):
            return None
        return first, last

    def _looser(self, k, binds):
        t = self.tokens[k]
        if t.kind != 'sign' or t.text not in BINDS:
            return False
        if t.text in ('<', '>', '&', '*', '+', '-', '&&', '>>') and not self.spaced(k):
            return False
        return BINDS[t.text] < binds

    def operand_end(self, k):
        """The last token of the unary expression that begins at k."""
        while self.is_at(k, '*', '!', '&', '-', '~'):
            k += 1
        if self.is_at(k, '(') and k in self.partner:
            k = self.partner[k]
        elif not (k < len(self.tokens) and self.tokens[k].kind == 'word'):
            return None
        while k + 1 < len(self.tokens):
            n = k + 1
            t = self.tokens[n]
            if t.text in ('.', '->', '::') and n + 1 < len(self.tokens) and self.tokens[n + 1].kind == 'word':
                k = n + 1
            elif t.text in ('(', '[', '{') and n in self.partner and t.start == self.tokens[k].end:
                k = self.partner[n]
            elif t.text == '<' and not self.spaced(n) and t.start == self.tokens[k].end:
                k = self._angle_end(n)
                if k is None:
                    return None
            else:
                break
        return k


def squeezed(text):
    return re.sub(r'\s+', ' ', re.sub(r'//[^\n]*', '', text)).strip()


def choice(kind, s, first, last, mutated):
    text = s.between(first, last)
    return site(kind, s.tokens[first].start, s.tokens[last].end, f'({SWITCH} ? ({mutated}) : ({text}))', f'{squeezed(text)} -> {squeezed(mutated)}')


def operators(s):
    for k, t in enumerate(s.tokens):
        if t.kind != 'sign' or t.text not in SWAPS or k in s.constant or not s.spaced(k):
            continue
        other, kind, binds = SWAPS[t.text]
        run = s.run_around(k, binds)
        if run is None or (kind == 'arithmetic' and any(x.kind == 'string' for x in s.tokens[run[0]:run[1] + 1])):
            continue
        start = s.tokens[run[0]].start
        text = s.between(*run)
        yield choice(kind, s, *run, text[:t.start - start] + other + text[t.end - start:])


def constants(s):
    for k, t in enumerate(s.tokens):
        if k in s.constant or (s.is_at(k - 1, '<') and not s.spaced(k - 1)):
            continue
        if t.text in ('true', 'false') and t.kind == 'word':
            yield choice('boolean', s, k, k, 'false' if t.text == 'true' else 'true')
        match = re.fullmatch(r"(0[xX][0-9a-fA-F']+|[\d']+)([uUlL]*)", t.text) if t.kind == 'number' else None
        if match is None or (s.is_at(k - 1, '=') and s.is_at(k - 2, ')', 'const', 'override', 'noexcept')):
            continue
        digits = match[1].replace("'", '')
        value = int(digits, 16 if digits[:2].lower() == '0x' else 8 if len(digits) > 1 and digits[0] == '0' else 10)
        yield choice('constant', s, k, k, f'{value + 1}{match[2]}')
        if value > 0:
            yield choice('constant', s, k, k, f'{value - 1}{match[2]}')


def negations_and_bounds(s):
    for k, t in enumerate(s.tokens):
        if k in s.constant:
            continue
        if t.text == '!' and t.kind == 'sign':
            end = s.operand_end(k + 1)
            if end is not None:
                operand = s.between(k + 1, end)
                yield site('negation', t.start, s.tokens[end].end, f'({SWITCH} != !({operand}))', f'!{squeezed(operand)} -> {squeezed(operand)}')
        if t.text in ('min', 'max') and s.is_at(k - 1, '::') and s.is_at(k - 2, 'std'):
            n = k + 1
            if s.is_at(n, '<'):
                n = (s._angle_end(n) or n) + 1
            if s.is_at(n, '(') and n in s.partner:
                yield choice('bound', s, k - 2, s.partner[n], f'std::{"max" if t.text == "min" else "min"}' + s.text[t.end:s.tokens[s.partner[n]].end])


def is_body(s, k):
    """Whether the brace at k opens statements."""
    return s.is_at(k - 1, ')', 'const', 'else', 'do', 'override', 'noexcept', 'mutable', 'try', ';', '{', '}', ':')


def removable(s, first, last):
    """Whether the tokens, without their semicolon, are one statement that declares nothing."""
    t = s.tokens[first]
    if t.text in ('break', 'continue') and first == last:
        return True
    if t.text in NO_STATEMENT or not (t.kind == 'word' or t.text in ('++', '--', '*')):
        return False
    k, words = first, []
    while k <= last:
        if s.is_at(k, '(', '[', '{'):
            if k not in s.partner:
                return False
            words.append(s.tokens[k].text)
            k = s.partner[k] + 1
            continue
        words.append('w' if s.tokens[k].kind in ('word', 'number', 'string') else s.tokens[k].text)
        if words[-1] == 'w' and len(words) > 1 and words[-2] == 'w':
            return False   # a declaration
        if words[-1] in ('=', '+=', '-=', '|=', '&=', '*=', '^=', '<<=', '>>='):
            return not {'<', '&', '*'} & set(words[1:-1])
        k += 1
    return words[-1] in ('(', '++', '--') or words[0] in ('++', '--')


def statements(s):
    for k, t in enumerate(s.tokens):
        if k in s.constant or s.inside[k] is None or not s.is_at(s.inside[k], '{'):
            continue
        before = s.tokens[k - 1].text
        after_condition = before == ')' and k - 1 in s.partner and s.is_at(s.partner[k - 1] - 1, 'if', 'for', 'while')
        if not (before in (';', 'else') or after_condition or (before == '{' and is_body(s, k - 1)) or before == '}'):
            continue
        end = k
        while end < len(s.tokens) and not s.is_at(end, ';', '}', '{'):
            end = s.partner[end] + 1 if s.is_at(end, '(', '[') and end in s.partner else end + 1
        if s.is_at(end, ';') and end > k and removable(s, k, end - 1):
            text = s.between(k, end)
            yield site('statement', t.start, s.tokens[end].end, f'{{ if (!{SWITCH}) {{ {text} }} }}', f'{squeezed(text)} -> nothing')


def early_returns(s):
    for k, t in enumerate(s.tokens):
        if t.text != 'void' or k in s.constant or (s.text[:t.start].rsplit('\n', 1)[-1].strip() and not s.is_at(k - 1, 'override')):
            continue
        n = k + 1
        while n < len(s.tokens) and (s.tokens[n].kind == 'word' or s.is_at(n, '::')):
            n += 1
        if not s.is_at(n, '(') or n not in s.partner:
            continue
        body = s.partner[n] + 1
        while s.is_at(body, 'const', 'override', 'noexcept', 'final'):
            body += 1
        if s.is_at(body, '{') and not s.is_at(body + 1, '}'):
            at = s.tokens[body].end
            yield site('early return', at, at, f' if ({SWITCH}) return;', f'{squeezed(s.between(k + 1, n - 1))}(...) -> returns at once')


def sites_of(text):
    """All sites of a source, in the order of their places."""
    s = source(text)
    found = [x for finder in (operators, constants, negations_and_bounds, statements, early_returns) for x in finder(s)]
    return sorted(set(found), key=lambda x: (x.start, x.end, x.kind, x.shown))
