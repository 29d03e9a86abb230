// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tables of latencies, failures and activities, and the configs.

function percentileCell(latency, percent) {
  const found = latency.percentiles.find(entry => entry.percentile === percent);
  if (found === undefined) return '–';
  const bound = ns => ns === null ? '?' : formatTime(ns);
  return element('span', {title: found.method === 'blocks' ? 'Confidence interval from blocks of the time series'
      : 'Confidence interval from ranks, assuming independent RPCs'},
  formatTime(found.value_ns),
  element('small', {}, `${bound(found.lower_ns)} – ${bound(found.upper_ns)}`));
}

const SHOWN_PERCENTS = [50, 90, 99, 99.9, 99.99, 99.999];

// The first cell names the run.
tableExtensions.push(table => {
  if (wholeNames.size === 0) return;
  for (const {cells: [cell]} of table.tBodies[0].rows) cell.title = wholeNameOf(cell.textContent);
});

// Failures rank above all that succeeded, so that the maximum of what has any is one of them.
function maximumCell(latency) {
  if (!(latency?.failed_count > 0)) return formatTime(latency?.max_ns);
  return element('span', {title: `The longest of those that succeeded: ${formatTime(latency.max_ns)}`}, 'failed');
}

// All curves have a row; those without the chosen latency that of their service
// time, which a column then says.
function renderLatencyTable(curves, chosen) {
  const entries = curves.map(curve => ({...curve, ...latencyOf(curve.rpc, chosen)}));
  const isMixed = entries.some(({name}) => name !== chosen);
  const percents = SHOWN_PERCENTS.filter(percent => entries.some(
      ({latency}) => latency?.percentiles.some(({percentile}) => percentile === percent)));
  const columns = [
    {title: 'RPC', isWrapped: true}, ...(isMixed ? [{title: 'Latency'}] : []),
    {title: 'Count', isNumber: true}, {title: 'Per second', isNumber: true},
    {title: 'Failed', isNumber: true}, {title: 'Mean', isNumber: true},
    ...percents.map(percent => ({title: `p${percent}`, isNumber: true})),
    {title: 'Max', isNumber: true},
  ];
  const rows = entries.map(({rpc, label, name, latency}) => [
    label, ...(isMixed ? [LATENCIES[name].title] : []),
    formatCount(latency?.count ?? 0), formatRate(rpc.per_second), formatCount(rpc.failed_count),
    formatTime(latency?.mean_ns),
    ...percents.map(percent => latency === null ? '–' : percentileCell(latency, percent)),
    maximumCell(latency),
  ]);
  replaceContent('latency-table', ...(rows.length > 0 ? [makeTable(columns, rows, 'latency')] : []));
  const {title} = LATENCIES[chosen];
  byId('latency-note').textContent = rows.length === 0 ? ''
      : `Below each percentile of the ${title} is its ${100 * data.confidence} % confidence interval; ` +
          `"?": too few RPCs for a bound.${isMixed ? ` RPCs without a ${title} have their service time.` : ''}`;
}

function renderFailures(curves) {
  const rows = curves.flatMap(({rpc, label}) => [...rpc.failures]
      .sort((a, b) => b.count - a.count).map(({cause, count}) => [label, formatCount(count), cause]));
  showSection('failures', rows.length > 0);
  replaceContent('failures-table', makeTable(
      [{title: 'RPC'}, {title: 'Failed', isNumber: true}, {title: 'Cause', isWrapped: true}], rows, 'failures'));
}

const TIME_PARTS = {
  lateness: 'lateness', network: 'network and stacks', server_queue: 'server: queue', server_handler: 'server: handler',
};

function renderTimeParts() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'RPC', isWrapped: true}, {title: 'Part'}, {title: 'Count', isNumber: true},
    {title: 'Mean', isNumber: true}, {title: 'p50', isNumber: true}, {title: 'p90', isNumber: true},
    {title: 'p99', isNumber: true}, {title: 'Max', isNumber: true},
  ];
  const rows = runs.flatMap(run => rowsOf(run.time_parts).map(row => [
    ...(runs.length > 1 ? [run.label] : []),
    row.rpc, TIME_PARTS[row.part] ?? row.part, formatCount(row.count), formatTime(row.mean_ns),
    formatTime(row.p50_ns), formatTime(row.p90_ns), formatTime(row.p99_ns), formatTime(row.max_ns),
  ]));
  showSection('time-parts', rows.length > 0);
  replaceContent('time-parts-table', makeTable(columns, rows, 'time-parts'));
}

const STREAM_TIMES = {
  first_message: 'first message', gap: 'gap', round_trip: 'round trip',
  client_blocked: 'client: blocked', server_blocked: 'server: blocked',
};

function renderStreams() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'RPC', isWrapped: true}, {title: 'Time'}, {title: 'Count', isNumber: true},
    {title: 'Mean', isNumber: true}, {title: 'p50', isNumber: true}, {title: 'p90', isNumber: true},
    {title: 'p99', isNumber: true}, {title: 'Max', isNumber: true},
  ];
  const rows = runs.flatMap(run => rowsOf(run.streams).map(row => [
    ...(runs.length > 1 ? [run.label] : []),
    row.rpc, STREAM_TIMES[row.part] ?? row.part, formatCount(row.count), formatTime(row.mean_ns),
    formatTime(row.p50_ns), formatTime(row.p90_ns), formatTime(row.p99_ns), formatTime(row.max_ns),
  ]));
  showSection('streams', rows.length > 0);
  replaceContent('streams-table', makeTable(columns, rows, 'streams'));
}

function renderActivities() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'Instance'}, {title: 'Activity', isWrapped: true},
    {title: 'Iterations', isNumber: true}, {title: 'In', isNumber: true}, {title: 'Out', isNumber: true},
    {title: 'Mean', isNumber: true}, {title: 'p50', isNumber: true}, {title: 'p99', isNumber: true},
    {title: 'Waited: mean', isNumber: true}, {title: 'p50', isNumber: true}, {title: 'p99', isNumber: true},
    {title: 'Checksum'},
  ];
  const rows = runs.flatMap(run => sortedByName(rowsOf(run.activities), 'instance').map(row => [
    ...(runs.length > 1 ? [run.label] : []),
    row.instance, row.activity, formatCount(row.iterations), formatBytes(row.input_bytes),
    formatBytes(row.output_bytes), formatTime(row.duration_mean_ns), formatTime(row.duration_p50_ns),
    formatTime(row.duration_p99_ns), formatTime(row.queueing_mean_ns), formatTime(row.queueing_p50_ns),
    formatTime(row.queueing_p99_ns), row.checksum ?? '–',
  ]));
  showSection('activities', rows.length > 0);
  replaceContent('activities-table', makeTable(columns, rows, 'activities'));
}

function renderConfigs() {
  replaceContent('configs-list', ...runs.map(run => {
    const placement = run.placement.length === 0 ? [] : [element('div', {className: 'scroll'}, makeTable(
        [{title: 'Instance'}, {title: 'Node'}, {title: 'Host'}, {title: 'Engine'},
          {title: 'Address', isWrapped: true}],
        sortedByName(run.placement, 'instance').map(
            place => [place.instance, place.node ?? '–', place.hostname ?? '–', place.engine ?? '–',
              place.address ?? '–'])))];
    return element('details', {id: `config-${run.index}`}, element('summary', {}, run.label),
        element('pre', {}, run.traffic_config || 'The result contains no traffic config.'), ...placement);
  }));
}
