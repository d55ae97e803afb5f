// SPDX-License-Identifier: MIT
// Rooflines: of floating-point operations, with a ceiling for each unit, and of warp instructions.
import { axis, chart, legend_for } from './charts.js';
import { percent, ratio, scaled, short, whole } from './format.js';

const symbols = ['circle', 'rect', 'triangle', 'diamond'];
const sizes = [20, 14, 12, 11]; // levels may overlap

const log_label = (c, format) => ({ color: c.muted, formatter: (v) => format(Number(v.toPrecision(2))), hideOverlap: true });

// Series of a roofline. levels: [{name, intensity, peak}]; ceilings: [{name, peak}], the highest first.
function roof_series(c, levels, ceilings, rate, low, high) {
  const top = ceilings[0].peak;
  return [
    ...levels.map((l, i) => ({
      type: 'line',
      symbol: 'none',
      name: `${l.name} roof`,
      itemStyle: { color: c.list[i] },
      lineStyle: { color: c.list[i] },
      data: [
        [low, low * l.peak],
        [top / l.peak, top],
      ],
    })),
    ...ceilings.map((ceiling, i) => ({
      type: 'line',
      symbol: 'none',
      name: ceiling.name,
      itemStyle: { color: c.muted },
      lineStyle: { color: c.muted, type: i === 0 ? 'solid' : 'dashed' },
      // A ceiling begins where the widest memory can feed it.
      data: [
        [ceiling.peak / Math.max(...levels.map((l) => l.peak)), ceiling.peak],
        [high, ceiling.peak],
      ],
      endLabel: { show: true, formatter: ceiling.name, color: c.text, align: 'right', verticalAlign: 'bottom', offset: [-4, -9], fontSize: 11 },
    })),
    ...levels.map((l, i) => ({
      type: 'scatter',
      name: l.name,
      symbol: symbols[i % symbols.length],
      symbolSize: sizes[i % sizes.length],
      itemStyle: { color: c.list[i] },
      data: [[l.intensity, rate]],
    })),
  ];
}

function roof_option(c, width, { levels, ceilings, rate, across, up }) {
  const xs = levels.flatMap((l) => [l.intensity, ceilings[0].peak / l.peak]);
  const low = Math.min(...xs) / 4,
    high = Math.max(...xs) * 4;
  const shown = levels.flatMap((l) => [`${l.name} roof`, l.name]);
  const placed = legend_for(shown, width);
  return {
    legend: { ...placed.legend, data: shown },
    grid: { top: placed.top },
    tooltip: {
      trigger: 'item',
      formatter: (p) => `${p.seriesName}: ${scaled(p.value[1], '/s')} at ${short(Number(Number(p.value[0]).toPrecision(3)))} per byte`,
    },
    xAxis: axis(c, { type: 'log', name: across, min: low, max: high, axisLabel: log_label(c, short) }),
    yAxis: axis(c, {
      type: 'log',
      name: up,
      max: ceilings[0].peak * 3,
      min: Math.min(rate, ceilings[ceilings.length - 1].peak) / 30,
      axisLabel: log_label(c, (v) => scaled(v, '/s')),
    }),
    series: roof_series(c, levels, ceilings, rate, low, high),
  };
}

const roof_at = (level, peak) => Math.min(peak, level.intensity * level.peak);

export function flop_roofline_chart(kernel) {
  const r = kernel.judged.flop_roofline;
  if (!r || r.levels.length === 0 || r.ceilings.length === 0) return null;
  const used = r.work.map((w) => `${whole(w.flops)} ${w.name}`).join(', ');
  // The ceiling of the unit that does most of the work.
  const most = r.work.reduce((a, b) => (b.flops > a.flops ? b : a)).name;
  const own = r.ceilings.find((c) => c.name.split(', ').some((name) => name === most || name.startsWith(most))) ?? r.ceilings[0];
  return chart({
    name: 'flop_roofline',
    title: 'FLOP roofline',
    height: 400,
    about: `${scaled(r.rate, 'FLOP/s')}, ${percent(ratio(r.rate, own.peak))} of the ${own.name} ceiling; operations: ${used}. ${r.levels.map((l) => `${l.name}: ${percent(ratio(r.rate, roof_at(l, own.peak)))} of what its bandwidth and that ceiling allow`).join('; ')}.`,
    header: ['what', 'FLOP per byte', 'FLOP per second', 'roof (FLOP per second)', 'bytes', 'bytes per second possible'],
    rows: () => [
      ...r.levels.map((l) => [l.name, l.intensity, r.rate, roof_at(l, own.peak), l.bytes, l.peak]),
      ...r.ceilings.map((c) => [`ceiling ${c.name}`, '', '', c.peak, '', '']),
    ],
    option: (c, width) => roof_option(c, width, { ...r, across: 'FLOP per byte', up: 'FLOP per second' }),
  });
}

export function roofline_chart(kernel) {
  const r = kernel.judged.roofline;
  if (r.levels.length === 0 || r.rate === 0) return null;
  return chart({
    name: 'roofline',
    title: 'Instruction roofline',
    height: 400,
    about: r.levels.map((l) => `${l.name}: ${percent(ratio(r.rate, roof_at(l, r.issue_peak)))} of what its bandwidth and the issue slots allow`).join('; ') + '.',
    header: ['level', 'warp instructions per byte', 'warp instructions per second', 'roof', 'bytes per second possible'],
    rows: () => r.levels.map((l) => [l.name, l.intensity, r.rate, roof_at(l, r.issue_peak), l.peak]),
    option: (c, width) =>
      roof_option(c, width, {
        levels: r.levels,
        ceilings: [{ name: 'issue slots', peak: r.issue_peak }],
        rate: r.rate,
        across: 'warp instructions per byte',
        up: 'warp instructions per second',
      }),
  });
}
