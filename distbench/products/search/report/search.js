// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Load searches: the results of probes, and how the bracket narrowed.

const searchView = {search: 0};

const OUTCOME_COLORS = {
  met: '--ok', missed: '--invalid', generator_limited: '--warn', too_low: '--warn',
  failed: '--ink-soft',
};

const SEARCH_MISSES = ['objective_unreachable', 'not_all_met'];
const SEARCH_ANSWERS = ['converged', 'upper_bound_hit', 'all_met'];

function formatLoad(load) {
  return load === null ? '–' : load.toLocaleString('en', {maximumSignificantDigits: 5});
}

function outcomeBadge(outcome) {
  const node = element('span', {className: 'badge'}, outcome.replace('_', ' '));
  node.style.color = cssColor(OUTCOME_COLORS[outcome] ?? '--ink');
  return node;
}

function isProven(search) {
  return SEARCH_ANSWERS.includes(search.verdict) && search.is_proven === true;
}

function verdictOfSearch(search) {
  const text = search.verdict === null ? 'not ended' : search.verdict.replaceAll('_', ' ');
  if (isProven(search)) {
    return search.doubt === '' ? {text, className: 'ok'} : {text: `${text}, doubtful`, className: 'warn'};
  }
  if (search.verdict === 'invalid' || SEARCH_MISSES.includes(search.verdict)) return {text, className: 'invalid'};
  return {text: SEARCH_ANSWERS.includes(search.verdict) ? `${text}, not proven` : text, className: 'warn'};
}

function remarksOn(probe) {
  return [...probe.instance_failures, ...probe.disturbances.map(sentence => `disturbed: ${sentence}`)];
}

// What makes the answer doubtful, or was tried before it.
function notesOn(search) {
  const attempts = search.earlier_attempts.map(
      ({verdict, probe_count: count}) => `${(verdict ?? 'not ended').replaceAll('_', ' ')} after ${count} probes`);
  return [
    ...(search.doubt === '' ? [] : [`Doubt: ${search.doubt}.`]),
    ...(attempts.length === 0 ? [] : [`Attempts before, without an answer: ${attempts.join(', ')}.`]),
  ];
}

function renderProbes(search) {
  const columns = [
    {title: 'Probe', isNumber: true}, {title: 'Phase'}, {title: 'Load', isNumber: true},
    {title: 'Outcome'}, {title: 'Measured', isWrapped: true}, {title: 'Per second', isNumber: true},
    {title: 'p50', isNumber: true}, {title: 'p95', isNumber: true}, {title: 'p99', isNumber: true},
    {title: 'Host CPU', isNumber: true}, {title: 'From'}, {title: 'For', isNumber: true},
  ];
  const row = (name, phase, probe, load, statistics, outcome, measured, isOverall) => [
    name, phase, load, outcome, measured,
    formatRate(statistics.per_second), formatTime(statistics.latency?.p50_ns),
    formatTime(statistics.latency?.p95_ns), formatTime(statistics.latency?.p99_ns),
    isOverall && probe.host_cpu_share !== null ? `${(100 * probe.host_cpu_share).toFixed(0)} %` : '',
    isOverall ? formatDate(probe.start_timestamp_ns) : '',
    isOverall ? formatTime(probe.end_timestamp_ns - probe.start_timestamp_ns) : '',
  ];
  const rows = search.probes.flatMap(probe => [
    row(String(probe.number), probe.phase, probe, formatLoad(probe.requested_load), probe.statistics,
        outcomeBadge(probe.outcome), [...probe.measured, ...remarksOn(probe)].join('; '), true),
    // Instances side by side are shown only for the final and failed probes.
    ...(probe.phase === 'final' || probe.outcome === 'failed' ? probe.instances.map(
        (statistics, i) => row('', `instance ${i + 1}`, probe, '', statistics, '', '', false)) : []),
  ]);
  replaceContent('probes-table', makeTable(columns, rows));
}

// Of the points at each load the middle one, by load.
function middleOfEachLoad(points) {
  return groupBy(points, ({x}) => x)
      .map(([, alike]) => alike.sort((a, b) => a.y - b.y)[alike.length >> 1])
      .sort((a, b) => a.x - b.x);
}

// A line for each percentile through the judged probes, by load.
function drawLatencyByLoad(search) {
  const probes = search.probes.filter(probe => probe.phase !== 'warmup' && probe.statistics.latency !== null);
  const lines = [['p50', 'p50_ns'], ['p95', 'p95_ns'], ['p99', 'p99_ns']].map(([label, column], i) => ({
    label,
    color: seriesColor(i),
    hasPoints: true,
    points: middleOfEachLoad(probes.map(probe => {
      const ns = probe.statistics.latency[column];
      return {x: probe.requested_load, y: Number.isFinite(ns) ? atLeastOne(ns) : NaN, probe};
    })),
  }));
  byId('search-latency-chart').closest('figure').hidden = probes.length === 0;
  drawLines('search-latency-chart', lines, {title: {text: search.load_unit}}, latencyAxis(lines, 'y'),
      point => `${formatTime(point.y)} at ${formatLoad(point.x)} (probe ${point.probe.number}, ${point.probe.phase})`);
  legend('search-latency-legend', lines);
}

// Measured value / limit, for the objective furthest from being met.
function drawLimits(search) {
  const judged = search.probes.filter(probe => probe.phase !== 'warmup' && probe.load_of_limit.length > 0);
  const lines = Object.keys(OUTCOME_COLORS).map(outcome => ({
    label: outcome.replace('_', ' '),
    color: cssColor(OUTCOME_COLORS[outcome]),
    isPointsOnly: true,
    points: judged.filter(probe => probe.outcome === outcome).map(
        probe => ({x: probe.requested_load, y: Math.max(...probe.load_of_limit), probe})),
  })).filter(line => line.points.length > 0);
  const loads = judged.map(probe => probe.requested_load);
  const limit = {
    label: 'limit', color: cssColor('--ink-soft'), isDashed: true,
    points: loads.length === 0 ? [] : [Math.min(...loads), Math.max(...loads)].map(x => ({x, y: 1})),
  };
  const finals = {
    label: 'final run', color: cssColor('--accent'), isPointsOnly: true, radius: 8, isHollow: true,
    points: judged.filter(probe => probe.phase === 'final').map(
        probe => ({x: probe.requested_load, y: Math.max(...probe.load_of_limit), probe})),
  };
  drawLines('search-limit-chart', [limit, finals, ...lines], {title: {text: search.load_unit}},
      {type: 'logarithmic', ticks: {callback: value => Number(value.toPrecision(2))}},
      point => point.probe === undefined ? 'measured = limit'
          : `${point.y.toPrecision(3)} of the limit at ${formatLoad(point.x)} (probe ${point.probe.number}, ${point.probe.phase})`);
  legend('search-limit-legend', [...lines, limit, finals]);
  const absent = search.probes.filter(probe => probe.phase !== 'warmup' && probe.load_of_limit.length === 0);
  byId('search-limit-absent').hidden = absent.length === 0;
  byId('search-limit-absent').textContent = `Without a figure, because they ended early or failed: ${absent.map(
      ({number, requested_load: load, outcome}) => `probe ${number} (${formatLoad(load)}, ${outcome.replace('_', ' ')})`)
      .join(', ')}.`;
}

// After each probe: the highest load that met, and the lowest that missed; the
// other way round where the lowest load is searched.
function drawBracket(search) {
  const met = [];
  const missed = [];
  const [hardest, easiest] = search.finds_lowest ? [Math.min, Math.max] : [Math.max, Math.min];
  for (const probe of search.probes) {
    if (probe.phase !== 'warmup') {
      const before = {met: met.at(-1)?.y ?? null, missed: missed.at(-1)?.y ?? null};
      const load = probe.requested_load;
      const highest = probe.outcome === 'met' ? hardest(before.met ?? load, load) : before.met;
      const isMiss = probe.outcome === 'missed' || probe.outcome === 'generator_limited';
      const lowest = isMiss ? easiest(before.missed ?? load, load) : before.missed;
      if (highest !== null) met.push({x: probe.number, y: highest});
      if (lowest !== null) missed.push({x: probe.number, y: lowest});
    }
  }
  const lines = Object.keys(OUTCOME_COLORS).map(outcome => ({
    label: outcome.replace('_', ' '),
    color: cssColor(OUTCOME_COLORS[outcome]),
    isPointsOnly: true,
    points: search.probes.filter(probe => probe.outcome === outcome).map(
        probe => ({x: probe.number, y: probe.requested_load, probe})),
  })).filter(line => line.points.length > 0);
  const finals = {
    label: 'final run', color: cssColor('--accent'), isPointsOnly: true, radius: 8, isHollow: true,
    points: search.probes.filter(probe => probe.phase === 'final').map(
        probe => ({x: probe.number, y: probe.requested_load, probe})),
  };
  const brackets = [
    {label: search.finds_lowest ? 'lowest that met' : 'highest that met', color: cssColor('--ok'), isDashed: true, points: met},
    {label: search.finds_lowest ? 'highest that missed' : 'lowest that missed', color: cssColor('--invalid'), isDashed: true, points: missed},
    finals, ...lines,
  ];
  legend('search-bracket-legend', brackets);
  drawLines('search-bracket-chart', brackets, {title: {text: 'probe'}, ticks: {precision: 0}},
  {
    type: 'logarithmic',
    min: 0.9 * Math.min(...search.probes.map(probe => probe.requested_load)),
    max: 1.1 * Math.max(...search.probes.map(probe => probe.requested_load)),
    title: {text: search.load_unit},
    ticks: {callback: value => formatLoad(value)},
  },
  point => point.probe === undefined ? formatLoad(point.y)
      : `${formatLoad(point.y)} (${point.probe.phase})`);
}

function drawSearch() {
  const search = data.searches[searchView.search];
  const answer = [search.objectives.join(' and '), search.answer].filter(Boolean).join(' – ');
  replaceContent('search-verdict', verdictBadge(verdictOfSearch(search)), ` ${answer}; ${search.evidence}`);
  const notes = notesOn(search);
  byId('search-notes').hidden = notes.length === 0;
  byId('search-notes').textContent = notes.join(' ');
  renderProbes(search);
  drawLatencyByLoad(search);
  drawLimits(search);
  drawBracket(search);
}

function renderSearches() {
  showSection('search', data.searches.length > 0);
  if (data.searches.length === 0) return;
  replaceContent('search-controls', ...(data.searches.length === 1 ? [] : [selectBox(
      'Search', data.searches.map(
          (search, i) => [String(i), `${baseName(search.source)}: ${search.objectives.join(', ')}`]),
      String(searchView.search), value => {
        searchView.search = Number(value);
        drawSearch();
      })]));
  drawSearch();
}

// ---- What the page says at its top -------------------------------------------

function titleOfSearches() {
  return data.searches.length === 0 ? '' : `Search: ${listSome(data.searches[0].objectives, MAX_TITLE_NAMES)}`;
}

function searchLine(search) {
  const where = data.searches.length > 1 ? `${baseName(search.source)}, ` : '';
  const doubt = search.doubt === '' ? '' : `. Doubt: ${search.doubt}`;
  return verdictLine({
    ...verdictOfSearch(search),
    reason: `${where}search with ${search.objectives.join(' and ')}: ` +
        `${search.answer || 'no load met the objectives'}${doubt}`,
  });
}

function doubtOfRun(run) {
  const search = data.searches.find(other => other.source === run.source && verdictOfSearch(other).className !== 'ok');
  return search === undefined ? '' : `the search: ${verdictOfSearch(search).text}`;
}

// {search, probe}: undefined if the run is of none. Both have the end of the run.
function probeOf({source, run: {end_timestamp_ns: end}}) {
  const searches = data.searches.filter(search => search.source === source);
  const search = searches.find(({probes}) => probes.some(probe => probe.end_timestamp_ns === end)) ?? searches[0];
  return {search, probe: search?.probes.find(probe => probe.end_timestamp_ns === end)};
}

function objectivesOfRun(run) {
  const {search, probe} = probeOf(run);
  if (search === undefined) return '';
  const outcome = probe === undefined ? '' : `: ${probe.outcome.replaceAll('_', ' ')}, ${probe.measured.join(', ')}`;
  return `a run of the search with ${search.objectives.join(' and ')}${outcome}`;
}

// Runs at different loads are no repeats.
function loadOfRun(run) {
  const {search, probe} = probeOf(run);
  return probe === undefined ? '' : `${formatLoad(probe.requested_load)} ${search.load_unit}`;
}

for (const {statistics, instances} of data.searches.flatMap(({probes}) => probes)) {
  [statistics, ...instances].forEach(({latency}) => latency !== null && raisePercentiles(latency));
}

addPart({
  redraw: renderSearches,
  title: titleOfSearches,
  headlines: () => data.searches.map(searchLine),
  doubtOf: doubtOfRun,
  variantOf: loadOfRun,
  objectivesOf: objectivesOfRun,
  outcomes: () => data.searches,
});
