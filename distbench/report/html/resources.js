// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Facts about the nodes, and their resource usage.

// nodes: the title of the block of nodes that is drawn; null for the first.
const resourcesView = {run: null, nodes: null};

function drawResources() {
  const run = runs[resourcesView.run];
  const rows = rowsOf(run.resources);
  for (const id of ['resource-charts', 'resources-legend', 'resources-nodes']) showSection(id, rows.length > 0);
  if (rows.length > 0) drawNodesOverTime(run, rows);
  drawNodes(run);
  drawConnections(run);
}

// As many nodes as there are colours; at first the busiest.
function drawNodesOverTime(run, rows) {
  const byNode = new Map(groupBy(rows, row => row.node));
  const names = [...byNode.keys()].sort(compareNames);
  const blocks = blocksOf(names, MAX_CURVES, node => sumOf(byNode.get(node).map(row => row.process_cpu_ns)));
  const note = element('span', {className: 'note'});
  const draw = title => {
    const block = blocks.find(other => other.title === title) ?? blocks[0];
    resourcesView.nodes = block.title;
    note.textContent = `${block.names.length} of ${names.length} nodes are drawn` +
        `${block === blocks[0] ? ', by the CPU time of their processes' : ''}.`;
    drawResourceCharts(originOf(run, rows, 'end_timestamp_ns'), block.names, byNode);
  };
  draw(resourcesView.nodes);
  replaceContent('resources-nodes', ...(blocks.length === 1 ? [] : [
    selectBox('Nodes', blocks.map(({title}) => [title, title]), resourcesView.nodes, draw), note]));
}

function drawResourceCharts(origin, names, byNode) {
  const lines = (label, isDashed, amount) => names.map((node, i) => ({
    label: `${node}${label}`,
    curve: node,
    color: seriesColor(i),
    isDashed,
    points: byNode.get(node).map(row => ({x: (row.end_timestamp_ns - origin) / 1e9, y: amount(row)})),
  }));
  const cores = column => row => row[column] / (row.duration_s * 1e9);
  byId('cpu-caption').textContent = 'CPU, cores: node manager, and its whole host (dashed)';
  drawLines('cpu-chart', [
    ...lines('', false, cores('process_cpu_ns')), ...lines(', host', true, cores('host_cpu_ns')),
  ], SECONDS_AXIS, {beginAtZero: true}, point => `${point.y.toFixed(2)} cores at ${point.x.toFixed(1)} s`);
  drawLines('memory-chart', lines('', false, row => row.resident_bytes / 2 ** 20),
      SECONDS_AXIS, {beginAtZero: true}, point => `${point.y.toFixed(1)} MiB at ${point.x.toFixed(1)} s`);
  legend('resources-legend', names.map((label, i) => ({label, color: seriesColor(i)})));
}

function describeSwitch(name, isOn) {
  return isOn === null ? null : `${name} ${isOn ? 'on' : 'off'}`;
}

function describeHost(host) {
  if (host === null) return '–';
  const versions = Object.entries(host.versions).map(([name, version]) => `${name} ${version}`);
  const devices = host.network_devices.map(device => `${device.name} (MTU ${device.mtu}` +
      `${device.numa_node === null ? '' : `, NUMA node ${device.numa_node}`}` +
      `${device.queueing_discipline === null ? '' : `, ${device.queueing_discipline}`}` +
      `${device.interrupt_cpus.length === 0 ? '' : `, interrupts on CPUs ${device.interrupt_cpus.join(' ')}`})`);
  const mitigations = Object.entries(host.mitigations).filter(([, state]) => state !== 'Not affected');
  return [
    host.hostname, host.kernel, host.cpu_model,
    host.cpu_count === null ? null : `${host.cpu_count} CPUs`,
    host.numa_node_count === null ? null : `${host.numa_node_count} NUMA nodes`,
    ...host.numa_nodes.map(node => `node ${node.id}: ` +
        (node.cpus === '' ? 'no CPUs' : `CPUs ${node.cpus}`) + `, ${formatBytes(node.memory_bytes)}`),
    host.memory_bytes === null ? null : formatBytes(host.memory_bytes),
    host.cpu_frequency_governor === null ? null : `governor ${host.cpu_frequency_governor}`,
    describeSwitch('SMT', host.is_smt_active), describeSwitch('CPU boost', host.is_cpu_boost_enabled),
    host.idle_states.length === 0 ? null : `idle states ${host.idle_states.join(' ')}`,
    host.transparent_huge_pages === null ? null : `transparent huge pages ${host.transparent_huge_pages}`,
    host.tcp_congestion_control === null ? null : `TCP congestion control ${host.tcp_congestion_control}`,
    host.tcp_ecn_mode === null ? null : `TCP ECN mode ${host.tcp_ecn_mode}`,
    host.default_queueing_discipline === null ? null : `queueing discipline ${host.default_queueing_discipline}`,
    host.libfabric_providers.length === 0 ? null : `libfabric ${host.libfabric_providers.join(' ')}`,
    ...devices, ...mitigations.map(([name, state]) => `${name}: ${state}`), ...versions,
  ].filter(part => part !== null && part !== '').join(', ') || '–';
}

function describeEngine({name, versions}) {
  const shown = Object.entries(versions).map(([of, version]) => `${of} ${version}`);
  return `engine ${name}: ${shown.join(', ')}`;
}

// Columns of time that was taken from any node.
const LOSSES = [
  {title: 'Stolen CPU time', counter: 'steal_cpu_ns'},
  {title: 'Throttled', counter: 'throttled_ns'},
];

function drawNodes(run) {
  const lostTime = (node, {counter}) => node.host_counters === null ? null : node.host_counters[counter];
  const losses = LOSSES.filter(loss => run.nodes.some(node => lostTime(node, loss) > 0));
  const columns = [
    {title: 'Node'}, {title: 'CPU time', isNumber: true}, {title: 'User', isNumber: true},
    {title: 'System', isNumber: true}, {title: 'Peak memory', isNumber: true},
    ...losses.map(({title}) => ({title, isNumber: true})),
    {title: 'Clock offset', isNumber: true}, {title: 'Host', isWrapped: true},
  ];
  const seconds = amount => `${amount.toFixed(2)} s`;
  const rows = sortedByName(run.nodes, 'name').map(({name, usage, host, engines, ...node}) => [
    name,
    usage === null ? '–' : seconds(usage.user_cpu_seconds + usage.system_cpu_seconds),
    usage === null ? '–' : seconds(usage.user_cpu_seconds),
    usage === null ? '–' : seconds(usage.system_cpu_seconds),
    usage === null ? '–' : formatBytes(usage.max_resident_kib * 1024),
    ...losses.map(loss => lostTime(node, loss) === null ? '–' : seconds(lostTime(node, loss) / 1e9)),
    node.clock_offset_ns === null ? '–'
        : `${formatTime(node.clock_offset_ns)} ± ${formatTime(node.clock_offset_error_ns)}`,
    [describeHost(host), ...engines.map(describeEngine)].join('; '),
  ]);
  replaceContent('nodes-table', makeTable(columns, rows, 'nodes'));
}

// More would hide the worst.
const MAX_CONNECTIONS = 20;

function drawConnections(run) {
  const worst = [...rowsOf(run.connections)]
      .sort((a, b) => b.retransmitted_segments - a.retransmitted_segments).slice(0, MAX_CONNECTIONS);
  const settings = run.network_settings.map(({text}) => text);
  byId('connections').hidden = worst.length === 0 && settings.length === 0;
  const columns = [
    {title: 'Node'}, {title: 'Instance'}, {title: 'Local address'}, {title: 'Peer'},
    {title: 'Congestion control'}, {title: 'Segments', isNumber: true}, {title: 'Sent again', isNumber: true},
    {title: 'Marked (ECN)', isNumber: true}, {title: 'RTT, mean', isNumber: true},
    {title: 'RTT, max', isNumber: true}, {title: 'Window', isNumber: true},
    {title: 'Rate', isNumber: true},
  ];
  const time = ns => ns === null ? '–' : formatTime(ns);
  replaceContent('connections-table', makeTable(columns, worst.map(row => [
    row.node, row.instance || '–', row.local_address, row.peer_address, row.congestion_control || '–',
    formatCount(row.sent_segments), formatCount(row.retransmitted_segments),
    row.uses_ecn ? formatCount(row.congestion_marked_segments) : '–',
    time(row.mean_rtt_ns), time(row.max_rtt_ns),
    `${row.min_congestion_window} – ${row.max_congestion_window}`, `${formatBytes(row.max_delivery_rate)}/s`,
  ]), 'connections'));
  const others = run.connections.rows.length + run.connections.rows_left_out - worst.length;
  byId('connections-note').textContent = others <= 0 ? ''
      : `The ${worst.length} with the most segments sent again; the result has ${formatCount(others)} more.`;
  byId('connections-settings').hidden = settings.length === 0;
  byId('connections-settings').textContent = `Network settings, read back from sockets: ${settings.join('; ')}.`;
}

function renderResources() {
  const withNodes = runs.filter(run => run.nodes.length > 0 || run.resources.rows.length > 0);
  showSection('resources', withNodes.length > 0);
  if (withNodes.length === 0) return;
  resourcesView.run ??= withNodes[0].index;
  replaceContent('resources-controls', ...(withNodes.length === 1 ? [] : [selectBox(
      'Run', withNodes.map(run => [String(run.index), run.label]), String(resourcesView.run),
      value => {
        resourcesView.run = Number(value);
        drawResources();
      })]));
  drawResources();
}
