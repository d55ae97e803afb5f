// SPDX-License-Identifier: MIT
import './style.css';
import { correlation_page } from './correlation_page.js';
import { attach_details } from './detail.js';
import { h, select, to_csv } from './dom.js';
import { live_page } from './live.js';
import { run_page } from './run_page.js';
import { sweep_page } from './sweep_page.js';
import { free_place } from './label_places.js';
import { first_metrics, lines, more_is_better, pareto, sensitivity } from './sweep_rules.js';
import { set_theme } from './theme.js';

const data = JSON.parse(document.getElementById('heddle-data').textContent);
// The verdicts of Heddle's rules on each kernel (testbench/report/verdict.cpp): the page only shows them.
for (const file of data.files ?? []) attach_details(file);
const live = data.kind === 'live';
const names = live ? [] : data.files === undefined ? [data.name] : data.files.map((f) => `${f.name} on ${f.metrics.gpu.name}`);
const kinds = { sweep: 'Sweep: ', correlation: 'Hardware and Heddle: ' };
const title = live ? 'A run in progress' : (kinds[data.kind] ?? (data.files.length > 1 ? 'Comparison: ' : 'Report: ')) + names.join(', ');
document.title = 'Heddle · ' + title;

const bar = h('span', { class: 'bar' }),
  content = h('main', { id: 'content', tabindex: '-1' }),
  contents = h('ul');
const themes = ['auto', 'light', 'dark'];
document.getElementById('app').append(
  h('a', { class: 'skip', href: '#content' }, 'To the content'),
  h(
    'header',
    {},
    h('h1', {}, title),
    h(
      'div',
      { class: 'bar' },
      bar,
      select('Theme', themes, 0, (i) => set_theme(themes[i])),
    ),
  ),
  h('nav', { 'aria-label': 'Sections' }, contents),
  content,
  h('footer', {}, `Made by Heddle ${data.version ?? ''}. ${live ? 'This page asks the run on this machine, and nothing else.' : 'This page holds all its data and loads nothing.'}`),
);
set_theme('auto');
const listed = (sections) =>
  contents.replaceChildren(...sections.map((s) => h('li', {}, h('a', { href: '#' + s.id }, s.querySelector('h2').textContent))));
const pages = { live: live_page, sweep: sweep_page, correlation: correlation_page };
(pages[data.kind] ?? run_page)(data, content, bar, listed);

// For tests: access to the rules.
window.heddle = {
  data,
  sensitivity,
  pareto,
  more_is_better,
  lines,
  first_metrics,
  free_place,
  to_csv,
};
