// SPDX-License-Identifier: MIT
// The charts of one kernel, or of the run that it belongs to.
import { axis, chart, legend_for } from './charts.js';
import { number as n, percent, ratio, scaled, shape, short, spoken } from './format.js';
import { roofline, speed_of_light } from './peaks.js';

export const kernel_label = (k) => `${k.name} (launch ${k.launch})`;
const clipped = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);
const share_axis = (c, more) => axis(c, { type: 'value', min: 0, max: 1, axisLabel: { color: c.muted, formatter: (v) => Math.round(100 * v) + ' %' }, ...more });

/// Horizontal bars, one a name: rows [{name, share}].
function bars(rows, c, width, label) {
  return { legend: { show: false }, grid: { top: 8, bottom: 8, right: 60 }, tooltip: { valueFormatter: percent },
    xAxis: share_axis(c), yAxis: axis(c, { type: 'category', inverse: true, data: rows.map((r) => r.name), axisLabel: { color: c.text, width: width < 500 ? 90 : 180, overflow: 'break' } }),
    series: [{ type: 'bar', name: label, data: rows.map((r) => r.share), barMaxWidth: 20, label: { show: true, position: 'right', color: c.text, formatter: (p) => percent(p.value) } }] };
}

export function speed_of_light_chart(kernel, config) {
  const used = speed_of_light(kernel, config);
  return chart({ name: 'speed_of_light', title: 'Speed of light', height: 60 + 30 * used.length,
    about: `What the kernel used of what the chip can do in its time. Most used: ${[...used].sort((a, b) => b.share - a.share).slice(0, 2).map((u) => `${u.name} ${percent(u.share)}`).join(', ')}.`,
    header: ['resource', 'share', 'used per cycle', 'possible per cycle', 'unit'], rows: () => used.map((u) => [u.name, u.share, u.used, u.peak, u.unit]),
    option: (c, width) => bars(used, c, width, 'used') });
}

export function occupancy_chart(kernel) {
  const lost = Object.entries(kernel.lost_occupancy ?? {}).map(([name, share]) => ({ name: spoken(name), share: n(share) }));
  const achieved = n(kernel.metrics.achieved_occupancy), theory = n(kernel.theoretical_occupancy);
  const limited = { name: `limit: ${(kernel.occupancy_limiters ?? []).map(spoken).join(', ') || 'none'}`, share: 1 - theory };
  const rows = [{ name: 'achieved', share: achieved }, ...lost, limited];
  return chart({ name: 'occupancy', title: 'Warp slots: used, and lost to what', height: 60 + 30 * rows.length,
    about: `Theoretical occupancy is ${percent(theory)}, achieved ${percent(achieved)}. The parts add up to all warp slots of the SMs at work.`,
    header: ['part', 'share of warp slots'], rows: () => rows.map((r) => [r.name, r.share]), option: (c, width) => bars(rows, c, width, 'warp slots') });
}

export function occupancy_over_time_chart(kernel) {
  const s = kernel.occupancy_over_time;
  if (!s || !(s.achieved_occupancy?.length > 0)) return null;
  const rows = s.achieved_occupancy.map((v, i) => [n(s.from_cycle) + i * n(s.step_cycles), v, s.active_sms?.[i] ?? null]);
  return chart({ name: 'occupancy_over_time', title: 'Occupancy over time', about: `Achieved occupancy of the SMs that held warps of the kernel, in steps of ${short(s.step_cycles)} cycles, and how many SMs that were.`,
    header: ['from cycle', 'achieved occupancy', 'active SMs'], rows: () => rows,
    option: (c) => ({ grid: { top: 40 }, xAxis: axis(c, { type: 'value', name: 'cycle', min: 'dataMin', max: 'dataMax' }),
      yAxis: [share_axis(c), axis(c, { type: 'value', splitLine: { show: false }, minInterval: 1 })],
      series: [{ type: 'line', step: 'end', symbol: 'none', name: 'occupancy', areaStyle: { opacity: 0.2 }, data: rows.map((r) => [r[0], r[1]]) },
        { type: 'line', step: 'end', symbol: 'none', name: 'SMs (right)', yAxisIndex: 1, lineStyle: { type: 'dashed' }, data: rows.map((r) => [r[0], r[2]]) }] }) });
}

export function instruction_chart(kernel) {
  const all = Object.values(kernel.instructions).reduce((a, b) => a + n(b), 0);
  const rows = Object.entries(kernel.instructions).filter(([, v]) => n(v) > 0).map(([name, v]) => ({ name, share: ratio(n(v), all), count: n(v) }));
  return chart({ name: 'instructions', title: 'Instructions by unit', height: 60 + 28 * rows.length, about: `${short(all)} warp instructions; the largest part goes to ${[...rows].sort((a, b) => b.share - a.share)[0]?.name ?? 'none'}.`,
    header: ['unit', 'warp instructions', 'share'], rows: () => rows.map((r) => [r.name, r.count, r.share]), option: (c, width) => bars(rows, c, width, 'instructions') });
}

const stacked_states = (c, names, rows, horizontal, categories, width) => ({
  tooltip: { axisPointer: { type: 'shadow' }, valueFormatter: percent },
  legend: legend_for(names, width).legend, grid: { top: legend_for(names, width).top, bottom: 12 },
  [horizontal ? 'xAxis' : 'yAxis']: share_axis(c),
  [horizontal ? 'yAxis' : 'xAxis']: axis(c, { type: 'category', inverse: horizontal, data: categories, axisLabel: { color: c.text, width: width < 500 ? 90 : 200, overflow: 'break' } }),
  series: names.map((name, i) => ({ type: 'bar', stack: 'all', name: spoken(name), data: rows.map((r) => r[i]), itemStyle: { color: c.state(name) }, barMaxWidth: 28 })),
});

const most_bars = 40;

/// Warp-cycles by state, a bar for each of `rows`: [{label, counts}]; `active` in counts is their sum and no state.
export function stall_chart(name, title, about, rows) {
  const shown = rows.slice(0, most_bars);
  const names = Object.keys(shown[0]?.counts ?? {}).filter((s) => s !== 'active' && rows.some((r) => n(r.counts[s]) > 0));
  const shares = (r) => { const all = names.reduce((sum, s) => sum + n(r.counts[s]), 0); return names.map((s) => ratio(n(r.counts[s]), all)); };
  const more = rows.length > shown.length ? ` The first ${shown.length} of ${rows.length} are drawn; the CSV has all.` : '';
  return chart({ name, title, about: about + more, height: 130 + 32 * shown.length, header: ['of', ...names], rows: () => rows.map((r) => [r.label, ...shares(r)]),
    option: (c, width) => stacked_states(c, names, shown.map(shares), true, shown.map((r) => r.label), width) });
}

/// What warps did over the run: intervals of equal length while the chip was at work.
export function stalls_over_time_chart(intervals, kernels) {
  const ends = intervals?.end_cycles;
  if (!(ends?.length > 0)) return null;
  const names = Object.keys(intervals.warp_states).filter((s) => intervals.warp_states[s].some((v) => v > 0));
  const length = (i) => Math.max(1, ends[i] - (i > 0 ? ends[i - 1] : 0));
  const rows = () => ends.map((end, i) => [i > 0 ? ends[i - 1] : 0, end, ...names.map((s) => intervals.warp_states[s][i])]);
  return chart({ name: 'states_over_time', title: 'What warps did over time', height: 340,
    about: 'Warps in each state, on the average of each interval, all SMs and kernels of the run together; vertical lines are the starts of kernels.',
    header: ['from cycle', 'to cycle', ...names.map((s) => s + ' (warp-cycles)')], rows,
    option: (c, width) => ({ tooltip: { axisPointer: { type: 'line' } }, legend: legend_for(names, width).legend, grid: { top: 10 + legend_for(names, width).top }, xAxis: axis(c, { type: 'value', name: 'cycle', min: 0, max: 'dataMax' }), yAxis: axis(c, { type: 'value', name: 'warps', nameGap: 44 }),
      series: names.map((s, k) => ({ type: 'line', stack: 'states', step: 'start', symbol: 'none', lineStyle: { width: 0 }, areaStyle: { opacity: 0.9 }, name: spoken(s), itemStyle: { color: c.state(s) },
        data: [[0, intervals.warp_states[s][0] / length(0)], ...ends.map((end, i) => [end, intervals.warp_states[s][i] / length(i)])],
        markLine: k > 0 ? undefined : { silent: true, symbol: 'none', lineStyle: { color: c.text, type: 'dotted' }, label: { show: kernels.length <= 6, color: c.text, formatter: (p) => clipped(p.name, 16) },
          data: kernels.slice(0, 60).map((kernel) => ({ name: kernel.name, xAxis: kernel.start_cycle })) } })) }) });
}

export function rates_over_time_chart(intervals) {
  const ends = intervals?.end_cycles;
  if (!(ends?.length > 0)) return null;
  const length = (i) => Math.max(1, ends[i] - (i > 0 ? ends[i - 1] : 0));
  const ipc = ends.map((end, i) => intervals.inst_executed[i] / length(i));
  const dram = ends.map((end, i) => (intervals.dram_read_bytes[i] + intervals.dram_write_bytes[i]) / length(i));
  const steps = (values) => [[0, values[0]], ...values.map((v, i) => [ends[i], v])];
  return chart({ name: 'rates_over_time', title: 'Instructions and memory traffic over time', about: 'Warp instructions per cycle of the whole chip, and bytes per cycle read from and written to DRAM.',
    header: ['to cycle', 'warp instructions per cycle', 'DRAM bytes per cycle'], rows: () => ends.map((end, i) => [end, ipc[i], dram[i]]),
    option: (c) => ({ tooltip: { axisPointer: { type: 'line' } }, xAxis: axis(c, { type: 'value', name: 'cycle', min: 0, max: 'dataMax' }), yAxis: [axis(c, { type: 'value' }), axis(c, { type: 'value', splitLine: { show: false } })],
      series: [{ type: 'line', step: 'start', symbol: 'none', name: 'instructions per cycle', data: steps(ipc) },
        { type: 'line', step: 'start', symbol: 'none', name: 'DRAM bytes per cycle (right)', yAxisIndex: 1, lineStyle: { type: 'dashed' }, data: steps(dram) }] }) });
}

/// A cell for each SM and step of time; what: 'occupancy' or 'instructions'.
export function sm_heat_map(metrics, what, controls) {
  const ends = metrics.intervals?.end_cycles ?? [];
  const by_instructions = what === 'instructions';
  const steps = by_instructions ? ends.length : Math.max(0, ...metrics.sms.map((s) => s.occupancy_over_time?.length ?? 0));
  if (steps === 0) return null;
  const step = n(metrics.sms[0]?.occupancy_step_cycles);
  const from = (i) => (by_instructions ? (i > 0 ? ends[i - 1] : 0) : i * step);
  const value = (s, i) => (by_instructions ? ratio(n(s.inst_executed_over_time?.[i]), ends[i] - from(i)) : n(s.occupancy_over_time?.[i]));
  // SMs whose step is longer than the others' have fewer of them.
  const cells = metrics.sms.flatMap((s, k) => Array.from({ length: steps }, (_, i) => {
    const at = by_instructions || !s.occupancy_step_cycles ? i : Math.floor((i * step) / s.occupancy_step_cycles);
    return [i, k, value(s, at)];
  }));
  const most = cells.reduce((a, cell) => Math.max(a, cell[2]), 0) || 1;
  const title = by_instructions ? 'Warp instructions per cycle of each SM' : 'Occupancy of each SM';
  return chart({ name: 'sm_heat_map', title, controls, height: Math.max(260, Math.min(700, 90 + 12 * metrics.sms.length)), renderer: 'canvas', about: `${title} over time: a row for each of ${metrics.sms.length} SMs, a column for each of ${steps} intervals. The largest value is ${short(most)}.`,
    header: ['sm', 'from cycle', by_instructions ? 'warp instructions per cycle' : 'occupancy'], rows: () => cells.map(([i, k, v]) => [metrics.sms[k].sm, from(i), v]),
    option: (c) => ({ legend: { show: false }, tooltip: { trigger: 'item', formatter: (p) => `SM ${metrics.sms[p.value[1]].sm}, from cycle ${short(from(p.value[0]))}: ${short(p.value[2])}` }, grid: { top: 8, bottom: 64 },
      xAxis: axis(c, { type: 'category', name: 'cycle', data: Array.from({ length: steps }, (_, i) => short(from(i))) }), yAxis: axis(c, { type: 'category', inverse: true, name: 'SM', nameGap: 34, data: metrics.sms.map((s) => String(s.sm)) }),
      visualMap: { min: 0, max: most, orient: 'horizontal', left: 'center', bottom: 0, itemHeight: 120, itemWidth: 12, text: [short(most), '0'], textStyle: { color: c.text }, inRange: { color: c.ramp } },
      series: [{ type: 'heatmap', data: cells, progressive: 0 }] }) });
}

export function roofline_chart(kernel, config) {
  const r = roofline(kernel, config);
  if (r.levels.length === 0 || r.rate === 0) return null;
  const rows = () => r.levels.map((l) => [l.name, l.intensity, r.rate, Math.min(r.issue_peak, l.intensity * l.peak), l.peak]);
  const xs = r.levels.flatMap((l) => [l.intensity, r.issue_peak / l.peak]);
  const low = Math.min(...xs) / 4, high = Math.max(...xs) * 4;
  return chart({ name: 'roofline', title: 'Instruction roofline', height: 360,
    about: r.levels.map((l) => `${l.name}: ${percent(r.rate / Math.min(r.issue_peak, l.intensity * l.peak))} of what its bandwidth and the issue slots allow`).join('; ') + '.',
    header: ['level', 'warp instructions per byte', 'warp instructions per second', 'roof', 'bytes per second possible'], rows,
    option: (c) => ({ tooltip: { trigger: 'item', formatter: (p) => `${p.seriesName}: ${scaled(p.value[1], '/s')} at ${short(Number(p.value[0]))} per byte` },
      xAxis: axis(c, { type: 'log', name: 'warp instructions per byte', min: low, max: high, axisLabel: { color: c.muted, formatter: (v) => short(Number(v.toPrecision(2))), hideOverlap: true } }),
      yAxis: axis(c, { type: 'log', max: r.issue_peak * 3, min: Math.min(r.rate, r.issue_peak) / 30, axisLabel: { color: c.muted, formatter: (v) => scaled(Number(v.toPrecision(2)), '/s') } }),
      series: [...r.levels.map((l, i) => ({ type: 'line', symbol: 'none', name: `${l.name} roof`, itemStyle: { color: c.list[i] }, lineStyle: { color: c.list[i] },
        data: [[low, low * l.peak], [r.issue_peak / l.peak, r.issue_peak], [high, r.issue_peak]] })),
      ...r.levels.map((l, i) => ({ type: 'scatter', name: l.name, symbol: ['circle', 'rect', 'triangle'][i], symbolSize: 13, itemStyle: { color: c.list[i] }, data: [[l.intensity, r.rate]] }))] }) });
}

/// Phases of each context switch, in cycles.
export function switch_chart(switches, kernels) {
  const rows = switches.slice(0, most_bars).map((s) => {
    const saved = s.saved_cycle || s.quiesced_cycle || s.request_cycle, restore = s.restore_cycle || saved, quiet = s.quiesced_cycle || s.request_cycle;
    return { label: `SM ${s.sm} ${s.mode} at ${short(s.request_cycle)}`, from: s.request_cycle,
      phases: [quiet - s.request_cycle, saved - quiet, restore - saved, Math.max(0, (s.resumed_cycle || restore) - restore)].map((v) => Math.max(0, v)) };
  });
  const names = ['quiescing', 'saving', 'away', 'restoring'];
  return chart({ name: 'context_switches', title: 'Context switches', height: 90 + 26 * rows.length,
    about: `${switches.length} context switches, from the request to the return${switches.length > rows.length ? `; the first ${rows.length} are drawn` : ''}.`,
    header: ['sm', 'kernel', 'mode', 'request', 'quiesced', 'saved', 'restore', 'resumed', 'bytes saved', 'bytes restored', 'blocks'],
    rows: () => switches.map((s) => [s.sm, kernels[s.kernel]?.name ?? s.kernel, s.mode, s.request_cycle, s.quiesced_cycle, s.saved_cycle, s.restore_cycle, s.resumed_cycle, s.bytes_saved, s.bytes_restored, (s.blocks ?? []).length]),
    option: (c, width) => ({ xAxis: axis(c, { type: 'value', name: 'cycle', min: Math.min(...rows.map((r) => r.from)) }), yAxis: axis(c, { type: 'category', inverse: true, data: rows.map((r) => r.label), axisLabel: { color: c.text, width: width < 500 ? 110 : 220, overflow: 'break' } }),
      tooltip: { formatter: (list) => list.filter((p) => p.seriesName !== 'start').map((p) => `${p.seriesName}: ${short(p.value)}`).join(', ') },
      series: [{ type: 'bar', stack: 'all', name: 'start', silent: true, itemStyle: { color: 'transparent' }, data: rows.map((r) => r.from) },
        ...names.map((name, i) => ({ type: 'bar', stack: 'all', name, data: rows.map((r) => r.phases[i]), barMaxWidth: 18 }))], legend: { data: names } }) });
}

export { shape };
