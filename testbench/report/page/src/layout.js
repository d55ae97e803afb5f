// SPDX-License-Identifier: MIT
// Building blocks of every page.
import { h } from './dom.js';

export const section = (title, ...content) => {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  return h('section', { id, 'aria-labelledby': id + '-heading' }, h('h2', { id: id + '-heading' }, title), content);
};
export const tiles = (entries) =>
  h(
    'dl',
    { class: 'tiles' },
    entries.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
export const grid = (...items) => h('div', { class: 'grid' }, items);
