// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Values of metrics and changes of them as text.

const DAY_MS = 86400000;

function formatValue(unit, value) {
  if (value === null || value === undefined) return '–';
  switch (unit) {
    case 'seconds': return formatTime(1e9 * value);
    case 'per_second': return `${formatRate(value)}/s`;
    case 'share': return `${Number((100 * value).toPrecision(3))} %`;
    case 'bytes': return formatBytes(value);
    default: return String(Number(value.toPrecision(6)));
  }
}

// "+5.1 %"
function formatRelative(relative) {
  if (relative === null) return 'from 0';
  return `${relative < 0 ? '−' : '+'}${(100 * Math.abs(relative)).toFixed(1)} %`;
}

function formatTimestamp(ms) {
  return formatDate(ms === null ? null : 1e6 * ms);
}

function formatDay(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

// "worse", "better", or "changed" where neither direction is better.
function kindOfChange({before, after}, {better}) {
  if (better === 'neither') return 'changed';
  return (better === 'lower' ? after > before : after < before) ? 'worse' : 'better';
}

// "+5.1 %"
function sizeOf({relative}) {
  return formatRelative(relative);
}

// "level +5.1 % (mean 1.02 ms → 1.07 ms, p = 0.002)"
function describeChange({before, after, relative, p_value: pValue}, {unit}) {
  return `level ${formatRelative(relative)} (mean ${formatValue(unit, before)} → ${formatValue(unit, after)}, ` +
      `p = ${Number(pValue.toPrecision(2))})`;
}

// Facts may change some results before or after the values do.
function describeDistance(distance = 0) {
  return distance === 0 ? '' : ` (${plural(Math.abs(distance), 'result')} ${distance < 0 ? 'earlier' : 'later'})`;
}

// ["kernel 6.1.0-18 → 6.1.0-20"]
function describeFacts({facts}) {
  return facts.map(({name, before, after, distance}) =>
      `${name} ${before || '–'} → ${after || '–'}${describeDistance(distance)}`);
}

// What changed at the place of these changes, each fact once.
function factsNote(changes) {
  const facts = [...new Set(changes.flatMap(describeFacts))];
  return facts.length === 0 ? 'No known fact changed there.' : `Changed there: ${facts.join('; ')}.`;
}

function reportOf(result) {
  return `/results/${encodeURIComponent(result)}`;
}
