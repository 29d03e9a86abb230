// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The view of trends: what changed, the chosen series with its chart, its changes
// in words and its table, and the series of a test as small charts.

const PERIODS = [
  ['0', 'all results'], ['7', 'last 7 days'], ['30', 'last 30 days'], ['90', 'last 90 days'], ['365', 'last year'],
];

const LOW_AND_HIGH = 'Of one run, the bounds of its 95 % confidence interval; of several, the least and the greatest value';

const MAX_CHANGED_SERIES = 24;
const MAX_ENTRIES = 10;

// What is shown: {test, series, days}; test and series may be undefined, and 0 days
// are all.
let shownTrends = null;

function loadTrend({id}) {
  return getOnce('/api/trend', {series: id});
}

// ---- Changes in words ----

// "worse", "better", or "changed" where neither direction is better.
function kindOfChange({before, after}, {better}) {
  if (better === 'neither') return 'changed';
  return (better === 'lower' ? after > before : after < before) ? 'worse' : 'better';
}

// "+5.1 %"
function sizeOf({relative}) {
  if (relative === null) return 'from 0';
  return `${relative < 0 ? '−' : '+'}${(100 * Math.abs(relative)).toFixed(1)} %`;
}

// "level +5.1 % (mean 1.02 ms → 1.07 ms, p = 0.002)"
function describeChange(change, {unit}) {
  return `level ${sizeOf(change)} (mean ${formatValue(unit, change.before)} → ${formatValue(unit, change.after)}, ` +
      `p = ${Number(change.p_value.toPrecision(2))})`;
}

// ["kernel 6.1.0-18 → 6.1.0-20"]. Facts may change some results before or after the
// values do.
function describeFacts({facts}) {
  return facts.map(({name, before, after, distance}) => `${name} ${before || '–'} → ${after || '–'}` +
      (distance === 0 ? '' : ` (${plural(Math.abs(distance), 'result')} ${distance < 0 ? 'earlier' : 'later'})`));
}

// What changed at the place of these changes, each fact once.
function factsNote(changes) {
  const facts = [...new Set(changes.flatMap(describeFacts))];
  return facts.length === 0 ? 'No known fact changed there.' : `Changed there: ${facts.join('; ')}.`;
}

// ---- What changed ----

// What changed at one result of a test is one entry: a new kernel moves many metrics.
function changeEntry(changes) {
  const [{started, series: {test}}] = changes;
  const links = changes.flatMap(change => [' ', element('a', {
    className: `badge ${kindOfChange(change, change.series)}`,
    href: placeOf('/trend', {series: change.series.id}), title: describeChange(change, change.series),
  }, `${nameOfSeries(change.series)} ${sizeOf(change)}, ${kindOfChange(change, change.series)}`)]);
  return element('li', {}, element('time', {}, formatDay(started)), ' ', element('strong', {}, test), ...links,
      element('small', {}, factsNote(changes)));
}

// The newest changes of all series that nobody has accepted.
async function renderWhatChanged(allSeries) {
  const changed = allSeries.filter(({changes}) => changes > 0).sort((a, b) => b.last_change - a.last_change);
  const trends = await Promise.all(changed.slice(0, MAX_CHANGED_SERIES).map(loadTrend));
  const changes = trends.flatMap(({changes, points, series}) => changes.filter(({accepted}) => !accepted)
      .map(change => ({...change, series, result: points[change.index].result}))).sort((a, b) => b.started - a.started);
  const entries = groupBy(changes, ({series, result}) => JSON.stringify([series.test, result])).slice(0, MAX_ENTRIES);
  const others = changed.length - MAX_CHANGED_SERIES;
  const advice = changed.length === 0 ? [note('No change was found in any series.')]
      : others > 0 ? [note(`${formatCount(others)} more series have older changes: choose their test.`)] : [];
  replaceContent('what-changed-list',
      element('ul', {className: 'changes'}, ...entries.map(([, group]) => changeEntry(group))), ...advice);
}

// ---- The chosen series ----

function pointsSince({points}, start) {
  return points.filter(({started}) => started >= start);
}

// When the last so many days of the trend begin.
function startOf({points}, days) {
  return days === 0 || points.length === 0 ? -Infinity : points.at(-1).started - days * DAY_MS;
}

function changeItem(change, {points, series}) {
  const around = element('a', {
    href: addressOf('/compare', {base: points[change.index - 1].result, new: points[change.index].result}),
  }, 'Compare before and after');
  return element('li', {}, `${formatTimestamp(change.started)} `, badge(kindOfChange(change, series)),
      ` ${describeChange(change, series)}${change.accepted ? ', accepted' : ''}`,
      element('small', {}, factsNote([change]), ' ', around));
}

function trendTable({points, changes, series: {unit, metric}}, start) {
  const remarks = new Map(changes.map((change, i) => [change.index, `change ${i + 1}: ${sizeOf(change)}`]));
  const remarksOf = (index, point) => [
    point.accepted ? 'accepted' : '', point.traffic_changed ? TRAFFIC_CHANGED : '', remarks.get(index) ?? '',
  ].filter(Boolean).join(', ');
  const shown = [...points.entries()].filter(([, {started}]) => started >= start).reverse();
  return explainedTable([
    {title: 'Started (UTC)', help: 'When the first run of the file started; leads to its report'},
    {title: metric, help: 'In the unit of each cell; of several runs in a file, their median', isNumber: true},
    {title: 'Low', help: LOW_AND_HIGH, isNumber: true}, {title: 'High', help: LOW_AND_HIGH, isNumber: true},
    {title: 'Verdict', help: VERDICT_HELP},
    {title: 'Remark', help: 'The mark "accepted", whether other traffic begins there, and the change that does', isWrapped: true},
  ], shown.map(([index, point]) => [
    element('a', {href: reportOf(point.result)}, formatCellTimestamp(point.started)),
    ...[point.value, point.low, point.high].map(value => formatValue(unit, value)), badge(point.verdict),
    remarksOf(index, point),
  ]), 'trend');
}

function renderTrend(trend, days) {
  const {series, changes, error, left_out: leftOut, traffic_kinds: kinds} = trend;
  const start = startOf(trend, days);
  const points = pointsSince(trend, start);
  const title = `${series.test}: ${nameOfSeries(series)}`;
  byId('trend-title').textContent = title;
  byId('trend-caption').textContent = series.better === 'neither' ? title : `${title}, ${series.better} is better`;
  byId('trend-note').textContent = [
    error || 'Each point is a result with its interval. Bands are the noise floor; vertical lines are changes.',
    kinds > 1 ? `${kinds} kinds of traffic: it changed at the dotted lines, between which results are judged by themselves.` : '',
    leftOut > 0 ? `${plural(leftOut, 'result')} not judged: invalid, failed, with too many failures, or not read.` : '',
  ].join(' ');
  byId(TREND_CHART).closest('figure').hidden = points.length === 0;
  if (points.length > 0) drawTrend(trend, points, start);
  replaceContent('trend-changes',
      element('ol', {className: 'changes'}, ...changes.map(change => changeItem(change, trend))),
      ...(changes.length > 0 || error !== '' ? []
          : [note(`No change: ${kinds > 1 ? 'with the same traffic, ' : ''}the results differ by no more than their noise.`)]));
  // The table is made when it is unfolded: it may have thousands of rows.
  const details = byId('trend-details');
  details.ontoggle = () => replaceContent('trend-table', ...(details.open ? [trendTable(trend, start)] : []));
  details.ontoggle();
}

async function renderChosen() {
  const {series, days} = shownTrends;
  byId('trend').hidden = series === undefined;
  if (series === undefined) return;
  const trend = await loadTrend(series);
  if (shownTrends.series === series) renderTrend(trend, days);
}

// ---- All series of a test ----

// The series with the newest changes come first.
function bySignificance(a, b) {
  return (b.last_change ?? 0) - (a.last_change ?? 0) || compareNames(nameOfSeries(a), nameOfSeries(b));
}

function describeSeries({error, points, changes, series, traffic_kinds: kinds}) {
  if (error !== '') return error;
  return `now ${formatValue(series.unit, points.at(-1).value)}, ${changes.length === 0 ? 'no change' : plural(changes.length, 'change')}` +
      (kinds > 1 ? `, ${kinds} kinds of traffic` : '');
}

// A link to a series with a small chart, which is drawn once its trend is loaded.
function seriesCard(series) {
  const {series: chosen, days} = shownTrends;
  const detail = element('small', {}, 'loading …');
  const plot = element('div', {className: 'spark'});
  loadTrend(series).then(trend => {
    detail.textContent = describeSeries(trend);
    plot.replaceChildren(sparkline(trend, startOf(trend, days)));
  }).catch(error => { detail.textContent = error.message; });
  return element('a', {
    className: 'tile', ariaCurrent: series.id === chosen?.id ? 'true' : null,
    href: placeOf('/trend', {series: series.id, since: days || ''}),
  }, element('span', {}, nameOfSeries(series)), plot, detail);
}

function renderGrid(series) {
  const shown = series.filter(({test}) => test === shownTrends.test).sort(bySignificance);
  const advice = series.length > 0 ? `There are no results of the test "${shownTrends.test}". Choose another one.`
      : session.why_no_history || (session.reading && STILL_READING) || 'There are no results to draw trends of. Keep results of repeated runs of a test.';
  replaceContent('series-grid', ...(shown.length > 0 ? shown.map(seriesCard) : [note(advice)]));
}

// ---- The view ----

// A test that changed, else the one with the longest trend: others may have none.
function byTrend(a, b) {
  return (b.last_change ?? 0) - (a.last_change ?? 0) || b.points - a.points ||
      compareNames(nameOfSeries(a), nameOfSeries(b));
}

// A deep link may name a series, a test, or nothing.
function choose(series, {series: id, test, since}) {
  const chosen = series.find(candidate => String(candidate.id) === id);
  const days = PERIODS.some(([value]) => value === since) ? Number(since) : 0;
  return {test: chosen?.test ?? test ?? [...series].sort(byTrend)[0]?.test, series: chosen, days};
}

function goToTrend(parameters) {
  const {test, series, days} = shownTrends;
  goTo('/trend', {test, series: series?.id ?? '', since: days || '', ...parameters});
}

async function showTrends(parameters, isEntered) {
  // Asked first: what is read between the two questions is in the second answer.
  const {reading} = await request('/api/session');
  session.reading = reading;
  const {series} = await getOnce('/api/series');
  withProblems(renderWhatChanged(series));
  const chosenBefore = shownTrends?.series;
  shownTrends = choose(series, parameters);
  const [min, max] = (parameters.zoom ?? '').split(':').map(Number);
  zooms.clear();
  if (min < max) zooms.set('trend', {min, max});
  byId('what-changed').hidden = series.length === 0;
  byId('trend-controls').parentElement.hidden = series.length === 0;
  const tests = [...new Set(series.map(({test}) => test))].sort(compareNames);
  replaceContent('trend-controls',
      selectBox('Test', tests.map(test => [test, test]), shownTrends.test, test => goToTrend({test, series: ''})),
      selectBox('Show', PERIODS, String(shownTrends.days), since => goToTrend({since: since === '0' ? '' : since})));
  renderGrid(series);
  await renderChosen();
  // The small charts, one of which was chosen, are below the large one.
  if (!isEntered && chosenBefore !== shownTrends.series) byId('trend-title').focus();
}

// The address keeps the zoom.
function keepZoom() {
  const {path, parameters} = currentPlace();
  if (path !== '/trend') return;
  const zoom = zooms.get('trend');
  const text = zoom === undefined ? '' : `${Math.round(zoom.min)}:${Math.round(zoom.max)}`;
  history.replaceState(null, '', placeOf(path, {...parameters, zoom: text}));
}

function redraw() {
  if (!byId('trend-view').hidden && shownTrends !== null) withProblems(renderChosen());
}

document.addEventListener('viewchange', keepZoom);
followPrinting(redraw);
// Colours come from the style sheet, which follows the system setting.
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
