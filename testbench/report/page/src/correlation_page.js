// SPDX-License-Identifier: MIT
// The comparison with real chips: a scatter plot for each chip, its rows, and what departs first.
import { axis, chart, clear_charts, draw_all, legend_for } from './charts.js';
import { csv_button, fresh_id, h, table } from './dom.js';
import { short } from './format.js';
import { section, tiles } from './layout.js';

const signed = (error) => (error > 0 ? '+' : '') + (100 * error).toFixed(1) + ' %';
const timed = (chip) => chip.rows.filter((r) => r.error !== null);
const use = (row) => (row.identifies ? `identifies ${row.identifies}` : 'compared');

// Chips have names that differ in digits only, so their sections are numbered.
function chip_section(title, ...content) {
  const id = fresh_id('chip');
  return h('section', { id, 'aria-labelledby': id + '-heading' }, h('h2', { id: id + '-heading' }, title), content);
}

function scatter(chip) {
  const rows = timed(chip);
  const values = rows.flatMap((r) => [r.hardware_cycles, r.heddle_cycles]);
  const ends = [Math.min(...values) / 1.5, Math.max(...values) * 1.5];
  const lines = [
    ['equal', 1, 'solid'],
    ['a quarter more', 1.25, 'dashed'],
    ['a quarter less', 0.8, 'dashed'],
  ];
  const kinds = [
    ['compared', (r) => !r.identifies],
    ['a parameter was fitted to it', (r) => r.identifies],
  ].filter(([, is]) => rows.some(is));
  const legend = [...kinds.map(([name]) => name), ...lines.map(([name]) => name)];
  return chart({
    name: `correlation_${chip.gpu}`,
    title: `Time of ${rows.length} launches, core cycles`,
    height: 420,
    about: `Across: the chip; up: Heddle; both logarithmic. On the line both are equal. Mean error ${signed(chip.mean_error).slice(1)}, bias ${signed(chip.bias)}.`,
    header: ['kernel', 'hardware (cycles)', 'Heddle (cycles)', 'error (%)', 'use'],
    rows: () => rows.map((r) => [r.kernel, r.hardware_cycles, r.heddle_cycles, 100 * r.error, use(r)]),
    option: (c, width) => {
      const placed = legend_for(legend, width);
      return {
        legend: placed.legend,
        grid: { top: placed.top },
        tooltip: {
          trigger: 'item',
          formatter: undefined,
          valueFormatter: (v) => (Array.isArray(v) ? v.map(short).join(', ') : short(v)),
        },
        xAxis: axis(c, { type: 'log', name: 'hardware, cycles', min: ends[0], max: ends[1], axisLabel: { color: c.muted, hideOverlap: true, formatter: short } }),
        yAxis: axis(c, { type: 'log', name: 'Heddle, cycles', min: ends[0], max: ends[1], axisLabel: { color: c.muted, hideOverlap: true, formatter: short } }),
        series: [
          ...kinds.map(([name, is], i) => ({
            type: 'scatter',
            name,
            symbol: i === 0 ? 'circle' : 'diamond',
            symbolSize: i === 0 ? 9 : 11,
            itemStyle: { color: i === 0 ? c.accent : c.muted },
            data: rows.filter(is).map((r) => ({ name: r.kernel, value: [r.hardware_cycles, r.heddle_cycles] })),
          })),
          ...lines.map(([name, factor, type]) => ({
            type: 'line',
            name,
            symbol: 'none',
            silent: true,
            itemStyle: { color: c.muted },
            lineStyle: { color: c.muted, width: 1, type },
            data: ends.map((v) => [v, v * factor]),
          })),
        ],
      };
    },
  });
}

function rows_table(chip) {
  const header = ['kernel', 'metric', 'hardware', 'Heddle', 'error', 'departs first', 'use'];
  const line = (r) => {
    if (r.failure) return [r.kernel, '', '', '', 'failed', r.failure, use(r)];
    const v = r.values[r.shown];
    return [
      r.kernel + (r.note ? ` (${r.note})` : ''),
      v?.metric ?? '',
      v?.hardware_text ?? '',
      v?.heddle_text ?? '',
      r.error === null ? '' : signed(r.error),
      r.departs,
      use(r),
    ];
  };
  return table(
    `Launches on ${chip.gpu}`,
    header.map((name, i) => ({ name, number: i >= 2 && i <= 4 })),
    chip.rows.map(line),
  );
}

function values_figure(chip) {
  const header = ['kernel', 'metric', 'hardware', 'Heddle', 'error'];
  const cells = (text) => chip.rows.flatMap((r) => r.values.map((v) => [r.kernel, v.metric, ...text(v)]));
  const details = h('details', {}, h('summary', {}, 'Every value'));
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    details.append(
      table(
        `Values of ${chip.gpu}`,
        header.map((name, i) => ({ name, number: i >= 2 })),
        cells((v) => [v.hardware_text, v.heddle_text, v.error_text]),
      ),
    );
  });
  return h(
    'figure',
    {},
    h(
      'figcaption',
      {},
      h('h3', {}, 'Metrics'),
      csv_button(`values_${chip.gpu}`, ['kernel', 'metric', 'hardware', 'heddle', 'error'], () =>
        cells((v) => [v.hardware, v.heddle, v.error]),
      ),
    ),
    details,
  );
}

function chip_sections(chip) {
  return chip_section(
    chip.gpu,
    tiles([
      ['rows compared', short(chip.counted)],
      ['mean error', (100 * chip.mean_error).toFixed(1) + ' %'],
      ['bias', signed(chip.bias)],
      ['correlation of logarithms', chip.counted > 2 ? chip.correlation.toFixed(4) : ''],
    ]),
    timed(chip).length > 0 && scatter(chip),
    h('figure', {}, h('figcaption', {}, h('h3', {}, 'Launches')), rows_table(chip)),
    values_figure(chip),
  );
}

function origins(data) {
  const of = (r) => r.origin + (r.licence ? ` (licence: ${r.licence})` : '');
  const lines = new Set(data.chips.flatMap((chip) => chip.rows.map(of)));
  const costs = new Set(
    data.chips.flatMap((chip) =>
      chip.rows.filter((r) => r.launch_cycles > 0).map((r) => `${chip.gpu}: ${short(r.launch_cycles)} cycles (${r.origin})`),
    ),
  );
  return section(
    'Origins',
    h(
      'ul',
      {},
      [...lines].map((line) => h('li', {}, line)),
    ),
    costs.size > 0 && h('p', {}, 'Launch cost that was taken off the measured times:'),
    costs.size > 0 &&
      h(
        'ul',
        {},
        [...costs].map((line) => h('li', {}, line)),
      ),
    data.left_out > 0 && h('p', {}, `${data.left_out} rows labelled long were not run.`),
    data.ignored.length > 0 && h('p', {}, `Without a counterpart in Heddle: ${data.ignored.join(', ')}.`),
    h('p', { class: 'muted' }, `Made on ${data.date} with: ${data.command}`),
  );
}

function names(data) {
  return section(
    'Names of metrics',
    table(
      'Names of metrics',
      [{ name: 'Heddle' }, { name: 'Nsight Compute' }, { name: 'nvprof' }],
      data.names.map((n) => [n.name, n.nsight.join(', '), n.nvprof.join(', ')]),
    ),
  );
}

/// Builds the page of a comparison in `main`.
export function correlation_page(data, main, bar, listed) {
  clear_charts();
  main.replaceChildren(...data.chips.map(chip_sections), origins(data), names(data));
  listed([...main.querySelectorAll('section')]);
  draw_all();
}
