// SPDX-License-Identifier: MIT
// Where a label beside a point of a chart has room.

const step = 3,
  other_side = 24; // a label on the other side of its point counts as if it were that much further away, pixels

const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

/// The point of a rectangle that is nearest to [x, y].
const nearest = (rect, [x, y]) => [Math.min(Math.max(x, rect.x), rect.x + rect.width), Math.min(Math.max(y, rect.y), rect.y + rect.height)];

/// The rectangle of a label of `size` [width, height] for `point` [x, y] that is nearest to it: in `box`, at most
/// `reach` away, apart from all of `taken`; rather to the side `towards` ([-1, 1]: left and below). Null: there is none.
export function free_place(point, [width, height], taken, box, towards, reach) {
  const from = (low, at, size) => Math.max(low, at - size - reach),
    to = (low, room, at, size) => Math.min(low + room - size, at + reach);
  let best = null,
    least = Infinity;
  for (let y = from(box.y, point[1], height); y <= to(box.y, box.height, point[1], height); y += step)
    for (let x = from(box.x, point[0], width); x <= to(box.x, box.width, point[0], width); x += step) {
      const rect = { x, y, width, height },
        [near_x, near_y] = nearest(rect, point);
      const away = Math.hypot(near_x - point[0], near_y - point[1]),
        across = (x + width / 2 - point[0]) * towards[0],
        up = (y + height / 2 - point[1]) * towards[1];
      const cost = away + (across >= 0 && up >= height / 2 ? 0 : other_side);
      if (away > reach || cost >= least || !taken.every((t) => apart(rect, t))) continue;
      [best, least] = [rect, cost];
    }
  return best;
}
