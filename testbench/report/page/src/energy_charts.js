// SPDX-License-Identifier: MIT
// Energy and mean power of a kernel by unit and class.
import { axis, chart } from './charts.js';
import { energy, number as n, percent, power, ratio, short, spoken } from './format.js';

function share_chart(name, title, about, joules, { total_joules: total, seconds }) {
  const watts = (j) => ratio(j, n(seconds));
  const rows = Object.entries(joules ?? {})
    .map(([unit, j]) => ({ name: spoken(unit), joules: n(j) }))
    .filter((r) => r.joules > 0)
    .sort((a, b) => b.joules - a.joules);
  if (rows.length === 0) return null;
  return chart({
    name,
    title,
    about,
    height: 84 + 26 * rows.length,
    header: ['part', 'joules', 'watts', 'share'],
    rows: () => rows.map((r) => [r.name, r.joules, watts(r.joules), r.joules / total]),
    option: (c, width) => ({
      legend: { show: false },
      grid: { top: 8, bottom: 8, right: 120 },
      tooltip: { valueFormatter: (j) => `${energy(j)}, ${power(watts(j))} on average` },
      xAxis: axis(c, { type: 'value', name: 'energy', min: 0, axisLabel: { color: c.muted, formatter: energy } }),
      yAxis: axis(c, {
        type: 'category',
        name: 'part',
        inverse: true,
        data: rows.map((r) => r.name),
        axisLabel: { color: c.text, width: width < 500 ? 90 : 180, overflow: 'break' },
      }),
      series: [
        {
          type: 'bar',
          name: 'energy',
          data: rows.map((r) => r.joules),
          barMaxWidth: 20,
          label: { show: true, position: 'right', color: c.text, formatter: (p) => `${percent(p.value / total)}, ${power(watts(p.value))}` },
        },
      ],
    }),
  });
}

export function energy_charts(kernel) {
  const e = kernel.energy;
  if (!e || !(e.total_joules > 0)) return [];
  return [
    share_chart(
      'energy_by_unit',
      'Energy by unit',
      `${energy(e.total_joules)} in all, ${short(e.mean_watts)} W on average; ${percent(e.static_share)} of it is static: spent by time, not by events.`,
      e.by_unit,
      e,
    ),
    share_chart(
      'energy_by_class',
      'Energy by class of instruction',
      'Dynamic energy: each class with its part of control and registers, and apart from them that of the memory system.',
      e.by_class,
      e,
    ),
  ];
}
