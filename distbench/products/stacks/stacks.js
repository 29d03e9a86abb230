// Protocol drivers under the same traffic: what each costs.

const stacksView = {study: 0};

const STACK_COLUMNS = [
  ['per_second', 'Per second', formatRate], ['p50_ns', 'p50', formatTime], ['p99_ns', 'p99', formatTime],
  ['p999_ns', 'p99.9', formatTime], ['cpu_ns', 'CPU per RPC', formatTime], ['client_cpu_ns', 'Client CPU', formatTime],
  ['server_cpu_ns', 'Server CPU', formatTime], ['network_share', 'Network', formatShare],
  ['server_queue_share', 'Queue', formatShare], ['server_handler_share', 'Handler', formatShare],
  ['failed_share', 'Failed', formatShare],
];

function stackFigureCell(figure, format) {
  if (figure === null) return '–';
  const text = value => value === null ? '?' : value === Infinity ? 'failed' : format(value);
  const [value, lower, upper] = [figure.value, figure.lower, figure.upper].map(text);
  if (lower === upper && (lower === value || figure.lower === null)) return value;
  return element('span', {}, value, element('small', {}, `${lower} – ${upper}`));
}

function stackLoadLabel({test, offered_per_second: offered}) {
  return offered === null ? test : `${formatRate(offered)} offered per second`;
}

// Of a single load, nothing needs its label.
const withLoad = ({loads}, text) => loads.length > 1 ? [text] : [];

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
  return loads.flatMap(({offered_per_second: offered, rows}) => rows.filter(row => row.stack === stack)
      .map(row => ({x: offered ?? row.per_second?.value, y: row[name]?.value})))
      .filter(({x, y}) => Number.isFinite(x) && Number.isFinite(y)).sort((a, b) => a.x - b.x);
}

function drawStacksCharts(study, curves) {
  const isOpenLoop = study.loads.some(load => load.offered_per_second !== null);
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
  const latencies = [...lines('p99_ns', ', p99'), ...lines('p50_ns', ', p50', true)];
  draw('stacks-latency-chart', latencies, {...latencyAxis(latencies, 'y'), column: LATENCY_COLUMN}, formatTime);
  draw('stacks-cpu-chart', lines('cpu_ns'),
      {beginAtZero: true, ticks: {callback: value => formatTime(value)}}, formatTime);
  draw('stacks-rate-chart', isOpenLoop ? lines('per_second') : [],
      {beginAtZero: true, ticks: {callback: value => formatRate(value)}}, formatRate);
  legend('stacks-legend', curves);
}

function drawStacks() {
  const study = data.stacks.studies[stacksView.study];
  const curves = study.stacks.slice(0, MAX_CURVES).map((label, i) => ({label, color: seriesColor(i)}));
  byId('stacks-charts').hidden = study.loads.length < 2;
  if (study.loads.length > 1) drawStacksCharts(study, curves);
  renderStacksTable(study);
  replaceContent('stacks-sentences', ...study.loads.flatMap(load => [
    ...load.sentences.map(text => [...withLoad(study, stackLoadLabel(load)), text].join(': ')),
    ...load.notes.map(text => `Note: ${text}.`),
  ]).map(text => element('p', {}, text)));
  byId('stacks-note').textContent = 'Percentiles are of the ' +
      `${LATENCIES[study.latency].title}. Below a figure is the ${100 * data.confidence} % confidence interval of a ` +
      'percentile or, of several runs, the range of their values, of which the figure is the median. CPU is that of ' +
      'the instances\' processes from start to end, polling included; shares are those of the service time.' +
      (curves.length < study.stacks.length ? ` ${curves.length} of ${study.stacks.length} stacks are drawn.` : '');
}

function renderStacks() {
  const {studies, omissions} = data.stacks;
  showSection('stacks', studies.length > 0 || omissions.length > 0);
  byId('stacks-study').hidden = studies.length === 0;
  replaceContent('stacks-omissions', ...omissions.map(
      text => element('p', {className: 'note'}, `Left out of the comparison: ${text}`)));
  if (studies.length === 0) return;
  replaceContent('stacks-controls', ...(studies.length === 1 ? [] : [selectBox(
      'RPC', studies.map(({rpc, loads}, i) => [String(i), `${rpc} of ${loads[0].test}`]), String(stacksView.study),
      value => {
        stacksView.study = Number(value);
        drawStacks();
      })]));
  drawStacks();
}

for (const row of data.stacks.studies.flatMap(({loads}) => loads.flatMap(({rows}) => rows))) {
  STACK_COLUMNS.forEach(([name]) => row[name] !== null && raiseFailed(row[name]));
}

addPart({redraw: renderStacks});
