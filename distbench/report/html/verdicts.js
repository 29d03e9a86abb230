// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts on runs and tests. Only what was shown to be good is green.

// Of runs, by kind; the worst first.
const VERDICTS = {
  failed: {text: 'failed', className: 'failed'},
  invalid: {text: 'invalid', className: 'invalid'},
  missed: {text: 'missed', className: 'invalid'},
  undecided: {text: 'undecided', className: 'warn'},
  unproven: {text: 'not proven', className: 'warn'},
  empty: {text: 'nothing measured', className: 'warn'},
  warn: {text: 'warn', className: 'warn'},
  ok: {text: 'ok', className: 'ok'},
};

function verdictBadge({text, className}) {
  return element('span', {className: `badge ${className}`}, text);
}

function objectivesWith(run, verdict) {
  return run.objectives.filter(objective => objective.verdict === verdict).length;
}

function describeObjectives(run) {
  const all = run.objectives.length;
  if (all === 0) {
    return partsWith('objectivesOf').map(objectivesOf => objectivesOf(run)).find(Boolean) ?? 'no objectives were set';
  }
  const counts = [['pass', 'met'], ['fail', 'missed'], ['undecided', 'undecided']]
      .map(([verdict, name]) => [objectivesWith(run, verdict), name]).filter(([count]) => count > 0);
  return `${counts.map(([count, name]) => `${count} ${name}`).join(', ')} of ${plural(all, 'objective')}`;
}

// {kind: a key of VERDICTS, text, className, reason}
function verdictOfRun(run) {
  const doubts = partsWith('doubtOf').map(doubtOf => doubtOf(run)).filter(Boolean);
  const warnings = findingsOf(run).filter(finding => finding.severity === 'warn').length;
  const kind = run.failure !== null ? 'failed'
      : run.verdict === 'invalid' ? 'invalid'
      : objectivesWith(run, 'fail') > 0 ? 'missed'
      : objectivesWith(run, 'undecided') > 0 ? 'undecided'
      : doubts.length > 0 ? 'unproven'
      : run.totals.succeeded_count === 0 ? 'empty'
      : warnings > 0 ? 'warn' : 'ok';
  const reasons = [
    kind === 'failed' ? 'the test did not run to its end' : '',
    kind === 'invalid' ? 'the numbers are false' : '',
    kind === 'empty' ? 'no RPC succeeded' : '',
    describeObjectives(run),
    ...doubts,
    warnings === 0 ? 'no warnings' : plural(warnings, 'warning'),
  ];
  return {kind, ...VERDICTS[kind], reason: reasons.filter(Boolean).join('; ')};
}

// The worst verdict of several runs.
function verdictOfGroup(group) {
  const verdicts = group.runs.map(verdictOfRun);
  const kind = Object.keys(VERDICTS).find(name => verdicts.some(verdict => verdict.kind === name));
  const alike = verdicts.filter(verdict => verdict.kind === kind);
  const where = group.runs.length === 1 ? '' : `${alike.length} of ${group.runs.length} runs: `;
  return {...alike[0], reason: where + alike[0].reason};
}
