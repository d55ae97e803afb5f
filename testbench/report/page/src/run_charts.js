// SPDX-License-Identifier: MIT
// The charts of one kernel, or of its run.
import { axis, chart, legend_for } from './charts.js';
import { number as n, percent, ratio, short, spoken } from './format.js';

// A repeated launch has one position in the job, but several start cycles.
export const kernel_label = (k) => `${k.name} (launch ${k.launch}${k.client ? ` of ${k.client}` : ''}, from ${short(k.start_cycle)})`;
export const share_axis = (c, more) =>
  axis(c, {
    type: 'value',
    min: 0,
    max: 1,
    axisLabel: { color: c.muted, hideOverlap: true, formatter: (v) => Math.round(100 * v) + ' %' },
    ...more,
  });

const label_width = (width) => (width < 500 ? 90 : 180);

// Lines of a label that is broken between words.
function lines_of(name, width) {
  const letters = Math.floor(label_width(width) / 7);
  let [lines, used] = [1, 0];
  for (const word of name.split(' ')) {
    if (used > 0 && used + 1 + word.length > letters) [lines, used] = [lines + 1, 0];
    used += (used > 0) + word.length;
  }
  return lines;
}

// `each`: pixels of a bar whose label has one line.
const bars_height = (rows, each) => (width) => 84 + rows.length * Math.max(each, 6 + 14 * Math.max(...rows.map((r) => lines_of(r.name, width))));

/// Horizontal bars, one for each name: rows [{name, share}].
function bars(rows, c, width, label, across, up) {
  return {
    legend: { show: false },
    grid: { top: 8, bottom: 8, right: 60 },
    tooltip: { valueFormatter: percent },
    xAxis: share_axis(c, { name: across }),
    yAxis: axis(c, {
      type: 'category',
      name: up,
      inverse: true,
      data: rows.map((r) => r.name),
      axisLabel: { color: c.text, width: label_width(width), overflow: 'break', lineHeight: 14, interval: 0 },
    }),
    series: [
      {
        type: 'bar',
        name: label,
        data: rows.map((r) => r.share),
        barMaxWidth: 20,
        label: { show: true, position: 'right', color: c.text, formatter: (p) => percent(p.value) },
      },
    ],
  };
}

export function speed_of_light_chart(kernel) {
  const used = kernel.judged.speed_of_light;
  return chart({
    name: 'speed_of_light',
    title: 'Speed of light',
    height: bars_height(used, 30),
    about: `What the kernel used of what the chip can do in its time. Most used: ${[...used]
      .sort((a, b) => b.share - a.share)
      .slice(0, 2)
      .map((u) => `${u.name} ${percent(u.share)}`)
      .join(', ')}.`,
    header: ['resource', 'share', 'used per cycle', 'possible per cycle', 'unit'],
    rows: () => used.map((u) => [u.name, u.share, u.used, u.peak, u.unit]),
    option: (c, width) => bars(used, c, width, 'used', 'share of peak throughput', 'part of the chip'),
  });
}

export function occupancy_chart(kernel) {
  const lost = Object.entries(kernel.lost_occupancy ?? {}).map(([name, share]) => ({ name: spoken(name), share: n(share) }));
  const achieved = n(kernel.metrics.achieved_occupancy),
    theory = n(kernel.theoretical_occupancy);
  const limited = { name: `limit: ${(kernel.occupancy_limiters ?? []).map(spoken).join(', ') || 'none'}`, share: 1 - theory };
  const rows = [{ name: 'achieved', share: achieved }, ...lost, limited];
  return chart({
    name: 'occupancy',
    title: 'Warp slots: used, and lost to what',
    height: bars_height(rows, 30),
    about: `Theoretical occupancy is ${percent(theory)}, achieved ${percent(achieved)}. The parts add up to all warp slots of the SMs at work.`,
    header: ['part', 'share of warp slots'],
    rows: () => rows.map((r) => [r.name, r.share]),
    option: (c, width) => bars(rows, c, width, 'warp slots', 'share of warp slots', 'use'),
  });
}

export function instruction_chart(kernel) {
  const all = Object.values(kernel.instructions).reduce((a, b) => a + n(b), 0);
  const rows = Object.entries(kernel.instructions)
    .filter(([, v]) => n(v) > 0)
    .map(([name, v]) => ({ name, share: ratio(n(v), all), count: n(v) }));
  return chart({
    name: 'instructions',
    title: 'Instructions by unit',
    height: bars_height(rows, 28),
    about: `${short(all)} warp instructions; the largest part goes to ${[...rows].sort((a, b) => b.share - a.share)[0]?.name ?? 'none'}.`,
    header: ['unit', 'warp instructions', 'share'],
    rows: () => rows.map((r) => [r.name, r.count, r.share]),
    option: (c, width) => bars(rows, c, width, 'instructions', 'share of warp instructions', 'unit'),
  });
}

// The label of a bar in two lines: the kernel's name and its launch.
const bar_label = (label) => label.replace(/ \((launch [^)]*)\)$/, '\n$1');

const stacked_states = (c, names, rows, horizontal, categories, width) => ({
  tooltip: { axisPointer: { type: 'shadow' }, valueFormatter: percent },
  legend: legend_for(names, width).legend,
  grid: { top: legend_for(names, width).top, bottom: 12 },
  [horizontal ? 'xAxis' : 'yAxis']: share_axis(c, { name: 'share of warp-cycles' }),
  [horizontal ? 'yAxis' : 'xAxis']: axis(c, {
    type: 'category',
    name: 'launch',
    inverse: horizontal,
    data: categories,
    axisLabel: { color: c.text, width: width < 500 ? 115 : 200, overflow: 'truncate', lineHeight: 14, formatter: bar_label },
  }),
  series: names.map((name, i) => ({
    type: 'bar',
    stack: 'all',
    name: spoken(name),
    data: rows.map((r) => r[i]),
    itemStyle: { color: c.state(name) },
    barMaxWidth: 28,
  })),
});

const most_bars = 40;

/// Warp-cycles by state, a bar for each of `rows`: [{label, counts}]; `active` in counts is their sum and not a state.
export function stall_chart(name, title, about, rows) {
  const shown = rows.slice(0, most_bars);
  const names = Object.keys(shown[0]?.counts ?? {}).filter((s) => s !== 'active' && rows.some((r) => n(r.counts[s]) > 0));
  const shares = (r) => {
    const all = names.reduce((sum, s) => sum + n(r.counts[s]), 0);
    return names.map((s) => ratio(n(r.counts[s]), all));
  };
  const more = rows.length > shown.length ? ` The first ${shown.length} of ${rows.length} are drawn; the CSV has all.` : '';
  return chart({
    name,
    title,
    about: about + more,
    height: (width) => 72 + legend_for(names, width).top + 34 * shown.length,
    header: ['of', ...names],
    rows: () => rows.map((r) => [r.label, ...shares(r)]),
    option: (c, width) =>
      stacked_states(
        c,
        names,
        shown.map(shares),
        true,
        shown.map((r) => r.label),
        width,
      ),
  });
}

/// Phases of each context switch, in cycles.
export function switch_chart(switches, kernels) {
  const rows = switches.slice(0, most_bars).map((s) => {
    const saved = s.saved_cycle || s.quiesced_cycle || s.request_cycle,
      restore = s.restore_cycle || saved,
      quiet = s.quiesced_cycle || s.request_cycle;
    return {
      label: `SM ${s.sm} ${s.mode} at ${short(s.request_cycle)}`,
      from: s.request_cycle,
      phases: [quiet - s.request_cycle, saved - quiet, restore - saved, Math.max(0, (s.resumed_cycle || restore) - restore)].map(
        (v) => Math.max(0, v),
      ),
    };
  });
  const names = ['quiescing', 'saving', 'away', 'restoring'];
  return chart({
    name: 'context_switches',
    title: 'Context switches',
    height: 90 + 26 * rows.length,
    about: `${switches.length} context switches, from the request to the return${switches.length > rows.length ? `; the first ${rows.length} are drawn` : ''}.`,
    header: [
      'sm',
      'kernel',
      'mode',
      'request',
      'quiesced',
      'saved',
      'restore',
      'resumed',
      'bytes saved',
      'bytes restored',
      'blocks',
    ],
    rows: () =>
      switches.map((s) => [
        s.sm,
        kernels[s.kernel]?.name ?? s.kernel,
        s.mode,
        s.request_cycle,
        s.quiesced_cycle,
        s.saved_cycle,
        s.restore_cycle,
        s.resumed_cycle,
        s.bytes_saved,
        s.bytes_restored,
        (s.blocks ?? []).length,
      ]),
    option: (c, width) => ({
      xAxis: axis(c, { type: 'value', name: 'cycle', min: Math.min(...rows.map((r) => r.from)) }),
      yAxis: axis(c, {
        type: 'category',
        name: 'switch',
        inverse: true,
        data: rows.map((r) => r.label),
        axisLabel: { color: c.text, width: width < 500 ? 110 : 220, overflow: 'break' },
      }),
      tooltip: {
        formatter: (list) =>
          list
            .filter((p) => p.seriesName !== 'start')
            .map((p) => `${p.seriesName}: ${short(p.value)}`)
            .join(', '),
      },
      series: [
        {
          type: 'bar',
          stack: 'all',
          name: 'start',
          silent: true,
          itemStyle: { color: 'transparent' },
          data: rows.map((r) => r.from),
        },
        ...names.map((name, i) => ({ type: 'bar', stack: 'all', name, data: rows.map((r) => r.phases[i]), barMaxWidth: 18 })),
      ],
      legend: { data: names },
    }),
  });
}
