// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Values of metrics, and lists of names, as text.

const DAY_MS = 86400000;

const UNIT_FORMATS = {
  seconds: value => formatTime(1e9 * value),
  per_second: value => `${formatRate(value)}/s`,
  share: formatShare,
  bytes: formatBytes,
};

const STILL_READING = 'The results are still being read, which waits while a test is running.';

const VERDICT_HELP = 'Whether the figures can be trusted: ok; warn, with doubts; invalid, no; failed, the run did not ' +
    'complete. The report says why.';

const TRAFFIC_CHANGED = 'traffic changed';

function formatValue(unit, value) {
  if (value === null) return '–';
  return UNIT_FORMATS[unit]?.(value) ?? String(Number(value.toPrecision(6)));
}

function formatTimestamp(ms) {
  return formatDate(1e6 * ms);
}

function formatDay(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

// Below a title that says UTC.
function formatCellTimestamp(ms) {
  return formatTimestamp(ms).replace(' UTC', '');
}

// "h1, h2 and 23 more"
function shortList(names) {
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
}

function nameOfSeries({rpc, metric}) {
  return `${rpc} · ${metric}`;
}

function reportOf(result) {
  return `/results/${encodeURIComponent(result)}`;
}
