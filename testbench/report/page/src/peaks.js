// SPDX-License-Identifier: MIT
// What the chip could have done in the kernel's time, from its parameters. docs/report.md has the formulas.
import { number as n, ratio } from './format.js';

const cfg = (config, key, otherwise = 0) => (typeof config[key] === 'number' ? config[key] : otherwise);

/// Bytes per core cycle that the chip's memory can move at the most.
export function dram_bytes_per_cycle(config) {
  const channels = cfg(config, 'memory.channels', 1);
  if (config['memory.model'] !== 'dram') return channels * cfg(config, 'memory.bytes_per_cycle');
  return channels * cfg(config, 'dram.bytes_per_cycle') * ratio(cfg(config, 'dram.clock_mhz'), cfg(config, 'gpu.core_clock_mhz'));
}

/// The same of the way from the L2 slices to the SMs: the side with fewer ports is the narrow one.
export function l2_bytes_per_cycle(config) {
  const ports = Math.min(cfg(config, 'memory.channels', 1), cfg(config, 'gpu.sm_count', 1));
  return (
    ports *
    cfg(config, 'interconnect.response_bytes_per_cycle') *
    ratio(cfg(config, 'interconnect.clock_mhz'), cfg(config, 'gpu.core_clock_mhz'))
  );
}

/// Cycles that the packets of a kernel take on the ports between SMs and L2 slices, and how many the narrow side has per core cycle: there
/// (writes take their data along) and back (reads bring it). A packet takes whole cycles; its size is the mean of all, metrics have no more.
export function packets(l2, config) {
  const requests = n(l2.requests) || n(l2.accesses),
    moved = n(l2.read_bytes) + n(l2.write_bytes),
    header = cfg(config, 'interconnect.header_bytes');
  const writes = requests * ratio(n(l2.write_bytes), moved),
    data = ratio(moved, requests);
  const cycles = (bytes, key) => Math.max(1, Math.ceil(ratio(bytes, cfg(config, key))));
  const way = (full, key) => full * cycles(header + data, key) + (requests - full) * cycles(header, key);
  return {
    there: way(writes, 'interconnect.request_bytes_per_cycle'),
    back: way(requests - writes, 'interconnect.response_bytes_per_cycle'),
    ports:
      Math.min(cfg(config, 'memory.channels', 1), cfg(config, 'gpu.sm_count', 1)) *
      ratio(cfg(config, 'interconnect.clock_mhz'), cfg(config, 'gpu.core_clock_mhz')),
  };
}

/// Bytes per core cycle that the L1s of all SMs can read from their banks.
export const l1_bytes_per_cycle = (config) =>
  (cfg(config, 'gpu.sm_count', 1) * cfg(config, 'l1.banks', 1) * cfg(config, 'l1.sector_bytes', 32)) /
  (cfg(config, 'l1.read_cycles') || 1);

/// Warp instructions per core cycle that the schedulers of all SMs can issue.
export const issue_per_cycle = (config) =>
  cfg(config, 'gpu.sm_count', 1) * cfg(config, 'sm.sub_partitions', 1) * Math.max(1, cfg(config, 'sub_partition.issue_width', 1));

/// The share of what was possible, by resource: [{name, share, used, peak, unit}], used and peak per core cycle of the whole chip.
export function speed_of_light(kernel, config) {
  const cycles = n(kernel.cycles),
    sms = cfg(config, 'gpu.sm_count', 1),
    parts = cfg(config, 'sm.sub_partitions', 1);
  const memory = kernel.memory ?? {},
    m = kernel.metrics ?? {},
    instructions = kernel.instructions ?? {};
  const out = [];
  const add = (name, used, peak, unit) => {
    if (peak > 0) out.push({ name, share: Math.min(1, ratio(used, peak)), used, peak, unit });
  };
  add('issue slots', ratio(n(m.issue_slots), cycles), sms * parts, 'slots');
  const lanes = {
    fp32: cfg(config, 'fp32.lanes') + cfg(config, 'fp32.shared_lanes') / parts,
    int: cfg(config, 'int.lanes'),
    fp64: cfg(config, 'fp64.lanes'),
    half: cfg(config, 'half.lanes'),
    sfu: cfg(config, 'sfu.lanes'),
    ldst: cfg(config, 'ldst.lanes'),
    texture: cfg(config, 'texture.lanes'),
  };
  for (const [unit, width] of Object.entries(lanes))
    if (n(instructions[unit]) > 0) add(unit, 32 * ratio(n(instructions[unit]), cycles), width * parts * sms, 'lanes');
  const passes = n(m.shared_load_transactions) + n(m.shared_store_transactions);
  if (passes > 0) add('shared memory', ratio(passes, cycles), sms / (cfg(config, 'shared_memory.pass_cycles') || 1), 'passes');
  const l1 = memory.l1 ?? {},
    l2 = memory.l2 ?? {},
    dram = memory.dram ?? {};
  if (n(l1.hits) > 0)
    add('L1', ratio(n(l1.hits) * cfg(config, 'l1.sector_bytes', 32), cycles), l1_bytes_per_cycle(config), 'bytes');
  if (n(l2.accesses) > 0) {
    const { there, back, ports } = packets(l2, config);
    add('SMs to L2', ratio(there, cycles), ports, 'cycles of a port');
    add('L2 to SMs', ratio(back, cycles), ports, 'cycles of a port');
  }
  add('DRAM', ratio(n(dram.read_bytes) + n(dram.write_bytes), cycles), dram_bytes_per_cycle(config), 'bytes');
  return out;
}

/// Instruction roofline: warp instructions per second over warp instructions per byte of a level.
export function roofline(kernel, config) {
  const hertz = cfg(config, 'gpu.core_clock_mhz') * 1e6,
    executed = n(kernel.metrics?.inst_executed);
  const rate = ratio(executed, n(kernel.cycles)) * hertz;
  const memory = kernel.memory ?? {};
  const levels = [
    { name: 'L1', bytes: n(memory.l1?.read_bytes) + n(memory.l1?.write_bytes), peak: l1_bytes_per_cycle(config) * hertz },
    { name: 'L2', bytes: n(memory.l2?.read_bytes) + n(memory.l2?.write_bytes), peak: l2_bytes_per_cycle(config) * hertz },
    { name: 'DRAM', bytes: n(memory.dram?.read_bytes) + n(memory.dram?.write_bytes), peak: dram_bytes_per_cycle(config) * hertz },
  ];
  return {
    rate,
    issue_peak: issue_per_cycle(config) * hertz,
    levels: levels.filter((l) => l.bytes > 0 && l.peak > 0).map((l) => ({ ...l, intensity: executed / l.bytes })),
  };
}
