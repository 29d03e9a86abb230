// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The heat map of client-server pairs, with one cell per pair.

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

// Mixes two colours into "#rrggbb"; share is from 0 to 1.
function mixColors(low, high, share) {
  const channel = (color, i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map(
      i => Math.round(channel(low, i) + share * (channel(high, i) - channel(low, i))));
  return `rgb(${mixed.join(', ')})`;
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
  return `${client} → ${server}\n${formatCount(row.succeeded)} succeeded, ` +
      `${formatCount(row.failed)} failed, ${formatRate(row.per_second)} per second\n` +
      `p50 ${formatTime(peerValue(row, 'p50'))}, p99 ${formatTime(peerValue(row, 'p99'))}, ` +
      `max ${formatTime(peerValue(row, 'max'))}`;
}

// Positions of cells and labels, in pixels.
function layOut(cells, context) {
  const clients = [...new Set(cells.map(cell => cell.client))].sort(compareNames);
  const servers = [...new Set(cells.map(cell => cell.server))].sort(compareNames);
  const widest = names => Math.min(180, Math.max(...names.map(name => context.measureText(name).width)));
  const size = Math.max(4, Math.min(44, Math.floor(1000 / servers.length), Math.floor(720 / clients.length)));
  const hasLabels = size >= 12;
  return {
    clients, servers, size, hasLabels,
    left: hasLabels ? Math.ceil(widest(clients)) + 24 : 20,
    top: hasLabels ? Math.ceil(widest(servers)) + 28 : 24,
    font: context.font,
  };
}

function drawLabels(context, layout) {
  const {clients, servers, size, left, top} = layout;
  context.fillStyle = cssColor('--ink-soft');
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillText('clients ↓  servers →', 0, 8);
  if (!layout.hasLabels) return;
  context.textAlign = 'right';
  clients.forEach((name, i) => context.fillText(name, left - 8, top + (i + 0.5) * size, left - 8));
  context.textAlign = 'left';
  servers.forEach((name, i) => {
    context.save();
    context.translate(left + (i + 0.5) * size, top - 6);
    context.rotate(-Math.PI / 2);
    context.fillText(name, 0, 0, top - 24);
    context.restore();
  });
}

function drawCells(context, layout, cells, low, high) {
  const from = cssColor('--heat-low');
  const to = cssColor('--heat-high');
  const gap = layout.size >= 8 ? 1 : 0;
  for (const cell of cells.filter(({value}) => value !== null)) {
    const share = cell.value === Infinity ? 1 : high > low ? (cell.value - low) / (high - low) : 0.5;
    context.fillStyle = mixColors(from, to, share);
    context.fillRect(layout.left + layout.column.get(cell.server) * layout.size,
        layout.top + layout.line.get(cell.client) * layout.size, layout.size - gap, layout.size - gap);
  }
}

function addTooltip(canvas, layout, cells) {
  const byPosition = new Map(cells.map(
      cell => [`${layout.column.get(cell.server)},${layout.line.get(cell.client)}`, cell]));
  const tooltip = element('div', {className: 'tooltip', hidden: true});
  canvas.addEventListener('mousemove', event => {
    const column = Math.floor((event.offsetX - layout.left) / layout.size);
    const line = Math.floor((event.offsetY - layout.top) / layout.size);
    const cell = byPosition.get(`${column},${line}`);
    tooltip.hidden = cell === undefined;
    if (cell === undefined) return;
    tooltip.textContent = describePair(cell);
    tooltip.style.left = `${event.clientX + 14}px`;
    tooltip.style.top = `${event.clientY + 14}px`;
  });
  canvas.addEventListener('mouseleave', () => { tooltip.hidden = true; });
  return tooltip;
}

function makeHeatMap(cells) {
  const canvas = element('canvas', {id: 'heat-map-canvas'});
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'Clients by servers; the slowest are listed below');
  const context = canvas.getContext('2d');
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  const layout = layOut(cells, context);
  layout.column = new Map(layout.servers.map((name, i) => [name, i]));
  layout.line = new Map(layout.clients.map((name, i) => [name, i]));
  const width = Math.max(180, layout.left + layout.servers.length * layout.size);
  const height = layout.top + layout.clients.length * layout.size;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.scale(ratio, ratio);
  context.font = layout.font;
  const values = cells.map(cell => cell.value).filter(value => value !== null && value !== Infinity);
  const low = leastOf(values);
  const high = greatestOf(values);
  drawLabels(context, layout);
  drawCells(context, layout, cells, low, high);
  const {format} = PEER_METRICS[peersView.metric];
  return [
    element('div', {className: 'heat-map'}, canvas, addTooltip(canvas, layout, cells)),
    element('div', {className: 'heat-scale'}, format(low), element('span', {className: 'ramp'}), format(high)),
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
  const notes = [
    peersView.reason, missingNote(cells),
    leftOut === 0 ? '' : `${formatCount(leftOut)} pairs are not in this report.`,
  ].filter(note => note !== '').map(note => element('p', {className: 'note'}, note));
  const hasValue = cells.some(({value}) => value !== null);
  replaceContent('heat-map', ...(hasValue ? [...makeHeatMap(cells), makeExtremes(cells)] : []), ...notes);
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
