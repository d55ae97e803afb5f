// SPDX-License-Identifier: MIT
// A chart is a figure: heading, picture, and its data as a table and as CSV. It is redrawn when the window size or the
// theme changes.
import { BarChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from 'echarts/components';
import { connect, init, use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';
import { csv_button, fresh_id, h, table } from './dom.js';
import { short } from './format.js';
import { opened } from './later.js';
import { colours, on_theme } from './theme.js';

use([
  BarChart,
  HeatmapChart,
  LineChart,
  ScatterChart,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
  LabelLayout,
  CanvasRenderer,
  SVGRenderer,
]);

let shown = [];
const most_rows = 400; // limit of a table in the page; the CSV has all rows

export function clear_charts() {
  for (const { instance, renderer } of shown) {
    if (renderer === 'canvas' && instance) {
      // It may still be painted in parts; painting nothing ends that.
      instance.clear();
      instance.getZr().flush();
    }
    instance?.dispose();
  }
  shown = [];
}

const basics = (c, narrow) => ({
  animation: false,
  textStyle: { fontFamily: 'system-ui, sans-serif', color: c.text },
  color: c.list,
  tooltip: {
    trigger: 'axis',
    confine: true,
    backgroundColor: c.back,
    borderColor: c.line,
    textStyle: { color: c.text, fontSize: 12 },
    axisPointer: { type: 'shadow' },
    valueFormatter: (v) => (typeof v === 'number' ? short(v) : String(v ?? '')),
  },
  legend: {
    type: 'scroll',
    top: 0,
    textStyle: { color: c.text, fontSize: narrow ? 11 : 12 },
    pageTextStyle: { color: c.text },
    pageIconColor: c.text,
    pageIconInactiveColor: c.line,
    itemWidth: 14,
    itemHeight: 10,
  },
  grid: { left: 8, right: narrow ? 12 : 24, top: 40, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'all' },
});

export function axis(c, more = {}) {
  return {
    nameLocation: 'middle',
    nameGap: 26,
    nameTextStyle: { color: c.muted },
    axisLabel: { color: c.muted, hideOverlap: true },
    axisLine: { lineStyle: { color: c.line } },
    splitLine: { lineStyle: { color: c.line } },
    ...more,
  };
}

function merged(a, b) {
  const out = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const both = value && a[key] && typeof value === 'object' && typeof a[key] === 'object' && !Array.isArray(value);
    out[key] = both ? merged(a[key], value) : value;
  }
  return out;
}

function draw(chart) {
  if (!chart.box.isConnected) return;
  const c = colours(),
    width = chart.box.clientWidth;
  if (width === 0) return;
  const height = chart.height(width);
  chart.box.style.height = height + 'px';
  chart.instance ??= init(chart.box, null, { renderer: chart.renderer, height });
  chart.instance.resize({ width, height });
  if (chart.group && chart.instance.group !== chart.group) {
    chart.instance.group = chart.group;
    connect(chart.group);
  }
  const option = chart.option(c, width, chart.instance);
  chart.instance.setOption(merged(basics(c, width < 600), option), { notMerge: true });
  chart.box.dataset.axes = [option.xAxis, option.yAxis].flat().map((a) => a?.name ?? '').join('|'); // for tests: each has a title
  chart.box.dataset.drawn = 'yes';
}

/// {title, about, name, option(colours, width, instance), header, rows(), height?, renderer?, controls?, id?, group?}.
/// `about` describes the picture in one sentence, which screen readers read. `height`: pixels, or a function of the
/// width. `id`: what links lead to. Charts of one `group` show the place that the mouse points at in one of them.
export function chart(spec) {
  const id = spec.id ?? fresh_id('chart');
  const box = h('div', {
    class: 'chart',
    role: 'img',
    'aria-labelledby': id + '-title',
    'aria-describedby': id + '-about',
    'data-chart': spec.name,
  });
  const height = typeof spec.height === 'function' ? spec.height : () => spec.height ?? 300;
  box.style.height = height(560) + 'px';
  const entry = { box, option: spec.option, height, group: spec.group, renderer: spec.renderer ?? 'svg' };
  shown = shown.filter((c) => c.box.isConnected || c.instance === undefined);
  shown.push(entry);
  const details = h('details', {}, h('summary', {}, 'Table'));
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    const rows = spec.rows();
    details.append(
      table(
        spec.title,
        spec.header.map((name) => ({ name, format: short })),
        rows.slice(0, most_rows),
      ),
    );
    if (rows.length > most_rows)
      details.append(h('p', { class: 'muted' }, `The first ${most_rows} of ${rows.length} rows; the CSV has all.`));
  });
  return h(
    'figure',
    { id },
    h('figcaption', {}, h('h3', { id: id + '-title' }, spec.title), spec.controls, csv_button(spec.name, spec.header, spec.rows)),
    h('p', { class: 'about', id: id + '-about' }, spec.about),
    box,
    details,
  );
}

/// The legend in as many rows as the names need, and the height above the grid that it takes.
export function legend_for(names, width) {
  let rows = 1,
    used = 0;
  for (const name of names) {
    const takes = 34 + 7 * name.length;
    if (used + takes > width - 16 && used > 0) (++rows, (used = 0));
    used += takes;
  }
  return rows > 7 ? { legend: {}, top: 40 } : { legend: { type: 'plain' }, top: 16 + 22 * rows };
}

let last_width = 0,
  due = 0;

/// Draws the charts of a new page. When it opens, its text is seen first, and charts follow.
export function draw_all() {
  if (last_width !== 0) shown.forEach(draw);
}
export const draw_in = (element) => shown.filter((c) => element.contains(c.box)).forEach(draw);

const in_sight = (c) => {
  const { top, bottom } = c.box.getBoundingClientRect();
  return top < window.innerHeight && bottom > 0;
};

// Of an opening page: the charts in sight, and the first; then one by one those further down.
function draw_first() {
  shown.filter((c, i) => i === 0 || in_sight(c)).forEach(draw);
  opened(shown.map((c) => () => c.instance ?? draw(c)));
}

on_theme(() => shown.forEach(draw));
new ResizeObserver(() => {
  if (document.documentElement.clientWidth === last_width) return;
  const opens = last_width === 0;
  last_width = document.documentElement.clientWidth;
  clearTimeout(due);
  due = setTimeout(opens ? draw_first : () => shown.forEach(draw), opens ? 0 : 60);
}).observe(document.documentElement);
