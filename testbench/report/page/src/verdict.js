// SPDX-License-Identifier: MIT
// What bounds a kernel, and which two parameters are most worth changing. The rules are those of docs/report.md, in that order.
import { change, first, half, more_warps, of_resource, of_wait } from './changes.js';
import { number as n, percent, ratio } from './format.js';
import { speed_of_light } from './peaks.js';

export const busy = 0.6; // a resource used that much of the time is what bounds
export const few_sms = 0.6; // SMs with work for less of the time than that: too few blocks
export const noticed = 0.05; // shares below are no reason to change a parameter

/// All that the rules could ever want changed on this machine, whatever the kernel does: for a test that the machine takes it.
export function all_changes(config) {
  const kernel = {
    metrics: { gld_transactions: 1 },
    memory: {
      l1: { hits: 1, accesses: 9 },
      l2: { misses: 9, accesses: 9 },
      dram: { read_bytes: 1 },
      shared: { bank_conflicts: 1, accesses: 9 },
    },
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
