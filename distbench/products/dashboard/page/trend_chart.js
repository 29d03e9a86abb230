// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The chart of a trend.

const TREND_CHART = 'trend-chart';

const DATE_STEPS = [
  60e3, 300e3, 900e3, 3600e3, 4 * 3600e3, 12 * 3600e3,
  ...[1, 2, 7, 14, 30, 91, 182, 365, 730, 3650].map(days => days * DAY_MS),
];
const MAX_DATES = 8;

function dateTicks(min, max) {
  const step = DATE_STEPS.find(candidate => (max - min) / candidate <= MAX_DATES) ?? DATE_STEPS.at(-1);
  const ticks = [];
  for (let value = Math.ceil(min / step) * step; value <= max; value += step) ticks.push({value});
  return ticks;
}

function dateAxis(points, start) {
  const first = Math.max(points[0].started, start);
  const last = points.at(-1).started;
  const margin = Math.max(0.02 * (last - first), 60e3);
  return {
    min: first - margin,
    max: last + margin,
    zoom: 'trend',
    afterBuildTicks: axis => { axis.ticks = dateTicks(axis.min, axis.max); },
    ticks: {
      callback: (value, i, ticks) => {
        const isShort = ticks.length > 1 && ticks[1].value - ticks[0].value < DAY_MS;
        return isShort ? new Date(value).toISOString().slice(5, 16).replace('T', ' ') : formatDay(value);
      },
    },
    column: {title: 'started', valueOf: point => new Date(point.x).toISOString()},
  };
}

// Room for the noise floors, and above for labels. Noise alone does not fill the
// chart: it shows at least 10 % around the points.
function valueAxis(points, {segments, changes, series}) {
  const values = [
    ...points.map(point => point.value),
    ...segments.flatMap(({noise_low: low, noise_high: high}) => [low, high]),
  ];
  const [least, greatest] = [leastOf(values), greatestOf(values)];
  const margin = Math.max(0.1 * (greatest - least), 0.05 * Math.abs(greatest));
  return {
    suggestedMin: least >= 0 ? Math.max(0, least - margin) : least - margin,
    suggestedMax: greatest + margin * (changes.length > 0 ? 3 : 1) || 0.01,
    ticks: {callback: value => formatValue(series.unit, value)},
    column: [
      {title: `${series.metric} (${series.unit})`, valueOf: point => point.y},
      {title: 'low', valueOf: point => point.low ?? ''},
      {title: 'high', valueOf: point => point.high ?? ''},
      {title: 'verdict', valueOf: point => point.verdict},
      {title: 'result', valueOf: point => point.result},
    ],
  };
}

function isJudged({verdict}) {
  return verdict !== 'invalid' && verdict !== 'failed';
}

const POINT_KINDS = [
  {label: 'result', color: '--series-1', isOfKind: point => isJudged(point) && !point.accepted},
  {label: 'accepted', color: '--series-3', isOfKind: point => isJudged(point) && point.accepted, radius: 5},
  {label: 'not judged', color: '--series-8', isOfKind: point => !isJudged(point), radius: 3, isHollow: true},
];

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

function describePoint({started, value, low, high, verdict}, unit) {
  const interval = low === null || high === null ? '' : ` (${formatValue(unit, low)} – ${formatValue(unit, high)})`;
  return `${formatValue(unit, value)}${interval}, ${formatTimestamp(started)}, ${verdict}`;
}

// points: those of the trend that are shown; at least one.
function drawTrend(trend, points, start) {
  const lines = trendLines(points);
  drawLines(TREND_CHART, lines, dateAxis(points, start), valueAxis(points, trend),
      point => describePoint(point, trend.series.unit), [trendMarks(trend)]);
  legend('trend-legend', lines);
}

// A click on a point opens its result; a click at the end of a drag does not.
function followClicks() {
  const canvas = byId(TREND_CHART);
  let pressedAt = 0;
  canvas.addEventListener('pointerdown', event => { pressedAt = event.offsetX; });
  canvas.addEventListener('click', event => {
    if (Math.abs(event.offsetX - pressedAt) >= MIN_DRAG_PIXELS) return;
    const chart = charts.get(TREND_CHART);
    const [hit] = chart.getElementsAtEventForMode(event, 'nearest', {intersect: true}, false);
    if (hit !== undefined) location.assign(reportOf(chart.data.datasets[hit.datasetIndex].data[hit.index].result));
  });
}
