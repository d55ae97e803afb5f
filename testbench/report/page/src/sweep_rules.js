// SPDX-License-Identifier: MIT
// Rules on the axes of a sweep; docs/use/report.md has the definitions.

const is_number = (v) => typeof v === 'number' && Number.isFinite(v);

/// The sensitivity of a metric to each axis: rows are {axes: [...], value}. For each axis the points are grouped by
/// its value; `spread` is the largest group mean minus the smallest, relative to the mean of all; `explained` is the
/// share of the variance between the groups (0..1). Sorted by `explained`, then by `spread`.
export function sensitivity(axes, rows) {
  const good = rows.filter((r) => is_number(r.value));
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  if (good.length === 0) return [];
  const all = mean(good.map((r) => r.value));
  const total = good.reduce((sum, r) => sum + (r.value - all) ** 2, 0);
  return axes
    .map((axis, i) => {
      const groups = new Map();
      for (const r of good) {
        const key = JSON.stringify(r.axes[i]);
        if (!groups.has(key)) groups.set(key, { value: r.axes[i], values: [] });
        groups.get(key).values.push(r.value);
      }
      const means = [...groups.values()].map((g) => ({ value: g.value, mean: mean(g.values), count: g.values.length }));
      const least = means.reduce((a, b) => (b.mean < a.mean ? b : a)),
        most = means.reduce((a, b) => (b.mean > a.mean ? b : a));
      const between = means.reduce((sum, g) => sum + g.count * (g.mean - all) ** 2, 0);
      return {
        axis,
        values: means.length,
        spread: all === 0 ? 0 : (most.mean - least.mean) / Math.abs(all),
        explained: total === 0 ? 0 : between / total,
        least: least.value,
        most: most.value,
      };
    })
    .sort((a, b) => b.explained - a.explained || b.spread - a.spread);
}

/// The Pareto front: the points for which no other point is as good in both metrics and better in one. Points are {x,
/// y}; returns their indices ordered by x, the best first. Equal points are all included.
export function pareto(points, x_more_is_better, y_more_is_better) {
  const x = (p) => (x_more_is_better ? -p.x : p.x),
    y = (p) => (y_more_is_better ? -p.y : p.y);
  const order = points.map((p, i) => i).filter((i) => is_number(points[i].x) && is_number(points[i].y));
  order.sort((a, b) => x(points[a]) - x(points[b]) || y(points[a]) - y(points[b]) || a - b);
  const front = [];
  for (const i of order) {
    const last = front.length > 0 ? points[front[front.length - 1]] : null;
    const same = last !== null && last.x === points[i].x && last.y === points[i].y;
    if (last === null || same || y(points[i]) < y(last)) front.push(i);
  }
  return front;
}

/// The displayed path of a metric: distinguishes the cycles of the job from those of its kernels.
export const metric_label = (path) => (path === 'cycles' ? 'cycles (whole job)' : path);

/// True if a larger value of a metric is better, judging by its name.
export const more_is_better = (path) =>
  !/cycles|latency|stall|miss|conflict|bytes|transactions|overhead|seconds|limiters|lost|evictions|registers|joules|watts|energy_delay|static_share/.test(path);

/// The mean of `value` by x and by series: [{series, points: [[x, mean, count]]}], in the order of appearance (numbers
/// ascending).
export function lines(rows) {
  const by = new Map();
  for (const r of rows) {
    if (!is_number(r.value)) continue;
    const series = String(r.series ?? ''),
      key = JSON.stringify(r.x);
    if (!by.has(series)) by.set(series, new Map());
    const at = by.get(series).get(key) ?? { x: r.x, sum: 0, count: 0 };
    at.sum += r.value;
    ++at.count;
    by.get(series).set(key, at);
  }
  return [...by].map(([series, points]) => {
    const list = [...points.values()].map((p) => [p.x, p.sum / p.count, p.count]);
    if (list.every((p) => is_number(p[0]))) list.sort((a, b) => a[0] - b[0]);
    return { series, points: list };
  });
}
