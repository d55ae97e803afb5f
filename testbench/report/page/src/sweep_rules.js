// SPDX-License-Identifier: MIT
// Rules on the axes of a sweep; docs/use/report.md has the definitions.

export const is_number = (v) => typeof v === 'number' && Number.isFinite(v);

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
export const metric_label = (path) => (path === 'cycles' || path.startsWith('energy.') ? path + ' (whole job)' : path);

// Time and energy of the whole job, or else of the first kernel that has them: columns in `paths`, -1 for none.
function time_and_energy(paths) {
  const column = (path) => paths.indexOf(path);
  const of = (time) => [column(time), column(time.replace(/seconds$/, 'total_joules'))];
  const times = paths.filter((path) => /(^|\.)energy\.seconds$/.test(path)).sort((a, b) => a.split('.').length - b.split('.').length);
  const best = times.find((time) => of(time)[1] >= 0) ?? times[0];
  return best === undefined ? [-1, -1] : of(best);
}

// Whether the points have core clocks that differ, so that their cycles last differently: by the axes that have more
// than one value, or by their times.
function clocks_differ(paths, rows, axes) {
  if (axes.some((a) => ['gpu', 'gpu.core_clock_mhz', 'energy.power_cap_watts'].includes(a))) return true;
  for (const [time_column, time] of paths.entries()) {
    const cycles = paths.indexOf(time.replace(/energy\.seconds$/, 'cycles'));
    if (!/(^|\.)energy\.seconds$/.test(time) || cycles < 0) continue;
    const clocks = rows.map((r) => r[cycles] / r[time_column]).filter((v) => is_number(v) && v > 0);
    if (clocks.length > 0) return Math.max(...clocks) > 1.0001 * Math.min(...clocks);
  }
  return false;
}

/// The two metrics that a sweep's page shows at first, as columns of `paths`; `rows` have the values of each point,
/// `axes` are those that vary. Cycles and instructions per cycle; where core clocks differ, or there are no cycles, time and energy.
export function first_metrics(paths, rows, axes) {
  const cycles = paths.indexOf('cycles'),
    rate = paths.findIndex((path) => /(^|\.)ipc$/.test(path));
  const [time, energy] = time_and_energy(paths);
  const by_time = time >= 0 && (cycles < 0 || clocks_differ(paths, rows, axes));
  const across = by_time ? time : Math.max(0, cycles);
  if (by_time && energy >= 0) return [across, energy];
  return [across, rate >= 0 ? rate : (across + 1) % paths.length];
}

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
