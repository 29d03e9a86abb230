// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Sweeps of test_builder: tests that differ in parameters, which their attributes
// have, as curves over load or over one of the parameters.

const sweepView = {sweep: 0, rpc: null, axis: null};

// Attributes that are not parameters, or follow from them.
const OTHER_ATTRIBUTES = new Set([
  'config_label', 'ip_version_string', 'protocol_alias', 'swept_parameter', 'test_name', 'test_timeout',
  'traffic_alias', 'until_decided',
]);

// Not a parameter of test_builder: the file of a run, where there are several.
const RESULT = 'result';

// The axis that is no parameter.
const LOAD = 'load';

const MIN_LOGARITHMIC_RATIO = 50;

function parameterOf(run, name) {
  if (name === RESULT) return baseName(run.source);
  return Object.hasOwn(run.attributes, name) ? run.attributes[name] : '';
}

function distinctValues(entries, name) {
  return [...new Set(entries.map(run => parameterOf(run, name)))];
}

function isNumeric(entries, name) {
  return distinctValues(entries, name).every(value => value.trim() !== '' && Number.isFinite(Number(value)));
}

// The tests of one traffic pattern that completed, and the parameters in which
// they differ.
function makeSweep(pattern, entries) {
  const usable = entries.filter(run => run.verdict !== 'failed' && run.verdict !== 'invalid');
  const names = new Set([RESULT, ...usable.flatMap(run => Object.keys(run.attributes))]);
  const parameters = [...names].filter(
      name => !OTHER_ATTRIBUTES.has(name) && distinctValues(usable, name).length > 1);
  const swept = new Set(usable.flatMap(run => parameterOf(run, 'swept_parameter').split(',')));
  // First those that the user named.
  parameters.sort((a, b) => swept.has(b) - swept.has(a));
  return {
    pattern, parameters, runs: usable, leftOut: entries.length - usable.length,
    numeric: parameters.filter(name => name !== RESULT && isNumeric(usable, name)),
  };
}

const sweeps = groupBy(runs.filter(run => Object.hasOwn(run.attributes, 'traffic_pattern')),
    run => `${run.attributes.traffic_pattern}${run.simulated ? ' (simulated)' : ''}`)
    .map(([pattern, entries]) => makeSweep(pattern, entries)).filter(({numeric}) => numeric.length > 0);

// What was asked of an RPC; in closed loops, what it did.
function loadOf(rpc) {
  return rpc.offered_per_second ?? rpc.per_second;
}

// The numeric parameter that changes the load most, the others being equal.
function loadParameter({runs: entries, parameters, numeric}, rpcOf) {
  const effect = name => sumOf(groupBy(entries, run => JSON.stringify(
      parameters.filter(other => other !== name).map(other => parameterOf(run, other)))).map(([, alike]) => {
    const loads = alike.map(run => loadOf(rpcOf(run))).filter(load => load > 0);
    return loads.length === 0 ? 0 : Math.log(Math.max(...loads) / Math.min(...loads));
  }));
  return numeric.reduce((best, name) => effect(name) > effect(best) ? name : best);
}

function followsFrom(entries, names, other) {
  return groupBy(entries, run => JSON.stringify(names.map(name => parameterOf(run, name))))
      .every(([, alike]) => distinctValues(alike, other).length === 1);
}

// The parameters that tell curves over `name` apart: others that are not the same
// wherever it is.
function splittingParameters({runs: entries, parameters}, name) {
  const byValue = groupBy(entries, run => parameterOf(run, name));
  const splitting = parameters.filter(other => other !== name &&
      byValue.some(([, alike]) => distinctValues(alike, other).length > 1));
  // What follows from those before, as the settings of a driver from the driver, tells nothing more.
  return splitting.reduce((kept, other) => followsFrom(entries, kept, other) ? kept : [...kept, other], []);
}

function percentileValueOf(rpc, percent) {
  const {latency} = latencyOf(rpc, 'response_time');
  return latency?.percentiles.find(entry => entry.percentile === percent)?.value_ns ?? NaN;
}

// A point of a curve: the medians of its repeats. Percentiles among failures are
// infinite; what a repeat lacks is NaN.
function makePoint(repeats, xOf, rpcOf) {
  const median = valueOf => {
    const values = repeats.map(run => valueOf(rpcOf(run), run));
    return values.some(Number.isNaN) ? NaN : medianOf(values);
  };
  return {
    repeats,
    x: median((rpc, run) => xOf(run)),
    offered: median(rpc => rpc.offered_per_second ?? NaN),
    succeeded: median(rpc => rpc.per_second),
    failed: sumOf(repeats.map(run => rpcOf(run).failed_count)),
    p50: median(rpc => percentileValueOf(rpc, 50)),
    p99: median(rpc => percentileValueOf(rpc, 99)),
  };
}

// [{label, points}], ascending.
function curvesOfSweep(sweep, axis, rpcOf) {
  const parameter = axis === LOAD ? loadParameter(sweep, rpcOf) : axis;
  const xOf = axis === LOAD ? run => loadOf(rpcOf(run)) : run => Number(parameterOf(run, axis));
  const splitting = splittingParameters(sweep, parameter);
  const labelOf = run => splitting.map(name => `${name} ${parameterOf(run, name)}`).join(', ') || sweep.pattern;
  return groupBy(sweep.runs, labelOf).map(([label, entries]) => ({
    label,
    points: groupBy(entries, run => parameterOf(run, parameter))
        .map(([, repeats]) => makePoint(repeats, xOf, rpcOf)).sort((a, b) => a.x - b.x),
  })).sort((a, b) => compareNames(a.label, b.label));
}

// Values over orders of magnitude, such as 1 to 10 000 servers, have a logarithmic
// axis with its powers of ten.
function sweepAxis(curves, xTitle) {
  const axis = {title: {text: xTitle}, zoom: 'sweep', ticks: {callback: value => formatRate(value)}};
  const [least, greatest] = rangeOf(curves, 'x');
  if (!(least > 0 && greatest >= MIN_LOGARITHMIC_RATIO * least)) return axis;
  const exponents = [];
  for (let i = Math.floor(Math.log10(least)); i <= Math.ceil(Math.log10(greatest)); ++i) exponents.push(i);
  return {
    ...axis,
    type: 'logarithmic',
    min: least,
    max: greatest,
    afterBuildTicks: built => { built.ticks = visibleTicks(built, exponents.map(i => 10 ** i)); },
    ticks: {...axis.ticks, autoSkip: false},
  };
}

function drawSweepCharts(curves, xTitle) {
  const line = ({label, points, color}, column, suffix, isDashed) => ({
    label: `${label}${suffix}`, curve: label, color, isDashed, hasPoints: true,
    points: points.map(point => ({x: point.x, y: Number.isFinite(point[column]) ? point[column] : NaN})),
  });
  const x = sweepAxis(curves, xTitle);
  const latencies = curves.flatMap(curve => [line(curve, 'p99', ', p99', false), line(curve, 'p50', ', p50', true)]);
  drawLines('sweep-latency-chart', latencies, x, {...latencyAxis(latencies, 'y'), column: LATENCY_COLUMN},
      point => `${formatTime(point.y)} at ${formatRate(point.x)}`);
  const rates = curves.flatMap(curve => [
    line(curve, 'succeeded', '', false), line(curve, 'offered', ', offered', true),
  ]).filter(({points}) => points.some(({y}) => !Number.isNaN(y)));
  drawLines('sweep-rate-chart', rates, x, {beginAtZero: true, ticks: {callback: value => formatRate(value)}},
      point => `${formatRate(point.y)} per second at ${formatRate(point.x)}`);
  legend('sweep-legend', curves);
}

function renderSweepTable(curves, xTitle) {
  const columns = [
    {title: 'Curve', isWrapped: true}, {title: xTitle, isNumber: true}, {title: 'Runs', isNumber: true},
    {title: 'Offered per second', isNumber: true}, {title: 'Succeeded per second', isNumber: true},
    {title: 'Failed', isNumber: true}, {title: 'p50', isNumber: true}, {title: 'p99', isNumber: true},
  ];
  const time = ns => Number.isNaN(ns) ? '–' : formatTime(ns);
  replaceContent('sweep-table', makeTable(columns, curves.flatMap(({label, points}) => points.map(point => [
    label, formatRate(point.x), formatCount(point.repeats.length),
    Number.isNaN(point.offered) ? '–' : formatRate(point.offered), formatRate(point.succeeded),
    formatCount(point.failed), time(point.p50), time(point.p99),
  ])), 'sweep'));
}

function sweepNote({leftOut}, curves, drawn, isMixed) {
  const failed = curves.flatMap(({points}) => points).filter(({p99}) => p99 === Infinity).length;
  return [
    `Latency is ${isMixed ? 'service time where there is no response time' : 'response time'}; ` +
        'repeats are shown as their median.',
    drawn.length === curves.length ? '' : `${drawn.length} of ${curves.length} curves are drawn, the first.`,
    failed === 0 ? '' : `${failed} points are not drawn, because their p99 falls among failures.`,
    leftOut === 0 ? '' : `${leftOut} runs are left out, because they failed or are invalid.`,
  ].filter(text => text !== '').join(' ');
}

function drawSweep() {
  const sweep = sweeps[sweepView.sweep];
  const rpcOf = run => run.rpcs.find(rpc => rpc.name === sweepView.rpc);
  const withRpc = {...sweep, runs: sweep.runs.filter(run => rpcOf(run) !== undefined)};
  const isOpenLoop = withRpc.runs.some(run => rpcOf(run).offered_per_second !== null);
  const xTitle = sweepView.axis !== LOAD ? sweepView.axis
      : isOpenLoop ? 'offered RPCs per second' : 'RPCs per second';
  const curves = curvesOfSweep(withRpc, sweepView.axis, rpcOf);
  const drawn = curves.slice(0, MAX_CURVES).map((curve, i) => ({...curve, color: seriesColor(i)}));
  const isMixed = withRpc.runs.some(run => latencyOf(rpcOf(run), 'response_time').mark !== '');
  byId('sweep-note').textContent = sweepNote(sweep, curves, drawn, isMixed);
  drawSweepCharts(drawn, xTitle);
  renderSweepTable(curves, xTitle);
}

// An RPC that is offered, if there is one, over the load if it differs.
function chooseSweep(index) {
  const {runs: entries, numeric} = sweeps[index];
  const rpcs = entries.flatMap(run => run.rpcs);
  const {name} = rpcs.find(rpc => rpc.offered_load !== null) ?? rpcs[0];
  const loads = rpcs.filter(rpc => rpc.name === name).map(rpc => rpc.offered_per_second ?? 0);
  const isLoadSwept = Math.max(...loads) > 1.05 * Math.min(...loads);
  Object.assign(sweepView, {sweep: index, rpc: name, axis: isLoadSwept ? LOAD : numeric[0]});
}

function renderSweepControls() {
  const {runs: entries, numeric} = sweeps[sweepView.sweep];
  const names = [...new Set(entries.flatMap(run => run.rpcs.map(rpc => rpc.name)))];
  const choose = key => value => {
    sweepView[key] = value;
    drawSweep();
  };
  replaceContent('sweep-controls', ...[
    sweeps.length === 1 ? null : selectBox('Pattern', sweeps.map(({pattern}, i) => [String(i), pattern]),
        String(sweepView.sweep), value => {
          chooseSweep(Number(value));
          renderSweep();
        }),
    names.length === 1 ? null : selectBox('RPC', names.map(name => [name, name]), sweepView.rpc, choose('rpc')),
    selectBox('Over', [[LOAD, 'load'], ...numeric.map(name => [name, name])], sweepView.axis, choose('axis')),
  ].filter(box => box !== null));
}

function renderSweep() {
  showSection('sweep', sweeps.length > 0);
  if (sweeps.length === 0) return;
  if (sweepView.rpc === null) chooseSweep(0);
  renderSweepControls();
  drawSweep();
}
