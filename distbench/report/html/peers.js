// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Who talks to whom: the heat map of pairs of instances.

// least: the RPCs of a pair that a percentile takes.
const PEER_METRICS = {
  per_second: {title: 'RPCs per second', format: formatRate},
  p50: {title: 'p50', format: formatTime, least: 2},
  p99: {title: 'p99', format: formatTime, least: 100},
  max: {title: 'maximum', format: formatTime},
  failed: {title: 'failed RPCs', format: formatCount},
};

// The first that has a value is shown at first.
const PREFERRED_METRICS = ['p99', 'p50', 'max', 'per_second'];

// reason: why the metric is not the first of them, unless the user chose it.
const peersView = {run: 0, rpc: '', metric: '', reason: ''};

// Response times in open loops, as elsewhere. The same for all pairs of an RPC.
function peerLatency(rows) {
  return rows.some(row => row.response_max_ns !== null) ? 'response time' : 'service time';
}

function peerValue(row, metric) {
  if (metric === 'per_second' || metric === 'failed') return row[metric];
  return row[`response_${metric}_ns`] ?? row[`service_${metric}_ns`];
}

// The pairs of the selected RPC and run; the value is null where there is none.
function peerCells() {
  return peerRows().map(row => {
    return {client: row.client, server: row.server, row, value: peerValue(row, peersView.metric)};
  });
}

function peerRows() {
  return rowsOf(runs[peersView.run].peers).filter(row => row.rpc === peersView.rpc);
}

// Why pairs have no value of a metric.
function whyMissing({title, least}, rows) {
  if (least === undefined) return `without a ${title}, because no RPC succeeded`;
  const most = greatestOf(rows.map(row => row.succeeded + row.failed));
  return most < least
      ? `without a ${title}, which takes ${least} RPCs of a pair: the busiest has ${formatCount(most)}`
      : `without a ${title}: it takes ${least} RPCs of a pair, and memory for the pair's histogram`;
}

function missingNote(cells) {
  const missing = cells.filter(cell => cell.value === null);
  if (missing.length === 0) return '';
  const which = missing.length === cells.length ? `All ${formatCount(cells.length)} pairs are`
      : `${formatCount(missing.length)} of ${formatCount(cells.length)} pairs are left empty: they are`;
  return `${which} ${whyMissing(PEER_METRICS[peersView.metric], missing.map(({row}) => row))}.`;
}

function chooseMetric() {
  const rows = peerRows();
  const [preferred] = PREFERRED_METRICS;
  peersView.metric = PREFERRED_METRICS.find(
      metric => rows.some(row => peerValue(row, metric) !== null)) ?? 'failed';
  peersView.reason = peersView.metric === preferred ? ''
      : `Coloured by ${PEER_METRICS[peersView.metric].title}, because all pairs are ` +
          `${whyMissing(PEER_METRICS[preferred], rows)}.`;
}

function describePair({client, server, row}) {
  const latency = peerLatency(peerRows());
  return `${client} → ${server}\n${formatCount(row.succeeded)} succeeded, ` +
      `${formatCount(row.failed)} failed, ${formatRate(row.per_second)} per second\n` +
      `${latency}: p50 ${formatTime(peerValue(row, 'p50'))}, p99 ${formatTime(peerValue(row, 'p99'))}, ` +
      `max ${formatTime(peerValue(row, 'max'))}`;
}

function makePeerMap(cells, values) {
  const scale = linearScale(values.filter(value => value !== Infinity));
  const label = 'Clients by servers; the slowest are listed below';
  return [
    makeHeatMap({id: 'heat-map-canvas', label, cells, scale, describe: describePair}),
    scaleLegend(scale, PEER_METRICS[peersView.metric].format),
  ];
}

function makeExtremes(cells) {
  const {title, format} = PEER_METRICS[peersView.metric];
  const highest = cells.filter(({value}) => value !== null).sort((a, b) => b.value - a.value).slice(0, 10);
  const table = makeTable(
      [{title: 'Client'}, {title: 'Server'}, {title, isNumber: true}],
      highest.map(cell => [cell.client, cell.server, format(cell.value)]));
  return element('details', {id: 'peers-highest', open: byId('peers-highest')?.open ?? false},
      element('summary', {}, `The pairs with the highest ${title}`), element('div', {className: 'scroll'}, table));
}

function peerCsvRows() {
  const metrics = Object.keys(PEER_METRICS);
  return [['client', 'server', ...metrics], ...peerRows().map(
      row => [row.client, row.server, ...metrics.map(metric => peerValue(row, metric) ?? '')])];
}

function drawPeers() {
  const cells = peerCells();
  const {title} = PEER_METRICS[peersView.metric];
  const leftOut = runs[peersView.run].peers.rows_left_out;
  const rows = cells.map(({row}) => row);
  const notes = [
    peersView.reason, missingNote(cells),
    rows.some(row => peerValue(row, 'max') !== null)
      ? `p50, p99 and maximum are those of the ${peerLatency(rows)}.` : '',
    leftOut === 0 ? '' : `${formatCount(leftOut)} pairs are not in this report.`,
  ].filter(note => note !== '').map(note => element('p', {className: 'note'}, note));
  const values = cells.map(({value}) => value).filter(value => value !== null);
  const hasValue = values.length > 0;
  replaceContent('heat-map', ...(hasValue ? [...makePeerMap(cells, values), makeExtremes(cells)] : []), ...notes);
  if (!hasValue) return;
  addDownloads(byId('heat-map-canvas'), 'distbench-peers', () => `${peersView.rpc}: ${title} by client and server`,
      peerCsvRows, () => []);
}

// Chooses the busiest RPC of a run that has pairs.
function choosePeers(run) {
  peersView.run = run.index;
  const counts = new Map();
  for (const {rpc, succeeded} of rowsOf(run.peers)) counts.set(rpc, (counts.get(rpc) ?? 0) + succeeded);
  peersView.rpc = [...counts].reduce((a, b) => b[1] > a[1] ? b : a)[0];
}

function renderPeerControls(withPeers) {
  const metrics = Object.entries(PEER_METRICS).map(([key, {title}]) => [key, title]);
  const choose = key => value => {
    peersView[key] = key === 'run' ? Number(value) : value;
    peersView.reason = '';
    drawPeers();
  };
  replaceContent('peers-controls',
      ...(withPeers.length > 1 ? [selectBox('Run', withPeers.map(run => [String(run.index), run.label]),
          String(peersView.run), choose('run'))] : []),
      ...(rpcNames.length > 1 ? [selectBox('RPC', rpcNames.map(name => [name, name]), peersView.rpc,
          choose('rpc'))] : []),
      selectBox('Colour by', metrics, peersView.metric, choose('metric')));
}

function renderPeers() {
  const withPeers = runs.filter(run => run.peers.rows.length > 0);
  showSection('peers', withPeers.length > 0);
  if (withPeers.length === 0) return;
  // Later, what the user has chosen is drawn again.
  if (peersView.metric === '') {
    choosePeers(withPeers[0]);
    chooseMetric();
  }
  renderPeerControls(withPeers);
  drawPeers();
}
