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

function renderLatencyTable(curves, latencyName) {
  const columns = [
    {title: 'RPC', isWrapped: true},
    {title: 'Count', isNumber: true}, {title: 'Per second', isNumber: true},
    {title: 'Failed', isNumber: true}, {title: 'Mean', isNumber: true},
    ...SHOWN_PERCENTS.map(percent => ({title: `p${percent}`, isNumber: true})),
    {title: 'Max', isNumber: true},
  ];
  const rows = curves.filter(curve => curve.rpc[latencyName] !== null).map(({rpc, label}) => {
    const latency = rpc[latencyName];
    return [
      label, formatCount(latency.count), formatRate(rpc.per_second), formatCount(rpc.failed_count),
      formatTime(latency.mean_ns), ...SHOWN_PERCENTS.map(percent => percentileCell(latency, percent)),
      formatTime(latency.max_ns),
    ];
  });
  replaceContent('latency-table', ...(rows.length > 0 ? [makeTable(columns, rows)] : []));
  const missing = curves.filter(curve => curve.rpc[latencyName] === null).map(curve => curve.label);
  const title = LATENCIES[latencyName].title;
  byId('latency-note').textContent = [
    rows.length > 0 ? `Below each percentile of the ${title} is its ${100 * data.confidence} % ` +
        'confidence interval; "?": too few RPCs for a bound.' : '',
    missing.length > 0 ? `No ${title}: ${missing.join(', ')}.` : '',
  ].filter(Boolean).join(' ');
}

function renderFailures(curves) {
  const rows = curves.flatMap(({rpc, label}) => [...rpc.failures]
      .sort((a, b) => b.count - a.count).map(({cause, count}) => [label, formatCount(count), cause]));
  showSection('failures', rows.length > 0);
  replaceContent('failures-table', makeTable(
      [{title: 'RPC'}, {title: 'Failed', isNumber: true}, {title: 'Cause', isWrapped: true}], rows));
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
  replaceContent('time-parts-table', makeTable(columns, rows));
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
  const rows = runs.flatMap(run => rowsOf(run.activities).map(row => [
    ...(runs.length > 1 ? [run.label] : []),
    row.instance, row.activity, formatCount(row.iterations), formatBytes(row.input_bytes),
    formatBytes(row.output_bytes), formatTime(row.duration_mean_ns), formatTime(row.duration_p50_ns),
    formatTime(row.duration_p99_ns), formatTime(row.queueing_mean_ns), formatTime(row.queueing_p50_ns),
    formatTime(row.queueing_p99_ns), row.checksum ?? '–',
  ]));
  showSection('activities', rows.length > 0);
  replaceContent('activities-table', makeTable(columns, rows));
}

function renderConfigs() {
  replaceContent('configs-list', ...runs.map(run => {
    const placement = run.placement.length === 0 ? [] : [element('div', {className: 'scroll'}, makeTable(
        [{title: 'Instance'}, {title: 'Node'}, {title: 'Host'}, {title: 'Address', isWrapped: true}],
        run.placement.map(place => [place.instance, place.node ?? '–', place.hostname ?? '–',
          place.address ?? '–'])))];
    return element('details', {id: `config-${run.index}`}, element('summary', {}, run.label),
        element('pre', {}, run.traffic_config || 'The result contains no traffic config.'), ...placement);
  }));
}
