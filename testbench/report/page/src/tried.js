// SPDX-License-Identifier: MIT
// Changes of the machine that `heddle whatif` has tried, and those that another file of the report has.
import { csv_button, h, table } from './dom.js';
import { number as n, percent, seconds, whole } from './format.js';
import { section } from './layout.js';

const saved_text = (part) => (part >= 0 ? `${percent(part)} less time` : `${percent(-part)} more time`);

/// What trying one gave, as a sentence.
export function tried_text(t) {
  if (t.status === 'done') return `Tried: ${whole(t.cycles_before)} job cycles before, ${whole(t.cycles)} after, ${saved_text(n(t.saved_time))}.`;
  if (t.status === 'stopped') return `Tried: saves no time; stopped after ${whole(t.cycles_before)} job cycles, what the run took before.`;
  return `Tried: it cannot run (${t.status}${t.reason ? ': ' + t.reason : ''}).`;
}

/// All that were tried; null without any.
export function tried_section(tried) {
  if (!(tried?.length > 0)) return null;
  const header = ['change', 'kind', 'outcome', 'job cycles', 'time saved', 'energy saved'];
  const row = (t) => [
    t.change,
    t.kind,
    t.status,
    t.status === 'done' ? n(t.cycles) : '',
    t.status === 'done' ? n(t.saved_time) : '',
    t.status === 'done' && t.joules > 0 ? n(t.saved_energy) : '',
  ];
  const formats = [String, String, String, whole, percent, percent];
  return section(
    'Tried changes',
    h(
      'figure',
      {},
      h('figcaption', {}, h('h3', {}, 'What heddle whatif has tried'), csv_button('tried', ['options', ...header], () => tried.map((t) => [t.options, ...row(t)]))),
      h('p', { class: 'about' }, 'Changes of the machine, the best first, with what the job then takes. Stopped: it took as long as before, and had not ended.'),
      table(
        'Changes of the machine that were tried',
        header.map((name, i) => ({ name, format: formats[i], number: i > 2 })),
        tried.map(row),
      ),
    ),
  );
}

const assignments = (options) => Object.fromEntries([...options.matchAll(/([a-z0-9_]+\.[a-z0-9_]+)=(\S+)/g)].map(([, key, value]) => [key, value]));

/// A text about advice that was tried in another file of the report, which comes from the same machine with just that
/// change; or null. `change`: of the verdict on `kernel`, of `file`.
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
