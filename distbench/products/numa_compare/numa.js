// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The capacity of NUMA deployments.

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
}

addPart({renderOnce: renderNuma});
