// Line charts over percentiles, latencies and time, drawn by Chart.js.

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesColor(index) {
  return cssColor(`--series-${index % MAX_CURVES + 1}`);
}

const charts = new Map();

// lines: [{label, points: [{x, y}], color, isDashed}]. Optional: hasPoints
// marks the points of a line; isPointsOnly omits the line, with radius and
// isHollow for other marks. x and y are options of the axes; describe(point)
// returns the text of a tooltip. shade: {from, to} marks a part of the x axis.
function drawLines(id, lines, x, y, describe, shade = null) {
  charts.get(id)?.destroy();
  const ink = cssColor('--ink-soft');
  const grid = cssColor('--line');
  const axis = options => ({
    ...options,
    grid: {color: grid, borderColor: grid},
    ticks: {color: ink, maxRotation: 0, autoSkipPadding: 12, ...options.ticks},
    title: {display: true, color: ink, ...options.title},
  });
  charts.set(id, new Chart(byId(id), {
    type: 'line',
    data: {
      datasets: lines.map(line => ({
        label: line.label,
        data: line.points,
        borderColor: line.color,
        backgroundColor: line.isHollow ? 'transparent' : line.color,
        showLine: !line.isPointsOnly,
        borderDash: line.isDashed ? [5, 4] : [],
        borderWidth: line.isDashed ? 1.5 : 2,
        // Without marks, a line with a single point would be invisible.
        pointRadius: line.radius ??
            (line.isPointsOnly || line.hasPoints || line.points.length === 1 ? 3 : 0),
        pointHitRadius: 8,
      })),
    },
    plugins: shade === null ? [] : [{id: 'shade', beforeDatasetsDraw: chart => fillShade(chart, shade)}],
    options: {
      animation: false,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      scales: {x: axis({type: 'linear', ...x}), y: axis({type: 'linear', ...y})},
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {
          title: () => '',
          label: context => `${context.dataset.label}: ${describe(context.raw)}`,
        }},
      },
    },
  }));
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

// A logarithmic axis that fits the latencies.
function latencyAxis(lines, coordinate) {
  let min = Infinity;
  let max = 0;
  for (const line of lines) {
    for (const {[coordinate]: value} of line.points) {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  if (max === 0) return {type: 'logarithmic'};
  min = stepBelow(min);
  max = Math.max(stepAbove(max), stepAbove(min * 1.5));
  return {
    type: 'logarithmic',
    min,
    max,
    afterBuildTicks: axis => { axis.ticks = latencyTicks(min, max).map(value => ({value})); },
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

function drawPercentiles(curves, latencyName) {
  const lines = curves.map(({rpc, label, color}) => {
    const {count, distribution} = rpc[latencyName];
    // The maximum is drawn at the share of the last RPC.
    const points = distribution.map(([ns, below]) => {
      const share = below < count ? below / count : 1 - 1 / count;
      return {x: 1 / (1 - share), y: atLeastOne(ns), share: below / count};
    });
    return {label, color, points};
  });
  const largest = lines.flatMap(line => line.points).reduce((max, point) => Math.max(max, point.x), 10);
  // If there are many decades, there is no room for the median.
  const ticks = largest > 1e5 ? [1] : [1, 2];
  for (let x = 10; x <= largest * 1.0001; x *= 10) ticks.push(x);
  drawLines('percentile-chart', lines, {
    type: 'logarithmic',
    min: 1,
    max: largest,
    title: {text: 'percentile'},
    afterBuildTicks: axis => { axis.ticks = ticks.map(value => ({value})); },
    ticks: {autoSkip: false, callback: value => `${Number((100 - 100 / value).toFixed(6))}%`},
  }, latencyAxis(lines, 'y'), point => `${describePercentile(point.share)} = ${formatTime(point.y)}`);
}

function drawCdf(curves, latencyName) {
  const lines = curves.map(({rpc, label, color}) => {
    const {count, distribution} = rpc[latencyName];
    const points = distribution.map(([ns, below]) => ({x: atLeastOne(ns), y: 100 * below / count}));
    return {label, color, points: [{x: atLeastOne(rpc[latencyName].min_ns), y: 0}, ...points]};
  });
  drawLines('cdf-chart', lines, latencyAxis(lines, 'x'), {
    min: 0,
    max: 100,
    ticks: {callback: value => `${value}%`},
    title: {text: 'of the RPCs'},
  }, point => `${Number(point.y.toPrecision(6))} % within ${formatTime(point.x)}`);
}

// ---- Over time ---------------------------------------------------------------

const SECONDS_AXIS = {title: {text: 'seconds since the start'}};

function originOf(run, rows, column) {
  return run.run.start_timestamp_ns ?? Math.min(...rows.map(row => row[column]));
}

// The intervals of an RPC, with zeros across gaps.
function seriesOf({run, rpc}) {
  const rows = rowsOf(run.seconds).filter(row => row.rpc === rpc.name);
  const origin = originOf(run, rowsOf(run.seconds), 'start_timestamp_ns');
  const points = [];
  let previous = null;
  for (const row of rows) {
    const time = (row.start_timestamp_ns - origin) / 1e9;
    if (previous !== null && time - previous > 1.5 * row.duration_s) {
      points.push({time: previous + row.duration_s, row: null});
      if (time - previous > 2.5 * row.duration_s) points.push({time: time - row.duration_s, row: null});
    }
    points.push({time, row});
    previous = time;
  }
  return points;
}

function drawRates(curves) {
  const lines = [];
  for (const {series, label, color} of curves) {
    const rate = column => series.map(
        ({time, row}) => ({x: time, y: row === null ? 0 : row[column] / row.duration_s}));
    lines.push({label, color, points: rate('succeeded')});
    if (series.some(({row}) => row !== null && row.offered > 0)) {
      lines.push({label: `${label}, offered`, color, points: rate('offered'), isDashed: true});
    }
  }
  byId('rate-caption').textContent = lines.some(line => line.isDashed)
      ? 'RPCs per second: succeeded, and offered (dashed)' : 'RPCs per second, succeeded';
  drawLines('rate-chart', lines, SECONDS_AXIS, {beginAtZero: true, ticks: {callback: value => formatRate(value)}},
      point => `${formatRate(point.y)} per second at ${point.x.toFixed(1)} s`);
}

function drawLatencyOverTime(curves, latencyName) {
  // Lateness has no series.
  const {columns, title} = LATENCIES[latencyName === 'lateness' ? 'service_time' : latencyName];
  byId('latency-over-time-caption').textContent = `p99 and p50 (dashed) of the ${title} over time`;
  const lines = curves.flatMap(({series, label, color}) => ['p99', 'p50'].map(percentile => ({
    label: `${label}, ${percentile}`,
    color,
    isDashed: percentile === 'p50',
    points: series.map(({time, row}) => {
      const ns = row === null ? null : row[`${columns}_${percentile}_ns`];
      return {x: time, y: typeof ns === 'number' ? atLeastOne(ns) : NaN};
    }),
  })));
  drawLines('latency-over-time-chart', lines, SECONDS_AXIS, latencyAxis(lines, 'y'),
      point => `${formatTime(point.y)} at ${point.x.toFixed(1)} s`);
}

// The longest, in seconds.
function intervalOf(curves) {
  return Math.max(...curves.flatMap(({series}) => series.map(({row}) => row === null ? 0 : row.duration_s)));
}

function renderOverTime(curves, latencyName) {
  const withSeries = curves.map(curve => ({...curve, series: seriesOf(curve)}))
      .filter(curve => curve.series.length > 0);
  showSection('over-time', withSeries.length > 0);
  if (withSeries.length === 0) return;
  byId('over-time-note').textContent =
      `Warm-up is included. A point stands for ${intervalOf(withSeries)} s; the first and the last one may be shorter.`;
  drawRates(withSeries);
  drawLatencyOverTime(withSeries, latencyName);
}
