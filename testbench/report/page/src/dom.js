// SPDX-License-Identifier: MIT
// Creates elements from values: text always becomes a text node, so text from a file cannot become markup.
import { later } from './later.js';

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

let last_id = 0;
export const fresh_id = (prefix) => `${prefix}-${++last_id}`;

const many_options = 100;

// Of many options, at first the chosen one alone: the page opens before the others are made. A reader who turns to the
// chooser earlier has them at once.
function fill_later(element, options) {
  const fill = () => {
    if (element.options.length === options().length) return;
    const { value } = element;
    element.replaceChildren(...options());
    element.value = value;
  };
  for (const event of ['focus', 'pointerdown']) element.addEventListener(event, fill, { once: true });
  later(fill);
}

export function select(label, options, chosen, on_change) {
  const id = fresh_id('select');
  const option = (o, i) => h('option', { value: i, selected: i === chosen }, o);
  const few = options.length <= many_options || options[chosen] === undefined;
  const element = h('select', { id }, few ? options.map(option) : option(options[chosen], chosen));
  if (!few) {
    let all = null;
    fill_later(element, () => (all ??= options.map(option)));
  }
  // If the page is rebuilt and the chooser with it, the keyboard focus stays at the chooser's position.
  element.addEventListener('change', () => {
    const place = [...document.querySelectorAll('select')].indexOf(element);
    on_change(Number(element.value));
    if (!element.isConnected) document.querySelectorAll('select')[place]?.focus();
  });
  return h('span', { class: 'field' }, h('label', { for: id }, label), element);
}

const few_rows = 25; // more than fit in the frame

/// A table in a frame that scrolls in narrow windows. Columns: {name, text?(row), class?(row)}; rows are lists.
export function table(caption, columns, rows) {
  const right = columns.map(
    (c, i) => c.number || (rows.length > 0 && rows.every((row) => typeof row[i] === 'number' || (row[i] ?? '') === '')),
  );
  const cell = (value, i) => {
    const content =
      value instanceof Node ? value : typeof value === 'number' && columns[i].format ? columns[i].format(value) : (value ?? '');
    return h(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null, class: right[i] ? 'number' : null }, content);
  };
  return h(
    'div',
    { class: rows.length > few_rows ? 'scroll scroll-long' : 'scroll', role: 'region', tabindex: '0', 'aria-label': caption },
    h(
      'table',
      {},
      h('caption', {}, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((c, i) => h('th', { scope: 'col', class: right[i] ? 'number' : null }, c.name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) => h('tr', {}, row.map(cell))),
      ),
    ),
  );
}

const csv_cell = (value) => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};
export const to_csv = (header, rows) => [header, ...rows].map((row) => row.map(csv_cell).join(',')).join('\r\n') + '\r\n';

export function csv_button(name, header, rows) {
  const save = () => {
    const link = h('a', {
      href: URL.createObjectURL(new Blob([to_csv(header, rows())], { type: 'text/csv' })),
      download: name + '.csv',
    });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000); // a busy browser begins late
  };
  return h(
    'button',
    { type: 'button', class: 'csv', 'data-csv': name, onclick: save, 'aria-label': `Download ${name} as CSV` },
    'CSV',
  );
}
