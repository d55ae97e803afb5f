// SPDX-License-Identifier: MIT
// Number formats.

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });

export const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
export const ratio = (a, b) => (b > 0 ? a / b : 0);
export const whole = (value) => grouped.format(Math.round(number(value)));
export const percent = (value) => (100 * number(value)).toFixed(1) + ' %';

export function short(value) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return '';
  if (Number.isInteger(value)) return grouped.format(value);
  const size = Math.abs(value);
  return size >= 1000 ? grouped.format(Math.round(value)) : String(Number(value.toPrecision(4)));
}

export function scaled(value, unit) {
  const steps = ['', 'k', 'M', 'G', 'T', 'P'];
  let n = number(value),
    i = 0;
  while (Math.abs(n) >= 1000 && i + 1 < steps.length) ((n /= 1000), ++i);
  return `${Number(n.toPrecision(3))} ${steps[i]}${unit}`;
}

export function time(seconds) {
  const [factor, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : seconds >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
  return `${Number((number(seconds) * factor).toPrecision(4))} ${unit}`;
}

export function energy(joules) {
  const [factor, unit] = joules >= 1 ? [1, 'J'] : joules >= 1e-3 ? [1e3, 'mJ'] : joules >= 1e-6 ? [1e6, 'µJ'] : [1e9, 'nJ'];
  return `${Number((number(joules) * factor).toPrecision(4))} ${unit}`;
}

export function power(watts) {
  const [factor, unit] = watts >= 1 || watts === 0 ? [1, 'W'] : watts >= 1e-3 ? [1e3, 'mW'] : [1e6, 'µW'];
  return `${Number((number(watts) * factor).toPrecision(4))} ${unit}`;
}

/// The duration of core cycles on the machine of `config`, seconds.
export const seconds = (cycles, config) => ratio(number(cycles), number(config['gpu.core_clock_mhz']) * 1e6);

export const spoken = (name) => name.replaceAll('_', ' ');
export const shape = (d) => (Array.isArray(d) ? d : [d]).join(' × ');
