// SPDX-License-Identifier: MIT
// The parameters of a run and their differences from the shipped GPU.
import { csv_button, fresh_id, h, table } from './dom.js';
import { section } from './layout.js';

export function configuration_section(file, parameters) {
  const config = file.metrics.gpu.config,
    preset = file.preset;
  const keys = Object.keys(config);
  const changed = preset === null ? [] : keys.filter((k) => preset[k] !== config[k]);
  const place = h('div'),
    id = fresh_id('filter');
  const filter = h('input', { id, type: 'search', placeholder: 'such as l1.' });
  let only = changed.length > 0;
  const show = () => {
    const found = keys.filter(
      (k) =>
        (!only || changed.includes(k)) && (k + ' ' + (parameters[k] ?? '')).toLowerCase().includes(filter.value.toLowerCase()),
    );
    const value = (k) =>
      h('span', { class: changed.includes(k) ? 'changed' : null }, String(config[k]) + (changed.includes(k) ? ' (changed)' : ''));
    place.replaceChildren(
      table(
        'Configuration',
        [{ name: 'parameter' }, { name: 'value' }, { name: 'shipped' }, { name: 'meaning' }],
        found.map((k) => [h('code', {}, k), value(k), preset === null ? '' : String(preset[k] ?? ''), parameters[k] ?? '']),
      ),
    );
  };
  filter.addEventListener('input', show);
  const check = h('input', { type: 'checkbox', id: id + '-only', checked: only });
  check.addEventListener('change', () => {
    only = check.checked;
    show();
  });
  show();
  const said =
    preset === null
      ? `No GPU of the name '${file.metrics.gpu.name}' is shipped to compare with.`
      : changed.length === 0
        ? `All as shipped for ${file.metrics.gpu.name}.`
        : `${changed.length} of ${keys.length} parameters differ from those shipped for ${file.metrics.gpu.name}.`;
  return section(
    'Configuration',
    h(
      'figure',
      {},
      h(
        'figcaption',
        {},
        h('h3', {}, file.metrics.gpu.name),
        csv_button('configuration', ['parameter', 'value', 'shipped'], () => keys.map((k) => [k, config[k], preset?.[k] ?? ''])),
      ),
      h('p', { class: 'about', id: 'configuration-differences' }, said),
      Object.entries(file.without_effect ?? {}).map(([key, why]) =>
        h('p', { class: 'about without-effect' }, h('code', {}, key), ` was changed, which may change nothing: ${why}.`),
      ),
      h(
        'div',
        { class: 'bar' },
        h('span', { class: 'field' }, h('label', { for: id }, 'Search'), filter),
        h('span', { class: 'field' }, check, h('label', { for: id + '-only' }, 'only differences')),
      ),
      place,
    ),
  );
}
