// Faults of servers, as bands behind charts over time.

// A fault that only breaks connections takes no time, and is a line.
const LEAST_BAND_PIXELS = 2;

// [{fault, from, to}] of a run, in seconds since its start; each time once.
function faultBandsOf(run) {
  const rows = rowsOf(run.recoveries);
  const origin = originOf(run, rows, 'begin_timestamp_ns');
  const since = timestampNs => (timestampNs - origin) / 1e9;
  return groupBy(rows, row => JSON.stringify([row.fault, row.begin_timestamp_ns]))
      .map(([, [{fault, begin_timestamp_ns: begin, end_timestamp_ns: end}]]) => ({fault, from: since(begin), to: since(end)}));
}

// Those of all runs that have a curve.
function faultBandsOfCurves(curves) {
  return [...new Set(curves.map(({run}) => run))].flatMap(faultBandsOf);
}

function faultBandsPlugin(bands) {
  return {id: 'fault-bands', beforeDatasetsDraw: chart => bands.forEach(band => fillBand(chart, band))};
}

function fillBand({ctx: context, chartArea, scales}, {from, to}) {
  const begin = Math.max(chartArea.left, scales.x.getPixelForValue(from));
  const end = Math.min(chartArea.right, Math.max(scales.x.getPixelForValue(to), begin + LEAST_BAND_PIXELS));
  if (end <= begin) return;
  context.save();
  context.globalAlpha = to > from ? 0.15 : 0.6;
  context.fillStyle = cssColor('--warn');
  context.fillRect(begin, chartArea.top, end - begin, chartArea.bottom - chartArea.top);
  context.restore();
}

function faultBandsNote(bands) {
  const names = [...new Set(bands.map(({fault}) => fault))];
  return names.length === 0 ? ''
      : ` Shaded: faults that servers had on purpose (${names.join(', ')}).`;
}
