// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Node managers, equal ones together.

function describeEntries(entries) {
  return Object.entries(entries).map(([name, value]) => `${name} ${value}`).join(' · ');
}

function entryRows(entries) {
  return Object.entries(entries).map(([name, value]) => [name, String(value)]);
}

// Groups that the user has unfolded, by what their nodes have in common.
const openGroups = new Set();

function nodeGroup([key, nodes]) {
  const {state, facts, attributes} = nodes[0];
  const title = nodes.length === 1 ? nodes[0].name : `${formatCount(nodes.length)} ×`;
  const node = element('details', {open: openGroups.has(key)},
      element('summary', {}, `${title} `, element('span', {className: `badge state-${state.toLowerCase()}`}, state),
          ` ${[describeEntries(attributes), describeEntries(facts)].filter(Boolean).join(' · ')}`),
      element('div', {className: 'scroll'}, makeTable(
          [{title: 'Node'}, {title: 'Host'}, {title: 'Address', isWrapped: true}],
          nodes.map(({name, hostname, address}) => [name, hostname, address]), 'nodes')),
      element('div', {className: 'scroll'}, makeTable(
          [{title: 'Fact'}, {title: 'Value', isWrapped: true}], [...entryRows(attributes), ...entryRows(facts)])));
  node.addEventListener('toggle', () => openGroups[node.open ? 'add' : 'delete'](key));
  return node;
}

function renderNodes(nodes) {
  if (nodes.length === 0) {
    replaceContent('nodes-list', element('p', {className: 'note'}, 'No node manager has registered. ' +
        `Start one on each host: distbench node_manager --test_sequencer=${session.name}`));
    return;
  }
  const groups = groupBy(sortedByName(nodes, 'name'),
      ({state, facts, attributes}) => JSON.stringify([state, facts, attributes]));
  replaceContent('nodes-list', ...groups.map(nodeGroup));
}
