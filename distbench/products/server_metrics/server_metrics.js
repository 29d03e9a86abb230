// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Figures of servers over time, and what they were in the measured time.

// The runs that have the metric, with its row: as many as there are colours.
function runsWithMetric(name) {
  return runs.filter(run => run.server_metrics !== null).flatMap(run => {
    const row = rowsOf(run.server_metrics.metrics).find(({metric}) => metric === name);
    return row === undefined ? [] : [{run, row}];
  });
}

function metricNames() {
  return [...new Set(runs.filter(run => run.server_metrics !== null)
      .flatMap(run => rowsOf(run.server_metrics.metrics).map(({metric}) => metric)))];
}

function pointsOfMetric(run, name) {
  const readings = rowsOf(run.server_metrics.readings).filter(({metric}) => metric === name);
  // That of the latencies, beside which it is looked at.
  const origin = originOf(run, rowsOf(run.seconds), 'start_timestamp_ns');
  const pointOf = ({timestamp_ns: timestampNs, value, judged}) => ({x: (timestampNs - origin) / 1e9, y: value, judged});
  return readings.filter(({value}) => value !== null).map(pointOf);
}

function drawMetric(id, name, entries) {
  const unit = entries[0].row.unit;
  const lines = entries.map(({run, color}) => ({
    label: run.label, color, hasPoints: true, points: pointsOfMetric(run, name),
  }));
  drawLines(id, lines, SECONDS_AXIS, {
    beginAtZero: true, ticks: {callback: value => formatFigure(value, unit)},
    column: {title: name, valueOf: point => point.y},
  }, point => `${formatFigure(point.y, unit)} at ${point.x.toFixed(1)} s${point.judged ? '' : ' (not judged)'}`);
}

function metricFigure(name, i) {
  return element('figure', {}, element('figcaption', {}, name), element('div', {className: 'plot'},
      Object.assign(element('canvas', {id: `server-metric-chart-${i}`, role: 'img'}), {ariaLabel: `${name} over time`})));
}

function metricRow({run, row}) {
  const figure = value => formatFigure(value, row.unit);
  return [
    row.metric, ...(runs.length > 1 ? [run.label] : []), figure(row.mean),
    row.lower === null ? '–' : `${figure(row.lower)} – ${figure(row.upper)}`, figure(row.min), figure(row.max),
    formatCount(row.judged), formatCount(row.failed), row.node ?? 'nobody', row.query,
  ];
}

function renderServerMetrics() {
  const names = metricNames();
  showSection('server-metrics', names.length > 0);
  if (names.length === 0) return;
  const drawn = names.map(name => ({name, entries: runsWithMetric(name)}));
  const colored = runs.filter(run => run.server_metrics !== null).slice(0, MAX_CURVES)
      .map((run, i) => ({run, label: run.label, color: seriesColor(i)}));
  replaceContent('server-metrics-charts', ...drawn.map(({name}, i) => metricFigure(name, i)));
  drawn.forEach(({name, entries}, i) => drawMetric(`server-metric-chart-${i}`, name, entries.flatMap(
      entry => colored.filter(({run}) => run === entry.run).map(({color}) => ({...entry, color})))));
  legend('server-metrics-legend', colored.length > 1 ? colored : []);
  const columns = [
    {title: 'Metric'}, ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'Mean', isNumber: true}, {title: '95 % interval', isNumber: true}, {title: 'Min', isNumber: true},
    {title: 'Max', isNumber: true}, {title: 'Readings', isNumber: true}, {title: 'Failed', isNumber: true},
    {title: 'Read by'}, {title: 'Query or command', isWrapped: true},
  ];
  replaceContent('server-metrics-table',
      makeTable(columns, drawn.flatMap(({entries}) => entries.map(metricRow)), 'server-metrics'));
  byId('server-metrics-note').textContent = 'Mean, interval, extremes and readings are of the measured time, without ' +
      `the warm-up; the charts show all that were read${runs.length > MAX_CURVES ? `, of ${MAX_CURVES} runs` : ''}.`;
}

addPart({redraw: renderServerMetrics});
