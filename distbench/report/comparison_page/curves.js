// Curves of base and new over each other: single runs, and the geometric mean of
// their quantiles, which is what the tables compare.

const CURVE_POINTS_PER_HALVING = 24;

// The runs of a side that have latencies of the RPC.
function measuredRuns(side, {test, rpc}, latencyName) {
  return runsOf(side, test)
      .map(run => ({run, rpc: run.rpcs.find(({name}) => name === rpc.name)}))
      .filter(({rpc: measured}) => measured !== undefined && measured[latencyName] !== null)
      .map(curve => ({...curve, latency: curve.rpc[latencyName]}));
}

// The latencies of a run at ascending shares, undefined among failures.
function quantiles({count, distribution}, shares) {
  let next = 0;
  return shares.map(share => {
    while (next < distribution.length && distribution[next][1] < share * count) ++next;
    return distribution[next]?.[0];
  });
}

// The shares at which all of the runs have an RPC above.
function sharesFor(curves) {
  const halvings = Math.log2(Math.min(...curves.map(({latency}) => latency.count)));
  const steps = Math.max(1, Math.floor(halvings * CURVE_POINTS_PER_HALVING));
  return Array.from({length: steps}, (_, i) => 1 - 2 ** (-(i + 1) / CURVE_POINTS_PER_HALVING));
}

// Points {share, ns} up to the first share that falls among a run's failures.
function meanCurve(curves) {
  const shares = sharesFor(curves);
  const byRun = curves.map(({latency}) => quantiles(latency, shares));
  const points = [];
  for (const [i, share] of shares.entries()) {
    const latencies = byRun.map(values => values[i]);
    if (latencies.includes(undefined)) break;
    const logs = latencies.map(ns => Math.log(atLeastOne(ns)));
    points.push({share, ns: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length)});
  }
  return points;
}

// The lines of both sides, the means first: they are drawn over the others.
function latencyLines(sides) {
  const means = sides.map(({side, curves}) => ({
    label: curves.length > 1 ? `${side.name}, mean` : side.name,
    curve: side.name,
    color: cssColor(side.color),
    isDashed: side.isDashed,
    isBold: true,
    points: meanCurve(curves),
  }));
  const single = sides.filter(({curves}) => curves.length > 1).flatMap(({side, curves}) => curves.map((one, i) => ({
    label: `${side.name} #${i + 1}`,
    curve: side.name,
    color: cssColor(side.runColor),
    isThin: true,
    points: meanCurve([one]),
  })));
  return [...means, ...single];
}

function drawPercentileLines(lines) {
  const drawn = lines.map(line => ({
    ...line, points: line.points.map(({share, ns}) => ({x: 1 / (1 - share), y: ns, share})),
  }));
  const largest = drawn.flatMap(({points}) => points).reduce((max, {x}) => Math.max(max, x), 10);
  const ticks = [1];
  for (let x = 10; x <= largest * 1.0001; x *= 10) ticks.push(x);
  drawLines('percentiles-chart', drawn, {
    type: 'logarithmic',
    min: 1,
    max: largest,
    title: {text: 'percentile'},
    afterBuildTicks: axis => { axis.ticks = ticks.map(value => ({value})); },
    ticks: {autoSkip: false, callback: value => `${Number((100 - 100 / value).toFixed(6))}%`},
  }, latencyAxis(drawn, 'y'), point => `${describePercentile(point.share)} = ${formatTime(point.y)}`);
}

function drawShareLines(lines) {
  const drawn = lines.map(line => ({...line, points: line.points.map(({share, ns}) => ({x: ns, y: 100 * share}))}));
  drawLines('shares-chart', drawn, latencyAxis(drawn, 'x'), {
    min: 0,
    max: 100,
    ticks: {callback: value => `${value}%`},
    title: {text: 'of the RPCs'},
  }, point => `${Number(point.y.toPrecision(6))} % within ${formatTime(point.x)}`);
}

const TIME_AXIS = {title: {text: 'seconds since the start'}};

// Points {time, row} of the intervals of an RPC; row is null in gaps.
function timesOf({run, rpc}) {
  const rows = rowsOf(run.seconds);
  const origin = run.run.start_timestamp_ns ?? Math.min(...rows.map(row => row.start_timestamp_ns));
  const points = [];
  for (const row of rows.filter(({rpc: name}) => name === rpc.name)) {
    const time = (row.start_timestamp_ns - origin) / 1e9;
    const gapStart = points.length === 0 ? time : points.at(-1).time + row.duration_s;
    if (time - gapStart > 0.5 * row.duration_s) points.push({time: gapStart, row: null});
    if (time - gapStart > 1.5 * row.duration_s) points.push({time: time - row.duration_s, row: null});
    points.push({time, row});
  }
  return points;
}

// A line for each run.
function linesOverTime(sides, valueOf) {
  return sides.flatMap(({side, curves}) => curves.map(({times}, i) => ({
    label: curves.length > 1 ? `${side.name} #${i + 1}` : side.name,
    curve: side.name,
    color: cssColor(side.color),
    isDashed: side.isDashed,
    isThin: curves.length > 2,
    points: times.map(({time, row}) => ({x: time, y: valueOf(row)})),
  })));
}

function drawPercentileOverTime(sides, percentile, column) {
  const lines = linesOverTime(sides, row => {
    const ns = row === null ? null : row[column];
    return typeof ns === 'number' ? atLeastOne(ns) : NaN;
  });
  drawLines(`${percentile}-chart`, lines, TIME_AXIS, latencyAxis(lines, 'y'),
      point => `${formatTime(point.y)} at ${point.x.toFixed(1)} s`);
}

function drawOverTime(sides, latencyName) {
  const withTimes = sides.map(({side, curves}) => ({
    side, curves: curves.map(curve => ({...curve, times: timesOf(curve)})).filter(({times}) => times.length > 0),
  }));
  const rows = withTimes.flatMap(({curves}) => curves.flatMap(({times}) => times.map(({row}) => row)));
  showSection('over-time', rows.length > 0);
  if (rows.length === 0) return;
  byId('over-time-note').textContent = 'Over time, each run is a line. Warm-up is included. A point stands for ' +
      `${Math.max(...rows.map(row => row?.duration_s ?? 0))} s; the first and the last one may be shorter.`;
  drawLines('load-chart', linesOverTime(withTimes, row => row === null ? 0 : row.succeeded / row.duration_s),
      TIME_AXIS, {beginAtZero: true, ticks: {callback: value => formatRate(value)}},
      point => `${formatRate(point.y)} per second at ${point.x.toFixed(1)} s`);
  for (const percentile of ['p50', 'p99']) {
    drawPercentileOverTime(withTimes, percentile, `${LATENCIES[latencyName].columns}_${percentile}_ns`);
  }
}

// All compared RPCs, the worst first.
const comparedRpcs = comparison.tests
    .flatMap(test => test.rpcs.map(rpc => ({test, rpc})))
    .sort((a, b) => SEVERITY.indexOf(worstOf(a.rpc)) - SEVERITY.indexOf(worstOf(b.rpc)));

let selectedRpc = 0;

function renderCurvesControls() {
  const manyTests = comparison.tests.length > 1;
  const options = comparedRpcs.map(({test, rpc}, i) =>
      [String(i), `${manyTests ? `${test.name} · ` : ''}${rpc.name}: ${worstOf(rpc)}`]);
  replaceContent('curves-controls', ...(options.length < 2 ? [] : [
    selectBox('RPC', options, String(selectedRpc), value => {
      selectedRpc = Number(value);
      renderCurves();
    }),
  ]));
}

function renderCurves() {
  const selected = comparedRpcs[selectedRpc];
  showSection('curves', selected !== undefined);
  if (selected === undefined) return;
  const latencyName = selected.rpc.latency.replace(' ', '_');
  const sides = SIDES.map(side => ({side, curves: measuredRuns(side, selected, latencyName)}))
      .filter(({curves}) => curves.length > 0);
  legend('curves-legend', sides.map(({side, curves}) => ({
    label: `${side.name}${side.isDashed ? ', dashed' : ''} (${countRuns(curves.length)})`,
    curve: side.name,
    color: cssColor(side.color),
  })));
  byId('curves-note').textContent = `${selected.rpc.name}, ${selected.rpc.latency}.` +
      (sides.some(({curves}) => curves.length > 1)
        ? ' Bold lines are geometric means over the runs, pale ones are single runs.' : '');
  const lines = latencyLines(sides);
  drawPercentileLines(lines);
  drawShareLines(lines);
  drawOverTime(sides, latencyName);
}
