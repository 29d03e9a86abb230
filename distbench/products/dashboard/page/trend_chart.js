// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Charts of trends: a large one, with what is drawn around its points (noise
// floors, intervals, changes), and small ones.

const TREND_CHART = 'trend-chart';

// The width of a date and some space.
const DATE_PIXELS = 90;
const HOUR_MS = 3600e3;
const MINUTE_MS = 60e3;

const LABEL_LINE = 15;

const SPARK_WIDTH = 240;
const SPARK_HEIGHT = 56;
const SPARK_MARGIN = 4;

const CHANGE_COLORS = {worse: '--invalid', better: '--ok', changed: '--warn'};

const POINT_KINDS = [
  {label: 'result', color: '--series-1', isOfKind: point => !point.accepted},
  {label: 'accepted', color: '--series-3', isOfKind: point => point.accepted, radius: 5},
];

// ---- Axes and points ----

function dateTicks({min, max, maxWidth}) {
  // Labels say minutes.
  const perLabel = Math.max(MINUTE_MS, (max - min) * DATE_PIXELS / maxWidth);
  const unit = perLabel > DAY_MS / 2 ? DAY_MS : HOUR_MS;
  const step = unit * stepAbove(perLabel / unit);
  const ticks = [];
  for (let value = Math.ceil(min / step) * step; value <= max; value += step) ticks.push({value});
  return ticks;
}

function dateAxis(points, start) {
  const first = Math.max(points[0].started, start);
  const last = points.at(-1).started;
  const margin = Math.max(0.02 * (last - first), MINUTE_MS);
  return {
    min: first - margin,
    max: last + margin,
    zoom: 'trend',
    afterBuildTicks: axis => { axis.ticks = dateTicks(axis); },
    ticks: {callback: value => value % DAY_MS === 0 ? formatDay(value) : formatTimestamp(value).slice(5, 16)},
    column: {title: 'started', valueOf: point => new Date(point.x).toISOString()},
  };
}

// Room for the noise floors, and above for labels. Noise alone does not fill the
// chart: it shows at least 10 % around the points.
function valueAxis(points, {segments, changes, series}) {
  const floors = segments.flatMap(segment => [segment.noise_low, segment.noise_high]);
  const values = [...points.map(({value}) => value), ...floors];
  const [least, greatest] = [leastOf(values), greatestOf(values)];
  const margin = Math.max(0.1 * (greatest - least), 0.05 * Math.abs(greatest));
  return {
    suggestedMin: least >= 0 ? Math.max(0, least - margin) : least - margin,
    suggestedMax: greatest + margin * (changes.length > 0 ? 3 : 1) || 0.01,
    ticks: {callback: value => formatValue(series.unit, value)},
    column: [
      {title: `${series.metric} (${series.unit})`, valueOf: point => point.y},
      ...['low', 'high', 'verdict', 'result'].map(title => ({title, valueOf: point => point[title] ?? ''})),
    ],
  };
}

function trendLines(points) {
  const areDense = points.length > byId(TREND_CHART).parentElement.clientWidth / 2;
  return POINT_KINDS.map(({isOfKind, color, ...kind}) => ({
    radius: areDense ? 1.5 : 2.5,
    ...kind,
    color: cssColor(color),
    isPointsOnly: true,
    points: points.filter(isOfKind).map(point => ({...point, x: point.started, y: point.value})),
  })).filter(line => line.points.length > 0);
}

function describePoint({started, value, low, high, verdict, traffic_changed: hasOtherTraffic}, unit) {
  const interval = low === null || high === null ? '' : ` (${formatValue(unit, low)} – ${formatValue(unit, high)})`;
  return `${formatValue(unit, value)}${interval}, ${formatTimestamp(started)}, ${verdict}` +
      (hasOtherTraffic ? `, ${TRAFFIC_CHANGED}` : '');
}

// ---- Around the points ----

// Noise floors with their means, and the intervals of points.
function drawNoise(context, {scales: {x, y}}, {points, segments}) {
  context.fillStyle = context.strokeStyle = cssColor('--series-1');
  for (const {first, last, mean, noise_low: low, noise_high: high} of segments) {
    const [left, right] = [first, last].map(i => x.getPixelForValue(points[i].started));
    context.globalAlpha = 0.16;
    context.fillRect(left, y.getPixelForValue(high), right - left, y.getPixelForValue(low) - y.getPixelForValue(high));
    context.globalAlpha = 0.7;
    context.fillRect(left, y.getPixelForValue(mean) - 0.5, right - left, 1);
  }
  context.globalAlpha = 0.6;
  context.beginPath();
  for (const {started, low, high} of points) {
    if (low === null || high === null) continue;
    context.moveTo(x.getPixelForValue(started), y.getPixelForValue(low));
    context.lineTo(x.getPixelForValue(started), y.getPixelForValue(high));
  }
  context.stroke();
}

// Dotted lines where other traffic begins.
function drawTrafficChanges(context, {chartArea: {top, bottom}, scales: {x}}, {points}) {
  context.globalAlpha = 1;
  context.strokeStyle = cssColor('--ink-soft');
  context.lineWidth = 1;
  context.setLineDash([2, 4]);
  context.beginPath();
  for (const {started} of points.filter(point => point.traffic_changed)) {
    context.moveTo(x.getPixelForValue(started), top);
    context.lineTo(x.getPixelForValue(started), bottom);
  }
  context.stroke();
  context.setLineDash([]);
}

// What a label says where there is so much room; its number always.
function labelOf(context, change, number, room) {
  const fits = line => context.measureText(line).width + 12 <= room;
  const title = `${number}: ${sizeOf(change)}`;
  if (!fits(title)) return [String(number)];
  return [title, ...[formatDay(change.started), ...describeFacts(change).slice(0, 2)].filter(fits)];
}

function drawChanges(context, {chartArea: {left, right, top, bottom}, scales}, {changes, series}) {
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.lineWidth = 5;
  const shown = changes.map((change, i) => ({change, number: i + 1, at: scales.x.getPixelForValue(change.started)}))
      .filter(({at}) => at >= left && at <= right);
  shown.forEach(({change, number, at}, i) => {
    context.fillStyle = cssColor(CHANGE_COLORS[kindOfChange(change, series)]);
    context.fillRect(at - 0.75, top, 1.5, bottom - top);
    // The last label may be on the left of its line, beside the label before.
    const [before, after] = [at - (shown[i - 1]?.at ?? left) - 60, (shown[i + 1]?.at ?? right) - at];
    const isLeft = i + 1 === shown.length && after < before;
    context.textAlign = isLeft ? 'right' : 'left';
    context.strokeStyle = cssColor('--surface');
    context.fillStyle = cssColor('--ink');
    labelOf(context, change, number, isLeft ? before : after).forEach((line, j) => {
      const place = [at + (isLeft ? -6 : 6), top + LABEL_LINE * (j + 1)];
      context.strokeText(line, ...place);
      context.fillText(line, ...place);
    });
  });
}

function drawBehindPoints(context, chart, trend) {
  drawNoise(context, chart, trend);
  drawTrafficChanges(context, chart, trend);
}

// points: those of the trend that are shown; at least one.
function drawTrend(trend, points, start) {
  const lines = trendLines(points);
  const withinArea = draw => chart => {
    Chart.helpers.clipArea(chart.ctx, chart.chartArea);
    draw(chart.ctx, chart, trend);
    Chart.helpers.unclipArea(chart.ctx);
  };
  drawLines(TREND_CHART, lines, dateAxis(points, start), valueAxis(points, trend),
      point => describePoint(point, trend.series.unit),
      [{id: 'marks', beforeDatasetsDraw: withinArea(drawBehindPoints), afterDatasetsDraw: withinArea(drawChanges)}]);
  legend('trend-legend', lines);
}

// A click on a point opens its result; a click at the end of a drag does not.
let pressedAt = 0;
byId(TREND_CHART).addEventListener('pointerdown', event => { pressedAt = event.offsetX; });
byId(TREND_CHART).addEventListener('click', event => {
  if (Math.abs(event.offsetX - pressedAt) >= MIN_DRAG_PIXELS) return;
  const chart = charts.get(TREND_CHART);
  const [hit] = chart.getElementsAtEventForMode(event, 'nearest', {intersect: true}, false);
  if (hit !== undefined) location.assign(reportOf(chart.data.datasets[hit.datasetIndex].data[hit.index].result));
});

// ---- Small charts ----

function svgNode(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Maps [from, to] to [0, size]; the middle if all values are equal.
function scaleTo(from, to, size) {
  return value => to === from ? size / 2 : size * (value - from) / (to - from);
}

// Points, noise floors, changes and where other traffic begins, from this time on.
function sparkline(trend, start) {
  const {points, segments, changes, series} = trend;
  const shown = pointsSince(trend, start);
  const values = shown.map(({value}) => value);
  const x = scaleTo(shown[0]?.started, shown.at(-1)?.started, SPARK_WIDTH);
  const up = scaleTo(leastOf(values), greatestOf(values), SPARK_HEIGHT - 2 * SPARK_MARGIN);
  const y = value => SPARK_HEIGHT - SPARK_MARGIN - up(value);
  const shownSegments = segments.filter(({last}) => points[last].started >= start);
  const bands = shownSegments.map(({first, last, noise_low: low, noise_high: high}) => ({
    x: x(points[first].started), end: x(points[last].started), y: y(high), height: Math.max(1, y(low) - y(high)),
  }));
  const lines = changes.filter(({started}) => started >= start)
      .map(change => ({at: x(change.started), kind: kindOfChange(change, series)}));
  const others = shown.filter(point => point.traffic_changed).map(({started}) => x(started));
  const curve = shown.map(({started, value}) => `${x(started)},${y(value)}`).join(' ');
  return svgNode('svg', {
    viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true',
  },
  ...bands.map(({end, ...band}) => svgNode('rect', {class: 'band', width: Math.max(1, end - band.x), ...band})),
  ...others.map(at => svgNode('line', {class: 'other-traffic', x1: at, x2: at, y1: 0, y2: SPARK_HEIGHT})),
  svgNode('polyline', {class: 'curve', points: curve}),
  ...lines.map(({at, kind}) => svgNode('line', {class: `change ${kind}`, x1: at, x2: at, y1: 0, y2: SPARK_HEIGHT})));
}
