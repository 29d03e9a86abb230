// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs with a policy: what their attempts cost and what callers got; and how long
// RPCs took to recover from faults.

// Of one RPC in one run: rows of the table "goodput".
function goodputRows({run, rpc}) {
  return rowsOf(run.goodput).filter(row => row.rpc === rpc.name && row.attempts !== null);
}

// Where attempts leave the goodput behind, retries feed an overload.
function drawAttempts(curves) {
  const lines = curves.flatMap(({label, color, isThin, ...curve}) => {
    const rows = goodputRows(curve);
    const origin = originOf(curve.run, rows, 'start_timestamp_ns');
    const line = (column, kind, look) => ({
      label: `${label}, ${kind}`, curve: curve.curve, color, isThin, ...look,
      points: rows.map(row => ({x: (row.start_timestamp_ns - origin) / 1e9, y: row[column] / row.duration_s})),
    });
    return [
      line('attempts', 'attempts', {isBold: true}), line('goodput', 'goodput', {}),
      ...(rows.some(row => row.offered !== null) ? [line('offered', 'offered', {isDashed: true})] : []),
    ];
  });
  drawLines('attempts-chart', lines, SECONDS_AXIS, {
    beginAtZero: true, ticks: {callback: value => formatRate(value)},
    column: {title: 'per_second', valueOf: point => point.y},
  }, point => `${formatRate(point.y)} per second at ${point.x.toFixed(1)} s`,
  faultBands(curves));
}

function renderAttempts(curves) {
  const withAttempts = curves.filter(curve => goodputRows(curve).length > 0);
  byId('attempts').hidden = withAttempts.length === 0;
  if (withAttempts.length === 0) return;
  byId('attempts-note').textContent = faultNote(withAttempts).trim();
  legend('attempts-legend', curveEntries(withAttempts));
  drawAttempts(withAttempts);
}

const REFUSALS = [
  ['refused_by_budget', 'budget'], ['refused_by_circuit_breaker', 'circuit breaker'],
  ['refused_by_limit', 'concurrency limit'],
];

function refusalsCell(row) {
  return REFUSALS.filter(([column]) => row[column] > 0)
      .map(([column, name]) => `${name} ${formatCount(row[column])}`).join(', ') || '–';
}

// p50 and, below it, p99.
function timesCell(p50, p99) {
  if (p50 === null || p50 === undefined) return '–';
  return element('span', {}, formatTime(p50), element('small', {}, `p99 ${formatTime(p99)}`));
}

function limitCell(row) {
  if (row.mean_concurrency_limit === null) return '–';
  return element('span', {}, formatRate(row.mean_concurrency_limit),
      element('small', {}, `${row.min_concurrency_limit} – ${row.max_concurrency_limit}`));
}

function policyRow(run, row) {
  const rpc = run.rpcs.find(({name}) => name === row.rpc);
  return [
    ...(runs.length > 1 ? [run.label] : []), row.rpc,
    formatRate(row.offered_per_second), formatRate(row.goodput_per_second),
    formatRate(row.amplification), formatShare(row.wasted), formatCount(row.retries),
    row.hedges > 0 ? element('span', {}, formatCount(row.hedges),
        element('small', {}, `${formatCount(row.hedges_won)} won`)) : '–',
    refusalsCell(row),
    timesCell(percentileOf(rpc, 50)?.value_ns, percentileOf(rpc, 99)?.value_ns),
    timesCell(row.attempt_p50_ns, row.attempt_p99_ns), timesCell(row.quorum_p50_ns, row.quorum_p99_ns),
    limitCell(row),
  ];
}

function renderPolicies() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'RPC', isWrapped: true}, {title: 'Offered/s', isNumber: true}, {title: 'Goodput/s', isNumber: true},
    {title: 'Attempts/request', isNumber: true}, {title: 'Wasted', isNumber: true},
    {title: 'Retries', isNumber: true}, {title: 'Hedges', isNumber: true}, {title: 'Refused by', isWrapped: true},
    {title: 'Request p50', isNumber: true}, {title: 'Attempt p50', isNumber: true},
    {title: 'Quorum p50', isNumber: true}, {title: 'Concurrency limit', isNumber: true},
  ];
  const rows = runs.flatMap(run => rowsOf(run.policies).map(row => policyRow(run, row)));
  showSection('policies', rows.length > 0);
  replaceContent('policies-table', makeTable(columns, rows, 'policies'));
}

const RECOVERY_OUTCOMES = {
  unaffected: () => 'goodput was not low',
  recovered: ({recovered_after_s: seconds}) => `${Number(seconds.toPrecision(3))} s`,
  not_before_next_fault: ({observed_s: seconds}) => `not in the ${Number(seconds.toPrecision(3))} s until the next fault`,
  never: ({observed_s: seconds}) => `never within the run (${Number(seconds.toPrecision(3))} s)`,
  too_short: () => 'too little time followed to say',
  unknown_before: () => 'too little time preceded to say',
};

function recoveryRow(run, row, origin) {
  return [
    ...(runs.length > 1 ? [run.label] : []), row.fault,
    `${((row.begin_timestamp_ns - origin) / 1e9).toFixed(1)} s`,
    row.end_timestamp_ns > row.begin_timestamp_ns ? formatTime(row.end_timestamp_ns - row.begin_timestamp_ns) : 'a moment',
    row.rpc,
    formatRate(row.goodput_before_per_second), RECOVERY_OUTCOMES[row.outcome]?.(row) ?? row.outcome,
  ];
}

function renderRecoveries() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'Fault'}, {title: 'Began', isNumber: true}, {title: 'Lasted', isNumber: true},
    {title: 'RPC', isWrapped: true}, {title: 'Goodput/s before', isNumber: true},
    {title: 'Recovered after', isWrapped: true},
  ];
  const rows = runs.flatMap(run => {
    const listed = rowsOf(run.recoveries);
    const origin = originOf(run, listed, 'begin_timestamp_ns');
    return listed.map(row => recoveryRow(run, row, origin));
  });
  showSection('recoveries', rows.length > 0);
  replaceContent('recoveries-table', makeTable(columns, rows, 'recoveries'));
}
