// SPDX-License-Identifier: MIT
// The Pareto front of two metrics of a sweep.
import { axis, chart, draw_in } from './charts.js';
import { h, select } from './dom.js';
import { energy, short, time } from './format.js';
import { free_place } from './label_places.js';
import { is_number, more_is_better, pareto } from './sweep_rules.js';

export const begins = ['0', 'the least value'];
export const cut = (chosen) => (chosen.cut ? ' The axes do not begin at 0.' : '');
export const clip = (v) => {
  const t = String(v ?? '');
  const job = t.endsWith('/job.json') ? t.split('/').slice(-2)[0] : t;
  return job.length > 28 ? '…' + job.slice(-27) : job;
};
export const point_label = (sweep, p) => sweep.axes.map((a, i) => `${a} = ${clip(p.axes[i])}`).join(', ');

function axes_that_vary(sweep, done) {
  const all = sweep.axes.map((_, i) => i);
  const vary = all.filter((i) => new Set(done.map((p) => p.axes[i])).size > 1);
  return vary.length > 0 ? vary : all;
}

// The values that tell a point from the others; its axes are named above the chart.
const most_letters = 32;
function short_name(sweep, named, p) {
  const text = named.map((i) => clip(p.axes[i])).join(', ');
  return text.length > most_letters ? text.slice(0, most_letters - 1) + '…' : text;
}

// An axis of a metric in the unit of its name.
function axis_of(c, metric, more) {
  const unit = /seconds\b/.test(metric.name) ? time : /joules\b/.test(metric.name) ? energy : undefined,
    formatter = unit && ((v) => (v === 0 ? '0' : unit(v)));
  return axis(c, { type: 'value', name: metric.name, axisLabel: { color: c.muted, hideOverlap: true, formatter }, ...more });
}

// Labels of the front: few are all shown, each with a line to its point; of many, those with room beside it.
const few = 12,
  beside = 12; // pixels
const symbol = 11,
  around = 3; // of a name: free pixels on each side

// ECharts asks for the place of each label, once the axes are laid out. Names stand on the side on which no point is.
function layout_of_names(instance, points, x_more, y_more) {
  let centres = [],
    taken = [],
    box = null;
  const reach = points.length <= few ? Infinity : beside;
  return ({ dataIndex, labelRect }) => {
    if (dataIndex === 0) {
      centres = points.map((p) => instance.convertToPixel({ gridIndex: 0 }, [p.x, p.y]));
      taken = centres.map(([x, y]) => ({ x: x - symbol / 2, y: y - symbol / 2, width: symbol, height: symbol }));
      box = instance.getModel().getComponent('grid').coordinateSystem.getRect();
    }
    const rect = free_place(centres[dataIndex], [labelRect.width + 2 * around, labelRect.height + 2 * around], taken, box, [x_more ? 1 : -1, y_more ? -1 : 1], reach);
    if (rect === null) return { x: -1e4, y: -1e4 };
    taken.push(rect);
    return { x: rect.x + around, y: rect.y + around, align: 'left', verticalAlign: 'top' };
  };
}

/// The points that no other beats in two metrics, which the reader chooses.
export function pareto_chart(sweep, done, metrics, chosen) {
  const place = h('div'),
    ways = ['less is better', 'more is better'];
  const named = axes_that_vary(sweep, done);
  const show = () => {
    const mx = metrics[chosen.px],
      my = metrics[chosen.py];
    const points = done.map((p) => ({ x: p.values[mx.column], y: p.values[my.column] }));
    const front = pareto(points, chosen.x_more === 1, chosen.y_more === 1),
      best = new Set(front);
    const names = front.map((i) => short_name(sweep, named, done[i]));
    const rows = () => front.map((i) => [point_label(sweep, done[i]), points[i].x, points[i].y]);
    const controls = [
      select(
        'Across',
        metrics.map((m) => m.name),
        chosen.px,
        (i) => {
          chosen.px = i;
          chosen.x_more = Number(more_is_better(metrics[i].name));
          show();
        },
      ),
      select('where', ways, chosen.x_more, (i) => {
        chosen.x_more = i;
        show();
      }),
      select(
        'Up',
        metrics.map((m) => m.name),
        chosen.py,
        (i) => {
          chosen.py = i;
          chosen.y_more = Number(more_is_better(metrics[i].name));
          show();
        },
      ),
      select('where', ways, chosen.y_more, (i) => {
        chosen.y_more = i;
        show();
      }),
      select('axes from', begins, chosen.cut ? 1 : 0, (i) => {
        chosen.cut = i === 1;
        show();
      }),
    ];
    place.replaceChildren(
      chart({
        name: 'pareto',
        title: 'Best points of two metrics',
        controls,
        height: 380,
        about: `${front.length} of ${done.length} points are beaten by no other in both metrics. Across: ${mx.name}; up: ${my.name}. Names are values of ${named.map((i) => sweep.axes[i]).join(', ')}.${cut(chosen)}`,
        header: ['point', mx.name, my.name],
        rows,
        option: (c, width, instance) => ({
          tooltip: {
            trigger: 'item',
            formatter: undefined,
            valueFormatter: (v) => (Array.isArray(v) ? v.map(short).join(', ') : short(v)),
          },
          xAxis: axis_of(c, mx, { scale: chosen.cut === true }),
          yAxis: axis_of(c, my, { scale: chosen.cut === true }),
          series: [
            {
              type: 'scatter',
              name: 'other points',
              symbolSize: 7,
              itemStyle: { color: c.muted, opacity: 0.5 },
              data: points
                .map((p, i) => ({ name: point_label(sweep, done[i]), value: [p.x, p.y] }))
                .filter((p, i) => !best.has(i) && is_number(p.value[0]) && is_number(p.value[1])),
            },
            {
              type: 'line',
              name: 'best points',
              // Each point is followed by one that is worse across and better up. Between them lies what is worse than
              // one of both: across to the next first, then up to it. The other corner would beat both.
              step: 'end',
              symbol: 'diamond',
              symbolSize: symbol,
              itemStyle: { color: c.accent },
              lineStyle: { color: c.accent },
              label: { show: true, color: c.text, fontSize: 11, formatter: (p) => names[p.dataIndex] },
              labelLine: { show: front.length <= few, lineStyle: { color: c.muted } },
              labelLayout: layout_of_names(
                instance,
                front.map((i) => points[i]),
                chosen.x_more === 1,
                chosen.y_more === 1,
              ),
              data: front.map((i) => ({ name: point_label(sweep, done[i]), value: [points[i].x, points[i].y] })),
            },
          ],
        }),
      }),
    );
    draw_in(place);
  };
  show();
  return place;
}
