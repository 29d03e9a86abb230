// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What was found about the runs, and what to do about it.

const SEVERITIES = ['failed', 'invalid', 'warn', 'note'];

// Of one kind; the others are folded.
const MAX_MESSAGES = 3;

function findingsOf(run) {
  const failure = run.failure === null ? [] : [{
    severity: 'failed', code: 'failed', advice: null, of_each_host: false,
    message: `The test did not run to its end: ${run.failure}`,
  }];
  const stopped = run.stopped_instances.map(({instance, message}) => ({
    severity: 'warn', code: 'stopped_early', advice: null, of_each_host: false,
    message: `${instance} stopped early: ${message}`,
  }));
  const leftOut = run.rpcs.filter(rpc => rpc.series_left_out > 0).map(rpc => ({
    severity: 'note', code: 'series_left_out', advice: null, of_each_host: false,
    message: `${rpc.name}: the series over time of ${rpc.series_left_out} clients are left out, ` +
        'because they cannot be added to the others.',
  }));
  return [...failure, ...run.findings, ...stopped, ...leftOut];
}

// Findings of the same severity and code, of all runs; the worst first.
function kindsOfFindings() {
  const kinds = new Map();
  for (const run of runs) {
    for (const finding of findingsOf(run)) {
      const key = `${finding.severity}-${finding.code}`;
      if (!kinds.has(key)) kinds.set(key, {...finding, key, messages: []});
      kinds.get(key).messages.push({run, message: finding.message});
    }
  }
  return [...kinds.values()].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

function messageLine({run, message}) {
  const where = runs.length > 1 ? [element('span', {className: 'where'}, `${run.label}: `)] : [];
  return element('p', {}, ...where, message);
}

// The worst host of each run, where there is one message per host, the worst first.
function firstOfEachRun(messages) {
  const seen = new Set();
  return messages.filter(({run}) => !seen.has(run) && seen.add(run));
}

function findingBlock({severity, key, advice, of_each_host: isOfEachHost, messages}) {
  const first = isOfEachHost ? firstOfEachRun(messages) : messages;
  const shown = first.slice(0, MAX_MESSAGES);
  const folded = messages.filter(message => !shown.includes(message));
  return element('div', {className: 'finding'}, badge(severity), element('div', {},
      ...shown.map(messageLine),
      ...(folded.length === 0 ? [] : [element('details', {id: `finding-${key}`},
          element('summary', {}, `${formatCount(folded.length)} more`), ...folded.map(messageLine))]),
      ...(advice === null ? [] : [element('p', {className: 'advice'},
          element('strong', {}, 'What to do: '), advice)])));
}

function renderFindings() {
  const kinds = kindsOfFindings();
  replaceContent('findings-list', ...(kinds.length > 0 ? kinds.map(findingBlock)
      : [element('p', {className: 'note'}, 'No findings.')]));
}
