// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Protocol drivers under the same traffic: what each costs. Figures are those of the runs; CPU times are of stacks.

const stacksView = {study: 0};

const STACK_COLUMNS = [
  ['per_second', 'Per second', formatRate], ['p50', 'p50', formatTime], ['p99', 'p99', formatTime],
  ['p999', 'p99.9', formatTime], ['cpu', 'CPU per RPC', formatTime], ['client_cpu', 'Client CPU', formatTime],
  ['server_cpu', 'Server CPU', formatTime], ['network', 'Network', formatShare], ['server_queue', 'Queue', formatShare],
  ['server_handler', 'Handler', formatShare], ['failed', 'Failed', formatShare],
];

// {value, lower, upper}: of a run, a percentile has the bounds of its interval; of several, the median has the range.
// Null unless all runs have it. Infinite values fall among failures.
function overRuns(figures, runCount) {
  if (figures.length < runCount || figures.some(figure => (figure?.value ?? null) === null)) return null;
  if (figures.length === 1) return {lower: null, upper: null, ...figures[0]};
  const values = figures.map(({value}) => value);
  return {value: medianOf(values), lower: leastOf(values), upper: greatestOf(values)};
}

// The figures of an RPC in a run, as STACK_COLUMNS calls them.
function stackFiguresOf(test, rpcName) {
  const rpc = test.rpcs.find(({name}) => name === rpcName);
  if (rpc === undefined) return {};
  const percentile = percent => {
    const found = percentileOf(rpc, percent);
    return found && {value: found.value_ns, lower: found.lower_ns, upper: found.upper_ns};
  };
  const {offered, achieved, lostShare} = figuresOf(rpc);
  const figures = {
    offered, per_second: {value: achieved}, failed: {value: lostShare},
    p50: percentile(50), p99: percentile(99), p999: percentile(99.9),
  };
  const parts = rowsOf(test.time_parts).filter(row => row.rpc === rpcName && row.part !== 'lateness');
  const total = sumOf(parts.map(({count, mean_ns: mean}) => count * mean));
  for (const {part, count, mean_ns: mean} of parts) figures[part] = {value: count * mean / total};
  return figures;
}

function stackRow(row, rpc) {
  const tests = row.tests.map(position => stackFiguresOf(data.tests[position], rpc));
  const cpu = name => row[`${name}_ns`]?.map(value => ({value}));
  const figures = STACK_COLUMNS.map(([name]) => [name,
    overRuns(cpu(name) ?? tests.map(test => test[name]), row.tests.length)]);
  return {stack: row.stack, runs: row.runs, offered: tests[0].offered ?? null, ...Object.fromEntries(figures)};
}

// A study for each RPC that nothing else causes.
const stackStudies = data.stacks.studies.flatMap(({loads}) => {
  const first = data.tests[loads[0].rows[0].tests[0]];
  return entryRpcs(first).map(rpc => ({
    rpc, first, loads: loads.map(load => ({...load, rows: load.rows.map(row => stackRow(row, rpc))})),
  }));
});

function stackFigureCell(figure, format) {
  if (figure === null) return '–';
  const text = value => value === null ? '?' : value === Infinity ? 'failed' : format(value);
  const [value, lower, upper] = [figure.value, figure.lower, figure.upper].map(text);
  if (lower === upper && (lower === value || figure.lower === null)) return value;
  return element('span', {}, value, element('small', {}, `${lower} – ${upper}`));
}

function stackLoadLabel({test, rows: [{offered}]}) {
  return offered === null ? test : `${formatRate(offered)} offered per second`;
}

// Of a single load, nothing needs its label.
const withLoad = ({loads}, text) => loads.length > 1 ? [text] : [];

const STACK_VERDICTS = [
  ['no difference', 'no difference shown: ', ''],
  ['not shown', 'unknown: ',
    ', because a single run does not tell how runs differ (repeat the tests, as with run_tests --repeat=5)'],
  ['not comparable', 'not measured by all runs: ', ''],
];

// How the other stacks compare with the first: a sentence that does not say more than is known.
function stackSentences({rpc}, {rows: [first, ...others], changes}) {
  return others.map(({stack}) => {
    const own = changes.filter(change => change.stack === stack && (change.rpc === rpc || change.rpc === null));
    const shown = own.filter(({verdict}) => ['better', 'worse', 'differs'].includes(verdict)).map(
        ({metric, ratio, lower, upper, verdict}) => `${ratio.toPrecision(3)} times the ${metric} (${
          lower.toPrecision(3)} to ${upper.toPrecision(3)}, ${verdict})`);
    const rest = STACK_VERDICTS.flatMap(([verdict, before, after]) => {
      const metrics = own.filter(change => change.verdict === verdict).map(({metric}) => metric);
      return metrics.length === 0 ? [] : [before + metrics.join(', ') + after];
    });
    return `${stack} compared with ${first.stack}: ${[...shown, ...rest].join('; ')}.`;
  });
}

function renderStacksTable(study) {
  const {loads} = study;
  const shown = STACK_COLUMNS.filter(([name]) => loads.some(({rows}) => rows.some(row => row[name] !== null)));
  const columns = [
    ...withLoad(study, {title: 'Load', isWrapped: true}), {title: 'Stack', isWrapped: true},
    {title: 'Runs', isNumber: true},
    ...shown.map(([, title]) => ({title, isNumber: true})),
  ];
  replaceContent('stacks-table', makeTable(columns, loads.flatMap(load => load.rows.map(row => [
    ...withLoad(study, stackLoadLabel(load)), row.stack, formatCount(row.runs),
    ...shown.map(([name, , format]) => stackFigureCell(row[name], format)),
  ])), 'stacks'));
}

// The points of a stack over the offered load or, in closed loops, over the rate that it reached.
function stackPoints({loads}, stack, name) {
  return loads.flatMap(({rows}) => rows.filter(row => row.stack === stack)
      .map(row => ({x: row.offered ?? row.per_second?.value, y: row[name]?.value})))
      .filter(({x, y}) => Number.isFinite(x) && Number.isFinite(y)).sort((a, b) => a.x - b.x);
}

function drawStacksCharts(study, curves) {
  const isOpenLoop = study.loads.some(({rows: [{offered}]}) => offered !== null);
  const lines = (name, suffix = '', isDashed = false) => curves.map(({label, color}) => ({
    label: `${label}${suffix}`, curve: label, color, isDashed, hasPoints: true, points: stackPoints(study, label, name),
  })).filter(({points}) => points.length > 0);
  const x = {
    title: {text: isOpenLoop ? 'offered RPCs per second' : 'RPCs per second'}, zoom: 'stacks',
    ticks: {callback: value => formatRate(value)},
  };
  const draw = (id, drawn, y, format) => {
    byId(id).closest('figure').hidden = drawn.length === 0;
    if (drawn.length > 0) drawLines(id, drawn, x, y, point => `${format(point.y)} at ${formatRate(point.x)}`);
  };
  const latencies = [...lines('p99', ', p99'), ...lines('p50', ', p50', true)];
  draw('stacks-latency-chart', latencies, {...latencyAxis(latencies, 'y'), column: LATENCY_COLUMN}, formatTime);
  draw('stacks-cpu-chart', lines('cpu'),
      {beginAtZero: true, ticks: {callback: value => formatTime(value)}}, formatTime);
  draw('stacks-rate-chart', isOpenLoop ? lines('per_second') : [],
      {beginAtZero: true, ticks: {callback: value => formatRate(value)}}, formatRate);
  legend('stacks-legend', curves);
}

function drawStacks() {
  const study = stackStudies[stacksView.study];
  const {stacks} = data.stacks;
  const curves = stacks.slice(0, MAX_CURVES).map((label, i) => ({label, color: seriesColor(i)}));
  byId('stacks-charts').hidden = study.loads.length < 2;
  if (study.loads.length > 1) drawStacksCharts(study, curves);
  renderStacksTable(study);
  replaceContent('stacks-sentences', ...study.loads.flatMap(load => [
    ...stackSentences(study, load).map(text => [...withLoad(study, stackLoadLabel(load)), text].join(': ')),
    ...load.notes.map(text => `Note: ${text}.`),
  ]).map(text => element('p', {}, text)));
  const rpc = study.first.rpcs.find(({name}) => name === study.rpc);
  byId('stacks-note').textContent = `Percentiles are of the ${LATENCIES[latencyNameOf(rpc)].title}. ` +
      `Below a figure is the ${100 * data.confidence} % confidence interval of a ` +
      'percentile or, of several runs, the range of their values, of which the figure is the median. CPU is that of ' +
      'the instances\' processes from start to end, polling included; shares are those of the service time.' +
      (curves.length < stacks.length ? ` ${curves.length} of ${stacks.length} stacks are drawn.` : '');
}

function renderStacks() {
  const {omissions} = data.stacks;
  showSection('stacks', stackStudies.length > 0 || omissions.length > 0);
  byId('stacks-study').hidden = stackStudies.length === 0;
  replaceContent('stacks-omissions', ...omissions.map(
      text => element('p', {className: 'note'}, `Left out of the comparison: ${text}`)));
  if (stackStudies.length === 0) return;
  replaceContent('stacks-controls', ...(stackStudies.length === 1 ? [] : [selectBox(
      'RPC', stackStudies.map(({rpc, loads}, i) => [String(i), `${rpc} of ${loads[0].test}`]), String(stacksView.study),
      value => {
        stacksView.study = Number(value);
        drawStacks();
      })]));
  drawStacks();
}

addPart({redraw: renderStacks});
