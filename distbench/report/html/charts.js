// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Line charts, drawn by Chart.js, and their legends.

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesColor(index) {
  return cssColor(`--series-${index % MAX_CURVES + 1}`);
}

const charts = new Map();

// Functions (id, chart, {lines, x, y}) that are called with each chart drawn.
const chartExtensions = [];

// The curves that the user has hidden, by name, in all charts.
const hiddenCurves = new Set();

function nameOfCurve({curve, label}) {
  return curve ?? label;
}

function toggleCurve(curve) {
  if (!hiddenCurves.delete(curve)) hiddenCurves.add(curve);
  for (const chart of charts.values()) {
    for (const dataset of chart.data.datasets) dataset.hidden = hiddenCurves.has(dataset.curve);
    chart.update('none');
  }
  for (const button of document.querySelectorAll('.legend button')) {
    button.setAttribute('aria-pressed', String(!hiddenCurves.has(button.curve)));
  }
}

// entries: [{label, color}], and curve if lines name it otherwise than by their
// label. An entry hides and shows its lines.
function legend(id, entries) {
  replaceContent(id, ...entries.map(entry => {
    const swatch = element('i', {className: 'swatch'});
    swatch.style.background = entry.color;
    const curve = nameOfCurve(entry);
    const button = element('button', {type: 'button', curve, title: 'Hide or show'}, swatch, entry.label);
    button.setAttribute('aria-pressed', String(!hiddenCurves.has(curve)));
    button.addEventListener('click', () => toggleCurve(curve));
    return button;
  }));
}

function makeDataset(line) {
  return {
    label: line.label,
    curve: nameOfCurve(line),
    hidden: hiddenCurves.has(nameOfCurve(line)),
    data: line.points,
    borderColor: line.color,
    backgroundColor: line.isHollow ? 'transparent' : line.color,
    showLine: !line.isPointsOnly,
    borderDash: line.isDashed ? [5, 4] : [],
    borderWidth: line.isBold ? 3 : line.isThin ? 1 : 2,
    // Without marks, a line with a single point would be invisible.
    pointRadius: line.radius ??
        (line.isPointsOnly || line.hasPoints || line.points.length === 1 ? 3 : 0),
    pointHitRadius: 8,
  };
}

// More tooltips than this at one place would hide the chart.
const MAX_TOOLTIPS = 16;

// lines: [{label, points: [{x, y}], color, isDashed}]. Optional: hasPoints
// marks the points of a line; isPointsOnly omits the line, with radius and
// isHollow for other marks; isThin and isBold change its width; curve is its name
// in the legend, if not its label. x and y are options of the axes, of which x may
// have `zoom`, the name of charts that are zoomed together, and both `column`:
// {title, valueOf(point)}, or a list of these, in downloaded data. describe(point)
// returns the text of a tooltip. plugins: Chart.js's, which draw more.
function drawLines(id, lines, x, y, describe, plugins = []) {
  charts.get(id)?.destroy();
  const ink = cssColor('--ink-soft');
  const grid = cssColor('--line');
  const axis = ({zoom, column, ...options}) => ({
    ...options,
    grid: {color: grid, borderColor: grid},
    ticks: {color: ink, maxRotation: 0, autoSkipPadding: 12, ...options.ticks},
    title: {display: true, color: ink, ...options.title},
  });
  const chart = new Chart(byId(id), {
    type: 'line',
    data: {datasets: lines.map(makeDataset)},
    plugins,
    options: {
      animation: false,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: {mode: 'nearest', axis: lines.length > MAX_TOOLTIPS ? 'xy' : 'x', intersect: false},
      scales: {x: axis({type: 'linear', ...x}), y: axis({type: 'linear', ...y})},
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {
          title: () => '',
          label: context => `${context.dataset.label}: ${describe(context.raw)}`,
        }},
      },
    },
  });
  charts.set(id, chart);
  chartExtensions.forEach(extend => extend(id, chart, {lines, x, y}));
}

// Marks a part of the x axis.
function shadePlugin(shade) {
  return {id: 'shade', beforeDatasetsDraw: chart => fillShade(chart, shade)};
}

function fillShade({ctx: context, chartArea, scales}, {from, to}) {
  const within = x => Math.min(chartArea.right, Math.max(chartArea.left, scales.x.getPixelForValue(x)));
  context.save();
  context.globalAlpha = 0.12;
  context.fillStyle = cssColor('--warn');
  context.fillRect(within(from), chartArea.top, within(to) - within(from), chartArea.bottom - chartArea.top);
  context.restore();
}

// The largest of 1, 2 and 5 times a power of ten that is at most value.
function stepBelow(value) {
  const decade = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return decade * [5, 2, 1].find(digit => digit * decade <= value * (1 + 1e-9));
}

function stepAbove(value) {
  const step = stepBelow(value);
  if (step >= value * (1 - 1e-9)) return step;
  const leading = Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9));
  return step * (leading === 2 ? 2.5 : 2);
}

// Ticks at 1, 2 and 5 of each decade, at 1, or at some of these: the more
// decades, the fewer ticks.
function latencyTicks(min, max) {
  const decades = Math.log10(max / min);
  const ticks = [];
  for (let step = min; step <= max * (1 + 1e-9); step = stepAbove(step * 1.5)) ticks.push(step);
  if (decades <= 3) return ticks;
  const stride = Math.ceil(decades / 8);
  return ticks.filter(step => {
    const exponent = Math.log10(step);
    return Math.abs(exponent - Math.round(exponent)) < 1e-6 && Math.round(exponent) % stride === 0;
  });
}

// The width of a tick's label, and some space.
const TICK_PIXELS = 46;

// The ticks without those whose labels would cover the one before.
function readableTicks({min, max, maxWidth}, ticks) {
  let end = -Infinity;
  return ticks.filter(tick => {
    const x = maxWidth * Math.log(tick / min) / Math.log(max / min);
    if (x < end) return false;
    end = x + TICK_PIXELS;
    return true;
  });
}

// The ticks of a logarithmic axis that are visible; where it is zoomed in so far
// that it has none, some between its ends.
function visibleTicks(axis, ticks) {
  const {min, max} = axis;
  const visible = ticks.filter(tick => tick >= min * (1 - 1e-9) && tick <= max * (1 + 1e-9));
  const between = [0, 0.25, 0.5, 0.75, 1].map(share => min * (max / min) ** share);
  const shown = visible.length >= 2 ? visible : between;
  return (axis.isHorizontal() ? readableTicks(axis, shown) : shown).map(value => ({value}));
}

// [least, greatest] of a coordinate; infinite if there are no points.
function rangeOf(lines, coordinate) {
  let min = Infinity;
  let max = -Infinity;
  for (const line of lines) {
    for (const {[coordinate]: value} of line.points) {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return [min, max];
}

// A logarithmic axis that fits the latencies.
function latencyAxis(lines, coordinate) {
  const [least, greatest] = rangeOf(lines, coordinate);
  if (greatest === -Infinity) return {type: 'logarithmic'};
  const min = stepBelow(least);
  const max = Math.max(stepAbove(greatest), stepAbove(min * 1.5));
  return {
    type: 'logarithmic',
    min,
    max,
    afterBuildTicks: axis => { axis.ticks = visibleTicks(axis, latencyTicks(min, max)); },
    ticks: {autoSkip: false, callback: value => formatTime(value)},
  };
}

// A logarithmic axis cannot show zero.
function atLeastOne(ns) {
  return Math.max(1, ns);
}

function describePercentile(share) {
  return `p${Number((100 * share).toPrecision(8))}`;
}
