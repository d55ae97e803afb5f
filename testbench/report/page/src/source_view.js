// SPDX-License-Identifier: MIT
// The CUDA source, the PTX and the machine program of a kernel side by side. A line that is pointed at or chosen marks
// those that belong to it in the other two.
import { csv_button, fresh_id, h, select } from './dom.js';
import { number as n, percent, ratio, spoken } from './format.js';
import { section } from './layout.js';
import { base_name, source_model } from './source_model.js';

const most_rows = 4000; // of a pane; the CSV has all
const ways = ['own line', 'line of the call'];

// The instructions whose counts a row shows.
const counted = (row, at_calls) => {
  if (row.inlined === undefined || !at_calls) return row.units;
  return [...row.units.filter((u) => u.outermost === row.key), ...row.inlined.filter((u) => u.outermost === row.key)];
};

// A pane: a list box whose rows the arrow keys choose. `pick(row, kind)` is called with kind 'point' or 'choose'.
function make_pane(name, title, pick) {
  const id = fresh_id('pane');
  const list = h('div', { class: 'code-pane', role: 'listbox', tabindex: '0', id, 'aria-label': title, 'data-pane': name });
  const pane = { name, list, rows: [], places: new Map(), chosen: -1 };
  const real = (index, step) => {
    let i = index;
    while (pane.rows[i] === null) i += step;
    return Math.max(0, Math.min(pane.rows.length - 1, i));
  };
  pane.fill = (rows) => {
    pane.rows = rows.slice(0, most_rows);
    pane.places = new Map(pane.rows.map((row, i) => [row?.key, i]));
    pane.chosen = -1;
    list.replaceChildren(
      ...pane.rows.map((row, i) =>
        row === null
          ? h('div', { class: 'code-gap', role: 'presentation' }, '⋯')
          : h(
              'div',
              { role: 'option', id: `${id}-${i}`, 'aria-selected': 'false', class: row.units.length + (row.inlined?.length ?? 0) > 0 ? 'code-row' : 'code-row code-bare', 'data-row': i, 'data-key': row.key },
              h('span', { class: 'code-number' }, row.number),
              h('span', { class: 'code-heat' }),
              h('code', {}, row.text || ' '),
            ),
      ),
    );
    if (rows.length > most_rows) list.append(h('div', { class: 'code-gap' }, `The first ${most_rows} of ${rows.length}.`));
  };
  pane.element = (i) => list.children[i];
  pane.choose = (index, step = 1) => {
    if (pane.rows.length === 0) return;
    const i = real(index, step);
    if (pane.rows[i] !== null) pick(pane, pane.rows[i], 'choose');
  };
  const row_at = (event) => pane.rows[Number(event.target.closest?.('[data-row]')?.dataset.row ?? -1)];
  list.addEventListener('mouseover', (event) => row_at(event) && pick(pane, row_at(event), 'point'));
  list.addEventListener('mouseleave', () => pick(pane, null, 'point'));
  list.addEventListener('click', (event) => row_at(event) && pick(pane, row_at(event), 'choose'));
  list.addEventListener('keydown', (event) => {
    const page = 12,
      last = pane.rows.length - 1;
    const to = { ArrowDown: pane.chosen + 1, ArrowUp: Math.max(0, pane.chosen - 1), Home: 0, End: last, PageDown: Math.min(last, pane.chosen + page), PageUp: Math.max(0, pane.chosen - page) }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to <= last) pane.choose(to, to < pane.chosen ? -1 : 1);
  });
  return pane;
}

function paint(pane, measure, at_calls) {
  const values = pane.rows.map((row) => (row === null ? 0 : measure.of(counted(row, at_calls)))),
    most = Math.max(...values, 0);
  pane.rows.forEach((row, i) => {
    if (row === null) return;
    const cell = pane.element(i).children[1];
    cell.textContent = values[i] > 0 ? measure.format(values[i]) : '';
    cell.style.setProperty('--heat', most > 0 ? (100 * values[i]) / most + '%' : '0%');
  });
}

// What is known of the chosen instructions, for eyes and screen readers.
function about_choice(model, row, measure, go_to) {
  const units = row.units.length > 0 ? row.units : (row.inlined ?? []);
  if (units.length === 0) return [h('p', { class: 'muted' }, 'No instruction was made from this line.')];
  const states = {};
  for (const u of units) for (const [s, v] of Object.entries(u.warp_states ?? {})) if (s !== 'active') states[s] = (states[s] ?? 0) + n(v);
  const all = Object.values(states).reduce((a, b) => a + b, 0);
  const worst = Object.entries(states)
    .filter(([s, v]) => s !== 'selected' && v > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([s, v]) => `${spoken(s)} ${percent(ratio(v, all))}`);
  const facts = model.measures.filter((m) => !m.key.startsWith('state_')).map((m) => [m.name, m.of(units), m]);
  const stacks = new Map();
  for (const u of units) {
    const frames = model.frames(u.line);
    if (frames.length > 0) stacks.set(frames.map((f) => f.at).join(' < '), frames);
  }
  const shown = [...stacks.values()].slice(0, 4);
  return [
    h('p', {}, `${units.length} machine instruction${units.length > 1 ? 's' : ''} of ${new Set(units.map((u) => u.line)).size} PTX line${new Set(units.map((u) => u.line)).size > 1 ? 's' : ''}. `, worst.length > 0 ? `Its warps wait most for: ${worst.join(', ')}.` : 'No warp waited here.'),
    h('p', { class: 'facts' }, facts.filter(([, v]) => v > 0).map(([name, v, m]) => h('span', { class: m.key === measure.key ? 'fact fact-shown' : 'fact' }, `${name}: ${m.format(v)}`))),
    shown.length > 0 && h('p', { class: 'muted' }, stacks.size > shown.length ? `Call stack (the first ${shown.length} of ${stacks.size}), innermost first:` : 'Call stack, innermost first:'),
    shown.map((frames) =>
      h(
        'ol',
        { class: 'frames' },
        frames.map((f) => h('li', {}, h('button', { type: 'button', class: 'place', 'data-frame': f.at, onclick: () => go_to(f.at) }, `${base_name(f.file)}:${f.line}`), f.within ? ` in ${f.within}` : '')),
      ),
    ),
  ];
}

/// The section; null if nothing is known by line. `view.go_to(place)` chooses a line: "kernel.cu:3", with or without
/// folders, or the number of a PTX line.
export function source_section(kernel, sources) {
  if ((kernel.lines ?? []).length === 0) return { section: null, go_to: () => false, knows: () => false };
  const model = source_model(kernel, sources);
  for (const u of [...model.ptx, ...model.machine].flatMap((row) => row?.units ?? [])) {
    const frames = model.frames(u.line);
    u.outermost = frames.length > 0 ? 'c' + frames[frames.length - 1].at : undefined;
  }
  let measure = model.measures.find((m) => m.total > 0) ?? model.measures[0],
    at_calls = false,
    file = 0,
    marked = [];
  const details = h('div', { class: 'choice', 'aria-live': 'polite', 'data-choice': '' }, h('p', { class: 'muted' }, 'Choose a line: with the mouse, or with the arrow keys in one of the lists.'));

  const unmark = (...classes) => {
    for (const element of marked) {
      element.classList.remove(...classes);
      if (classes.includes('hit')) element.setAttribute('aria-selected', 'false');
    }
  };
  let fixed = []; // what the choice has marked, apart from what is pointed at
  const mark = (keys_of, kind) => {
    const found = [];
    for (const pane of panes)
      keys_of(pane).forEach(([key, cls]) => {
        const at = pane.places.get(key);
        if (at === undefined) return;
        const element = pane.element(at);
        element.classList.add(kind === 'point' ? (cls === 'hit' ? 'near' : 'near-call') : cls);
        if (kind === 'choose' && cls === 'hit') element.setAttribute('aria-selected', 'true');
        found.push([pane, at, element, cls]);
      });
    return found;
  };
  // Rows of each pane that belong to a row.
  const linked = (row) => {
    const units = [...row.units, ...(row.inlined ?? [])],
      keys = { machine: new Map(), ptx: new Map(), cuda: new Map() };
    for (const u of units) {
      const how = row.units.includes(u) ? 'hit' : 'call';
      keys.machine.set('m' + u.pc, how);
      if (keys.ptx.get('p' + u.line) !== 'hit') keys.ptx.set('p' + u.line, how);
      if (!row.key.startsWith('c')) model.frames(u.line).forEach((f, i) => keys.cuda.get('c' + f.at) !== 'hit' && keys.cuda.set('c' + f.at, i === 0 ? 'hit' : 'call'));
    }
    const own = { m: keys.machine, p: keys.ptx, c: keys.cuda }[row.key[0]];
    own.set(row.key, 'hit');
    return (pane) => [...keys[pane.name]];
  };
  const scroll_to = (pane, at) => {
    const element = pane.element(at);
    const top = element.offsetTop; // in the list, which is positioned
    if (top < pane.list.scrollTop || top + element.offsetHeight > pane.list.scrollTop + pane.list.clientHeight) pane.list.scrollTop = Math.max(0, top - pane.list.clientHeight / 3);
  };
  const pick = (pane, row, kind) => {
    marked = [...panes].flatMap((p) => [...p.list.querySelectorAll('.near, .near-call')]);
    unmark('near', 'near-call');
    if (row === null) return;
    if (kind === 'point') return void mark(linked(row), 'point');
    marked = fixed.map(([, , element]) => element);
    unmark('hit', 'call');
    // The innermost frame may lie in another file of the source.
    const inner = row.key.startsWith('c') ? null : model.frames(row.units[0]?.line)[0];
    if (inner && model.files[file]?.file !== inner.file) show_file(model.files.findIndex((f) => f.file === inner.file));
    fixed = mark(linked(row), 'choose');
    pane.chosen = pane.places.get(row.key);
    for (const p of panes) {
      const first = fixed.find(([at_pane, , , cls]) => at_pane === p && cls === 'hit') ?? fixed.find(([at_pane]) => at_pane === p);
      if (p === pane) scroll_to(p, p.chosen);
      else if (first) {
        p.chosen = first[1];
        scroll_to(p, first[1]);
      }
      if (p.chosen >= 0) p.list.setAttribute('aria-activedescendant', `${p.list.id}-${p.chosen}`);
    }
    details.replaceChildren(...about_choice(model, row, measure, go_to).flat().filter(Boolean));
  };
  const panes = [];
  const cuda = make_pane('cuda', 'CUDA source', pick),
    ptx = make_pane('ptx', 'PTX', pick),
    machine = make_pane('machine', 'Machine instructions', pick);
  if (model.files.length > 0) panes.push(cuda);
  if (model.ptx.length > 0) panes.push(ptx);
  if (model.machine.length > 0) panes.push(machine);
  const repaint = () => panes.forEach((pane) => paint(pane, measure, at_calls));
  const file_chooser = h('span');
  const note = h('p', { class: 'about' });
  const show_file = (i) => {
    file = Math.max(0, i);
    if (model.files.length === 0) return;
    cuda.fill(model.files[file].rows);
    note.textContent = model.files[file].found ? '' : `${base_name(model.files[file].file)} was not found where the PTX says, nor beside it: only its line numbers are known.`;
    file_chooser.replaceChildren(
      model.files.length > 1
        ? select(
            'File',
            model.files.map((f) => base_name(f.file)),
            file,
            (k) => {
              show_file(k);
              file_chooser.querySelector('select')?.focus();
            },
          )
        : h('span', { class: 'muted' }, base_name(model.files[file].file)),
    );
    paint(cuda, measure, at_calls);
  };
  const knows = (place) => find(place) !== null;
  const find = (place) => {
    const text = String(place);
    if (/^\d+$/.test(text)) return ptx.places.has('p' + text) && panes.includes(ptx) ? [ptx, -1, 'p' + text] : null;
    for (const [i, f] of model.files.entries())
      for (const row of f.rows) {
        const at = row?.key.slice(1);
        if (at !== undefined && (at === text || base_name(at) === text)) return [cuda, i, row.key];
      }
    return null;
  };
  const go_to = (place) => {
    const found = find(place);
    if (found === null) return false;
    const [pane, i, key] = found;
    if (i >= 0 && i !== file) show_file(i);
    pane.choose(pane.places.get(key));
    return true;
  };
  if (model.ptx.length > 0) ptx.fill(model.ptx);
  if (model.machine.length > 0) machine.fill(model.machine);
  show_file(0);
  repaint();

  const names = model.measures.map((m) => (m.total > 0 ? m.name : `${m.name} (none)`));
  const csv = (pane, name, rows) =>
    csv_button(name, ['number', 'text', ...model.measures.map((m) => m.key)], () => rows().filter(Boolean).map((row) => [row.number, row.text, ...model.measures.map((m) => m.of(counted(row, at_calls)))]));
  const pane_figure = (pane, title, more, rows) => h('div', { class: 'code-column' }, h('div', { class: 'code-head' }, h('h4', {}, title), more, csv(pane, `source_${pane.name}`, rows)), pane.list);
  const first_choice = () => {
    const rows = (model.files[file]?.rows ?? model.ptx).filter(Boolean);
    const value = (row) => measure.of(counted(row, at_calls));
    const worst = rows.reduce((a, b) => (value(b) > value(a) ? b : a), rows[0]);
    if (worst && value(worst) > 0) pick(model.files.length > 0 ? cuda : ptx, worst, 'choose');
  };
  const element = section(
    'Source',
    h(
      'figure',
      {},
      h(
        'figcaption',
        {},
        h('h3', {}, [model.files.length > 0 && 'CUDA', model.ptx.length > 0 && 'PTX', model.machine.length > 0 && 'machine instructions'].filter(Boolean).join(', ') + ' side by side'),
        select('Colour', names, model.measures.indexOf(measure), (i) => {
          measure = model.measures[i];
          repaint();
        }),
        model.files.length > 0 &&
          select('Inlined functions count at their', ways, 0, (i) => {
            at_calls = i === 1;
            repaint();
          }),
      ),
      h('p', { class: 'about' }, 'A line that you point at marks what was made of it, or what it was made from, in the other lists; a click or the arrow keys choose it. The bar behind a figure is as long as its part of the largest in its list.'),
      note,
      h(
        'div',
        { class: `code-panes code-panes-${panes.length}` },
        panes.includes(cuda) && pane_figure(cuda, 'CUDA', file_chooser, () => model.files.flatMap((f) => f.rows)),
        panes.includes(ptx) && pane_figure(ptx, 'PTX', h('span', { class: 'muted' }, kernel.file), () => model.ptx),
        panes.includes(machine) && pane_figure(machine, 'Machine instructions', null, () => model.machine),
      ),
      details,
    ),
  );
  return { section: element, go_to, knows, first_choice };
}

/// Makes links to the source of the places that other sections name.
export function link_places(elements, view) {
  for (const element of elements) {
    const place = element.textContent;
    if (element.querySelector('button') || !view.knows(place)) continue;
    const go = () => {
      view.go_to(place);
      document.getElementById('source').scrollIntoView();
      document.querySelector('#source .code-pane').focus({ preventScroll: true });
    };
    element.replaceChildren(h('button', { type: 'button', class: 'place', 'data-place': place, onclick: go }, place));
  }
}
