// SPDX-License-Identifier: MIT
// What bounds a kernel, and which two parameters are most worth changing. The rules are those of docs/report.md, in that order.
import { number as n, percent, ratio } from './format.js';
import { speed_of_light } from './peaks.js';

export const busy = 0.6; // a resource used that much of the time is what bounds
export const few_sms = 0.6; // SMs with work for less of the time than that: too few blocks
export const noticed = 0.05; // shares below are no reason to change a parameter

// What to try: twice as much, half as much, or another choice; null where the machine has no more of it.
const twice = (c, key, most = Infinity) => (n(c[key]) > 0 && n(c[key]) * 2 <= most ? n(c[key]) * 2 : null);
const half = (c, key) => (n(c[key]) >= 2 ? Math.floor(n(c[key]) / 2) : null);
const change = (c, key, to, why) => (to === null || to === undefined || !(key in c) ? null : { key, from: c[key], to, why });
const first = (...changes) => changes.filter((x) => x !== null);

const more_lanes = (c, key) => change(c, key, twice(c, key, 32), 'the unit is the narrowest place');
const more_sms = (c, why) => change(c, 'gpu.sm_count', twice(c, 'gpu.sm_count'), why);
const wider_issue = (c) =>
  change(c, 'sub_partition.issue_width', twice(c, 'sub_partition.issue_width', 2), 'schedulers have more to issue than slots');
const more_l2 = (c) => change(c, 'l2.size_bytes', twice(c, 'l2.size_bytes'), 'what misses the L2 goes to the memory');
const l1_on = (c) =>
  change(c, 'l1.cache_global_loads', c['l1.cache_global_loads'] === false ? true : null, 'global loads pass the L1 by');
// Where L1 and shared memory are one, both of them together grow.
function grown(c, key, why) {
  const found = change(c, key, twice(c, key), why);
  const unified = n(c['shared_memory.unified_bytes']);
  if (found !== null) found.also = unified > 0 ? { 'shared_memory.unified_bytes': unified + n(c[key]) } : {};
  return found;
}
const more_l1 = (c) => grown(c, 'l1.size_bytes', 'what misses the L1 goes to the L2');
function more_shared(c, why) {
  const found = grown(c, 'shared_memory.size_bytes', why);
  if (found !== null) found.also['shared_memory.carveouts_kb'] = `${c['shared_memory.carveouts_kb']},${found.to / 1024}`;
  return found;
}

// A resource that is busy: the parameters that make it wider, or ask less of it.
const of_resource = {
  'issue slots': (c) => first(wider_issue(c), more_sms(c, 'more schedulers')),
  fp32: (c) => first(more_lanes(c, 'fp32.lanes'), more_sms(c, 'more units')),
  int: (c) => first(more_lanes(c, 'int.lanes'), more_sms(c, 'more units')),
  fp64: (c) => first(more_lanes(c, 'fp64.lanes'), more_sms(c, 'more units')),
  half: (c) => first(more_lanes(c, 'half.lanes'), more_sms(c, 'more units')),
  sfu: (c) => first(more_lanes(c, 'sfu.lanes'), more_sms(c, 'more units')),
  ldst: (c) => first(more_lanes(c, 'ldst.lanes'), more_sms(c, 'more units')),
  texture: (c) => first(more_lanes(c, 'texture.lanes'), more_sms(c, 'more units')),
  'shared memory': (c) =>
    first(
      change(c, 'shared_memory.pass_cycles', n(c['shared_memory.pass_cycles']) > 1 ? 1 : null, 'a pass holds the banks for less'),
      more_sms(c, 'more shared memories'),
    ),
  L1: (c) => first(change(c, 'l1.banks', twice(c, 'l1.banks', 4), 'more sectors in a cycle'), more_sms(c, 'more L1s')),
  'L2 to SMs': (c, k) =>
    first(
      change(
        c,
        'interconnect.response_bytes_per_cycle',
        twice(c, 'interconnect.response_bytes_per_cycle'),
        'wider answers from the L2',
      ),
      n(k.metrics?.gld_transactions) > 0 ? l1_on(c) : null,
      more_l1(c),
    ),
  DRAM: (c, k) =>
    first(
      change(c, 'memory.channels', twice(c, 'memory.channels'), 'more channels side by side'),
      ratio(n(k.memory?.l2?.misses), n(k.memory?.l2?.accesses)) > 0.2 ? more_l2(c) : null,
      change(c, 'dram.clock_mhz', twice(c, 'dram.clock_mhz'), 'a faster memory'),
    ),
};

// What keeps more warps off an SM, so that waits show.
function more_warps(c, k) {
  const key = {
    warps: 'sm.max_warps',
    blocks: 'sm.max_blocks',
    registers: 'sm.registers',
    barriers: 'sm.barriers',
  };
  if (n(k.theoretical_occupancy) >= 0.99 || n(k.waves ?? 1) < 1) return null; // a grid that does not fill the places needs no more of them
  const limiter = (k.occupancy_limiters ?? []).find((l) => l in key);
  const why = 'more warps would hide the wait; this limits them';
  if ((k.occupancy_limiters ?? [])[0] === 'shared_memory') return more_shared(c, why);
  return limiter ? change(c, key[limiter], twice(c, key[limiter]), why) : null;
}

const memory_wait = (c, k) => {
  const l1 = k.memory?.l1 ?? {},
    l2 = k.memory?.l2 ?? {};
  return first(
    n(k.metrics?.gld_transactions) > 0 ? l1_on(c) : null,
    more_warps(c, k),
    ratio(n(l1.hits), n(l1.accesses)) < 0.9 && n(l1.hits) > 0 ? more_l1(c) : null,
    ratio(n(l2.misses), n(l2.accesses)) > 0.2 ? more_l2(c) : null,
    change(c, 'l2.latency_cycles', half(c, 'l2.latency_cycles'), 'the way to the L2 and back is what warps wait for'),
  );
};

function arithmetic_latency(c, k) {
  const i = k.instructions ?? {};
  const unit = ['fp32', 'int', 'fp64', 'half'].reduce((a, b) => (n(i[b]) > n(i[a]) ? b : a));
  return first(
    more_warps(c, k),
    change(c, unit + '.latency_cycles', half(c, unit + '.latency_cycles'), 'instructions wait for the result of the one before'),
  );
}

function narrow_unit(c, k) {
  const used = speed_of_light(k, c).filter((s) => ['fp32', 'int', 'fp64', 'half', 'sfu', 'texture'].includes(s.name));
  used.sort((a, b) => b.share - a.share);
  return first(...used.slice(0, 2).map((s) => more_lanes(c, s.name + '.lanes')));
}

// A wait that most warps are in: what it is called, and what would shorten it.
const of_wait = {
  long_scoreboard: { name: 'the latency of global memory', changes: memory_wait },
  short_scoreboard: {
    name: 'the latency of shared memory and special functions',
    changes: (c, k) =>
      first(
        n(k.memory?.shared?.bank_conflicts) > 0
          ? change(c, 'shared_memory.conflict_cycles', half(c, 'shared_memory.conflict_cycles'), 'bank conflicts hold the banks')
          : null,
        n(k.memory?.shared?.accesses) > 0
          ? change(
              c,
              'shared_memory.latency_cycles',
              half(c, 'shared_memory.latency_cycles'),
              'what comes from shared memory is waited for',
            )
          : null,
        n(k.instructions?.sfu) > 0 ? more_lanes(c, 'sfu.lanes') : null,
        more_warps(c, k),
      ),
  },
  wait: { name: 'the latency of arithmetic', changes: arithmetic_latency },
  math_pipe_throttle: { name: 'arithmetic units that are busy in bursts', changes: narrow_unit },
  mio_throttle: {
    name: 'the queue of the load/store unit',
    changes: (c) =>
      first(
        more_lanes(c, 'ldst.lanes'),
        change(
          c,
          'ldst.queue_entries',
          twice(c, 'ldst.queue_entries'),
          'warps with memory instructions wait for a place in the queue',
        ),
        change(
          c,
          'shared_memory.pass_cycles',
          n(c['shared_memory.pass_cycles']) > 1 ? 1 : null,
          'a pass holds the banks for less',
        ),
      ),
  },
  lg_throttle: {
    name: 'the number of global accesses under way',
    changes: (c) =>
      first(
        change(c, 'l1.mshr_entries', twice(c, 'l1.mshr_entries'), 'more misses under way'),
        change(
          c,
          'l1.miss_queue_entries',
          twice(c, 'l1.miss_queue_entries'),
          'more requests wait for the interconnect instead of in the unit',
        ),
        more_lanes(c, 'ldst.lanes'),
      ),
  },
  tex_throttle: {
    name: 'the texture unit',
    changes: (c) =>
      first(
        more_lanes(c, 'texture.lanes'),
        change(c, 'texture.queue_entries', twice(c, 'texture.queue_entries'), 'more texture instructions under way'),
      ),
  },
  barrier: {
    name: 'waiting at barriers',
    changes: (c, k) =>
      first(
        more_warps(c, k),
        change(
          c,
          'sub_partition.scheduler',
          c['sub_partition.scheduler'] === 'gto' ? 'lrr' : 'gto',
          'another order in which the warps of a block reach the barrier',
        ),
        change(c, 'sm.barrier_latency_cycles', half(c, 'sm.barrier_latency_cycles'), 'barriers let go sooner'),
      ),
  },
  membar: {
    name: 'fences',
    changes: (c) =>
      first(
        change(c, 'l2.latency_cycles', half(c, 'l2.latency_cycles'), 'a fence waits for the L2'),
        change(c, 'interconnect.latency_cycles', half(c, 'interconnect.latency_cycles'), 'and for the way there'),
      ),
  },
  branch_resolving: {
    name: 'branches being resolved',
    changes: (c, k) =>
      first(
        change(c, 'branch.latency_cycles', half(c, 'branch.latency_cycles'), 'a warp goes on sooner after a branch'),
        more_warps(c, k),
      ),
  },
  no_instruction: {
    name: 'instructions that are not there yet',
    changes: (c) =>
      first(
        change(c, 'instruction_cache.size_bytes', twice(c, 'instruction_cache.size_bytes'), 'the program does not fit'),
        change(c, 'instruction_cache.miss_latency_cycles', half(c, 'instruction_cache.miss_latency_cycles'), 'misses take long'),
      ),
  },
  imc_miss: {
    name: 'constants that are not there yet',
    changes: (c) =>
      first(
        change(c, 'constant_cache.size_bytes', twice(c, 'constant_cache.size_bytes'), 'constants do not fit'),
        change(c, 'constant_cache.miss_latency_cycles', half(c, 'constant_cache.miss_latency_cycles'), 'misses take long'),
      ),
  },
  dispatch_stall: {
    name: 'conflicts at dispatch',
    changes: (c) =>
      first(
        change(c, 'sub_partition.register_banks', twice(c, 'sub_partition.register_banks'), 'operands lie in the same bank'),
        change(
          c,
          'sub_partition.scheduler',
          c['sub_partition.scheduler'] === 'gto' ? 'lrr' : 'gto',
          'the policy holds warps back',
        ),
      ),
  },
  drain: {
    name: 'stores of warps that have ended',
    changes: (c) =>
      first(
        change(c, 'memory.channels', twice(c, 'memory.channels'), 'stores are taken sooner'),
        change(
          c,
          'interconnect.request_bytes_per_cycle',
          twice(c, 'interconnect.request_bytes_per_cycle'),
          'stores get away sooner',
        ),
      ),
  },
  sleeping: { name: 'warps that sleep', changes: () => [] },
  misc: {
    name: 'context switches',
    changes: (c) => first(change(c, 'context.lines_in_flight', twice(c, 'context.lines_in_flight'), 'contexts are moved sooner')),
  },
  not_selected: { name: 'the number of schedulers', changes: (c) => first(wider_issue(c), more_sms(c, 'more schedulers')) },
};

/// All that the rules could ever want changed on this machine, whatever the kernel does: for a test that the machine takes it.
export function all_changes(config) {
  const kernel = {
    metrics: { gld_transactions: 1 },
    memory: { l1: { hits: 1, accesses: 9 }, l2: { misses: 9, accesses: 9 }, shared: { bank_conflicts: 1, accesses: 9 } },
    instructions: { fp32: 1, int: 1, fp64: 1, half: 1, sfu: 1, texture: 1 },
    cycles: 1,
  };
  const limits = ['warps', 'blocks', 'registers', 'shared_memory', 'barriers'].map((l) =>
    more_warps(config, { occupancy_limiters: [l] }),
  );
  const lists = [...Object.values(of_resource), ...Object.values(of_wait).map((w) => w.changes)].map((of) => of(config, kernel));
  return [...first(...limits), ...lists.flat()];
}

/// The options of the command line that make a change.
export const as_options = (c) =>
  [[c.key, c.to], ...Object.entries(c.also ?? {})].map(([key, to]) => `--set ${key}=${to}`).join(' ');

/// Shares of active warp-cycles by state, largest first, without those that issue.
export function waits(kernel) {
  const states = kernel.warp_states ?? {};
  const all = Object.values(states).reduce((sum, v) => sum + n(v), 0);
  return Object.entries(states)
    .filter(([name]) => name !== 'selected')
    .map(([name, v]) => ({ name, share: ratio(n(v), all) }))
    .sort((a, b) => b.share - a.share);
}

function pick(groups) {
  const out = [];
  for (const changes of groups) for (const c of changes) if (out.length < 2 && !out.some((o) => o.key === c.key)) out.push(c);
  return out;
}

/// {kind, bound, headline, reasons: [sentence], changes: [{key, from, to, why}]}: kind is nothing, throughput, launch, parallelism or latency.
export function verdict(kernel, config) {
  if (n(kernel.metrics?.inst_executed) === 0 || n(kernel.cycles) === 0)
    return { kind: 'nothing', bound: '', headline: 'Nothing ran', reasons: ['The kernel executed no instruction.'], changes: [] };
  const used = speed_of_light(kernel, config).sort((a, b) => b.share - a.share);
  const waiting = waits(kernel);
  const top = used[0],
    wait = waiting[0];
  const said_used = `${top.name} used ${percent(top.share)} of what is possible`;
  const of_waits = pick_waits(kernel, config, waiting);
  if (top.share >= busy)
    return {
      kind: 'throughput',
      bound: top.name,
      headline: `Bound by throughput: ${top.name}`,
      reasons: [`${said_used}; ${percent(busy)} and more count as the bound.`, ...next_used(used)],
      changes: pick([
        by_weight(
          used.filter((u) => u.share >= busy).map((u) => ({ share: u.share, changes: of_resource[u.name](config, kernel) })),
        ),
        of_waits,
      ]),
    };
  if (n(kernel.launch_cycles) > n(kernel.cycles))
    return {
      kind: 'launch',
      bound: 'launch latency',
      headline: 'Bound by the launch',
      reasons: [
        `${n(kernel.launch_cycles)} cycles passed before the first block started, ${n(kernel.cycles)} until the last one ended.`,
      ],
      changes: pick([
        first(
          change(
            config,
            'cwd.launch_latency_cycles',
            half(config, 'cwd.launch_latency_cycles'),
            'the launch takes longer than the kernel',
          ),
        ),
        of_waits,
      ]),
    };
  const efficiency = n(kernel.metrics?.sm_efficiency);
  if (efficiency < few_sms || (kernel.waves !== undefined && n(kernel.waves) < 0.5))
    return {
      kind: 'parallelism',
      bound: 'too few blocks',
      headline: 'Bound by parallelism: too few blocks for this GPU',
      reasons: [
        `SMs held warps of the kernel ${percent(efficiency)} of its time; its blocks fill ${n(kernel.waves).toFixed(2)} of the places that the GPU has.`,
        'More and smaller blocks help, not more SMs.',
        said_used + '.',
      ],
      changes: pick([of_waits]),
    };
  const warps = ratio(n(kernel.metrics?.eligible_warps_per_cycle), n(config['sm.sub_partitions']) || 1);
  return {
    kind: 'latency',
    bound: wait.name,
    headline: `Bound by latency: ${of_wait[wait.name]?.name ?? wait.name}`,
    reasons: [
      `Of the time that warps were there, ${percent(wait.share)} went to ${wait.name}.`,
      `A scheduler had ${warps.toFixed(2)} warps to choose from in a cycle, and issued in ${percent(n(kernel.metrics?.issue_slot_utilization))} of the cycles.`,
      `No resource is near its limit: ${said_used}.`,
    ],
    changes: pick([of_waits]),
  };
}

const next_used = (used) =>
  used.length > 1 && used[1].share >= noticed ? [`Next is ${used[1].name} with ${percent(used[1].share)}.`] : [];

// By what they could save at the most: the share of the cause, for each further change of the same cause half of it.
const by_weight = (causes) =>
  causes
    .flatMap(({ share, changes }) => changes.map((c, i) => ({ c, weight: share / 2 ** i })))
    .sort((a, b) => b.weight - a.weight)
    .map((x) => x.c);

const pick_waits = (kernel, config, waiting) =>
  by_weight(
    waiting
      .filter((w) => w.share >= noticed && of_wait[w.name])
      .map((w) => ({ share: w.share, changes: of_wait[w.name].changes(config, kernel) })),
  );
