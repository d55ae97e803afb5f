// SPDX-License-Identifier: MIT
// The report of a sweep's store: any metric over any axis, and its sensitivity to the axes.
import { axis, chart, clear_charts, draw_all, draw_in } from './charts.js';
import { csv_button, h, select, table } from './dom.js';
import { percent, short } from './format.js';
import { section, tiles } from './layout.js';
import { begins, clip, cut, pareto_chart, point_label } from './pareto_chart.js';
import { first_metrics, is_number, lines, metric_label, more_is_better, sensitivity } from './sweep_rules.js';

const none = 'nothing';
const most_rows = 300;

function chooser_chart(sweep, done, metrics, chosen) {
  const place = h('div');
  const axes = sweep.axes;
  const show = () => {
    const { x, y, by } = chosen;
    const rows = done.map((p) => ({
      x: p.axes[x],
      value: p.values[metrics[y].column],
      series: by < axes.length ? clip(p.axes[by]) : '',
    }));
    const list = lines(rows),
      numeric = rows.every((r) => is_number(r.x));
    const categories = [...new Set(rows.map((r) => r.x))];
    const controls = [
      select(
        'Metric',
        metrics.map((m) => m.name),
        y,
        (i) => {
          chosen.y = i;
          show();
        },
      ),
      select('over', axes, x, (i) => {
        chosen.x = i;
        show();
      }),
      select('a line for each', [...axes, none], by, (i) => {
        chosen.by = i;
        show();
      }),
      select('axis from', begins, chosen.cut ? 1 : 0, (i) => {
        chosen.cut = i === 1;
        show();
      }),
    ];
    place.replaceChildren(
      chart({
        name: 'metric_over_axis',
        title: `${metrics[y].name} over ${axes[x]}`,
        controls,
        height: 380,
        about: `The mean of all points that have the same ${axes[x]}${by < axes.length ? ` and ${axes[by]}` : ''}: ${list.length} line${list.length === 1 ? '' : 's'}, ${done.length} points.${cut(chosen)}`,
        header: [by < axes.length ? axes[by] : 'series', axes[x], metrics[y].name + ' (mean)', 'points'],
        rows: () => list.flatMap((l) => l.points.map((p) => [l.series, ...p])),
        option: (c) => ({
          tooltip: { axisPointer: { type: 'line' } },
          legend: { show: list.length > 1 },
          xAxis: axis(
            c,
            numeric
              ? { type: 'value', scale: true, name: axes[x] }
              : { type: 'category', name: axes[x], data: categories.map(clip) },
          ),
          yAxis: axis(c, { type: 'value', scale: chosen.cut === true, name: metrics[y].name }),
          series: list.map((l, i) => ({
            type: 'line',
            name: l.series || metrics[y].name,
            symbol: ['circle', 'rect', 'triangle', 'diamond'][i % 4],
            symbolSize: 7,
            lineStyle: { type: ['solid', 'dashed', 'dotted'][Math.floor(i / 4) % 3] },
            data: l.points.map((p) => [numeric ? p[0] : clip(p[0]), p[1]]),
          })),
        }),
      }),
    );
    draw_in(place);
  };
  show();
  return place;
}

function sensitivity_chart(sweep, done, metrics, chosen) {
  const place = h('div');
  const show = () => {
    const metric = metrics[chosen.y];
    const ranked = sensitivity(
      sweep.axes,
      done.map((p) => ({ axes: p.axes, value: p.values[metric.column] })),
    );
    place.replaceChildren(
      chart({
        name: 'sensitivity',
        title: `What moves ${metric.name}`,
        controls: [
          select(
            'Metric',
            metrics.map((m) => m.name),
            chosen.y,
            (i) => {
              chosen.y = i;
              show();
            },
          ),
        ],
        height: 110 + 44 * ranked.length,
        about:
          ranked.length > 0
            ? `Most of it ${ranked[0].axis}: it explains ${percent(ranked[0].explained)} of the variance, and the means of its values spread over ${percent(ranked[0].spread)} of the mean.`
            : 'No point has this metric.',
        header: ['axis', 'values', 'variance explained', 'spread of means', 'least at', 'most at'],
        rows: () => ranked.map((r) => [r.axis, r.values, r.explained, r.spread, r.least, r.most]),
        option: (c, width) => ({
          tooltip: { valueFormatter: percent },
          grid: { top: 40, bottom: 8 },
          xAxis: axis(c, { type: 'value', name: 'share of the variance; of the mean', min: 0, axisLabel: { color: c.muted, formatter: (v) => Math.round(100 * v) + ' %' } }),
          yAxis: axis(c, {
            type: 'category',
            name: 'axis of the sweep',
            inverse: true,
            data: ranked.map((r) => r.axis),
            axisLabel: { color: c.text, width: width < 500 ? 110 : 240, overflow: 'break' },
          }),
          series: [
            { type: 'bar', name: 'variance explained', data: ranked.map((r) => r.explained) },
            { type: 'bar', name: 'spread of means', data: ranked.map((r) => r.spread) },
          ],
        }),
      }),
    );
    draw_in(place);
  };
  show();
  return place;
}

function points_section(sweep, shown_metrics) {
  const header = ['position', 'status', ...sweep.axes, ...shown_metrics.map((m) => m.name)];
  const row = (p) => [p.position, p.status, ...p.axes, ...shown_metrics.map((m) => p.values[m.column])];
  const failed = sweep.points.filter((p) => p.status !== 'done');
  return section(
    'Points',
    h(
      'figure',
      {},
      h(
        'figcaption',
        {},
        h('h3', {}, `${sweep.points.length} points`),
        csv_button('points', ['position', 'id', 'status', 'reason', ...sweep.axes, ...sweep.metrics], () =>
          sweep.points.map((p) => [p.position, p.id, p.status, p.reason, ...p.axes, ...p.values]),
        ),
      ),
      sweep.points.length > most_rows &&
        h('p', { class: 'about' }, `The first ${most_rows}; the CSV has all of them, with all metrics.`),
      table(
        'Points',
        header.map((name, i) => ({ name, format: i === 0 || i > 1 ? short : undefined })),
        sweep.points.slice(0, most_rows).map(row),
      ),
    ),
    failed.length > 0 &&
      h(
        'figure',
        {},
        h('figcaption', {}, h('h3', {}, `${failed.length} points without a result`)),
        table(
          'Points without a result',
          [{ name: 'position', format: String }, { name: 'status' }, { name: 'point' }, { name: 'reason' }],
          failed.slice(0, most_rows).map((p) => [p.position, p.status, point_label(sweep, p), p.reason]),
        ),
      ),
  );
}

function sweep_sections(sweep) {
  const done = sweep.points.filter((p) => p.status === 'done');
  const metrics = sweep.metrics
    .map((path, column) => ({ path, name: metric_label(path), column }))
    .filter((m) => done.some((p) => is_number(p.values[m.column])));
  const dropped = sweep.dropped.map((d) => `${d.points} dropped by ${d.constraint}`);
  const overview = section(
    'Sweep',
    tiles([
      ['points', short(sweep.points.length)],
      ['with a result', short(done.length)],
      ['axes', sweep.axes.join(', ') || none],
      ['dropped', dropped.join(', ') || '0'],
    ]),
  );
  if (metrics.length === 0 || sweep.axes.length === 0)
    return [overview, section('Metrics', h('p', {}, 'No point has a metric that is a number.')), points_section(sweep, [])];
  // The default chart: the axis with the most values on the x axis, a line for each value of the next one.
  const count = sweep.axes.map((_, i) => new Set(sweep.points.map((p) => p.axes[i])).size),
    order = count.map((_, i) => i).sort((a, b) => count[b] - count[a]);
  const [across, up] = first_metrics(
    metrics.map((m) => m.path),
    done.map((p) => metrics.map((m) => p.values[m.column])),
    sweep.axes.filter((_, i) => count[i] > 1),
  );
  const chosen = {
    x: order[0],
    y: across,
    by: count[order[1]] > 1 && count[order[1]] <= 12 ? order[1] : sweep.axes.length,
    px: across,
    py: up,
    x_more: Number(more_is_better(metrics[across].name)),
    y_more: Number(more_is_better(metrics[up].name)),
  };
  return [
    overview,
    section('Metrics over axes', chooser_chart(sweep, done, metrics, { ...chosen })),
    section('Sensitivity', sensitivity_chart(sweep, done, metrics, { ...chosen })),
    section('Pareto front', pareto_chart(sweep, done, metrics, { ...chosen })),
    points_section(sweep, metrics.slice(0, 12)),
  ];
}

/// Builds the report of a store in `main`, and the chooser of its sweeps in `bar`.
export function sweep_page(data, main, bar, listed) {
  let chosen = 0;
  const show = () => {
    clear_charts();
    bar.replaceChildren(
      data.sweeps.length > 1
        ? select(
            'Sweep',
            data.sweeps.map((s) => s.name),
            chosen,
            (i) => {
              chosen = i;
              show();
            },
          )
        : '',
    );
    main.replaceChildren(
      ...(data.sweeps.length > 0
        ? sweep_sections(data.sweeps[chosen])
        : [section('Sweep', h('p', {}, 'The store holds no sweep.'))]),
    );
    listed([...main.querySelectorAll('section')]);
    draw_all();
  };
  show();
}
