// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The verdict on each test, and the figures behind it.

// More would hide the verdicts.
const MAX_HEADLINE_RPCS = 6;
const MAX_TABLE_RPCS = 3;

// Names of the RPCs that nothing else causes; if that is unknown, of all with
// response times, or of all.
function entryRpcs({topology, rpcs}) {
  const entries = new Set(topology.edges.filter(edge => edge.is_entry).map(edge => edge.rpc));
  const choices = [rpc => entries.has(rpc.name), rpc => rpc.response_time !== null, () => true];
  return choices.map(choice => rpcs.filter(choice)).find(chosen => chosen.length > 0)?.map(rpc => rpc.name) ?? [];
}

// ---- Figures of an RPC -------------------------------------------------------

function latencyNameOf(rpc) {
  return rpc.response_time !== null ? 'response_time' : 'service_time';
}

function percentileOf(rpc, percent, name = latencyNameOf(rpc)) {
  return rpc[name]?.percentiles.find(entry => entry.percentile === percent) ?? null;
}

function figuresOf(rpc) {
  const times = rpc[latencyNameOf(rpc)];
  // Some RPCs are both in failed_count and in unsent_count; the latency has each of them once.
  const lost = times?.failed_count ?? 0;
  return {
    offered: rpc.offered_per_second,
    achieved: rpc.duration_ns > 0 ? rpc.per_second : null,
    p50: percentileOf(rpc, 50),
    p99: percentileOf(rpc, 99),
    wire: {p50: percentileOf(rpc, 50, 'wire_time'), p99: percentileOf(rpc, 99, 'wire_time')},
    unsent: rpc.offered_load?.unsent_count ?? 0,
    lost,
    lostShare: times ? lost / times.count : null,
    latencyTitle: LATENCIES[latencyNameOf(rpc)].title,
  };
}

// Of the runs that have this RPC.
function figuresOfGroup(group, rpcName) {
  return group.runs.flatMap(run => run.rpcs.filter(rpc => rpc.name === rpcName).map(figuresOf));
}

// {median, range}, each a text; the range is empty for a single value.
function summarize(values, format) {
  const numbers = values.filter(value => value !== null).sort((a, b) => a - b);
  if (numbers.length === 0) return {median: '–', range: ''};
  const middle = numbers.length >> 1;
  const median = numbers.length % 2 === 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
  if (values.length === 1) return {median: format(median), range: ''};
  const of = numbers.length === values.length ? plural(values.length, 'run')
      : `${numbers.length} of ${plural(values.length, 'run')}`;
  return {
    median: format(median),
    range: `median; ${format(numbers[0])} – ${format(numbers.at(-1))} in ${of}`,
  };
}

function formatLoadRate(perSecond) {
  return perSecond === null ? '–' : `${formatRate(perSecond)}/s`;
}

function describeInterval({lower_ns: lower, upper_ns: upper}) {
  const bound = ns => ns === null ? '?' : formatTime(ns);
  return `${bound(lower)} – ${bound(upper)} (${100 * data.confidence} % confidence)`;
}

// ---- Tiles -------------------------------------------------------------------

function tile(title, value, details, className = '') {
  return element('div', {className: `tile ${className}`},
      element('div', {className: 'tile-title'}, title), element('div', {className: 'tile-value'}, value),
      ...details.filter(Boolean).map(text => element('div', {className: 'tile-detail'}, text)));
}

function loadTile(figures) {
  const achieved = summarize(figures.map(figure => figure.achieved), formatLoadRate);
  const offered = summarize(figures.map(figure => figure.offered), formatLoadRate);
  return tile('Load achieved', achieved.median, [
    offered.median === '–' ? 'no offered rate in this result' : `of ${offered.median} offered`,
    achieved.range,
  ]);
}

function latencyTile(figures, name) {
  const value = summarize(figures.map(figure => figure[name]?.value_ns ?? null), formatTime);
  const wire = summarize(figures.map(figure => figure.wire[name]?.value_ns ?? null), formatTime);
  const [first] = figures;
  return tile(`${name}, ${first.latencyTitle}`, value.median, [
    value.range,
    figures.length > 1 ? '' : first[name] === null ? 'too few RPCs' : describeInterval(first[name]),
    wire.median === '–' ? '' : `${name} of the wire time: ${wire.median}`,
  ]);
}

function failuresTile(figures) {
  const sum = name => figures.reduce((total, figure) => total + figure[name], 0);
  const lost = sum('lost');
  const unsent = sum('unsent');
  const runsWith = figures.filter(figure => figure.lost > 0).length;
  const share = summarize(figures.map(figure => figure.lostShare), formatShare);
  return tile('Failures', formatCount(lost), [
    share.median === '–' ? 'nothing was sent' : `${share.median} of all RPCs`,
    share.range,
    unsent > 0 ? `${formatCount(unsent)} of them were never sent` : '',
    figures.length > 1 && lost > 0 ? `in ${runsWith} of ${figures.length} runs` : '',
  ], lost > 0 ? 'bad' : '');
}

function tilesOfRpc(group, rpcName) {
  const figures = figuresOfGroup(group, rpcName);
  return element('div', {className: 'headline-rpc'}, element('h3', {}, rpcName),
      element('div', {className: 'tiles'}, loadTile(figures), latencyTile(figures, 'p50'),
          latencyTile(figures, 'p99'), failuresTile(figures)));
}

function rpcsOfGroup(group) {
  return [...new Set(group.runs.flatMap(entryRpcs))];
}

function tilesOf(group) {
  const names = rpcsOfGroup(group);
  const tiles = names.map(name => tilesOfRpc(group, name));
  if (tiles.length <= MAX_HEADLINE_RPCS) return tiles;
  return [...tiles.slice(0, MAX_HEADLINE_RPCS), element('details', {id: `more-rpcs-${group.index}`},
      element('summary', {}, `${tiles.length - MAX_HEADLINE_RPCS} more RPCs`), ...tiles.slice(MAX_HEADLINE_RPCS))];
}

// ---- Objectives --------------------------------------------------------------

const OBJECTIVE_VERDICTS = {
  fail: {text: 'missed', className: 'invalid'},
  undecided: {text: 'undecided', className: 'warn'},
  pass: {text: 'met', className: 'ok'},
};

function formatFigure(value, unit) {
  if (value === null || value === Infinity) return formatTime(value);
  return {ns: formatTime, per_second: formatLoadRate, ratio: formatRate, share: formatShare,
    number: formatRate, bytes: formatBytes}[unit]?.(value) ?? '–';
}

function objectiveRow(objective, repeats) {
  const counts = Object.entries(OBJECTIVE_VERDICTS)
      .map(([verdict, badgeOf]) => [repeats.filter(repeat => repeat.verdict === verdict).length, badgeOf])
      .filter(([count]) => count > 0);
  const [first] = repeats;
  const measured = summarize(repeats.map(repeat => repeat.measured), value => formatFigure(value, first.unit));
  const interval = first.lower === null && first.upper === null ? ''
      : [first.lower, first.upper].map(bound => bound === null ? '?' : formatFigure(bound, first.unit)).join(' – ');
  return [
    objective,
    element('span', {}, ...counts.flatMap(([count, badgeOf]) => [
      verdictBadge({...badgeOf, text: repeats.length === 1 ? badgeOf.text : `${badgeOf.text} ${count}×`}), ' '])),
    element('span', {}, measured.median,
        element('small', {}, repeats.length > 1 ? measured.range : interval)),
    formatFigure(first.limit, first.unit),
    repeats.length === 1 ? first.evidence : '',
  ];
}

function objectivesOf(group) {
  const names = [...new Set(group.runs.flatMap(run => run.objectives.map(({objective}) => objective)))];
  if (names.length === 0) return [];
  const columns = [
    {title: 'Objective', isWrapped: true}, {title: 'Verdict'}, {title: 'Measured', isNumber: true},
    {title: 'Limit', isNumber: true}, {title: 'Evidence', isWrapped: true},
  ];
  return [element('div', {className: 'scroll'}, makeTable(columns, names.map(name => objectiveRow(
      name, group.runs.flatMap(run => run.objectives.filter(({objective}) => objective === name))))))];
}

// ---- Tests -------------------------------------------------------------------

const FIGURE_COLUMNS = [
  {title: 'RPC', isWrapped: true}, {title: 'Offered', isNumber: true}, {title: 'Achieved', isNumber: true},
  {title: 'p50', isNumber: true}, {title: 'p99', isNumber: true}, {title: 'Failures', isNumber: true},
];

function figureCells(group, rpcName) {
  const figures = figuresOfGroup(group, rpcName);
  const cell = (values, format) => {
    const {median, range} = summarize(values, format);
    return range === '' ? median : element('span', {}, median, element('small', {}, range));
  };
  const latency = name => cell(figures.map(figure => figure[name]?.value_ns ?? null), formatTime);
  return [
    element('span', {}, rpcName, element('small', {}, figures[0].latencyTitle)),
    cell(figures.map(figure => figure.offered), formatLoadRate),
    cell(figures.map(figure => figure.achieved), formatLoadRate),
    latency('p50'), latency('p99'),
    cell(figures.map(figure => figure.lostShare), formatShare),
  ];
}

// Rows for the first RPCs of a group, after the cells that they share.
function figureRows(group, shared) {
  const names = rpcsOfGroup(group);
  if (names.length === 0) return [[...shared, 'no RPCs', ...Array(FIGURE_COLUMNS.length - 1).fill('–')]];
  const more = names.length - MAX_TABLE_RPCS;
  return [
    ...names.slice(0, MAX_TABLE_RPCS).map((name, i) => [
      ...(i === 0 ? shared : shared.map(() => '')), ...figureCells(group, name)]),
    ...(more <= 0 ? [] : [[...shared.map(() => ''), `${more} more RPCs`, ...Array(FIGURE_COLUMNS.length - 1).fill('')]]),
  ];
}

function verdictTable(listed) {
  const columns = [{title: 'Test', isWrapped: true}, {title: 'Verdict'}, ...FIGURE_COLUMNS];
  return element('div', {className: 'scroll', id: 'verdicts-table'}, makeTable(columns, listed.flatMap(
      group => figureRows(group, [group.label, verdictBadge(verdictOfGroup(group))]))));
}

function repeatsOf(group) {
  if (group.runs.length === 1) return [];
  const columns = [{title: 'Run', isWrapped: true}, {title: 'Verdict'}, {title: 'Started'}, ...FIGURE_COLUMNS];
  const rows = group.runs.flatMap(run => figureRows({...group, runs: [run]},
      [run.label, verdictBadge(verdictOfRun(run)), formatDate(run.run.start_timestamp_ns)]));
  return [element('details', {id: `repeats-${group.index}`},
      element('summary', {}, `The ${group.runs.length} runs of this test`),
      element('div', {className: 'scroll'}, makeTable(columns, rows)))];
}

function verdictLine(verdict) {
  const sentence = `${verdict.reason[0].toUpperCase()}${verdict.reason.slice(1)}`;
  return element('p', {className: 'verdict'}, verdictBadge(verdict), ` ${sentence}.`);
}

function partsOf(group) {
  return [verdictLine(verdictOfGroup(group)), ...tilesOf(group), ...objectivesOf(group), ...repeatsOf(group)];
}

function renderHeadline() {
  const lines = partsWith('headlines').flatMap(headlines => headlines());
  const groups = [...testGroups.values()];
  showSection('headline', runs.length + lines.length > 0);
  const tests = groups.length === 1 ? partsOf(groups[0])
      : groups.map(group => element('details', {id: `test-${group.index}`}, element('summary', {}, group.label),
          ...partsOf(group)));
  replaceContent('headline-parts', ...lines,
      ...(groups.length > 1 ? [verdictTable(groups)] : []), ...tests);
}

// Facts about each run that the verdicts do not need.
function renderRuns() {
  const columns = [
    {title: 'Run', isWrapped: true}, {title: 'Verdict'}, {title: 'Started'},
    {title: 'Traffic', isNumber: true}, {title: 'Succeeded', isNumber: true},
    {title: 'Failed', isNumber: true}, {title: 'Warm-up', isNumber: true},
    {title: 'Sent', isNumber: true}, {title: 'Version'}, {title: 'Seed'},
  ];
  showSection('runs', runs.length > 0);
  replaceContent('runs-table', makeTable(columns, runs.map(run => [
    run.label, verdictBadge(verdictOfRun(run)), formatDate(run.run.start_timestamp_ns),
    formatTime(run.totals.duration_ns), formatCount(run.totals.succeeded_count),
    formatCount(run.totals.failed_count), formatCount(run.totals.warmup_count),
    formatBytes(run.totals.request_bytes + run.totals.response_bytes),
    [run.run.version, run.run.revision].filter(Boolean).join(' ') || '–',
    run.run.random_seed ?? '–',
  ])));
}
