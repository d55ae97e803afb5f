// SPDX-License-Identifier: MIT
// The page of a run in progress (heddle run --serve): what the units do now, above the report of what has run so far. It
// asks the run, which answers between two cycles; without events for a while, the run works outside the simulation.
import { attach_details } from './detail.js';
import { h, table } from './dom.js';
import { percent, ratio, scaled, short, spoken, time, whole } from './format.js';
import { section, tiles } from './layout.js';
import { run_page } from './run_page.js';
import { is_dark, state_colours } from './theme.js';

const report_interval = 5000, // ms between two reports
  patience = 3000; // ms without an event

const bar_of = (share, text) => {
  const fill = h('i');
  fill.style.width = percent(share).replace(' ', '');
  fill.style.background = 'var(--accent)';
  return h('span', {}, h('span', { class: 'meter', role: 'img', 'aria-label': percent(share) }, fill), ' ', text);
};

const state_rows = (states, total) =>
  Object.entries(states)
    .sort((a, b) => b[1] - a[1])
    .map(([name, warps]) => {
      const fill = h('i');
      fill.style.width = percent(ratio(warps, total)).replace(' ', '');
      fill.style.background = (state_colours[name] ?? ['#777777', '#aaaaaa'])[is_dark() ? 1 : 0];
      return [spoken(name), warps, h('span', { class: 'meter', role: 'img', 'aria-label': percent(ratio(warps, total)) }, fill)];
    });

// Columns of the client and its slice, for runs that have them.
const client_columns = (launches) => [['client', (l) => l.client], ['slice', (l) => l.slice]].filter(([, of]) => launches.some(of));

const launch_rows = (launches) =>
  launches.map((l) => [l.launch, l.kernel, ...client_columns(launches).map(([, of]) => of(l) ?? ''), l.state, l.start_cycle ?? '', l.dispatched, bar_of(ratio(l.completed, l.blocks), `${whole(l.completed)} of ${whole(l.blocks)}`)]);

const warp_rows = (warps) => warps.map((w) => [w.warp, w.sub_partition, w.kernel, w.block.join(', '), w.warp_in_block, spoken(w.state), w.places.join('; ')]);

async function asked(path, options = {}) {
  const answer = await fetch(path, { cache: 'no-store', ...options });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim());
  return JSON.parse(text);
}

// Buttons and fields that steer the run; `show` receives its state, `say` what it refuses.
function controls(show, say) {
  const order = async (path, parameters = {}) => {
    try {
      show(await asked(`${path}?${new URLSearchParams(parameters)}`, { method: 'POST', headers: { 'X-Heddle': '1' } }));
      say('');
    } catch (e) {
      say(e.message);
    }
  };
  const button = (text, action) => h('button', { type: 'button', onclick: action }, text);
  const field = (label, id, value, size) => [h('label', { for: id }, label), h('input', { id, value, size, autocomplete: 'off' })];
  const value = (id) => document.getElementById(id).value.trim();
  const kinds = h('select', { id: 'break-kind', 'aria-label': 'Where to pause' }, ['cycle', 'line', 'condition'].map((k) => h('option', { value: k }, k)));
  return h(
    'div',
    { class: 'bar controls' },
    button('Pause', () => order('/pause')),
    button('Go on', () => order('/resume')),
    h('span', { class: 'field' }, button('Step', () => order('/step', { cycles: value('step-cycles') })), field('cycles', 'step-cycles', '1', 9)),
    h(
      'span',
      { class: 'field' },
      button('Pause at', () => order('/break', { [kinds.value]: value('break-value') })),
      kinds,
      h('input', { id: 'break-value', size: 32, 'aria-label': 'Cycle, FILE:LINE, or METRIC > NUMBER', placeholder: '100000, sum.cu:12, kernels.0.metrics.ipc > 1', autocomplete: 'off' }),
      button('Forget it', () => order('/unbreak')),
    ),
  );
}

// Squares of the SMs; the chosen one's warps are listed below.
function sm_map(sms, chosen, choose) {
  const most = Math.max(1, ...sms.map((s) => s.warps));
  return h(
    'div',
    { class: 'sm-map' },
    sms.map((s, i) => {
      const text = `SM ${i}: ${s.blocks} blocks, ${s.warps} warps: ${s.issuing} issuing, ${s.eligible} eligible, ${s.stalled} stalled`;
      const square = h('button', { type: 'button', title: text, 'aria-label': text, 'aria-pressed': String(i === chosen), onclick: () => choose(i) }, String(i));
      square.style.setProperty('--fill', percent(ratio(s.warps, most)).replace(' ', ''));
      square.style.setProperty('--works', percent(ratio(s.issuing + s.eligible, most)).replace(' ', ''));
      return square;
    }),
  );
}

const of_level = (q) => `${whole(q.used)} of ${whole(q.capacity)}`;
const share_of = (q) => ratio(q.used, q.capacity);

// What each unit of the memory holds: `levels` gives the share that is filled and that which is darker, `text` says it.
function unit_map(label, units, levels, text) {
  return h(
    'figure',
    { class: 'units' },
    h('figcaption', {}, label),
    h(
      'div',
      { class: 'sm-map' },
      units.map((u, i) => {
        const [fill, works] = levels(u);
        const square = h('span', { role: 'img', title: text(u, i), 'aria-label': text(u, i) }, String(i));
        square.style.setProperty('--fill', percent(fill).replace(' ', ''));
        square.style.setProperty('--works', percent(works).replace(' ', ''));
        return square;
      }),
    ),
  );
}

const memory_maps = (m) => [
  unit_map(
    'L1 caches',
    m.l1,
    (u) => [share_of(u.misses), share_of(u.requests)],
    (u, i) => `L1 of SM ${i}: ${of_level(u.misses)} misses, ${of_level(u.requests)} requests to the L2`,
  ),
  h('p', {}, `Interconnect: ${whole(m.interconnect.requests)} requests and ${whole(m.interconnect.responses)} responses wait to cross.`),
  unit_map(
    'L2 slices',
    m.l2,
    (u) => [share_of(u.misses), share_of(u.to_memory)],
    (u, i) => `L2 slice ${i}: ${whole(u.requests)} requests before the look-up, ${of_level(u.misses)} misses, ${of_level(u.to_memory)} requests to the memory`,
  ),
  m.dram.length > 0 &&
    unit_map(
      'DRAM channels',
      m.dram,
      (u) => [share_of(u.requests), share_of(u.requests)],
      (u, i) => `Channel ${i}: ${of_level(u.requests)} requests`,
    ),
];

const head_of = (s, rate) => [
  ['cycle', whole(s.cycle)],
  ['blocks completed', `${whole(s.blocks_done)} of ${whole(s.blocks)}`],
  ['warp instructions', whole(s.warp_instructions)],
  ['warp instructions a second', scaled(rate, '')],
  ['time of simulation', time(s.seconds)],
];

const state_text = (s) => (s.paused ? `Paused: ${s.paused_by}.` : s.break ? `Running, until ${s.break}.` : 'Running.');

/// Builds the page in `main`; `listed` receives the sections.
export function live_page(data, main, bar, listed) {
  const status = h('p', { class: 'headline', role: 'status' }, 'Waiting for the run.'),
    refusal = h('p', { class: 'refusal', role: 'alert' }),
    head = h('div'),
    launches = h('div'),
    map = h('div'),
    memory = h('div'),
    warps = h('div'),
    states = h('div'),
    places = h('div'),
    holder = h('div', { id: 'so-far' });
  let last = null,
    rate = 0,
    sm = null,
    ended = false,
    last_event = Date.now(),
    last_report = 0,
    follows = true;
  const say = (text) => refusal.replaceChildren(text);
  const own = [
    section('Run', h('div', { class: 'verdict' }, status, data.control && controls((s) => show(s), say), refusal), head, launches),
    section('SMs now', h('p', { class: 'about' }, 'A square for each SM, filled as it holds warps, darker by those that issue or are eligible. A click lists its warps.'), map, warps),
    section('Memory now', h('p', { class: 'about' }, 'A square for each unit, filled as it has misses in flight, or a channel requests; darker by requests that wait to leave it.'), memory),
    section('What warps wait for', states, places),
  ];
  main.replaceChildren(...own, holder);
  const follow_button = h('button', { type: 'button', hidden: true, onclick: () => ((follows = true), (last_report = 0), renew()) }, 'Charts of now');
  const report_bar = h('span', { class: 'bar', onchange: () => ((follows = false), (follow_button.hidden = false)) });
  bar.replaceChildren(report_bar, follow_button);
  holder.addEventListener('change', () => ((follows = false), (follow_button.hidden = false)));

  const choose = async (i) => {
    sm = i;
    await show_warps();
  };
  async function show_warps() {
    if (sm === null || ended) return;
    try {
      const now = await asked(`/sm?number=${sm}`);
      const columns = ['warp', 'sub-partition', 'kernel', 'block', 'warp in block', 'state', 'where'].map((name) => ({ name }));
      warps.replaceChildren(table(`Warps of SM ${sm} in cycle ${whole(now.cycle)}`, columns, warp_rows(now.warps)));
    } catch {
      // The run has ended, or says so with its next event.
    }
  }
  function show(s) {
    if (last !== null && s.seconds > last.seconds) rate = (s.warp_instructions - last.warp_instructions) / (s.seconds - last.seconds);
    last = s;
    document.title = `Heddle · ${s.paused ? 'paused' : 'running'} · ${s.run}`;
    status.replaceChildren(`${state_text(s)} ${s.run} on ${s.gpu}`);
    head.replaceChildren(tiles(head_of(s, rate)));
    const launch_columns = [{ name: 'launch' }, { name: 'kernel' }, ...client_columns(s.launches).map(([name]) => ({ name })), { name: 'state' }, { name: 'since cycle', format: short }, { name: 'blocks dispatched', format: short }, { name: 'completed' }];
    launches.replaceChildren(s.launches.length > 0 ? table('Launches that have not ended', launch_columns, launch_rows(s.launches)) : h('p', { class: 'about' }, 'No launch has blocks left.'));
    map.replaceChildren(sm_map(s.sms, sm, choose));
    memory.replaceChildren(...memory_maps(s.memory).filter(Boolean));
    const total = s.sms.reduce((sum, one) => sum + one.warps, 0);
    states.replaceChildren(table('States of the resident warps', [{ name: 'state' }, { name: 'warps' }, { name: 'share' }], state_rows(s.warp_states, total)));
    places.replaceChildren(
      table(
        'Where most warps are',
        [{ name: 'place' }, { name: 'warps' }],
        s.places.map((p) => [p.place, p.warps]),
      ),
    );
  }
  async function renew() {
    if (ended || document.hidden || !follows || Date.now() - last_report < report_interval) return;
    last_report = Date.now();
    try {
      const report = await asked('/report');
      for (const file of report.files) attach_details(file);
      if (!follows) return;
      follow_button.hidden = true;
      const scrolled = window.scrollY;
      run_page(report, holder, report_bar, (sections) => listed([...own, ...sections]));
      window.scrollTo(0, scrolled);
      last_report = Date.now();
    } catch {
      // As above.
    }
  }
  listed(own);
  const events = new EventSource('/events');
  events.onmessage = (e) => {
    last_event = Date.now();
    show(JSON.parse(e.data));
    show_warps();
    renew();
  };
  events.onerror = () => {
    if (events.readyState !== EventSource.CLOSED && last === null) return;
    events.close();
    ended = true;
    document.title = 'Heddle · ended';
    status.replaceChildren('The run has ended, or was stopped. This is what it was at last.');
  };
  setInterval(() => {
    if (!ended && last !== null && Date.now() - last_event > patience) status.replaceChildren('The run does not simulate now: its program works, or it writes its results.');
  }, 1000);
  window.heddle_live = { state: () => last };
}
