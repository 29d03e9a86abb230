// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The view of trends: what changed, a test's series as small charts, and the
// chosen one.

const PERIODS = [['0', 'all results'], ['7', 'last 7 days'], ['30', 'last 30 days'], ['90', 'last 90 days'], ['365', 'last year']];

// All series while the view is shown, as a promise.
let allSeries = null;

// What is shown: {test, series, since, days}; test and series may be undefined.
let shownTrends = null;

const latestTrend = latestOnly();

// The series with the newest changes come first.
function bySignificance(a, b) {
  return (b.last_change ?? 0) - (a.last_change ?? 0) || compareNames(nameOfSeries(a), nameOfSeries(b));
}

// A deep link may name a series, a test, or nothing.
function choose(series, {series: id, test, since}) {
  const chosen = series.find(candidate => String(candidate.id) === id);
  const days = PERIODS.some(([value]) => value === since) ? Number(since) : 0;
  return {test: chosen?.test ?? test ?? [...series].sort(bySignificance)[0]?.test, series: chosen, days};
}

function goToTrend(parameters) {
  const {test, series, days} = shownTrends;
  goTo('/trend', {test, series: series?.id ?? '', since: days === 0 ? '' : days, ...parameters});
}

function renderTrendControls(series) {
  const tests = [...new Set(series.map(({test}) => test))].sort(compareNames);
  replaceContent('trend-controls',
      selectBox('Test', tests.map(test => [test, test]), shownTrends.test, test => goToTrend({test, series: ''})),
      selectBox('Show', PERIODS, String(shownTrends.days), since => goToTrend({since: since === '0' ? '' : since})));
}

function describeSeries({error, points, changes, series}) {
  if (error !== '') return error;
  const last = points.findLast(hasValue);
  const value = last === undefined ? '' : `now ${formatValue(series.unit, last.value)}`;
  return `${value}, ${changes.length === 0 ? 'no change' : plural(changes.length, 'change')}`;
}

// A link to a series with a small chart, which is drawn once its trend is loaded.
function seriesCard(series, {days, series: chosen}) {
  const detail = element('small', {}, 'loading …');
  const plot = element('div', {className: 'spark'});
  const card = element('a', {
    className: 'small-chart',
    href: placeOf('/trend', {series: series.id, since: days === 0 ? '' : days}),
  }, element('span', {}, nameOfSeries(series)), plot, detail);
  if (series === chosen) card.setAttribute('aria-current', 'true');
  loadTrend(series.id).then(trend => {
    detail.textContent = describeSeries(trend);
    plot.replaceChildren(sparkline(trend, startOf(trend, days)));
  }).catch(error => { detail.textContent = error.message; });
  return card;
}

function renderGrid(series) {
  const shown = series.filter(({test}) => test === shownTrends.test).sort(bySignificance);
  replaceContent('series-grid', ...(shown.length > 0 ? shown.map(one => seriesCard(one, shownTrends))
      : [element('p', {className: 'note'}, series.length === 0
          ? session.why_no_history || 'There are no results to draw trends of. Keep results of repeated runs of a test.'
          : `There are no results of the test "${shownTrends.test}". Choose another one.`)]));
}

function restoreZoom(text = '') {
  const [min, max] = text.split(':').map(Number);
  zooms.clear();
  if (min < max) zooms.set('trend', {min, max});
}

async function renderChosen() {
  const {series, days} = shownTrends;
  byId('trend').hidden = series === undefined;
  if (series === undefined) return;
  const trend = await latestTrend(loadTrend(series.id));
  if (trend !== null && shownTrends?.series === series) renderTrend(trend, days);
}

async function showTrends(parameters) {
  const isNew = allSeries === null;
  allSeries ??= getJson('/api/series').then(answer => answer.series);
  const series = await allSeries.catch(error => {
    allSeries = null;
    throw error;
  });
  if (isNew) withProblems(renderWhatChanged(series));
  const chosenBefore = shownTrends?.series;
  shownTrends = choose(series, parameters);
  restoreZoom(parameters.zoom);
  byId('what-changed').hidden = series.length === 0;
  byId('trend-controls').parentElement.hidden = series.length === 0;
  renderTrendControls(series);
  renderGrid(series);
  await renderChosen();
  // The small charts, one of which was chosen, are below the large one.
  if (!isNew && chosenBefore !== shownTrends?.series) byId('trend-title').focus();
}

function leaveTrends() {
  allSeries = null;
  shownTrends = null;
  loadedTrends.clear();
}

// The address keeps the zoom.
function keepZoom() {
  const {path, parameters} = currentPlace();
  if (path !== '/trend') return;
  const zoom = zooms.get('trend');
  const text = zoom === undefined ? '' : `${Math.round(zoom.min)}:${Math.round(zoom.max)}`;
  history.replaceState(null, '', placeOf(path, {...parameters, zoom: text}));
}

views.set('/trend', {id: 'trend-view', title: 'Trends', show: showTrends, leave: leaveTrends});
