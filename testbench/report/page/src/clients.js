// SPDX-License-Identifier: MIT
// Processes that share the GPU: what each of them got of it.
import { axis, chart } from './charts.js';
import { csv_button, h, table } from './dom.js';
import { number as n, percent, ratio, scaled, short, whole } from './format.js';
import { grid, section } from './layout.js';

const times = (v) => `× ${n(v).toFixed(3)}`;
const hits = (c) => ratio(n(c.l2_hits), n(c.l2_accesses));

// Columns: {name, of(client), text(value), number}.
function columns_of(clients, metrics) {
  const sm_cycles = n(metrics.cycles) * metrics.sms.length;
  const plain = (name, of, text = whole) => ({ name, of, text, number: true });
  const sliced = clients.some((c) => c.slice),
    compared = clients.some((c) => n(c.alone_cycles) > 0);
  return [
    { name: 'client', of: (c) => c.name, text: (v) => v },
    ...(sliced ? [{ name: 'slice', of: (c) => c.slice ?? '', text: (v) => v }] : []),
    plain('SMs', (c) => n(c.sms)),
    plain('SMs used at once', (c) => n(c.most_sms)),
    plain('launches', (c) => n(c.launches)),
    plain('cycles', (c) => n(c.cycles)),
    plain('active cycles', (c) => n(c.active_cycles)),
    plain('SM-cycles of the job', (c) => ratio(n(c.sm_cycles), sm_cycles), percent),
    plain('IPC', (c) => n(c.ipc), short),
    plain('L2 hits', hits, percent),
    plain('DRAM bytes', (c) => n(c.dram_read_bytes) + n(c.dram_write_bytes), (v) => scaled(v, 'B')),
    plain('launch waits, cycles', (c) => n(c.launch_cycles)),
    ...(compared
      ? [
          plain('cycles alone', (c) => n(c.alone_cycles), (v) => (v > 0 ? whole(v) : '')),
          plain('slowdown', (c) => n(c.slowdown), (v) => (v > 0 ? times(v) : '')),
        ]
      : []),
  ];
}

function cycles_chart(clients) {
  const compared = clients.some((c) => n(c.alone_cycles) > 0);
  const series = [['beside the others', (c) => n(c.cycles)], ...(compared ? [['alone', (c) => n(c.alone_cycles)]] : [])];
  const slowest = clients.reduce((worst, c) => (n(c.slowdown) > n(worst.slowdown) ? c : worst), clients[0]);
  return chart({
    name: 'client_cycles',
    title: 'Cycles of clients',
    height: 100 + clients.length * (14 + 18 * series.length),
    about: `From a client's first doorbell to the end of its last launch${
      compared ? `, beside the others and alone on the same machine. The others slow ${slowest.name} most: ${times(slowest.slowdown)}` : '; --interference simulates each alone, too'
    }.`,
    header: ['client', ...series.map(([name]) => `cycles ${name}`)],
    rows: () => clients.map((c) => [c.name, ...series.map(([, of]) => of(c))]),
    option: (c, width) => ({
      grid: { top: 40, bottom: 12 },
      xAxis: axis(c, { type: 'value', name: 'cycles', min: 0 }),
      yAxis: axis(c, {
        type: 'category',
        name: 'client',
        inverse: true,
        data: clients.map((one) => one.name),
        axisLabel: { color: c.text, width: width < 500 ? 115 : 200, overflow: 'truncate' },
      }),
      series: series.map(([name, of]) => ({ type: 'bar', name, data: clients.map(of), barMaxWidth: 18 })),
    }),
  });
}

/// Null: the run has no clients.
export function clients_section(metrics) {
  const { clients } = metrics;
  if (!(clients?.length > 0)) return null;
  const columns = columns_of(clients, metrics);
  return section(
    'Clients',
    h('p', { class: 'about' }, 'Processes that share the GPU. SM-cycles: of all SMs in all cycles of the job, those with warps of the client; where two of its launches are on an SM, both count.'),
    grid(
      h(
        'figure',
        {},
        h(
          'figcaption',
          {},
          h('h3', {}, 'What each client got'),
          csv_button('clients', columns.map((c) => c.name), () => clients.map((client) => columns.map((c) => c.of(client)))),
        ),
        table(
          'What each client got',
          columns.map(({ name, number }) => ({ name, number })),
          clients.map((client) => columns.map((c) => c.text(c.of(client)))),
        ),
      ),
      cycles_chart(clients),
    ),
  );
}
