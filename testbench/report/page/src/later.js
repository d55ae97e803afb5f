// SPDX-License-Identifier: MIT
// Work that waits until an opening page has shown its text and the charts in sight. Each piece is a task of its own, so that
// the page answers between them.

let opening = true,
  running = false;
const { classList } = document.documentElement;
classList.add('opening');
const pieces = [() => classList.remove('opening')];

function run() {
  running = pieces.length > 0;
  if (!running) return;
  setTimeout(() => {
    pieces.shift()();
    run();
  });
}

/// Does the work when the page has opened; at once if it has.
export function later(work) {
  if (!opening) work();
  else pieces.push(work);
}

/// The page has opened: `more` is done after what already waits.
export function opened(more) {
  if (!opening) return;
  opening = false;
  pieces.push(...more);
  if (!running) run();
}
