// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer now: the running test, the queue, and the nodes, equal ones
// together.

const RETRY_MS = 3000;

const LOST = 'Connection lost, trying again …';

let stream = null;
let retryTimer = null;

const ALL_RPCS = 'all RPCs';

// What was measured of the running test, one point for each report: {x: seconds of
// traffic, and what /api/status says}; which test it is, the names of its RPCs if
// they are told apart, and that of the RPC that the charts show, null for all.
let measured = null;

function forgetMeasured(test) {
  measured = {test, points: [], rpcs: [], shown: null};
}

const MAX_POINTS = 600;
const MIN_SHOWN_SECONDS = 10;

// By id: a chart's title, its lines and the format of its values.
const LIVE_CHARTS = {
  'live-rate': {
    title: 'RPCs per second', format: formatRate,
    lines: [{label: 'succeeded', color: '--series-1', name: 'per_second'}],
  },
  'live-latency': {
    title: 'Latency', format: UNIT_FORMATS.seconds,
    lines: [{label: 'p50', color: '--series-1', name: 'p50'}, {label: 'p99', color: '--series-2', name: 'p99'}],
  },
  'live-failures': {
    title: 'Failures per second', format: formatRate,
    lines: [{label: 'failed', color: '--invalid', name: 'failed_per_second'}],
  },
};

// Groups of nodes that the user has unfolded, by what their nodes have in common.
const openGroups = new Set();

// Asks before it cancels a run. What it has measured is kept. The answer is the
// click itself: the browser tells of a dialog's end later, when the next question
// may be on the screen already.
function askToCancel({id, label}) {
  const name = label === '' ? id : `${id} (${label})`;
  byId('question-text').textContent = `Cancel run ${name}? Measurements so far are kept.`;
  byId('question-yes').onclick = () => postChange('/api/cancel', {run: id});
  byId('question').showModal();
}

// None for those who may not use it.
function cancelButtons(run) {
  return session.may_write
      ? [button('Cancel', () => askToCancel(run), {className: 'danger', ariaLabel: `Cancel run ${run.id}`})] : [];
}

// percent: 50 or 99. Of RPCs of which so many failed that the percentile did.
function percentileText(figures, percent) {
  if (figures.failed_above_percent !== null && figures.failed_above_percent < percent) return 'failed';
  return formatValue('seconds', figures[`p${percent}`]);
}

function tile(title, value, isBad) {
  return element('div', {className: isBad ? 'tile bad' : 'tile'},
      element('div', {className: 'tile-title'}, title), element('div', {className: 'tile-value'}, value));
}

function makeChart([id, {title}]) {
  return element('figure', {}, element('figcaption', {}, title),
      element('div', {className: 'plot'}, element('canvas', {id, role: 'img', ariaLabel: `${title}, over time`})),
      element('div', {className: 'legend', id: `${id}-legend`}));
}

function drawChart(id, {title, format, lines}) {
  // Whoever reads a value reads it in peace.
  if (byId(id).matches(':hover')) return;
  const {shown, points} = measured;
  const figures = points.map(({x, rpcs, ...all}) => ({x, ...(shown === null ? all : rpcs[shown])}));
  const drawn = lines.map(({name, color, label}) => ({
    label, color: cssColor(color),
    points: figures.filter(point => (point[name] ?? null) !== null).map(point => ({x: point.x, y: point[name]})),
  }));
  // Not "1.08 min".
  const seconds = value => `${Math.round(value)} s`;
  const start = points[0].x;
  drawLines(id, drawn,
      {min: start, max: Math.max(points.at(-1).x, start + MIN_SHOWN_SECONDS), ticks: {callback: seconds},
        title: {text: 'time of the traffic'}, column: {title: 'seconds', valueOf: ({x}) => x}},
      {min: 0, ticks: {callback: format}, title: {display: false}}, ({x, y}) => `${format(y)} at ${seconds(x)}`);
  if (lines.length > 1) legend(`${id}-legend`, drawn);
}

function drawCharts() {
  if (measured.points.length === 0) return;
  if (byId('live-charts').children.length === 0) {
    replaceContent('live-charts', ...Object.entries(LIVE_CHARTS).map(makeChart));
  }
  for (const [id, chart] of Object.entries(LIVE_CHARTS)) drawChart(id, chart);
}

// The RPCs of which something has ended, and which of them the charts show.
function showChoice() {
  byId('live-choice').hidden = measured.rpcs.length === 0;
  drawIfChanged('live-rpc', [measured.test, measured.rpcs], () => [
    element('option', {value: ''}, ALL_RPCS), ...measured.rpcs.map(name => element('option', {value: name}, name)),
  ]);
  byId('live-rpc').value = measured.shown ?? '';
}

function drawRpcs(rpcs) {
  if (byId('live-rpcs').matches(':hover')) return;
  drawIfChanged('live-rpcs', [measured.rpcs, rpcs], () => measured.rpcs.length === 0 ? [] : [explainedTable([
    {title: 'RPC', help: 'Its name in the test', isWrapped: true},
    {title: 'Per second', help: 'How many succeeded, in the last seconds', isNumber: true},
    {title: 'Failed', help: 'How many failed per second', isNumber: true},
    {title: 'p50', help: 'Half of them took at most this long; failures count as longest', isNumber: true},
    {title: 'p99', help: '99 % of them took at most this long; failures count as longest', isNumber: true},
  ], measured.rpcs.map(name => Object.hasOwn(rpcs, name) ? [name, formatRate(rpcs[name].per_second),
    formatRate(rpcs[name].failed_per_second), percentileText(rpcs[name], 50), percentileText(rpcs[name], 99)]
      : [name, '–', '–', '–', '–']), 'live-rpcs')]);
}

// The same report may come twice.
function addPoint({id, test_index: index, measured_seconds: x, rpcs, ...figures}) {
  const test = `${id} ${index}`;
  if (measured?.test !== test) forgetMeasured(test);
  byId('live-charts').hidden = x === 0;
  if (x > (measured.points.at(-1)?.x ?? 0)) {
    measured.points = [...measured.points, {x, rpcs, ...figures}].slice(-MAX_POINTS);
    const names = [...new Set([...measured.rpcs, ...Object.keys(rpcs)])];
    measured.rpcs = sortedByName(names.map(name => ({name})), 'name').map(({name}) => name);
    drawCharts();
  }
  showChoice();
  drawRpcs(rpcs);
}

function describeRun({id, label, tests}) {
  return [label, shortList(tests), `run ${id}`].filter(Boolean).join(' · ');
}

function renderRunning(running) {
  byId('running-none').hidden = running !== null;
  byId('running-parts').hidden = running === null;
  if (running === null) return;
  const {id, label, tests, elapsed_seconds: elapsed, duration_seconds: duration} = running;
  const position = tests.length > 1 ? ` (test ${running.test_index + 1} of ${tests.length})` : '';
  drawIfChanged('running-actions', {id, label}, cancelButtons);
  const name = [running.test, `${position} · ${running.state}`, describeRun(running)];
  drawIfChanged('running-name', name,
      ([test, state, run]) => [element('strong', {}, test), state, element('small', {}, run)]);
  if (duration === null) byId('running-progress').removeAttribute('value');
  else byId('running-progress').value = duration > 0 ? Math.min(1, elapsed / duration) : 1;
  const whole = duration === null ? 'so far; the test does not say how long it takes'
      : `of about ${formatTime(1e9 * duration)}`;
  byId('running-time').textContent = `${formatTime(1e9 * Math.floor(elapsed))} ${whole}`;
  replaceContent('running-tiles', tile('RPCs per second', formatRate(running.per_second)),
      tile('Succeeded', formatCount(running.succeeded)),
      tile('Failed', formatCount(running.failed), running.failed > 0),
      ...[50, 99].map(percent => tile(`p${percent} of ${running.latency === 'response' ? 'open loops' : 'all RPCs'}`,
          percentileText(running, percent))));
  addPoint(running);
}

function nodeGroup([key, nodes]) {
  const {state, facts, attributes} = nodes[0];
  const title = nodes.length === 1 ? nodes[0].name : `${formatCount(nodes.length)} ×`;
  const entries = [attributes, facts].flatMap(Object.entries).map(([name, value]) => `${name} ${value}`);
  const node = element('details', {open: openGroups.has(key)},
      element('summary', {}, `${title} `, badge(state), ` ${entries.join(' · ')}`),
      element('div', {className: 'scroll'}, explainedTable([
        {title: 'Node', help: 'The name that the sequencer gave it'},
        {title: 'Host', help: 'The name of the machine that it runs on'},
        {title: 'Address', help: 'Where other nodes reach it', isWrapped: true},
      ], nodes.map(({name, hostname, address}) => [name, hostname, address]), 'nodes')));
  node.addEventListener('toggle', () => openGroups[node.open ? 'add' : 'delete'](key));
  return node;
}

function renderNodes(nodes) {
  const keyOf = ({state, facts, attributes}) => JSON.stringify([state, facts, attributes]);
  drawIfChanged('nodes-list', nodes, () => nodes.length > 0 ? groupBy(sortedByName(nodes, 'name'), keyOf).map(nodeGroup)
      : [note('No node manager has registered. Start one on each host: ' +
          `distbench node_manager --test_sequencer=${session.name}`)]);
}

function renderRuns({running, queue}) {
  byId('live-parts').hidden = false;
  renderRunning(running);
  const waiting = (run, i) =>
      element('p', {className: 'queued'}, `${i + 1}. ${describeRun(run)} `, ...cancelButtons(run));
  drawIfChanged('queue-list', queue, () => queue.length > 0 ? queue.map(waiting) : [note('No run is waiting.')]);
}

// isCurrent: whether what is shown is the state of now; null while nobody knows.
function showConnection(text, isCurrent) {
  if (byId('connection').textContent !== text) byId('connection').textContent = text;
  byId('connection').classList.toggle('lost', isCurrent === false);
  byId('connection').classList.toggle('unknown', isCurrent === null);
  byId('live-parts').classList.toggle('stale', !isCurrent);
}

// Without a stream: asks for the state once, and tries to get a stream later.
async function askAndRetry() {
  retryTimer = setTimeout(openStream, RETRY_MS);
  try {
    const status = await request('/api/status');
    renderNodes(status.nodes);
    renderRuns(status);
    showConnection('The server has no place for another live view; this one asks every few seconds instead.', true);
  } catch {
    showConnection(LOST, false);
  }
}

function openStream() {
  stream = new EventSource('/api/live');
  // Comes before the first status, and then only when the nodes have changed.
  stream.addEventListener('nodes', event => renderNodes(JSON.parse(event.data)));
  stream.addEventListener('status', event => {
    renderRuns(JSON.parse(event.data));
    showConnection('Live', true);
  });
  stream.addEventListener('error', ({target}) => {
    // The browser itself tries again unless the server has refused the stream.
    if (target.readyState === EventSource.CLOSED) askAndRetry();
    else showConnection(LOST, false);
  });
}

function showLive(parameters, isEntered) {
  if (!isEntered) return;
  byId('live-rpc').onchange = ({target}) => {
    measured.shown = target.value === '' ? null : target.value;
    drawCharts();
  };
  showConnection('Connecting …', null);
  openStream();
}

function leaveLive() {
  clearTimeout(retryTimer);
  stream.close();
}

function redrawLive() {
  if (!byId('live-view').hidden && !byId('running-parts').hidden) drawCharts();
}

followPrinting(redrawLive);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawLive);
