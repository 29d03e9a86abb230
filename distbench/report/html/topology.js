// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The services of a run as a graph: which calls which, how often, and how well.

const topologyView = {run: 0, service: null, filter: ''};

// More edges would not be readable.
const MAX_DRAWN_EDGES = 60;
const MAX_INSTANCES = 30;

function svgElement(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function shorten(text, max) {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function svgText(x, y, className, text, max) {
  return svgElement('text', {x, y, class: className}, shorten(text, max));
}

// ---- What an edge says -------------------------------------------------------

// RPCs that failed or were never sent, as a share of all; null if there are none. Some are in both counts, and once in
// those of the latency, which clients without memory for it do not have.
function lostShareOf({succeeded, failed, unsent, latency_count: latencyCount, latency_failed: latencyFailed}) {
  const lost = latencyFailed ?? failed + unsent;
  const all = latencyCount ?? succeeded + lost;
  return all === 0 ? null : lost / all;
}

function describeRate(edge) {
  const offered = edge.offered_per_second === null ? '' : ` of ${formatLoadRate(edge.offered_per_second)}`;
  return formatLoadRate(edge.succeeded_per_second) + offered;
}

function describeOutcome(edge) {
  const share = lostShareOf(edge);
  const failures = share === null ? 'nothing sent' : share === 0 ? 'none failed' : `${formatShare(share)} failed`;
  return `p99 ${formatTime(edge.p99_ns)}, ${failures}`;
}

// The edges with the highest value, if it is above zero and not that of all.
function highest(edges, valueOf) {
  const values = edges.map(edge => valueOf(edge) ?? 0);
  const max = values.reduce((a, b) => Math.max(a, b), 0);
  const found = edges.filter((_, i) => values[i] === max);
  return max === 0 || found.length === edges.length ? [] : found;
}

// The texts that mark each edge.
function marksOf(edges) {
  const marks = new Map(edges.map(edge => [edge, []]));
  for (const edge of highest(edges, ({p99_ns: p99}) => p99)) marks.get(edge).push('highest p99');
  const failing = edges.filter(edge => lostShareOf(edge) > 0);
  const most = failing.length === 1 ? failing : highest(failing, lostShareOf);
  for (const edge of most) marks.get(edge).push('most failures');
  return marks;
}

// ---- The graph ---------------------------------------------------------------

function drawEdge(label, marks) {
  const {edge} = label;
  const isHot = marks.length > 0;
  const {lines, arrow} = pathsOf(label);
  const full = `${edge.rpc}: ${edge.client} → ${edge.server}, ${describeRate(edge)}, ${describeOutcome(edge)}`;
  const x = label.x + 8;
  return svgElement('g', {class: isHot ? 'edge hot' : 'edge'},
      svgElement('title', {}, full),
      ...lines.map(d => svgElement('path', {d, class: 'line'})),
      svgElement('path', {d: arrow, class: 'arrow'}),
      svgElement('rect', {x: label.x, y: label.y, width: LABEL.width, height: LABEL.height, rx: 6}),
      svgText(x, label.y + 15, 'name', edge.rpc, 25),
      svgText(x, label.y + 29, '', describeRate(edge), 31),
      svgText(x, label.y + 43, '', describeOutcome(edge), 31),
      svgText(x, label.y + 57, 'mark', marks.map(mark => `▲ ${mark}`).join('  '), 40));
}

// External services have addresses in place of instances.
function describeService({instances, external_addresses: addresses}) {
  return addresses.length === 0 ? plural(instances, 'instance') : `external: ${addresses.join(', ')}`;
}

function drawService(box) {
  const description = describeService(box);
  const group = svgElement('g', {
    class: box.external_addresses.length === 0 ? 'service' : 'service external', role: 'button', tabindex: 0,
    'aria-expanded': box.name === topologyView.service,
    'aria-controls': 'topology-instances', 'aria-label': `${box.name}: ${description}`,
  },
  svgElement('title', {}, `${box.name} (${description}): show its instances`),
  svgElement('rect', {x: box.x, y: box.y, width: BOX.width, height: BOX.height, rx: 8}),
  svgText(box.x + BOX.width / 2, box.y + 19, 'name', box.name, 20),
  svgText(box.x + BOX.width / 2, box.y + 36, 'count', `${shorten(description, 22)} ▾`, 24));
  const toggle = () => {
    topologyView.service = topologyView.service === box.name ? null : box.name;
    topologyView.filter = '';
    for (const other of byId('topology-graph').querySelectorAll('.service')) {
      other.setAttribute('aria-expanded', other === group && topologyView.service !== null);
    }
    drawInstances();
  };
  group.addEventListener('click', toggle);
  group.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    toggle();
  });
  return group;
}

function drawGraph({services, edges}) {
  const marks = marksOf(edges);
  const drawn = [...edges].sort((a, b) => marks.get(b).length - marks.get(a).length || b.succeeded - a.succeeded)
      .slice(0, MAX_DRAWN_EDGES);
  const used = new Set(drawn.flatMap(edge => [edge.client, edge.server]));
  const shown = services.filter(service => used.has(service.name));
  const {width, height, boxes, labels} = layOutTopology(shown, drawn);
  const svg = svgElement('svg', {
    width, height, viewBox: `0 0 ${width} ${height}`, role: 'group',
    'aria-label': 'Services and the RPCs between them; the table below says the same',
  });
  svg.append(...labels.map(label => drawEdge(label, marks.get(label.edge))), ...boxes.map(drawService));
  replaceContent('topology-graph', svg);
  const leftOut = [
    edges.length > drawn.length ? `${drawn.length} of ${edges.length} kinds of RPCs are drawn: those that are marked, and the most frequent.` : '',
    services.length > shown.length ? `${plural(services.length - shown.length, 'service')} without these RPCs ` +
        'are not drawn.' : '',
  ];
  byId('topology-note').textContent =
      ['Choose a service to see its instances.', ...leftOut].filter(Boolean).join(' ');
}

const TRAFFIC_COLUMNS = [
  {title: 'Offered', isNumber: true}, {title: 'Achieved', isNumber: true}, {title: 'Succeeded', isNumber: true},
  {title: 'Failed', isNumber: true}, {title: 'Never sent', isNumber: true},
  {title: 'p50', isNumber: true}, {title: 'p99', isNumber: true}, {title: 'Latency'},
];

function trafficCells(traffic) {
  return [
    formatLoadRate(traffic.offered_per_second), formatLoadRate(traffic.succeeded_per_second),
    formatCount(traffic.succeeded), formatCount(traffic.failed), formatCount(traffic.unsent),
    formatTime(traffic.p50_ns), formatTime(traffic.p99_ns),
    traffic.latency === null ? '–' : `${traffic.latency} time`,
  ];
}

function drawTopologyTable({services, edges}) {
  const instances = new Map(services.map(service => [service.name, service.instances]));
  const name = service => `${service} (${formatCount(instances.get(service))})`;
  replaceContent('topology-table', makeTable(
      [{title: 'RPC', isWrapped: true}, {title: 'From', isWrapped: true}, {title: 'To', isWrapped: true},
        ...TRAFFIC_COLUMNS],
      edges.map(edge => [edge.rpc, name(edge.client), name(edge.server), ...trafficCells(edge)])));
}

// ---- Instances ---------------------------------------------------------------

function drawInstanceRows() {
  const {instances} = runs[topologyView.run].topology;
  const ofService = rowsOf(instances).filter(row => row.service === topologyView.service);
  const wanted = topologyView.filter.toLowerCase();
  const found = ofService.filter(
      row => [row.instance, row.rpc, row.role].some(text => text.toLowerCase().includes(wanted)));
  const shown = found.slice(0, MAX_INSTANCES);
  replaceContent('topology-instances-table', makeTable(
      [{title: 'Instance'}, {title: 'RPC', isWrapped: true}, {title: 'As'}, ...TRAFFIC_COLUMNS],
      shown.map(row => [row.instance, row.rpc, row.role, ...trafficCells(row)])));
  const leftOut = found.length - shown.length;
  byId('topology-instances-note').textContent = [
    found.length === 0 ? 'Nothing was measured of such instances.' : 'The worst come first.',
    leftOut === 0 ? '' : `${formatCount(leftOut)} of ${formatCount(found.length)} rows are left out; ` +
        'the filter finds them.',
    instances.rows_left_out === 0 ? '' : `${formatCount(instances.rows_left_out)} rows of the best instances ` +
        'are not in this report.',
  ].filter(Boolean).join(' ');
}

function drawInstances() {
  byId('topology-instances').hidden = topologyView.service === null;
  if (topologyView.service === null) return;
  const filter = element('input', {type: 'search', value: topologyView.filter});
  filter.addEventListener('input', () => {
    topologyView.filter = filter.value;
    drawInstanceRows();
  });
  replaceContent('topology-instances-head', element('h3', {}, `Instances of ${topologyView.service}`),
      element('label', {}, 'Filter ', filter));
  drawInstanceRows();
}

function drawTopology() {
  const {topology} = runs[topologyView.run];
  drawGraph(topology);
  drawTopologyTable(topology);
  drawInstances();
}

function renderTopology() {
  const withEdges = runs.filter(run => run.topology.edges.length > 0);
  showSection('topology', withEdges.length > 0);
  if (withEdges.length === 0) return;
  topologyView.run = withEdges[0].index;
  replaceContent('topology-controls', ...(withEdges.length === 1 ? [] : [selectBox(
      'Run', withEdges.map(run => [String(run.index), run.label]), String(topologyView.run), value => {
        Object.assign(topologyView, {run: Number(value), service: null});
        drawTopology();
      })]));
  drawTopology();
}
