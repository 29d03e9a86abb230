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
  if (unit === 'ns') return formatTime(value);
  if (unit === 'ratio') return String(Number(value.toPrecision(3)));
  return unit === 'share' ? `${Number((100 * value).toPrecision(3))} %` : `${formatRate(value)}/s`;
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

function formatInterval(isRatio, {lower, upper}) {
  return lower === null ? 'none: too few runs'
      : `${formatChange(isRatio, lower)} to ${formatChange(isRatio, upper)}`;
}

// Worst first: the order in which a reader looks for trouble.
const SEVERITY = ['worse', 'better', 'differs', 'not shown', 'no difference', 'not comparable'];

function worstOf(rpc) {
  const verdicts = [...rpc.metrics.map(metric => metric.verdict), rpc.distribution.verdict];
  return SEVERITY.find(verdict => verdicts.includes(verdict));
}
