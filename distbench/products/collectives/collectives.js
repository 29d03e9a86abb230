// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Collective operations: a row per operation and group, and which of its ranks are late. All figures are those of the
// data.

// What a reader takes in; the data has more.
const MAX_COLLECTIVE_ROWS = 200;
const MAX_RANK_ROWS = 100;

// Marks of more ranks are smaller, not to hide one another.
const MAX_LARGE_MARKS = 128;

const collectiveRuns = runs.filter(run => run.collectives !== null);

// The groups of all runs, those that take longest first if they are too many.
const collectiveGroups = (() => {
  const all = collectiveRuns.flatMap(run => rowsOf(run.collectives.groups).map(row => ({run, row})));
  if (all.length <= MAX_COLLECTIVE_ROWS) return all;
  return [...all].sort((a, b) => (b.row.time_ns ?? 0) - (a.row.time_ns ?? 0)).slice(0, MAX_COLLECTIVE_ROWS);
})();

// The group whose ranks are drawn: at first the one that waits for its last rank for the greatest part of its time.
const collectivesView = (() => {
  const waits = collectiveGroups.map(({row}) => (row.begin_spread_p50_ns ?? 0) / (row.time_ns || Infinity));
  return {group: Math.max(0, waits.indexOf(greatestOf(waits)))};
})();

// As nccl-tests have it: 10^9 bytes per second.
function formatBandwidth(bytesPerSecond) {
  return bytesPerSecond === null ? '–' : String(Number((bytesPerSecond / 1e9).toPrecision(3)));
}

function collectiveOperation({operation, algorithm}) {
  return algorithm === null ? operation : `${operation} by ${algorithm}`;
}

// How far the ranks are apart and, below, who is last most often.
function spreadCell(ns, rank, share) {
  if (rank === null) return '–';
  return element('span', {}, formatTime(ns), element('small', {}, `${rank}: ${formatShare(share)}`));
}

const withCollectiveRun = text => collectiveRuns.length > 1 ? [text] : [];

function renderCollectivesTable() {
  const number = title => ({title, isNumber: true});
  const columns = [
    ...withCollectiveRun({title: 'Run', isWrapped: true}), {title: 'Collective'}, {title: 'Group'},
    {title: 'Operation'}, number('Size'), number('Ranks'), number('Iterations'), number('Time'),
    number('algbw GB/s'), number('busbw GB/s'), number('Whole: p99'), number('Begin spread'), number('End spread'),
  ];
  replaceContent('collectives-table', makeTable(columns, collectiveGroups.map(({run, row}) => [
    ...withCollectiveRun(run.label), row.collective, row.group, collectiveOperation(row), formatBytes(row.size_bytes),
    formatCount(row.ranks),
    `${formatCount(row.iterations)}${row.unfinished > 0 ? ` (${formatCount(row.unfinished)} unfinished)` : ''}`,
    formatTime(row.time_ns), formatBandwidth(row.algorithm_bandwidth), formatBandwidth(row.bus_bandwidth),
    formatTime(row.whole_p99_ns), spreadCell(row.begin_spread_p50_ns, row.last_to_begin, row.last_to_begin_share),
    spreadCell(row.end_spread_p50_ns, row.last_to_end, row.last_to_end_share),
  ]), 'collectives'));
  const leftOut = sumOf(collectiveRuns.map(({collectives: {groups}}) => groups.rows.length + groups.rows_left_out)) -
      collectiveGroups.length;
  byId('collectives-note').textContent = 'Time is per iteration, the mean of the ranks. Spreads are how far the first ' +
      'and the last rank are apart (p50); below is the rank that is the last most often, and in which share of the ' +
      'iterations.' +
      (leftOut > 0 ? ` ${formatCount(leftOut)} groups that take less time are not in this table; report --format=csv ` +
          '--table=collectives has them.' : '');
}

// ---- Ranks of a group --------------------------------------------------------

function ranksOf({run, row}) {
  return rowsOf(run.collectives.ranks).filter(
      rank => rank.collective === row.collective && rank.group === row.group);
}

// Who is late, and how sure that is.
function lateSentence({row}, ranks) {
  if (row.last_to_begin === null) {
    return 'No iteration was listed by all ranks, so that nothing is known of who was late.';
  }
  const late = name => ranks.find(({rank}) => rank === name);
  const of = (name, share, verb, key) => {
    const by = late(name)?.[key] ?? null;
    return `${name} is the last to ${verb} in ${formatShare(share)} of the iterations` +
        (by === null ? '' : `, on average ${formatTime(by)} after the first`);
  };
  const error = row.clock_error_ns;
  return `${of(row.last_to_begin, row.last_to_begin_share, 'begin', 'begins_later_ns')}; ` +
      `${of(row.last_to_end, row.last_to_end_share, 'end', 'ends_later_ns')}. ` +
      `The ranks take ${formatTime(row.time_ns)} per iteration.` +
      (!error ? '' : ` Clocks of their hosts may differ by ${formatTime(error)}` +
          `${row.begin_spread_p50_ns < 2 * error ? ': too much to say who is late.' : '.'}`);
}

// A mark for each rank, and a circle around the one that is late.
function rankMarks({row}, ranks) {
  const points = key => ranks.map((rank, x) => ({x, y: rank[key], rank: rank.rank})).filter(({y}) => y !== null);
  const radius = ranks.length > MAX_LARGE_MARKS ? 1.5 : 4;
  const begins = points('begins_later_ns');
  const marks = {isPointsOnly: true, radius};
  return [
    {...marks, label: 'last to begin', color: cssColor('--invalid'), isHollow: true, radius: 9,
      points: begins.filter(({rank}) => rank === row.last_to_begin)},
    {...marks, label: 'begins', color: seriesColor(0), points: begins},
    {...marks, label: 'ends (hollow)', color: seriesColor(1), isHollow: true, points: points('ends_later_ns')},
  ].filter(({points: some}) => some.length > 0);
}

function drawRanks(group, ranks) {
  const lines = rankMarks(group, ranks);
  byId('collectives-ranks').hidden = lines.length === 0;
  if (lines.length === 0) return;
  const x = {
    title: {text: `ranks of ${group.row.group}`}, zoom: 'collectives-ranks', min: -1, max: ranks.length,
    afterBuildTicks: axis => { axis.ticks = axis.ticks.filter(({value}) => Number.isInteger(value) && value in ranks); },
    ticks: {callback: value => String(value)},
    column: {title: 'rank', valueOf: ({rank}) => rank},
  };
  const y = {
    beginAtZero: true, ticks: {callback: value => formatTime(value)},
    column: {title: 'ns after the first', valueOf: point => point.y},
  };
  drawLines('collectives-chart', lines, x, y, ({rank, y: ns}) => `${rank}, ${formatTime(ns)} after the first`);
  legend('collectives-legend', lines);
}

function renderRanksTable(ranks) {
  const number = title => ({title, isNumber: true});
  const columns = [
    {title: 'Rank'}, number('Iterations'), number('Mean'), number('p50'), number('p99'), number('Max'),
    number('Begins later'), number('Ends later'), number('Last to begin'), number('Last to end'),
  ];
  const latest = ranks.length <= MAX_RANK_ROWS ? ranks
      : [...ranks].sort((a, b) => (b.begins_later_ns ?? 0) - (a.begins_later_ns ?? 0)).slice(0, MAX_RANK_ROWS);
  replaceContent('collectives-ranks-table', makeTable(columns, latest.map(rank => [
    rank.rank, formatCount(rank.iterations), formatTime(rank.mean_ns), formatTime(rank.p50_ns),
    formatTime(rank.p99_ns), formatTime(rank.max_ns), formatTime(rank.begins_later_ns),
    formatTime(rank.ends_later_ns), formatCount(rank.last_to_begin_count), formatCount(rank.last_to_end_count),
  ]), 'collective-ranks'));
  byId('collectives-ranks-note').textContent = ranks.length <= MAX_RANK_ROWS ? ''
      : `The ${MAX_RANK_ROWS} of ${formatCount(ranks.length)} ranks that begin latest.`;
}

function drawCollective() {
  const group = collectiveGroups[collectivesView.group];
  const ranks = ranksOf(group);
  byId('collectives-sentence').textContent = lateSentence(group, ranks);
  drawRanks(group, ranks);
  renderRanksTable(ranks);
}

function renderCollectives() {
  showSection('collectives', collectiveGroups.length > 0);
  if (collectiveGroups.length === 0) return;
  renderCollectivesTable();
  replaceContent('collectives-controls', ...(collectiveGroups.length === 1 ? [] : [selectBox('Ranks of',
      collectiveGroups.map(({run, row}, i) => [String(i), [...withCollectiveRun(run.label), row.collective, row.group]
          .join(' · ')]), String(collectivesView.group), value => {
        collectivesView.group = Number(value);
        drawCollective();
      })]));
  drawCollective();
}

addPart({redraw: renderCollectives});
