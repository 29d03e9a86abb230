// NUMA bindings of instances, and the capacity of NUMA deployments.

// Formats an object keyed by node or CPU: "0: 12.3 MiB, 1: 4 KiB".
function listOf(numbers, format) {
  const parts = Object.entries(numbers).map(([key, value]) => `${key}: ${format(value)}`);
  return parts.length > 0 ? parts.join(', ') : '–';
}

function sharesOf(numbers) {
  const sum = Object.values(numbers).reduce((total, value) => total + value, 0);
  return listOf(numbers, value => `${(100 * value / sum).toFixed(0)} %`);
}

function countOrDash(count) {
  return count === null ? '–' : formatCount(count);
}

function heldCell(proof) {
  if (proof.violations.length === 0) return proof.binding === null ? '–' : badge('ok');
  return element('span', {}, badge(proof.is_strict ? 'invalid' : 'warn'), ` ${proof.violations.join('; ')}`);
}

function switchesCell({voluntary_context_switches: voluntary, involuntary_context_switches: involuntary}) {
  if (voluntary === null || involuntary === null) return '–';
  return element('span', {}, formatCount(voluntary + involuntary),
      element('small', {}, `${formatCount(involuntary)} involuntary`));
}

const PROOF_COLUMNS = [
  {title: 'Instance'}, {title: 'Requested', isWrapped: true}, {title: 'Held', isWrapped: true},
  {title: 'CPU time by CPU', isWrapped: true}, {title: 'Memory by node', isWrapped: true},
  {title: 'Remote pages', isNumber: true}, {title: 'Switches', isNumber: true},
  {title: 'Migrations', isNumber: true},
];

function proofCells(proof) {
  const counters = Object.values(proof.numa_counters_by_node);
  const remote = counters.reduce((sum, counter) => sum + counter.other_node, 0);
  return [
    proof.instance, proof.binding ?? 'nothing', heldCell(proof), sharesOf(proof.cpu_time_ns_by_cpu),
    listOf(proof.resident_bytes_by_node, formatBytes),
    counters.length === 0 ? '–' : formatCount(remote),
    switchesCell(proof), countOrDash(proof.cpu_migrations),
  ];
}

function renderBindings() {
  const rows = runs.flatMap(run => sortedByName(run.bindings, 'instance').map(
      proof => [...(runs.length > 1 ? [run.label] : []), proof.node, ...proofCells(proof)]));
  showSection('bindings', rows.length > 0);
  replaceContent('bindings-table', makeTable(
      [...(runs.length > 1 ? [{title: 'Run', isWrapped: true}] : []), {title: 'Node'}, ...PROOF_COLUMNS],
      rows, 'bindings'));
}

// The ratio of a value with this name in the data.
function ratioCell(capacity, name, value, isFirst) {
  if (isFirst && value !== null) return '1';
  const [ratio, lower, upper] = [capacity[name], capacity[`${name}_lower`], capacity[`${name}_upper`]];
  if (ratio === null) return '–';
  const interval = lower === null ? '?' : `${lower.toFixed(3)} – ${upper.toFixed(3)}`;
  return element('span', {}, ratio.toFixed(3), element('small', {}, interval));
}

function capacityTable(comparison, name) {
  const capacities = comparison.deployments.map(deployment => deployment[name]);
  const first = capacities[0];
  if (first === undefined || first.searches.length === 0) return [];
  const columns = [
    {title: 'Deployment'}, {title: 'Instances', isNumber: true}, {title: 'Total workers', isNumber: true},
    {title: 'Load', isNumber: true}, {title: 'Ratio to the first', isNumber: true},
    {title: 'Mean latency there', isNumber: true}, {title: 'Ratio to the first', isNumber: true},
    {title: 'Each search', isWrapped: true},
  ];
  const rows = comparison.deployments.map((deployment, i) => [
    deployment.name, formatCount(deployment.instances),
    formatCount(deployment.instances * deployment.workers_per_instance),
    capacities[i].load === null ? '–' : formatRate(capacities[i].load),
    ratioCell(capacities[i], 'ratio', capacities[i].load, i === 0),
    capacities[i].mean_latency_ns === null ? '–' : formatTime(capacities[i].mean_latency_ns),
    ratioCell(capacities[i], 'mean_latency_ratio', capacities[i].mean_latency_ns, i === 0),
    capacities[i].searches.map(search => search.verdict === 'converged' ? formatRate(search.load)
        : search.verdict).join(', '),
  ]);
  return [
    element('h3', {}, `Highest ${first.unit} with ${first.objective}`),
    element('div', {className: 'scroll'}, makeTable(columns, rows)),
  ];
}

function comparisonParts(comparison) {
  const proofs = comparison.deployments.flatMap(deployment => deployment.proofs.map(
      proof => [deployment.name, ...proofCells(proof)]));
  return [
    ...comparison.omissions.map(text => element('p', {className: 'note'}, text)),
    ...capacityTable(comparison, 'cpu_target'),
    ...capacityTable(comparison, 'objective'),
    element('p', {className: 'note'}, 'Loads and latencies are geometric means of the searches that converged. Below each ratio ' +
        `is its ${100 * data.confidence} % confidence interval; "?": too few searches for one.`),
    element('h3', {}, 'Where it ran, in the last run of each deployment'),
    element('div', {className: 'scroll'}, makeTable([{title: 'Deployment'}, ...PROOF_COLUMNS], proofs)),
  ];
}

function renderNuma() {
  showSection('numa', data.numa_comparisons.length > 0);
  replaceContent('numa-comparisons', ...data.numa_comparisons.flatMap(comparisonParts));
  renderBindings();
}
