// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The list of results.

const PAGE_SIZE = 100;

// What is listed, in the server's order, and where the next page begins.
let listed = {results: [], total: 0, next: null};

// The results chosen for a comparison, by id.
const chosenResults = new Map();

// Units of metrics, by test and name.
const metricUnits = new Map();

const latestList = latestOnly();

// The choices of filters, units and problems, which change slowly; loaded each time
// that the view is entered.
let resultsSetUp = null;

async function setUpResults() {
  const [choices, {series}, {files}] = await Promise.all(
      ['/api/filters', '/api/series', '/api/problems'].map(path => getJson(path)));
  makeFilters(choices);
  for (const {test, rpc, metric, unit} of series) metricUnits.set(JSON.stringify([test, `${rpc} · ${metric}`]), unit);
  showSection('problems', files.length > 0);
  replaceContent('problems-list', element('details', {}, element('summary', {}, plural(files.length, 'file')),
      element('div', {className: 'scroll'}, makeTable([{title: 'File', isWrapped: true}, {title: 'Problem', isWrapped: true}],
          files.map(({file, problem}) => [file, problem])))));
}

function renderCompare() {
  const ids = [...chosenResults.values()].sort((a, b) => a.started - b.started).map(({id}) => id);
  if (ids.length === 0) {
    replaceContent('compare', element('span', {className: 'note'}, 'Tick two results to compare them.'));
    return;
  }
  const [base, next] = ids;
  const untick = button('Untick all', () => {
    chosenResults.clear();
    renderResults();
  });
  replaceContent('compare', ids.length === 2 ? element('a', {
    className: 'button', href: addressOf('/compare', {base, new: next}), title: 'The older one is the base',
  }, 'Compare') : element('span', {className: 'note'}, ids.length === 1 ? 'Tick another result.'
      : `${ids.length} are ticked; two can be compared.`), ' ', untick);
}

function startedCell(result) {
  const tick = element('input', {
    type: 'checkbox', checked: chosenResults.has(result.id),
    ariaLabel: `Compare ${result.test} of ${formatTimestamp(result.started)}`,
  });
  tick.addEventListener('change', () => {
    if (tick.checked) chosenResults.set(result.id, result);
    else chosenResults.delete(result.id);
    renderCompare();
  });
  return element('label', {className: 'tick'}, element('span', {}, formatTimestamp(result.started).replace(' UTC', '')), tick);
}

// Tests of test_builder have some twenty, which would hide all else.
const MAX_UNFOLDED_ATTRIBUTES = 3;

function attributeList({attributes}) {
  const entries = Object.entries(attributes).map(([name, value]) => `${name}=${value}`);
  const list = element('small', {}, entries.join(', '));
  if (entries.length <= MAX_UNFOLDED_ATTRIBUTES) return list;
  return element('details', {}, element('summary', {}, plural(entries.length, 'attribute')), list);
}

function testCell(result) {
  return element('div', {className: 'result-test'},
      element('a', {href: reportOf(result.id), title: `${result.file}, run ${result.run_id}`}, result.test),
      element('small', {}, result.label), attributeList(result));
}

function metricsCell({test, metrics}) {
  return element('div', {className: 'metrics'}, ...Object.entries(metrics).map(([name, value]) => element('div', {},
      element('span', {className: 'metric-name'}, `${name} `), element('span', {className: 'metric-value'},
          formatValue(metricUnits.get(JSON.stringify([test, name])), value)))));
}

function linksCell({id, file}) {
  return element('span', {className: 'links'}, element('a', {href: `${reportOf(id)}.json`}, 'JSON'), ' ',
      element('a', {href: `${reportOf(id)}/file`, title: file}, 'File'));
}

function resultRow(result) {
  return [
    startedCell(result), testCell(result), badge(result.verdict), metricsCell(result),
    formatTime(1e9 * result.duration_seconds), listShort(result.hosts), acceptedCell(result), noteCell(result),
    linksCell(result),
  ];
}

// "h1, h2 and 23 more"
function listShort(names) {
  const shown = [...names].sort(compareNames);
  if (shown.length <= 3) return shown.join(', ');
  return element('span', {title: shown.join(', ')}, `${shown.slice(0, 2).join(', ')} and ${shown.length - 2} more`);
}

const RESULT_COLUMNS = [
  {title: 'Started (UTC)'}, {title: 'Test', isWrapped: true}, {title: 'Verdict'}, {title: 'Headline'},
  {title: 'Duration', isNumber: true}, {title: 'Hosts', isWrapped: true}, {title: 'Accepted'},
  {title: 'Note', isWrapped: true}, {title: 'Links'},
];

// What to do if nothing is listed.
function adviceOnEmptyList() {
  if (Object.keys(chosenFilters()).length > 0) return 'No result matches. Remove a filter, or search for less.';
  if (session.why_no_history) return session.why_no_history;
  return session.source === 'sequencer' ? 'There are no results yet. Run a test.'
      : `There are no results in ${session.name} yet. Write some there: distbench run_tests --outfile=${session.name}/NAME.pb.gz`;
}

// On a phone, rows are cards, whose cells say what they are.
function resultTable(results) {
  const table = makeTable(RESULT_COLUMNS, results.map(resultRow), 'results');
  for (const row of table.querySelectorAll('tbody tr')) {
    RESULT_COLUMNS.forEach(({title}, i) => { row.cells[i].dataset.title = title; });
  }
  return table;
}

function renderResults() {
  const {results, total, next} = listed;
  byId('results-count').textContent = results.length === 0 ? adviceOnEmptyList()
      : results.length === total ? `${plural(total, 'result')}, newest first`
          : `The newest ${formatCount(results.length)} of ${plural(total, 'result')}`;
  replaceContent('results-table', ...(results.length === 0 ? [] : [resultTable(results)]));
  replaceContent('results-more', ...(next === null ? [] : [button('More', () => withProblems(showList(true)))]));
  renderCompare();
}

// Shows the first page of what the filters select, or what is shown and the next.
async function showList(isMore) {
  const cursor = isMore ? listed.next : '';
  const page = await latestList(getJson('/api/results', {...filterParameters(), limit: PAGE_SIZE, cursor}));
  if (page === null) return;
  listed = isMore ? {...page, results: [...listed.results, ...page.results]} : page;
  renderResults();
}

async function showResults() {
  resultsSetUp ??= setUpResults().catch(error => {
    resultsSetUp = null;
    throw error;
  });
  await resultsSetUp;
  showFilters();
  await showList(false);
}

function leaveResults() {
  resultsSetUp = null;
}

views.set('/results', {id: 'results-view', title: 'Results', show: showResults, leave: leaveResults});
