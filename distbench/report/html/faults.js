// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What servers did to their clients on purpose: failures, and admission.

// Times listed for a fault; the charts show all.
const MAX_FAULT_TIMES = 5;

// A moment has no width.
const LEAST_BAND_PIXELS = 1.5;

// The times of a run's faults, in seconds since its start.
function faultSpansOf(run) {
  const origin = originOf(run, rowsOf(run.seconds), 'start_timestamp_ns');
  const since = timestampNs => (timestampNs - origin) / 1e9;
  return run.server_faults.flatMap(fault => fault.times.map(
      time => ({from: since(time.begin_timestamp_ns), to: since(time.end_timestamp_ns)})));
}

function fillBands({ctx: context, chartArea, scales}, spans) {
  const within = x => Math.min(chartArea.right, Math.max(chartArea.left, scales.x.getPixelForValue(x)));
  context.save();
  context.fillStyle = cssColor('--warn');
  for (const {from, to} of spans) {
    if (to < scales.x.min || from > scales.x.max) continue;
    const left = within(from);
    // A moment is thin, and would not be seen.
    context.globalAlpha = to > from ? 0.18 : 0.6;
    context.fillRect(left, chartArea.top, Math.max(LEAST_BAND_PIXELS, within(to) - left),
        chartArea.bottom - chartArea.top);
  }
  context.restore();
}

// Plugins for charts over time: bands while faults of the drawn runs were in
// effect.
function faultBands(curves) {
  const spans = [...new Set(curves.map(({run}) => run))].flatMap(faultSpansOf);
  return spans.length === 0 ? []
      : [{id: 'faults', beforeDatasetsDraw: chart => fillBands(chart, spans)}];
}

function faultNote(curves) {
  return curves.some(({run}) => run.server_faults.length > 0) ? ' Planned faults are shaded.' : '';
}

function describeSpans(spans) {
  const texts = spans.slice(0, MAX_FAULT_TIMES).map(
      ({from, to}) => from === to ? `${from.toFixed(3)} s` : `${from.toFixed(3)} – ${to.toFixed(3)} s`);
  const more = spans.length - texts.length;
  return [...texts, ...(more > 0 ? [`${formatCount(more)} more`] : [])].join(', ') || 'never';
}

function renderFaults() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'Fault', isWrapped: true}, {title: 'What it does', isWrapped: true},
    {title: 'In effect, after the start', isWrapped: true},
    {title: 'Requests', isNumber: true}, {title: 'Connections', isNumber: true},
  ];
  const rows = runs.flatMap(run => run.server_faults.map(fault => [
    ...(runs.length > 1 ? [run.label] : []),
    fault.name, fault.description,
    describeSpans(faultSpansOf({...run, server_faults: [fault]})),
    formatCount(fault.request_count), formatCount(fault.connection_count),
  ]));
  showSection('faults', rows.length > 0);
  replaceContent('faults-table', makeTable(columns, rows, 'faults'));
}

function renderAdmission() {
  const columns = [
    ...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []),
    {title: 'Service', isWrapped: true}, {title: 'Admitted', isNumber: true}, {title: 'Refused', isNumber: true},
    {title: 'Waited: mean', isNumber: true}, {title: 'p50', isNumber: true}, {title: 'p90', isNumber: true},
    {title: 'p99', isNumber: true}, {title: 'Max', isNumber: true},
  ];
  const time = (wait, name) => wait === null ? '–' : formatTime(wait[name]);
  const rows = runs.flatMap(run => run.admission.map(({service, wait, ...counts}) => [
    ...(runs.length > 1 ? [run.label] : []),
    service, formatCount(counts.admitted_count), formatCount(counts.refused_count),
    ...['mean_ns', 'p50_ns', 'p90_ns', 'p99_ns', 'max_ns'].map(name => time(wait, name)),
  ]));
  showSection('admission', rows.length > 0);
  replaceContent('admission-table', makeTable(columns, rows, 'admission'));
}
