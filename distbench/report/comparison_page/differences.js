// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What differs between base and new beside the measurements: hosts, versions,
// configs and findings.

function circumstancesTable(test) {
  const rows = test.circumstances.filter(({differs}) => differs)
      .map(({name, base, new: next}) => [name, base ?? 'not known', next ?? 'not known']);
  if (rows.length === 0) return element('p', {className: 'note'}, 'Hosts, versions and settings: none differs.');
  return element('div', {className: 'scroll'}, makeTable(
      [{title: ''}, {title: 'Base', isWrapped: true}, {title: 'New', isWrapped: true}], rows));
}

const MAX_EQUAL_LENGTH = 60;

function equalLine(test) {
  const shown = text => text.length > MAX_EQUAL_LENGTH ? `${text.slice(0, MAX_EQUAL_LENGTH)}…` : text;
  const equal = test.circumstances.filter(({differs}) => !differs).map(({name, base}) => `${name} (${shown(base)})`);
  return equal.length === 0 ? [] : [element('p', {className: 'note'}, `Equal: ${equal.join(', ')}.`)];
}

function configDiff(test) {
  const [base, next] = SIDES.map(side => runsOf(side, test)[0]?.traffic_config ?? '');
  if (base === next) return element('p', {className: 'note'}, 'The traffic configs are equal.');
  return element('details', {open: true},
      element('summary', {}, 'Traffic configs of the first runs: - base, + new'),
      diffView(diffLines(base.split('\n'), next.split('\n'))));
}

function renderDifferences() {
  const both = comparison.tests.filter(test => test.base_name !== null && test.new_name !== null);
  showSection('differences', both.length > 0);
  replaceContent('differences-list', ...both.flatMap(test => [
    ...(both.length > 1 ? [element('h3', {}, test.name)] : []),
    circumstancesTable(test), ...equalLine(test), configDiff(test),
  ]));
}

const FINDING_ORDER = ['failed', 'invalid', 'warn', 'note'];

// The findings of both sides. Those with the same code in the same test are
// one; the number of runs that have it says whether base and new agree.
function groupFindings() {
  const groups = new Map();
  SIDES.forEach((side, i) => {
    for (const run of side.runs) {
      const failure = run.failure === null ? []
          : [{severity: 'failed', code: 'failure', message: `The test did not run to its end: ${run.failure}`}];
      const seen = new Set();
      for (const {severity, code, message} of [...failure, ...run.findings]) {
        const key = JSON.stringify([run.name, severity, code]);
        if (!groups.has(key)) groups.set(key, {test: run.name, severity, message, counts: [0, 0]});
        if (!seen.has(key)) ++groups.get(key).counts[i];
        seen.add(key);
      }
    }
  });
  return [...groups.values()].sort(
      (a, b) => FINDING_ORDER.indexOf(a.severity) - FINDING_ORDER.indexOf(b.severity));
}

function renderFindings() {
  const groups = groupFindings();
  const ofRuns = ({test, counts}, i) =>
      `${counts[i]} of ${SIDES[i].runs.filter(run => run.name === test).length}`;
  replaceContent('findings-table', groups.length === 0 ? element('p', {className: 'note'}, 'No findings.') : makeTable([
    {title: ''}, {title: 'Test', isWrapped: true}, {title: 'Finding; the first message', isWrapped: true},
    {title: 'Runs of base', isNumber: true}, {title: 'Runs of new', isNumber: true},
  ], groups.map(group => [badge(group.severity), group.test, group.message, ofRuns(group, 0), ofRuns(group, 1)])));
}
