// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The two groups of runs, and how their metrics are written.

const comparison = JSON.parse(byId('comparison-data').textContent);

// The runs of the page are those of base, then those of new. Lines of base are
// dashed and on top, so that both are seen where they are equal.
const SIDES = [
  {name: 'base', color: '--base', runColor: '--base-run', isDashed: true, runs: runs.slice(0, comparison.base.runs)},
  {name: 'new', color: '--new', runColor: '--new-run', isDashed: false, runs: runs.slice(comparison.base.runs)},
];

// The runs of a test on a side.
function runsOf(side, test) {
  return side.runs.filter(run => run.name === test[`${side.name}_name`]);
}

function countRuns(count) {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}

function formatMetric(unit, value) {
  if (value === null) return '–';
  switch (unit) {
    case 'ns': return formatTime(value);
    case 'bytes': return formatBytes(value);
    case 'ratio': return String(Number(value.toPrecision(3)));
    case 'number': return String(Number(value.toPrecision(6)));
    case 'share': return `${Number((100 * value).toPrecision(3))} %`;
    default: return `${formatRate(value)}/s`;
  }
}

function signed(value, text) {
  return `${value < 0 ? '−' : '+'}${text}`;
}

// A ratio as a percentage, a difference of shares in percentage points.
function formatChange(isRatio, change) {
  if (change === null) return '–';
  const percent = 100 * (isRatio ? change - 1 : change);
  return signed(percent, Math.abs(percent).toFixed(isRatio ? 1 : 3) + (isRatio ? ' %' : ' pp'));
}

function formatInterval({lower, upper}, format) {
  return lower === null ? 'none: too few runs' : `${format(lower)} to ${format(upper)}`;
}

// Differences of what is no share are in the unit of the metric.
function formatMetricChange({change_is: kind, unit}, change) {
  if (change === null || kind === 'ratio' || unit === 'share') return formatChange(kind === 'ratio', change);
  return signed(change, formatMetric(unit, Math.abs(change)));
}

// The badge of a comparison. That none was shown does not mean that there is no difference.
function verdictBadge(verdict) {
  const node = badge(verdict);
  if (verdict === 'no difference') node.textContent = 'no difference shown';
  return node;
}

// Worst first: the order in which a reader looks for trouble.
const SEVERITY = ['worse', 'better', 'differs', 'not shown', 'no difference', 'not comparable'];

// Of an RPC, or of a test's own metrics, which have no distribution.
function worstOf({metrics, distribution}) {
  const verdicts = [...metrics, ...(distribution === undefined ? [] : [distribution])].map(({verdict}) => verdict);
  return SEVERITY.find(verdict => verdicts.includes(verdict));
}
