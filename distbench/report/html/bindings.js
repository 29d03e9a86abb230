// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// NUMA bindings of instances: where they asked to run, and where they ran.

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
