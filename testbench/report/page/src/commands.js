// SPDX-License-Identifier: MIT
// Commands for a shell, to be copied.
import { h } from './dom.js';

const plain = /^[A-Za-z0-9_./:=,+@%-]+$/;

/// A word as a shell reads it.
export const shell_quoted = (word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/// A command that one click selects, and `with_button` one that copies it.
export function command(text, with_button) {
  const code = h('code', { class: 'command' }, text);
  if (!with_button) return code;
  const button = h('button', { type: 'button', class: 'csv', 'data-command': text, 'aria-label': `Copy ${text}` }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code); // the browser lets no page write there: it is ready to be copied by hand
    }
  });
  return h('span', { class: 'command' }, button, ' ', code);
}
