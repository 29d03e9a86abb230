// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What was assumed about simulated runs.

function simulationBlock(alike, isOnly) {
  const [{simulation}] = alike;
  const extents = alike.map(({label, simulation: {event_count: events, simulated_seconds: seconds}}) =>
      `${isOnly ? '' : `${label}: `}${formatCount(events)} events in ${formatTime(1e9 * seconds)} of simulated time`);
  const parts = [
    element('div', {className: 'scroll'}, makeTable(
        [{title: 'Assumed'}, {title: '', isWrapped: true}],
        simulation.assumptions.map(({subject, text}) => [subject, text]))),
    element('p', {className: 'note'}, `${listSome([...new Set(extents)], MAX_TITLE_NAMES)}.`),
  ];
  if (isOnly) return [element('p', {}, `${simulation.summary}.`), ...parts];
  const names = listSome(alike.map(run => run.label), MAX_TITLE_NAMES);
  return [element('details', {}, element('summary', {}, `${names}: ${simulation.summary}`), ...parts)];
}

// Runs that assumed the same are described once, and folded if others assumed
// something else: the points of a sweep often differ in one figure. What is
// outside of the validation is among the findings.
function renderSimulation() {
  const groups = groupBy(runs.filter(run => run.simulation !== null), ({simulation}) => JSON.stringify(
      [simulation.fabric, simulation.host_count]));
  showSection('simulation', groups.length > 0);
  replaceContent('simulation-parts', ...groups.flatMap(
      ([, alike]) => simulationBlock(alike, alike.length === runs.length)));
}

addPart({renderFirst: renderSimulation});
