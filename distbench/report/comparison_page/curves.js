// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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

// A line for each run.
function linesOverTime(sides, pointsOf) {
  return sides.flatMap(({side, curves}) => curves.map(({intervals}, i) => ({
    label: curves.length > 1 ? `${side.name} #${i + 1}` : side.name,
    curve: side.name,
    color: cssColor(side.color),
    isDashed: side.isDashed,
    isThin: curves.length > 2,
    points: pointsOf(intervals),
  })));
}

function drawLoad(sides) {
  const lines = linesOverTime(sides, intervals =>
      pointsOver(intervalsWithRate(intervals), ({row, covered}) => row.succeeded / covered, 0));
  drawLines('load-chart', lines, SECONDS_AXIS, {beginAtZero: true, ticks: {callback: value => formatRate(value)}},
      point => `${formatRate(point.y)} per second at ${point.x.toFixed(1)} s`);
}

function drawPercentileOverTime(sides, percentile, column) {
  const lines = linesOverTime(sides, intervals => pointsOver(
      intervals, ({row}) => Number.isFinite(row[column]) ? atLeastOne(row[column]) : NaN, NaN));
  drawLines(`${percentile}-chart`, lines, SECONDS_AXIS, latencyAxis(lines, 'y'),
      point => `${formatTime(point.y)} at ${point.x.toFixed(1)} s`);
}

function drawOverTime(sides, latencyName) {
  const withSeries = sides.map(({side, curves}) => ({
    side,
    curves: curves.map(curve => ({...curve, intervals: intervalsOf(curve)}))
        .filter(({intervals}) => intervals.length > 0),
  }));
  const all = withSeries.flatMap(({curves}) => curves);
  showSection('over-time', all.length > 0);
  if (all.length === 0) return;
  byId('over-time-note').textContent = `Over time, each run is a line. ${overTimeNote(all)}`;
  drawLoad(withSeries);
  for (const percentile of ['p50', 'p99']) {
    drawPercentileOverTime(withSeries, percentile, `${LATENCIES[latencyName].columns}_${percentile}_ns`);
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
