// SPDX-License-Identifier: MIT
// Light or dark, from the system or by the reader's choice. The colours can be distinguished by readers with colour
// vision deficiency; everything that a chart shows by colour is also in its legend, labels or table.

const categories = {
  light: [
    '#4477aa',
    '#ee6677',
    '#228833',
    '#bb8800',
    '#3399bb',
    '#aa3377',
    '#777777',
    '#994433',
    '#6655cc',
    '#559977',
    '#cc5511',
    '#446633',
  ],
  dark: [
    '#77aadd',
    '#ff8899',
    '#55bb66',
    '#ddbb44',
    '#66ccee',
    '#dd77bb',
    '#aaaaaa',
    '#cc7766',
    '#9988ff',
    '#88ccaa',
    '#ff9955',
    '#99bb77',
  ],
};
export const state_colours = {
  selected: ['#228833', '#55bb66'],
  not_selected: ['#88bb77', '#99cc88'],
  exec_dependency: ['#4477aa', '#77aadd'],
  wait: ['#88aacc', '#aaccee'],
  short_scoreboard: ['#6688dd', '#99aaff'],
  long_scoreboard: ['#224488', '#5588dd'],
  memory_dependency: ['#ee6677', '#ff8899'],
  memory_throttle: ['#aa2233', '#dd5566'],
  lg_throttle: ['#ee6677', '#ff8899'],
  mio_throttle: ['#cc8899', '#eeaabb'],
  tex_throttle: ['#aa5533', '#dd8866'],
  texture: ['#aa5533', '#dd8866'],
  math_pipe_throttle: ['#ddaa33', '#eecc66'],
  pipe_busy: ['#ddaa33', '#eecc66'],
  sync: ['#aa3377', '#dd77bb'],
  barrier: ['#aa3377', '#dd77bb'],
  cluster_barrier: ['#882255', '#bb5588'],
  mbarrier: ['#cc66aa', '#ee99cc'],
  grid_dependency: ['#8866aa', '#bb99dd'],
  membar: ['#773388', '#aa77cc'],
  inst_fetch: ['#3399bb', '#66ccee'],
  no_instruction: ['#3399bb', '#66ccee'],
  branch_resolving: ['#77bbcc', '#99ddee'],
  constant_memory_dependency: ['#997700', '#ccaa33'],
  imc_miss: ['#997700', '#ccaa33'],
};

const dark_system = matchMedia('(prefers-color-scheme: dark)');
const listeners = [];
let wanted = 'auto';

export const is_dark = () => (wanted === 'auto' ? dark_system.matches : wanted === 'dark');
export const on_theme = (listener) => listeners.push(listener);
export function set_theme(choice) {
  wanted = choice;
  document.documentElement.dataset.theme = is_dark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}
dark_system.addEventListener('change', () => set_theme(wanted));

let known = null;

/// The colours of the theme in use.
export const colours = () => (known?.dark === is_dark() ? known : (known = read_colours()));

function read_colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    dark: is_dark(),
    text: of('--text'),
    muted: of('--muted'),
    line: of('--line'),
    back: of('--back'),
    accent: of('--accent'),
    list: categories[is_dark() ? 'dark' : 'light'],
    state: (name) => (state_colours[name] ?? ['#777777', '#aaaaaa'])[is_dark() ? 1 : 0],
    ramp: is_dark()
      ? ['#14181f', '#224488', '#3399bb', '#ddbb44', '#ffeeaa']
      : ['#f4f6f8', '#aaccdd', '#3399bb', '#224488', '#221144'],
  };
}
