# SPDX-License-Identifier: MIT
"""PTX for the kernels of Triton's tutorials, in the form that Triton 3 emits: values of f32 in .b32 registers, predicated vector accesses
and tensor instructions as inline assembly, dynamic shared memory `global_smem`, `.reqntid`, pointers to scratch memory behind the
parameters. A function makes the text for a block size and a number of warps:
KERNELS[name](name, parameters, constants, warps, arch, scratch)."""


class Text:
    """The text of a kernel. `parameters` are (name, Triton's type)."""

    def __init__(self, name, parameters, warps, arch, scratch):
        self.name, self.parameters, self.warps, self.arch, self.scratch = name, parameters, warps, arch, scratch
        self.lines, self.counts, self.labels = [], {'r': 0, 'rd': 0, 'p': 0}, 0
        self.threads = 32 * warps
        self.tid, self.lane, self.warp = self.new('mov.u32', '%tid.x'), None, None

    def register(self, kind='r'):
        self.counts[kind] += 1
        return f'%{kind}{self.counts[kind]}'

    def line(self, text):
        self.lines.append(f'\t{text}')

    def new(self, opcode, *operands, kind='r'):
        """A new register with the result of an instruction."""
        target = self.register(kind)
        self.line(f'{opcode} \t{", ".join([target, *map(str, operands)])};')
        return target

    def inline(self, *lines):
        self.lines += ['\t// begin inline asm', *(f'\t{line}' for line in lines), '\t// end inline asm']

    def label(self):
        self.labels += 1
        return f'$L__BB0_{self.labels}'

    def parameter(self, name):
        number = [n for n, _ in self.parameters].index(name)
        wide = self.parameters[number][1].startswith('*')
        return self.new('ld.param.b64' if wide else 'ld.param.b32', f'[{self.name}_param_{number}]', kind='rd' if wide else 'r')

    def lanes(self):
        self.lane, self.warp = self.new('and.b32', self.tid, 31), self.new('shr.u32', self.tid, 5)

    def address(self, base, index, size):
        return self.new('add.s64', base, self.new('mul.wide.s32', index, size, kind='rd'), kind='rd')

    def load(self, address, predicate, count=1, other='0x0', offset=0):
        values = [self.register() for _ in range(count)]
        vector = f'.v{count}' if count > 1 else ''
        self.inline(*(f'mov.u32 {v}, {other};' for v in values),
                    f'@{predicate} ld.global{vector}.b32 {{ {", ".join(values)} }}, [ {address} + {offset} ];')
        return values

    def store(self, address, predicate, values, offset=0):
        vector = f'.v{len(values)}' if len(values) > 1 else ''
        self.inline(f'@{predicate} st.global{vector}.b32 [ {address} + {offset} ], {{ {", ".join(values)} }};')

    def shared(self):
        return self.new('mov.b32', 'global_smem')

    def over_warp(self, value, opcode, distances=(16, 8, 4, 2, 1)):
        for distance in distances:
            other = self.new('shfl.sync.bfly.b32', value, distance, 31, -1)
            value = self.new(opcode, value, other)
        return value

    def over_block(self, value, opcode):
        """The reduction over all threads, through shared memory."""
        value = self.over_warp(value, opcode)
        base = self.shared()
        mine = self.new('add.s32', base, self.new('shl.b32', self.warp, 2))
        first = self.new('setp.eq.b32', self.lane, 0, kind='p')
        self.line('bar.sync \t0;')
        self.inline(f'@{first} st.shared.b32 [ {mine} + 0 ], {{ {value} }};')
        self.line('bar.sync \t0;')
        place = self.new('add.s32', base, self.new('shl.b32', self.new('and.b32', self.lane, self.warps - 1), 2))
        parts = self.new('ld.shared.b32', f'[{place}]')
        return self.over_warp(parts, opcode, [d for d in (16, 8, 4, 2, 1) if d < self.warps])

    def copy(self, shared, address, size):
        """16 bytes from global to shared memory; `size` is a register with 16 or 0."""
        self.inline(f'cp.async.cg.shared.global [ {shared} + 0 ], [ {address} + 0 ], 0x10, {size};')

    def matrices(self, address, trans=False):
        values = [self.register() for _ in range(4)]
        self.inline(f'ldmatrix.sync.aligned.m8n8.x4{".trans" if trans else ""}.shared.b16 {{ {", ".join(values)} }}, [ {address} + 0 ];')
        return values

    def multiply(self, c, a, b):
        d = ', '.join(c)
        self.inline(f'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{ {d} }}, {{ {", ".join(a)} }}, {{ {", ".join(b)} }}, {{ {d} }};')

    def zeros(self, count):
        return [self.new('mov.b32', '0f00000000') for _ in range(count)]

    def finish(self):
        """The module's text."""
        kinds = [kind for _, kind in self.parameters] + ['*i8'] * self.scratch
        types = {'*': '.u64 .ptr .global .align 1', 'f': '.f32', 'i': '.u32', 'u': '.u32'}
        declared = ',\n'.join(f'\t.param {types[kind[0]]} {self.name}_param_{n}' for n, kind in enumerate(kinds))
        registers = {'p': '.pred', 'r': '.b32', 'rd': '.b64'}
        head = ['//', '// Generated for a test, in the form of LLVM\'s NVPTX Back-End', '//', '', '.version 8.4',
                f'.target sm_{self.arch}' + 'a' * (self.arch >= 90), '.address_size 64', '', f'\t// .globl\t{self.name}',
                '.extern .shared .align 16 .b8 global_smem[];', '', f'.visible .entry {self.name}(', declared, ')',
                f'.reqntid {self.threads}, 1, 1', '{']
        head += [f'\t.reg {registers[k]} \t%{k}<{n + 1}>;' for k, n in self.counts.items() if n]
        return '\n'.join(head + ['$L__func_begin0:', ''] + self.lines + ['\tret;', '$L__func_end0:', '}', ''])


def add(name, parameters, constants, warps, arch, scratch):
    t = Text(name, parameters, warps, arch, scratch)
    x, y, out, n = (t.parameter(p) for p in ('x_ptr', 'y_ptr', 'output_ptr', 'n_elements'))
    block = constants['BLOCK_SIZE']
    start = t.new('mul.lo.s32', t.new('mov.u32', '%ctaid.x'), block)
    first = t.new('add.s32', start, t.new('shl.b32', t.tid, 2))
    for group in range(block // (4 * t.threads)):
        at = t.new('add.s32', first, group * 4 * t.threads)
        inside = t.new('setp.lt.s32', at, n, kind='p')
        a, b = t.load(t.address(x, at, 4), inside, 4), t.load(t.address(y, at, 4), inside, 4)
        t.store(t.address(out, at, 4), inside, [t.new('add.f32', p, q) for p, q in zip(a, b)])
    return t.finish(), 0


def row_of(t, block, columns):
    """The columns of a thread, and whether they are inside."""
    at = [t.new('add.s32', t.tid, i * t.threads) for i in range(block // t.threads)]
    return at, [t.new('setp.lt.s32', a, columns, kind='p') for a in at]


def softmax(name, parameters, constants, warps, arch, scratch):
    t = Text(name, parameters, warps, arch, scratch)
    t.lanes()
    out, source, in_stride, out_stride, n = (
        t.parameter(p) for p in ('output_ptr', 'input_ptr', 'input_row_stride', 'output_row_stride', 'n_cols'))
    row = t.new('mov.u32', '%ctaid.x')
    at, inside = row_of(t, constants['BLOCK_SIZE'], n)
    base = t.address(source, t.new('mul.lo.s32', row, in_stride), 4)
    values = [t.load(t.address(base, a, 4), p, other='0xff800000')[0] for a, p in zip(at, inside)]
    largest = values[0]
    for value in values[1:]:
        largest = t.new('max.f32', largest, value)
    largest = t.over_block(largest, 'max.f32')
    powers = [t.new('ex2.approx.f32', t.new('mul.f32', t.new('sub.f32', v, largest), '0f3FB8AA3B')) for v in values]
    total = powers[0]
    for power in powers[1:]:
        total = t.new('add.f32', total, power)
    total = t.over_block(total, 'add.f32')
    base = t.address(out, t.new('mul.lo.s32', row, out_stride), 4)
    for a, p, power in zip(at, inside, powers):
        t.store(t.address(base, a, 4), p, [t.new('div.full.f32', power, total)])
    return t.finish(), 4 * warps


def layer_norm(name, parameters, constants, warps, arch, scratch):
    t = Text(name, parameters, warps, arch, scratch)
    t.lanes()
    x, y, w, b, mean_to, rstd_to, stride, n, eps = (t.parameter(p) for p in ('X', 'Y', 'W', 'B', 'Mean', 'Rstd', 'stride', 'N', 'eps'))
    row = t.new('mov.u32', '%ctaid.x')
    at, inside = row_of(t, constants['BLOCK_SIZE'], n)
    start = t.new('mul.lo.s32', row, stride)
    base = t.address(x, start, 4)
    values = [t.load(t.address(base, a, 4), p)[0] for a, p in zip(at, inside)]

    def mean(terms):
        total = terms[0]
        for term in terms[1:]:
            total = t.new('add.f32', total, term)
        return t.new('div.full.f32', t.over_block(total, 'add.f32'), t.new('cvt.rn.f32.s32', n))
    middle = mean(values)
    away = [t.new('selp.f32', t.new('sub.f32', v, middle), '0f00000000', p) for v, p in zip(values, inside)]
    variance = mean([t.new('mul.f32', d, d) for d in away])
    rstd = t.new('div.full.f32', '0f3F800000', t.new('sqrt.approx.f32', t.new('add.f32', variance, eps)))
    first = t.new('setp.eq.b32', t.tid, 0, kind='p')
    t.store(t.address(mean_to, row, 4), first, [middle])
    t.store(t.address(rstd_to, row, 4), first, [rstd])
    base = t.address(y, start, 4)
    for a, p, d in zip(at, inside, away):
        scale, shift = t.load(t.address(w, a, 4), p)[0], t.load(t.address(b, a, 4), p)[0]
        t.store(t.address(base, a, 4), p, [t.new('fma.rn.f32', t.new('mul.f32', d, rstd), scale, shift)])
    return t.finish(), 4 * warps


def swizzled(t, base, row, chunk, row_bytes):
    """The address of 16 bytes of a row in shared memory; chunks of neighbouring rows are exchanged, so that banks differ."""
    moved = t.new('xor.b32', chunk, t.new('and.b32', row, min(7, row_bytes // 16 - 1)))
    return t.new('add.s32', base, t.new('mad.lo.s32', row, row_bytes, t.new('shl.b32', moved, 4)))


def fragments_a(t, base, row, chunk, row_bytes):
    """16 x 16 halves from rows `row` and chunk `chunk` on, as operand A."""
    at = t.new('add.s32', t.new('and.b32', t.lane, 15), row)
    return t.matrices(swizzled(t, base, at, t.new('add.s32', t.new('shr.u32', t.lane, 4), chunk), row_bytes))


def fragments_b(t, base, row, chunk, row_bytes):
    """16 rows of k and 16 columns of n, as two operands B."""
    at = t.new('add.s32', t.new('and.b32', t.lane, 15), row)
    values = t.matrices(swizzled(t, base, at, t.new('add.s32', t.new('shr.u32', t.lane, 4), chunk), row_bytes), trans=True)
    return values[:2], values[2:]


def both(t, first, second):
    return t.new('and.pred', first, second, kind='p')


def half_pair(t, low, high):
    return t.new('cvt.rn.f16x2.f32', high, low)


def tile(t, shared, source, rows, row_bytes, first_row, stride, column, limits=None):
    """Copies rows of a matrix of halves to shared memory. `limits` are the numbers of rows and columns, beyond which there are zeros."""
    chunks = row_bytes // 16
    for i in range(rows * chunks // t.threads):
        c = t.new('add.s32', t.tid, i * t.threads)
        row, chunk = t.new('div.u32', c, chunks), t.new('rem.u32', c, chunks)
        at, over = t.new('add.s32', first_row, row), t.new('add.s32', column, t.new('shl.b32', chunk, 3))
        size = t.new('mov.b32', 16)
        if limits:
            inside = both(t, t.new('setp.lt.s32', at, limits[0], kind='p'), t.new('setp.lt.s32', over, limits[1], kind='p'))
            size = t.new('selp.b32', 16, 0, inside)
        t.copy(swizzled(t, shared, row, chunk, row_bytes), t.address(source, t.new('mad.lo.s32', at, stride, over), 2), size)


def matmul(name, parameters, constants, warps, arch, scratch):
    """Four warps, 2 x 2; two stages of A and B in shared memory."""
    if warps != 4:
        raise ValueError(f'num_warps: got {warps}, expected 4')
    t = Text(name, parameters, warps, arch, scratch)
    t.lanes()
    bm, bn, bk = (constants[f'BLOCK_SIZE_{x}'] for x in 'MNK')
    a, b, c, m, n, k, stride_a, stride_b, stride_c = (
        t.parameter(p) for p in ('a_ptr', 'b_ptr', 'c_ptr', 'M', 'N', 'K', 'stride_am', 'stride_bk', 'stride_cm'))
    across = t.new('div.s32', t.new('add.s32', n, bn - 1), bn)
    pid = t.new('mov.u32', '%ctaid.x')
    row0, column0 = t.new('mul.lo.s32', t.new('div.s32', pid, across), bm), t.new('mul.lo.s32', t.new('rem.s32', pid, across), bn)
    base, stage_bytes = t.shared(), 2 * (bm + bn) * bk
    down, over = bm // 32, bn // 16  # tiles of 16 rows and of 8 columns, of each warp
    sums = [[t.zeros(4) for _ in range(over)] for _ in range(down)]

    def fetch(stage, k0):
        tile(t, stage, a, bm, 2 * bk, row0, stride_a, k0, (m, k))
        tile(t, t.new('add.s32', stage, 2 * bm * bk), b, bk, 2 * bn, k0, stride_b, column0, (k, n))
        t.inline('cp.async.commit_group ;')
    k0, here = t.new('mov.b32', 0), t.new('mov.b32', base)
    fetch(here, k0)
    row_of_warp = t.new('mul.lo.s32', t.new('shr.u32', t.warp, 1), bm // 2)
    chunk_of_warp = t.new('mul.lo.s32', t.new('and.b32', t.warp, 1), bn // 16)
    loop = t.label()
    t.lines.append(f'{loop}:')
    t.line('bar.sync \t0;')
    following = t.new('add.s32', k0, bk)
    there = t.new('sub.s32', t.new('add.s32', t.new('shl.b32', base, 1), stage_bytes), here)
    fetch(there, following)
    t.inline('cp.async.wait_group 0x1;')
    t.line('bar.sync \t0;')
    b_base = t.new('add.s32', here, 2 * bm * bk)
    for step in range(bk // 16):
        left = [fragments_a(t, here, t.new('add.s32', row_of_warp, 16 * i), 2 * step, 2 * bk) for i in range(down)]
        for j in range(over // 2):
            right = fragments_b(t, b_base, 16 * step, t.new('add.s32', chunk_of_warp, 2 * j), 2 * bn)
            for i in range(down):
                t.multiply(sums[i][2 * j], left[i], right[0])
                t.multiply(sums[i][2 * j + 1], left[i], right[1])
    t.line(f'mov.b32 \t{k0}, {following};')
    t.line(f'mov.b32 \t{here}, {there};')
    again = t.new('setp.lt.s32', k0, k, kind='p')
    t.line(f'@{again} bra \t{loop};')
    t.inline('cp.async.wait_group 0x0;')
    row = t.new('add.s32', t.new('add.s32', row0, row_of_warp), t.new('shr.u32', t.lane, 2))
    pair = t.new('shl.b32', t.new('and.b32', t.lane, 3), 1)
    column = t.new('add.s32', t.new('add.s32', column0, t.new('shl.b32', chunk_of_warp, 3)), pair)
    for i in range(down):
        for j in range(over):
            for half in (0, 1):
                r, q = t.new('add.s32', row, 16 * i + 8 * half), t.new('add.s32', column, 8 * j)
                inside = both(t, t.new('setp.lt.s32', r, m, kind='p'), t.new('setp.lt.s32', q, n, kind='p'))
                t.store(t.address(c, t.new('mad.lo.s32', r, stride_c, q), 2), inside, [half_pair(t, *sums[i][j][2 * half:2 * half + 2])])
    return t.finish(), 2 * stage_bytes


def attention(name, parameters, constants, warps, arch, scratch):
    """Flash attention without a mask: each warp has 16 rows of Q, and passes over K and V in blocks of BLOCK_N rows."""
    t = Text(name, parameters, warps, arch, scratch)
    t.lanes()
    bm, bn, dim = constants['BLOCK_M'], constants['BLOCK_N'], constants['HEAD_DIM']
    assert bm == 16 * warps
    q, k, v, out, scale, n = (t.parameter(p) for p in ('Q', 'K', 'V', 'Out', 'sm_scale', 'N_CTX'))
    head = t.new('mul.lo.s32', t.new('mul.lo.s32', t.new('mov.u32', '%ctaid.y'), n), dim)
    q, k, v, out = (t.address(p, head, 2) for p in (q, k, v, out))
    scale = t.new('mul.f32', scale, '0f3FB8AA3B')
    base, zero, width = t.shared(), t.new('mov.b32', 0), t.new('mov.b32', dim)
    k_base, v_base = t.new('add.s32', base, 2 * bm * dim), t.new('add.s32', base, 2 * (bm + bn) * dim)
    row0 = t.new('mul.lo.s32', t.new('mov.u32', '%ctaid.x'), bm)
    row_of_warp = t.new('shl.b32', t.warp, 4)
    tile(t, base, q, bm, 2 * dim, row0, width, zero)
    t.inline('cp.async.commit_group ;')
    t.inline('cp.async.wait_group 0x0;')
    t.line('bar.sync \t0;')
    queries = [fragments_a(t, base, row_of_warp, 2 * i, 2 * dim) for i in range(dim // 16)]
    most, total = [t.new('mov.b32', '0fFF800000') for _ in range(2)], t.zeros(2)
    sums = [t.zeros(4) for _ in range(dim // 8)]
    start, loop = t.new('mov.b32', 0), t.label()
    t.lines.append(f'{loop}:')
    tile(t, k_base, k, bn, 2 * dim, start, width, zero)
    tile(t, v_base, v, bn, 2 * dim, start, width, zero)
    t.inline('cp.async.commit_group ;')
    t.inline('cp.async.wait_group 0x0;')
    t.line('bar.sync \t0;')
    scores = [t.zeros(4) for _ in range(bn // 8)]
    for i in range(dim // 16):
        for j in range(bn // 16):
            row = t.new('add.s32', t.new('and.b32', t.lane, 7), t.new('add.s32', t.new('shl.b32', t.new('shr.u32', t.lane, 4), 3), 16 * j))
            chunk = t.new('add.s32', t.new('and.b32', t.new('shr.u32', t.lane, 3), 1), 2 * i)
            keys = t.matrices(swizzled(t, k_base, row, chunk, 2 * dim))
            t.multiply(scores[2 * j], queries[i], keys[:2])
            t.multiply(scores[2 * j + 1], queries[i], keys[2:])
    scaled = [[t.new('mul.f32', s, scale) for s in four] for four in scores]
    for half in (0, 1):
        largest = most[half]
        for four in scaled:
            for s in four[2 * half:2 * half + 2]:
                largest = t.new('max.f32', largest, s)
        largest = t.over_warp(largest, 'max.f32', (2, 1))
        less = t.new('ex2.approx.f32', t.new('sub.f32', most[half], largest))
        t.line(f'mul.f32 \t{total[half]}, {total[half]}, {less};')
        for four in scaled:
            for s in four[2 * half:2 * half + 2]:
                t.line(f'sub.f32 \t{s}, {s}, {largest};')
                t.line(f'ex2.approx.f32 \t{s}, {s};')
                t.line(f'add.f32 \t{total[half]}, {total[half]}, {s};')
        for four in sums:
            for s in four[2 * half:2 * half + 2]:
                t.line(f'mul.f32 \t{s}, {s}, {less};')
        t.line(f'mov.b32 \t{most[half]}, {largest};')
    for i in range(bn // 16):
        pair = [half_pair(t, *four[2 * half:2 * half + 2]) for four in scaled[2 * i:2 * i + 2] for half in (0, 1)]
        for j in range(dim // 16):
            values = fragments_b(t, v_base, 16 * i, 2 * j, 2 * dim)
            t.multiply(sums[2 * j], pair, values[0])
            t.multiply(sums[2 * j + 1], pair, values[1])
    t.line('bar.sync \t0;')
    t.line(f'add.s32 \t{start}, {start}, {bn};')
    again = t.new('setp.lt.s32', start, n, kind='p')
    t.line(f'@{again} bra \t{loop};')
    row = t.new('add.s32', t.new('add.s32', row0, row_of_warp), t.new('shr.u32', t.lane, 2))
    column = t.new('shl.b32', t.new('and.b32', t.lane, 3), 1)
    for half in (0, 1):
        whole = t.over_warp(total[half], 'add.f32', (2, 1))
        r = t.new('add.s32', row, 8 * half)
        inside = t.new('setp.lt.s32', r, n, kind='p')
        for j, four in enumerate(sums):
            low, high = (t.new('div.full.f32', s, whole) for s in four[2 * half:2 * half + 2])
            at = t.new('mad.lo.s32', r, dim, t.new('add.s32', column, 8 * j))
            t.store(t.address(out, at, 2), inside, [half_pair(t, low, high)])
    return t.finish(), 2 * (bm + 2 * bn) * dim


KERNELS = {'add_kernel': add, 'softmax_kernel': softmax, '_layer_norm_fwd_fused': layer_norm, 'matmul_kernel': matmul,
           '_attn_fwd': attention}
