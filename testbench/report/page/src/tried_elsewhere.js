// SPDX-License-Identifier: MIT
// Advice that was tried in another file of the report, which comes from the same machine with just that change.
import { h } from './dom.js';
import { seconds } from './format.js';

const assignments = (options) => Object.fromEntries([...options.matchAll(/([a-z0-9_]+\.[a-z0-9_]+)=(\S+)/g)].map(([, key, value]) => [key, value]));

/// A text about it, or null. `change`: of the verdict on `kernel`, of `file`.
export function tried_elsewhere(change, kernel, file, files) {
  const wanted = assignments(change.options),
    keys = Object.keys(wanted);
  if (keys.length === 0) return null;
  const config = file.metrics.gpu.config;
  for (const other of files) {
    const theirs = other.metrics.gpu.config;
    const differing = [...new Set([...Object.keys(config), ...Object.keys(theirs)])].filter((k) => config[k] !== theirs[k]);
    const same = differing.length === keys.length && differing.every((k) => String(theirs[k]) === wanted[k]);
    const found = same && other.metrics.kernels.find((k) => k.name === kernel.name && k.launch === kernel.launch);
    if (!found) continue;
    const [before, after] = [seconds(kernel.cycles, config), seconds(found.cycles, theirs)];
    const gain = before / after;
    return h('strong', { class: gain > 1 ? 'tried' : 'tried-in-vain' }, ` Tried in ${other.name}: ${gain === 1 ? 'as fast as before' : `${gain.toFixed(3)} times as fast`}.`);
  }
  return null;
}
