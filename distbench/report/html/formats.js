// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The formats of quantities, the order of names, and small calculations.

// The number of curves that colours can distinguish.
const MAX_CURVES = 8;

function baseName(path) {
  return path.split('/').pop();
}

const nameOrder = new Intl.Collator('en', {numeric: true});

// Compares numbers in names by value: node2 before node10.
function compareNames(a, b) {
  return nameOrder.compare(a, b);
}

function sortedByName(items, key) {
  return [...items].sort((a, b) => compareNames(a[key], b[key]));
}

function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

// Unlike Math.min() and Math.max(), for any number of values.
function leastOf(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function greatestOf(values) {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// [[key, items]] in the order of their first items.
function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups];
}

function formatWith(value, units) {
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) {
      return `${Number((value / size).toPrecision(3))} ${unit}`;
    }
  }
  const [size, unit] = units[units.length - 1];
  return `${Number((value / size).toPrecision(3))} ${unit}`;
}

const TIME_UNITS = [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const BYTE_UNITS = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];

function formatTime(ns) {
  if (ns === Infinity) return 'failed';
  return ns === null || ns === undefined ? '–' : formatWith(ns, TIME_UNITS);
}

function formatBytes(bytes) {
  return bytes === null || bytes === undefined ? '–' : formatWith(bytes, BYTE_UNITS);
}

function formatCount(count) {
  return count === null || count === undefined ? '–' : count.toLocaleString('en');
}

function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function formatRate(perSecond) {
  if (perSecond === null || perSecond === undefined) return '–';
  return perSecond >= 100 ? Math.round(perSecond).toLocaleString('en')
                          : String(Number(perSecond.toPrecision(3)));
}

// ISO 8601 in UTC, to the second.
function formatDate(timestampNs) {
  return timestampNs === null ? '–'
      : `${new Date(timestampNs / 1e6).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function formatShare(share) {
  if (share === null) return '–';
  return share === Infinity ? 'failed' : `${Number((100 * share).toPrecision(3))} %`;
}
