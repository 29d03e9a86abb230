// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts on runs and tests. Only what was shown to be good is green.

// Of runs, the worst first, with their classes: those of the report's headlines (report/objectives/run_headline.h), and
// one of what products doubt.
const VERDICTS = {
  failed: 'failed',
  invalid: 'invalid',
  missed: 'invalid',
  undecided: 'warn',
  'not proven': 'warn',
  'nothing measured': 'warn',
  warn: 'warn',
  ok: 'ok',
};

// Why a run has such a verdict, if neither objectives nor warnings say it.
const VERDICT_REASONS = {
  failed: 'the test did not run to its end',
  invalid: 'the numbers are false',
  'nothing measured': 'no RPC succeeded',
};

function verdictBadge({text, className}) {
  return element('span', {className: `badge ${className}`}, text);
}

function describeObjectives(run) {
  return run.headline.objectives ??
      partsWith('objectivesOf').map(objectivesOf => objectivesOf(run)).find(Boolean) ?? 'no objectives were set';
}

// The worse one, if there are doubts: what was not shown is not proven.
function verdictWith(doubts, verdict) {
  const names = Object.keys(VERDICTS);
  return doubts.length > 0 && names.indexOf(verdict) > names.indexOf('not proven') ? 'not proven' : verdict;
}

// {text: a key of VERDICTS, className, reason}
function verdictOfRun(run) {
  const doubts = partsWith('doubtOf').map(doubtOf => doubtOf(run)).filter(Boolean);
  const {verdict, warning_count: warnings} = run.headline;
  const text = verdictWith(doubts, verdict);
  const reasons = [
    VERDICT_REASONS[text],
    describeObjectives(run),
    ...doubts,
    warnings === 0 ? 'no warnings' : plural(warnings, 'warning'),
  ];
  return {text, className: VERDICTS[text], reason: reasons.filter(Boolean).join('; ')};
}

// The worst verdict of several runs.
function verdictOfGroup(group) {
  const verdicts = group.runs.map(verdictOfRun);
  const worst = Object.keys(VERDICTS).find(name => verdicts.some(({text}) => text === name));
  const alike = verdicts.filter(({text}) => text === worst);
  const where = group.runs.length === 1 ? '' : `${alike.length} of ${group.runs.length} runs: `;
  return {...alike[0], reason: where + alike[0].reason};
}
