// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// All pairs of a cluster: who is out of line, and heat maps by host and by attributes of nodes. All figures are those
// of the data.

const PAIR_METRICS = [['p50_ns', 'p50'], ['p99_ns', 'p99'], ['max_ns', 'maximum']];

// What a reader takes in; the data has more.
const MAX_SHOWN_OUTLIERS = 20;
const MAX_PAIR_ROWS = 500;

const PAIR_KINDS = {
  steady: 'Steady: each node calls one other after the other',
  burst: 'Bursts: all nodes call all others at the same moments',
};

// The tests of a command, which belong together.
const pairSets = groupBy(runs.filter(run => run.all_pairs !== null),
    run => JSON.stringify([run.source, run.repetition, run.simulated])).map(([, tests]) => tests);

// by: empty until the first drawing.
const pairsView = {set: 0, by: '', metric: 'p50_ns'};

// Of a single command, what the test is; of several, its name.
function pairsTitle(run) {
  const kind = PAIR_KINDS[run.attributes.all_pairs];
  return pairSets.length === 1 && kind !== undefined ? kind : run.label;
}

function pairCells(run, by) {
  return rowsOf(run.all_pairs.cells).filter(row => row.by === by);
}

// By host first.
function pairKinds(set) {
  const names = new Set(set.flatMap(run => rowsOf(run.all_pairs.cells).map(row => row.by)));
  return [...names].sort((a, b) => (b === 'host') - (a === 'host') || compareNames(a, b));
}

// What each of those is that names by "host" are of.
function nameOfOne({all_pairs: {names_are: names}}) {
  return names === 'nodes' ? 'node' : 'host';
}

function titleOfKind(run, by) {
  return by === 'host' ? nameOfOne(run) : by;
}

const PAIR_LATENCIES = {
  response: 'response times', service: 'service times',
  mixed: 'response times of open loops, service times of others',
};

function pairLatency({all_pairs: {latency}}) {
  return PAIR_LATENCIES[latency];
}

// ---- Who is out of line ------------------------------------------------------

function pairsSummary(run, cells) {
  const {usual_p50_ns: p50, usual_p99_ns: p99} = run.all_pairs;
  const names = new Set(cells.flatMap(({client, server}) => [client, server]));
  const usual = [[p50, 'p50'], [p99, 'p99']].filter(([ns]) => ns !== null).map(
      ([ns, name]) => `${name} ${formatTime(ns)}`);
  return `${plural(names.size, nameOfOne(run))}, ${plural(cells.length, 'pair')}` +
      `${usual.length > 0 ? `; usual: ${usual.join(', ')} (${pairLatency(run)})` : ''}. `;
}

// Numbers that are false, or incomplete, show neither that somebody is out of line nor that nobody is.
function outliersTitle(run, count) {
  const one = nameOfOne(run);
  const doubt = {invalid: 'the run is invalid', failed: 'the run failed'}[run.verdict];
  if (count > 0) return doubt === undefined ? 'Out of line:' : `Out of line (${doubt}):`;
  if (doubt !== undefined) return `Who is out of line is unknown, as ${doubt}.`;
  return run.all_pairs.is_compared ? `No ${one} and no pair is out of line.` : `Too few ${one}s to compare them.`;
}

function outlierList(run) {
  const cells = pairCells(run, 'host');
  const verdict = verdictOfRun(run);
  const title = element('div', {}, element('h3', {}, pairsTitle(run)),
      element('p', {}, verdictBadge(verdict), ` ${verdict.reason}`));
  if (cells.length === 0) return element('div', {}, title, element('p', {}, 'No pair was measured.'));
  const {outliers, outliers_left_out: leftOut} = run.all_pairs;
  const shown = outliers.filter(outlier => !outlier.is_part);
  const more = shown.length - MAX_SHOWN_OUTLIERS;
  const items = shown.slice(0, MAX_SHOWN_OUTLIERS).map(({text}) => element('li', {}, text));
  if (more > 0) items.push(element('li', {}, `and ${leftOut > 0 ? 'at least ' : ''}${formatCount(more)} more`));
  return element('div', {}, title,
      element('p', {}, pairsSummary(run, cells), element('strong', {}, outliersTitle(run, items.length))),
      ...(items.length > 0 ? [element('ul', {}, ...items)] : []));
}

// ---- Heat maps ---------------------------------------------------------------

// Names and pairs of outliers, as heat maps mark them.
function pairMarks(run, by) {
  const own = run.all_pairs.outliers.filter(outlier => outlier.by === by);
  const lone = own.filter(({client, server}) => client === null || server === null);
  const names = key => new Set(lone.map(outlier => outlier.name ?? outlier[key]).filter(name => name !== null));
  return {
    clients: names('client'), servers: names('server'),
    pairs: new Set(own.filter(outlier => !lone.includes(outlier)).map(keyOfPair)),
  };
}

function describePairCell(run, {client, server, row}) {
  return `${client} → ${server}\n${formatCount(row.succeeded)} succeeded, ${formatCount(row.failed)} failed` +
      `${row.pairs > 1 ? `, ${plural(row.pairs, 'pair')} of ${nameOfOne(run)}s` : ''}\n` +
      `${PAIR_METRICS.map(([key, title]) => `${title} ${formatTime(row[key])}`).join(', ')} (${pairLatency(run)})`;
}

// Numbers of one unit take less room than quantities, unless they differ too much: {unit, format(ns)}.
function pairFormat({low, high}) {
  if (high > 1000 * low) return {unit: '', format: formatTime};
  const [size, unit] = TIME_UNITS.find(([each]) => high >= each) ?? TIME_UNITS.at(-1);
  return {unit: `, ${unit}`, format: ns => String(Number((ns / size).toPrecision(3)))};
}

function pairMap(run, position, scale, metric) {
  const {by} = pairsView;
  const cells = pairCells(run, by).map(row => ({client: row.client, server: row.server, row, value: row[metric[0]]}));
  if (cells.length === 0) return [];
  const names = [...new Set(cells.flatMap(({client, server}) => [client, server]))].sort(compareNames);
  const {unit, format} = pairFormat(scale);
  const caption = `${pairsTitle(run)} – ${metric[1]} of ${pairLatency(run)} by ${titleOfKind(run, by)}`;
  const shared = {cells, scale, marks: pairMarks(run, by), describe: cell => describePairCell(run, cell)};
  if (names.length > MAX_MATRIX_NAMES) {
    const map = makeHeatMap({...shared, id: `all-pairs-map-${position}`, label: `${caption}; a table has its numbers`});
    return [element('figure', {}, element('figcaption', {}, caption), map)];
  }
  const text = ({row, value}) =>
    `${value !== null ? format(value) : row.succeeded > 0 ? '·' : ''}${row.failed > 0 ? ' ✕' : ''}`.trim();
  return [makeMatrix({...shared, names, caption: caption + unit, format: text})];
}

// What is missing on the page, and why.
function pairsNote(set, cells, metric) {
  const missing = cells.filter(row => row[metric[0]] === null && row.succeeded > 0).length;
  const leftOut = sumOf(set.map(run => run.all_pairs.cells.rows_left_out));
  return [
    `▲ at a ${nameOfOne(set[0])} and a frame around a pair: out of line. ✕: RPCs failed. The scale is logarithmic, ` +
        'and the same for all maps.',
    missing > 0 ? `${formatCount(missing)} of ${formatCount(cells.length)} cells have no ${metric[1]}, which takes ` +
        '100 RPCs.' : '',
    leftOut > 0 ? `${formatCount(leftOut)} cells are not on this page; report --format=csv --table=all_pairs has ` +
        'them.' : '',
    'They are compared with one another: a cluster that is slow as a whole has nobody out of line.',
  ].filter(text => text !== '').join(' ');
}

// The slowest of all tests.
function pairsTable(set, metric) {
  const rows = set.flatMap(run => pairCells(run, pairsView.by).map(row => ({run, row})))
      .sort((a, b) => (b.row[metric[0]] ?? Infinity) - (a.row[metric[0]] ?? Infinity));
  const columns = [
    {title: 'Client'}, {title: 'Server'}, ...(set.length > 1 ? [{title: 'Test', isWrapped: true}] : []),
    ...(pairsView.by === 'host' ? [] : [{title: `Pairs of ${nameOfOne(set[0])}s`, isNumber: true}]),
    {title: 'Latency'}, {title: 'Succeeded', isNumber: true}, {title: 'Failed', isNumber: true},
    ...PAIR_METRICS.map(([, title]) => ({title, isNumber: true})),
  ];
  replaceContent('all-pairs-table', makeTable(columns, rows.slice(0, MAX_PAIR_ROWS).map(({run, row}) => [
    row.client, row.server, ...(set.length > 1 ? [run.label] : []),
    ...(pairsView.by === 'host' ? [] : [formatCount(row.pairs)]),
    row.latency, formatCount(row.succeeded), formatCount(row.failed),
    ...PAIR_METRICS.map(([key]) => formatTime(row[key])),
  ]), 'all-pairs'));
  byId('all-pairs-table-note').textContent = rows.length <= MAX_PAIR_ROWS ? ''
      : `The ${MAX_PAIR_ROWS} slowest by ${metric[1]} of ${formatCount(rows.length)}.`;
}

function drawPairs() {
  const set = pairSets[pairsView.set];
  const metric = PAIR_METRICS.find(([key]) => key === pairsView.metric);
  const cells = set.flatMap(run => pairCells(run, pairsView.by));
  const values = cells.map(row => row[metric[0]]).filter(value => value !== null);
  const scale = logarithmicScale(values);
  const isEmpty = values.length === 0;
  replaceContent('all-pairs-outliers', ...set.map(outlierList));
  replaceContent('all-pairs-maps', ...(cells.length === 0 ? []
      : set.flatMap((run, i) => pairMap(run, i, isEmpty ? logarithmicScale([1]) : scale, metric))));
  replaceContent('all-pairs-scale', ...(isEmpty ? [] : [scaleLegend(scale, formatTime)]));
  byId('all-pairs-note').textContent = cells.length === 0 ? '' : pairsNote(set, cells, metric);
  byId('all-pairs-details').hidden = cells.length === 0;
  pairsTable(set, metric);
}

function renderPairControls() {
  const set = pairSets[pairsView.set];
  const kinds = pairKinds(set);
  if (!kinds.includes(pairsView.by)) pairsView.by = kinds[0] ?? 'host';
  const choose = (key, redraw) => value => {
    pairsView[key] = value;
    redraw();
  };
  replaceContent('all-pairs-set', ...(pairSets.length === 1 ? [] : [selectBox('Run',
      pairSets.map((tests, i) => [String(i), tests.map(run => run.label).join(', ')]), String(pairsView.set),
      choose('set', renderPairs))]));
  replaceContent('all-pairs-controls',
      ...(kinds.length > 1 ? [selectBox('By', kinds.map(by => [by, titleOfKind(set[0], by)]), pairsView.by,
          choose('by', drawPairs))] : []),
      selectBox('Figure', PAIR_METRICS, pairsView.metric, choose('metric', drawPairs)));
}

function renderPairs() {
  showSection('all-pairs', pairSets.length > 0);
  if (pairSets.length === 0) return;
  renderPairControls();
  drawPairs();
}

addPart({renderFirst: renderPairs, redraw: renderPairs});
