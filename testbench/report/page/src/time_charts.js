// SPDX-License-Identifier: MIT
// Charts over time.
import { axis, chart, legend_for } from './charts.js';
import { number as n, ratio, short, spoken } from './format.js';
import { share_axis } from './run_charts.js';

const clipped = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

export function occupancy_over_time_chart(kernel) {
  const s = kernel.occupancy_over_time;
  if (!s || !(s.achieved_occupancy?.length > 0)) return null;
  const rows = s.achieved_occupancy.map((v, i) => [n(s.from_cycle) + i * n(s.step_cycles), v, s.active_sms?.[i] ?? null]);
  return chart({
    name: 'occupancy_over_time',
    title: 'Occupancy over time',
    about: `Achieved occupancy of the SMs that held warps of the kernel, in steps of ${short(s.step_cycles)} cycles, and how many SMs that were.`,
    header: ['from cycle', 'achieved occupancy', 'active SMs'],
    rows: () => rows,
    option: (c) => ({
      grid: { top: 40 },
      xAxis: axis(c, { type: 'value', name: 'cycle', min: 'dataMin', max: 'dataMax' }),
      yAxis: [share_axis(c, { name: 'occupancy' }), axis(c, { type: 'value', name: 'SMs', splitLine: { show: false }, minInterval: 1 })],
      series: [
        {
          type: 'line',
          step: 'end',
          symbol: 'none',
          name: 'occupancy',
          areaStyle: { opacity: 0.2 },
          data: rows.map((r) => [r[0], r[1]]),
        },
        {
          type: 'line',
          step: 'end',
          symbol: 'none',
          name: 'SMs (right)',
          yAxisIndex: 1,
          lineStyle: { type: 'dashed' },
          data: rows.map((r) => [r[0], r[2]]),
        },
      ],
    }),
  });
}

// Starts of kernels as vertical lines, with names where they do not overlap.
function kernel_starts(kernels, until, width) {
  let taken = -Infinity;
  return [...kernels]
    .sort((a, b) => a.start_cycle - b.start_cycle)
    .slice(0, 60)
    .map((kernel) => {
      const text = clipped(kernel.name, 16),
        at = ratio(kernel.start_cycle, until) * (width - 100),
        wide = 7 * text.length;
      const show = at - wide / 2 > taken;
      if (show) taken = at + wide / 2 + 6;
      return { name: text, xAxis: kernel.start_cycle, label: { show } };
    });
}

const group = 'cycles of the run';
const state_names = (intervals) => Object.keys(intervals.warp_states).filter((s) => intervals.warp_states[s].some((v) => v > 0));
const length = (ends, i) => Math.max(1, ends[i] - (i > 0 ? ends[i - 1] : 0));
// A value for each interval, as points of a line whose steps begin at their left.
const steps = (ends, values) => [[0, values[0]], ...values.map((v, i) => [ends[i], v])];

// Beside each other, these charts are as high as the one with the largest legend.
const height_over_time = (intervals) => (width) => (width < 500 ? 300 : 280 + legend_for(state_names(intervals), width).top);

// The frame of all charts over the run's cycles: the same cycle is at the same place in each of them.
function frame(c, ends, top = 40) {
  const aside = 64;
  return {
    tooltip: { axisPointer: { type: 'line' } },
    grid: { top, left: aside, right: aside, bottom: 46, outerBoundsMode: 'none' },
    xAxis: axis(c, { type: 'value', name: 'cycle', min: 0, max: ends[ends.length - 1] }),
    up: (name, more = {}) => axis(c, { type: 'value', name, nameGap: aside - 16, nameMoveOverlap: false, ...more }),
  };
}

/// Warp states over the run, in intervals of equal length while the chip was active.
export function stalls_over_time_chart(intervals, kernels) {
  const ends = intervals?.end_cycles;
  if (!(ends?.length > 0)) return null;
  const names = state_names(intervals);
  const rows = () => ends.map((end, i) => [i > 0 ? ends[i - 1] : 0, end, ...names.map((s) => intervals.warp_states[s][i])]);
  return chart({
    name: 'states_over_time',
    title: 'What warps did over time',
    group,
    height: (width) => 280 + legend_for(names, width).top,
    about:
      'Warps in each state, on the average of each interval, all SMs and kernels of the run together; vertical lines are the starts of kernels.',
    header: ['from cycle', 'to cycle', ...names.map((s) => s + ' (warp-cycles)')],
    rows,
    option: (c, width) => {
      const { up, ...shared } = frame(c, ends, 10 + legend_for(names, width).top);
      return {
        ...shared,
        legend: legend_for(names, width).legend,
        yAxis: up('warps'),
        series: names.map((s, k) => ({
          type: 'line',
          stack: 'states',
          step: 'start',
          symbol: 'none',
          lineStyle: { width: 0 },
          areaStyle: { opacity: 0.9 },
          name: spoken(s),
          itemStyle: { color: c.state(s) },
          data: steps(ends, ends.map((_, i) => intervals.warp_states[s][i] / length(ends, i))),
          markLine:
            k > 0
              ? undefined
              : {
                  silent: true,
                  symbol: 'none',
                  lineStyle: { color: c.text, type: 'dotted' },
                  label: { color: c.text, formatter: (p) => p.name },
                  data: kernel_starts(kernels, ends[ends.length - 1], width),
                },
        })),
      };
    },
  });
}

export function rates_over_time_chart(intervals) {
  const ends = intervals?.end_cycles;
  if (!(ends?.length > 0)) return null;
  const ipc = ends.map((_, i) => intervals.inst_executed[i] / length(ends, i));
  const dram = ends.map((_, i) => (intervals.dram_read_bytes[i] + intervals.dram_write_bytes[i]) / length(ends, i));
  return chart({
    name: 'rates_over_time',
    title: 'Instructions and memory traffic over time',
    group,
    height: height_over_time(intervals),
    about: 'Warp instructions per cycle of the whole chip, and bytes per cycle read from and written to DRAM.',
    header: ['to cycle', 'warp instructions per cycle', 'DRAM bytes per cycle'],
    rows: () => ends.map((end, i) => [end, ipc[i], dram[i]]),
    option: (c) => {
      const { up, ...shared } = frame(c, ends);
      return {
        ...shared,
        yAxis: [up('instructions per cycle'), up('bytes per cycle', { splitLine: { show: false } })],
        series: [
          { type: 'line', step: 'start', symbol: 'none', name: 'instructions per cycle', data: steps(ends, ipc) },
          {
            type: 'line',
            step: 'start',
            symbol: 'none',
            name: 'DRAM bytes per cycle (right)',
            yAxisIndex: 1,
            lineStyle: { type: 'dashed' },
            data: steps(ends, dram),
          },
        ],
      };
    },
  });
}

/// Power in the intervals of the run: the chip with its board, and the SMs together; under a power cap the clock, too.
export function power_over_time_chart(metrics) {
  const ends = metrics.intervals?.end_cycles,
    chip = metrics.energy?.milliwatts_over_time;
  if (!(chip?.length > 0) || chip.length !== ends?.length) return null;
  const sms = metrics.energy.sm_milliwatts_over_time ?? [],
    known_clock = metrics.energy.clock_mhz_over_time;
  const watts = chip.map((v) => v / 1000),
    in_sms = ends.map((_, i) => sms.reduce((sum, one) => sum + n(one[i]), 0) / 1000),
    clock = known_clock?.length === ends.length ? known_clock : null;
  const capped = clock
    ? `; and the core clock, ${short(Math.min(...clock))} to ${short(Math.max(...clock))} MHz, under a power cap of ${short(n(metrics.gpu.config['energy.power_cap_watts']))} W`
    : '';
  return chart({
    name: 'power_over_time',
    id: 'power-over-time',
    title: 'Power over time',
    group,
    height: height_over_time(metrics.intervals),
    about: `Mean power of each interval: the whole GPU with its board, at most ${short(Math.max(...watts))} W, and of that the SMs${capped}.`,
    header: ['to cycle', 'GPU (W)', 'SMs (W)', ...(clock ? ['core clock (MHz)'] : [])],
    rows: () => ends.map((end, i) => [end, watts[i], in_sms[i], ...(clock ? [clock[i]] : [])]),
    option: (c) => {
      const { up, ...shared } = frame(c, ends);
      return {
        ...shared,
        yAxis: [up('power, W'), ...(clock ? [up('core clock, MHz', { min: 0, splitLine: { show: false } })] : [])],
        series: [
          { type: 'line', step: 'start', symbol: 'none', name: 'GPU', data: steps(ends, watts) },
          { type: 'line', step: 'start', symbol: 'none', name: 'SMs', areaStyle: { opacity: 0.2 }, data: steps(ends, in_sms) },
          ...(clock
            ? [
                {
                  type: 'line',
                  step: 'start',
                  symbol: 'none',
                  name: 'core clock (right)',
                  yAxisIndex: 1,
                  lineStyle: { type: 'dashed' },
                  data: steps(ends, clock),
                },
              ]
            : []),
        ],
      };
    },
  });
}

/// A cell for each SM and time step; what: 'occupancy' or 'instructions'.
export function sm_heat_map(metrics, what, controls) {
  const ends = metrics.intervals?.end_cycles ?? [];
  const by_instructions = what === 'instructions';
  const steps = by_instructions ? ends.length : Math.max(0, ...metrics.sms.map((s) => s.occupancy_over_time?.length ?? 0));
  if (steps === 0) return null;
  const step = n(metrics.sms[0]?.occupancy_step_cycles);
  const from = (i) => (by_instructions ? (i > 0 ? ends[i - 1] : 0) : i * step);
  const value = (s, i) =>
    by_instructions ? ratio(n(s.inst_executed_over_time?.[i]), ends[i] - from(i)) : n(s.occupancy_over_time?.[i]);
  // An SM with a longer time step has fewer values.
  const cells = metrics.sms.flatMap((s, k) =>
    Array.from({ length: steps }, (_, i) => {
      const at = by_instructions || !s.occupancy_step_cycles ? i : Math.floor((i * step) / s.occupancy_step_cycles);
      return [i, k, value(s, at)];
    }),
  );
  const most = cells.reduce((a, cell) => Math.max(a, cell[2]), 0) || 1;
  const title = by_instructions ? 'Warp instructions per cycle of each SM' : 'Occupancy of each SM';
  return chart({
    name: 'sm_heat_map',
    title,
    controls,
    height: Math.max(260, Math.min(700, 90 + 12 * metrics.sms.length)),
    renderer: 'canvas',
    about: `${title} over time: a row for each of ${metrics.sms.length} SMs, a column for each of ${steps} intervals. The largest value is ${short(most)}.`,
    header: ['sm', 'from cycle', by_instructions ? 'warp instructions per cycle' : 'occupancy'],
    rows: () => cells.map(([i, k, v]) => [metrics.sms[k].sm, from(i), v]),
    option: (c) => ({
      legend: { show: false },
      tooltip: {
        trigger: 'item',
        formatter: (p) => `SM ${metrics.sms[p.value[1]].sm}, from cycle ${short(from(p.value[0]))}: ${short(p.value[2])}`,
      },
      grid: { top: 8, bottom: 64 },
      xAxis: axis(c, { type: 'category', name: 'cycle', data: Array.from({ length: steps }, (_, i) => short(from(i))) }),
      yAxis: axis(c, { type: 'category', inverse: true, name: 'SM', data: metrics.sms.map((s) => String(s.sm)) }),
      visualMap: {
        min: 0,
        max: most,
        orient: 'horizontal',
        left: 'center',
        bottom: 0,
        itemHeight: 120,
        itemWidth: 12,
        text: [short(most), '0'],
        textStyle: { color: c.text },
        inRange: { color: c.ramp },
      },
      series: [{ type: 'heatmap', data: cells, progressive: 0 }],
    }),
  });
}
