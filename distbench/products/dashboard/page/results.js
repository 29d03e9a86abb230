// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The list of results, with its search and filters, which are in the address, and
// with notes and marks, which are edited in place.

const PAGE_SIZE = 100;
const SEARCH_DELAY_MS = 250;

const READING_DELAY_MS = 1000;

// What is listed, in the server's order, and where the next page begins.
let listed = {results: [], total: 0, next: null};

// How often the server was asked for a page of the list.
let listings = 0;

// The files of searches whose runs are all shown.
const unfoldedFiles = new Set();

// The results ticked for a comparison, by id.
const ticked = new Map();

// ---- Search and filters: controls that are called as in the address ----

const filterControls = [...document.querySelectorAll('#filters [name]')];

function chosenFilters() {
  const {parameters} = currentPlace();
  return Object.fromEntries(filterControls.map(({name}) => [name, parameters[name] ?? '']));
}

function chooseFilters(isSmallStep) {
  const chosen = Object.fromEntries(filterControls.map(({name, value}) => [name, value]));
  if (placeOf('/results', chosen) !== location.hash) goTo('/results', chosen, isSmallStep);
}

for (const control of filterControls) control.addEventListener('change', () => chooseFilters(false));
byId('clear-filters').addEventListener('click', () => goTo('/results', {}));

let searchTimer = null;
byId('search').addEventListener('input', () => {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => chooseFilters(true), SEARCH_DELAY_MS);
});

// choices: what /api/filters says.
function showFilters({tests, labels, hosts, attributes, truncated}) {
  const pairs = Object.entries(attributes).flatMap(([name, values]) => values.map(value => `${name}=${value}`));
  const choices = {test: tests, label: labels, host: hosts, attribute: pairs};
  const chosen = chosenFilters();
  for (const control of filterControls) {
    const {[control.name]: value} = chosen;
    if (control.name in choices) {
      const options = [...new Set([...choices[control.name], value])].filter(Boolean).sort(compareNames);
      control.replaceChildren(new Option('any', ''), ...options.map(option => new Option(option, option)));
      control.parentElement.hidden = options.length === 0;
    }
    control.parentElement.classList.toggle('used', value !== '');
    // What is being typed is newer than the address.
    if (control !== byId('search') || control !== document.activeElement) control.value = value;
  }
  byId('clear-filters').hidden = Object.values(chosen).every(value => value === '');
  byId('filters-note').hidden = !truncated;
}

// The filters as the server wants them: days, in UTC, as times in [after, before).
function filterParameters({after, before, ...others}) {
  const dayStart = day => Date.parse(`${day}T00:00:00Z`);
  const times = {after: dayStart(after), before: dayStart(before) + DAY_MS};
  return {...others, ...Object.fromEntries(Object.entries(times).filter(([, time]) => !Number.isNaN(time)))};
}

// ---- Notes and marks ----

// Has the server keep what the user enters; what it refuses is undone, unless the
// user has gone on.
function keepChanges(box, property, result, path, name) {
  let kept = result[name];
  box.addEventListener('change', async () => {
    const value = box[property];
    result[name] = value;
    if (await postChange(path, {result: result.id, [name]: value})) kept = value;
    else if (result[name] === value) {
      result[name] = kept;
      if (box[property] === value) box[property] = kept;
    }
  });
  return box;
}

function acceptedCell(result) {
  if (!session.may_write) return result.accepted ? 'accepted' : '';
  const box = element('input', {
    type: 'checkbox', checked: result.accepted, title: 'You have looked at this result and take it as it is',
    ariaLabel: `Accepted: ${result.test} of ${formatTimestamp(result.started)}`,
  });
  return keepChanges(box, 'checked', result, '/api/accepted', 'accepted');
}

// Enter, or leaving the box, saves the note; Escape takes back what was typed.
function noteCell(result) {
  if (!session.may_write) return result.note;
  const box = element('textarea', {
    placeholder: 'Add a note', rows: 1, maxLength: 2000, ariaLabel: `Note on ${result.test}`,
  }, result.note);
  box.addEventListener('keydown', event => {
    if (event.key === 'Escape') box.value = result.note;
    else if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    box.blur();
  });
  // The table is sorted and filtered by the default value, which is text in its cell.
  box.addEventListener('change', () => { box.value = box.defaultValue = box.value.trim(); });
  return keepChanges(box, 'value', result, '/api/notes', 'note');
}

// ---- The list ----

function tickCell(result) {
  const tick = element('input', {
    type: 'checkbox', checked: ticked.has(result.id),
    ariaLabel: `Compare ${result.test} of ${formatTimestamp(result.started)}`,
  });
  tick.addEventListener('change', () => {
    if (tick.checked) ticked.set(result.id, result);
    else ticked.delete(result.id);
    renderCompare();
  });
  return element('label', {className: 'tick'}, element('span', {}, formatCellTimestamp(result.started)), tick);
}

function renderCompare() {
  const [base, next] = [...ticked.values()].sort((a, b) => a.started - b.started).map(({id}) => id);
  const advice = ['Tick two results to compare them.', 'Tick another result.'][ticked.size] ??
      `${ticked.size} are ticked; two can be compared.`;
  const untick = button('Untick all', () => {
    ticked.clear();
    renderResults();
  });
  replaceContent('compare', ticked.size === 2 ? element('a', {
    className: 'button', href: addressOf('/compare', {base, new: next}), title: 'The older one is the base',
  }, 'Compare') : element('span', {className: 'note'}, advice), ' ', ...(ticked.size > 0 ? [untick] : []));
}

// Tests of test_builder have some twenty attributes, which would hide all else.
function nameList(names) {
  if (names.length <= 3) return names.join(', ');
  return element('details', {}, element('summary', {}, shortList(names)), names.join(', '));
}

// Shows and hides the rows of the other runs of searches.
function foldRuns(table) {
  for (const row of table.querySelectorAll('tr[data-search]')) {
    row.classList.toggle('folded', !unfoldedFiles.has(row.dataset.search));
  }
}

function foldButton(file, count) {
  const node = button(plural(count, 'more run'), () => {
    if (!unfoldedFiles.delete(file)) unfoldedFiles.add(file);
    node.ariaExpanded = String(unfoldedFiles.has(file));
    foldRuns(byId('results-table'));
  }, {className: 'fold', ariaExpanded: String(unfoldedFiles.has(file))});
  return node;
}

// others: the runs behind this one, which are of the same search; undefined if it is
// behind another itself.
function testCell({id, test, label, file, run_id: run, attributes, traffic_changed: hasOtherTraffic}, others) {
  const pairs = Object.entries(attributes).map(([name, value]) => `${name}=${value}`);
  const traffic = element('small', {className: 'changed', title: 'since the result before, of the same test'}, TRAFFIC_CHANGED);
  return element('div', {}, element('a', {href: reportOf(id), title: `${file}, run ${run}`}, test),
      ...(hasOtherTraffic ? [traffic] : []),
      element('small', {}, label), element('small', {}, nameList(pairs)),
      ...(others?.length > 0 ? [foldButton(file, others.length)] : []));
}

// All verdicts of a search's runs, of which some may be hidden.
function verdictCell(result, others = []) {
  return element('span', {}, ...[...new Set([result, ...others].map(({headline}) => headline))].map(badge),
      ...(result.doubts === '' ? [] : [element('small', {}, result.doubts)]));
}

// What falls among failed requests is infinite, which is null in JSON.
function metricsCell({answer, headlines, metrics, units}, others) {
  return element('div', {className: 'metrics'}, ...(answer === '' || others === undefined ? [] : [element('strong', {}, answer)]), ...headlines.map(name => element('div', {},
      element('span', {className: 'metric-name'}, `${name} `), element('span', {
        className: `metric-value ${metrics[name] === null || name.endsWith(' · failed') ? 'failed' : ''}`,
      }, formatValue(units[name], metrics[name] ?? Infinity)))));
}

function linksCell({id, file}) {
  return element('span', {className: 'links'}, element('a', {href: `${reportOf(id)}.json`}, 'JSON'), ' ',
      element('a', {href: `${reportOf(id)}/file`, title: file}, 'File'));
}

const RESULT_COLUMNS = [
  {title: 'Started (UTC)', makeCell: tickCell, help: 'When the traffic started. Tick two results to compare them.'},
  {title: 'Test', makeCell: testCell, isWrapped: true,
    help: 'With label and attributes. The name leads to the report, which has all probes of a search. A search is one ' +
        'entry; its file may have more runs. "traffic changed": the result before, of the same test, sent something else.'},
  {title: 'Verdict', makeCell: verdictCell, help: `missed, undecided: an objective. ${VERDICT_HELP}`},
  {title: 'Headline', makeCell: metricsCell,
    help: 'Of the first RPCs, those of open loops before others, the 99th percentile of the latency, how many succeeded ' +
        'per second, and what share failed, if any did. Of a search, its verdict and the load found.'},
  {title: 'Duration', makeCell: ({duration_seconds: duration}) => formatTime(1e9 * duration), isNumber: true,
    help: 'From the start of the traffic to its end'},
  {title: 'Hosts', makeCell: ({hosts}) => nameList([...hosts].sort(compareNames)), isWrapped: true,
    help: 'Where the services ran'},
  {title: 'Accepted', makeCell: acceptedCell,
    help: 'You have looked at this result and take it as it is: changes of trends within five results no longer count.'},
  {title: 'Note', makeCell: noteCell, isWrapped: true,
    help: 'Your words, for all who look. Enter keeps them, Escape takes back what was typed.'},
  {title: 'Links', makeCell: linksCell, help: 'The report for programs, and the result file itself'},
];

// Runs of one search are one entry: its first run has the others behind it. On a
// phone, rows are cards, whose cells say what they are.
function resultTable(results) {
  const searches = groupBy(results, ({id, file, answer}) => answer === '' ? id : file).map(([, runs]) => runs);
  const rows = searches.flatMap(runs => runs.map(
      (result, i) => RESULT_COLUMNS.map(({makeCell}) => makeCell(result, i === 0 ? runs.slice(1) : undefined))));
  const table = explainedTable(RESULT_COLUMNS, rows, 'results');
  for (const row of table.querySelectorAll('tbody tr')) {
    RESULT_COLUMNS.forEach(({title}, i) => { row.cells[i].dataset.title = title; });
  }
  // The table may have sorted its rows; they are known by their cells.
  searches.flatMap(runs => runs.map((run, i) => i > 0 ? run.file : null)).forEach((file, i) => {
    if (file !== null) rows[i][0].closest('tr').dataset.search = file;
  });
  foldRuns(table);
  return table;
}

// What to do if nothing is listed.
function adviceOnEmptyList() {
  if (!byId('clear-filters').hidden) return 'No result matches. Remove a filter, or search for less.';
  if (session.why_no_history) return session.why_no_history;
  if (session.reading) return STILL_READING;
  return session.source === 'sequencer' ? 'There are no results yet. Run a test.'
      : `There are no results in ${session.name} yet. Write some there: ` +
          `distbench run_tests --outfile=${session.folders[0]}/NAME.pb.gz`;
}

function renderResults() {
  const {results, total, next} = listed;
  const unread = session.reading ? '; more are being read' : '';
  byId('results-count').textContent = results.length === 0 ? adviceOnEmptyList()
      : results.length === total ? `${plural(total, 'result')}, newest first${unread}`
          : `The newest ${formatCount(results.length)} of ${plural(total, 'result')}${unread}`;
  replaceContent('results-table', ...(results.length === 0 ? [] : [resultTable(results)]));
  const more = button('More', () => {
    more.disabled = true;
    withProblems(listResults(next)).finally(() => { more.disabled = false; });
  });
  replaceContent('results-more', ...(next === null ? [] : [more]));
  renderCompare();
}

// Shows the first page of what the filters select, or also the page at the cursor.
async function listResults(cursor = '') {
  const number = ++listings;
  const parameters = {...filterParameters(chosenFilters()), limit: PAGE_SIZE, cursor};
  // Asked first: what is read between the two questions is in the second answer.
  const {reading} = await request('/api/session');
  const page = await request(addressOf('/api/results', parameters));
  // A later request may have overtaken this one.
  if (number !== listings) return;
  session.reading = reading;
  listed = cursor === '' ? page : {...page, results: [...listed.results, ...page.results]};
  renderResults();
  if (reading && listed.total === 0) setTimeout(listAgain, READING_DELAY_MS, number);
}

// Looks whether something was read meanwhile, unless the user has gone on.
function listAgain(number) {
  if (number === listings && shownPath === '/results') withProblems(listResults());
}

// The choices of filters and problems, which change slowly, are loaded when the view
// is entered.
async function showResults() {
  const [choices, {files}] = await Promise.all(['/api/filters', '/api/problems'].map(path => getOnce(path)));
  showSection('problems', files.length > 0);
  const columns = [
    {title: 'File', isWrapped: true, help: 'Its name in the folder of results'},
    {title: 'Problem', isWrapped: true, help: 'Why it is not listed, and what to do'},
  ];
  drawIfChanged('problems-list', files, () => [
    element('summary', {}, plural(files.length, 'file')),
    element('div', {className: 'scroll'}, explainedTable(columns, files.map(({file, problem}) => [file, problem]), 'problems')),
  ]);
  showFilters(choices);
  await listResults();
}
