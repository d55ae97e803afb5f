// SPDX-License-Identifier: MIT
// What would make a busy part wider or a wait shorter, most telling first, and only what the machine has.
import { number as n, ratio } from './format.js';
import { speed_of_light } from './peaks.js';

// What to try: twice as much, half as much, or another choice; null where the machine has no more of it.
const twice = (c, key, most = Infinity) => (n(c[key]) > 0 && n(c[key]) * 2 <= most ? n(c[key]) * 2 : null);
export const half = (c, key) => (n(c[key]) >= 2 ? Math.floor(n(c[key]) / 2) : null);
export const change = (c, key, to, why) => (to === null || to === undefined || !(key in c) ? null : { key, from: c[key], to, why });
export const first = (...changes) => changes.filter((x) => x !== null);

const more_lanes = (c, key) => change(c, key, twice(c, key, 32), 'the unit is the narrowest place');
const more_sms = (c, why) => change(c, 'gpu.sm_count', twice(c, 'gpu.sm_count'), why);
const wider_issue = (c) =>
  change(c, 'sub_partition.issue_width', twice(c, 'sub_partition.issue_width', 2), 'schedulers have more to issue than slots');
// A cache that never gave a line up was large enough: what missed, it had never had. Files of older versions do not say.
const gave_up = (counts) => counts?.evictions === undefined || n(counts.evictions) > 0;
const more_l2 = (c, k) =>
  gave_up(k.memory?.l2) ? change(c, 'l2.size_bytes', twice(c, 'l2.size_bytes'), 'what misses the L2 goes to the memory') : null;
// Bytes that came from the L2 several times, of which an L1 could have kept some.
const reused = (k) => {
  const from_l2 = k.memory?.l2?.read_bytes,
    from_memory = n(k.memory?.dram?.read_bytes);
  return from_l2 === undefined || (from_memory > 0 && n(from_l2) >= 2 * from_memory);
};
const l1_on = (c, k) =>
  n(k.metrics?.gld_transactions) > 0 && reused(k)
    ? change(c, 'l1.cache_global_loads', c['l1.cache_global_loads'] === false ? true : null, 'global loads pass the L1 by')
    : null;
// Where L1 and shared memory are one, both of them together grow.
function grown(c, key, why) {
  const found = change(c, key, twice(c, key), why);
  const unified = n(c['shared_memory.unified_bytes']);
  if (found !== null) found.also = unified > 0 ? { 'shared_memory.unified_bytes': unified + n(c[key]) } : {};
  return found;
}
const more_l1 = (c, k) => (gave_up(k.memory?.l1) ? grown(c, 'l1.size_bytes', 'what misses the L1 goes to the L2') : null);
// Where the ports are: an SM has one, and so has a slice.
const more_ports = (c) =>
  n(c['memory.channels']) <= n(c['gpu.sm_count'])
    ? change(c, 'memory.channels', twice(c, 'memory.channels'), 'more L2 slices side by side')
    : more_sms(c, 'more ports to the L2');
const wider_requests = (c) =>
  change(
    c,
    'interconnect.request_bytes_per_cycle',
    twice(c, 'interconnect.request_bytes_per_cycle'),
    'requests and stores get away sooner',
  );
function more_shared(c, why) {
  const found = grown(c, 'shared_memory.size_bytes', why);
  if (found !== null) found.also['shared_memory.carveouts_kb'] = `${c['shared_memory.carveouts_kb']},${found.to / 1024}`;
  return found;
}

// A resource that is busy: the parameters that make it wider, or ask less of it.
export const of_resource = {
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
      l1_on(c, k),
      more_l1(c, k),
      more_ports(c),
    ),
  'SMs to L2': (c) => first(wider_requests(c), more_ports(c)),
  DRAM: (c, k) =>
    first(
      change(c, 'memory.channels', twice(c, 'memory.channels'), 'more channels side by side'),
      ratio(n(k.memory?.l2?.misses), n(k.memory?.l2?.accesses)) > 0.2 ? more_l2(c, k) : null,
      change(c, 'dram.clock_mhz', twice(c, 'dram.clock_mhz'), 'a faster memory'),
    ),
};

// What keeps more warps off an SM, so that waits show.
export function more_warps(c, k) {
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

// The latency of the memory itself, where a fair part of what comes from the L2 comes from there.
function memory_latency(c, k) {
  const from_memory = n(k.memory?.dram?.read_bytes);
  if (from_memory === 0 || from_memory < 0.25 * n(k.memory?.l2?.read_bytes)) return null;
  const key = c['memory.model'] === 'dram' ? 'dram.controller_latency_cycles' : 'memory.latency_cycles';
  return change(c, key, half(c, key), 'what misses the L2 waits for the memory');
}

const memory_wait = (c, k) => {
  const l1 = k.memory?.l1 ?? {},
    l2 = k.memory?.l2 ?? {};
  return first(
    l1_on(c, k),
    more_warps(c, k),
    ratio(n(l1.hits), n(l1.accesses)) < 0.9 && n(l1.hits) > 0 ? more_l1(c, k) : null,
    ratio(n(l2.misses), n(l2.accesses)) > 0.2 ? more_l2(c, k) : null,
    change(c, 'l2.latency_cycles', half(c, 'l2.latency_cycles'), 'the way to the L2 and back is what warps wait for'),
    memory_latency(c, k),
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
export const of_wait = {
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
        // Loads that pass the L1 by take no MSHR, and stores never do.
        c['l1.cache_global_loads'] === false
          ? null
          : change(c, 'l1.mshr_entries', twice(c, 'l1.mshr_entries'), 'more misses under way'),
        more_ports(c),
        wider_requests(c),
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
    changes: (c, k) => {
      // A line of source makes an instruction or two: where all that ran fits, each was waited for only when it came first.
      const bytes = 2 * (k.lines ?? []).length * n(c['instruction_cache.instruction_bytes']);
      const size = change(c, 'instruction_cache.size_bytes', twice(c, 'instruction_cache.size_bytes'), 'the program does not fit');
      const latencies = ['instruction_cache.second_level_miss_latency_cycles', 'instruction_cache.miss_latency_cycles'].map((key) =>
        change(c, key, half(c, key), 'instructions that no cache has take long'),
      );
      return bytes > 0 && bytes <= n(c['instruction_cache.size_bytes']) ? first(...latencies) : first(size, ...latencies);
    },
  },
  imc_miss: {
    name: 'constants that are not there yet',
    changes: (c) =>
      first(
        change(c, 'constant_cache.miss_latency_cycles', half(c, 'constant_cache.miss_latency_cycles'), 'misses take long'),
        change(c, 'constant_cache.size_bytes', twice(c, 'constant_cache.size_bytes'), 'constants do not fit'),
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
    changes: (c) => first(more_ports(c), wider_requests(c)),
  },
  sleeping: { name: 'warps that sleep', changes: () => [] },
  misc: {
    name: 'context switches',
    changes: (c) => first(change(c, 'context.lines_in_flight', twice(c, 'context.lines_in_flight'), 'contexts are moved sooner')),
  },
  not_selected: { name: 'the number of schedulers', changes: (c) => first(wider_issue(c), more_sms(c, 'more schedulers')) },
};
