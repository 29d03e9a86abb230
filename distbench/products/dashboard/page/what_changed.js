// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The newest changes of all series. What changed at one result of a test is one
// entry: a new kernel moves many metrics.

const MAX_CHANGED_SERIES = 24;
const MAX_ENTRIES = 10;

// Those that nobody has accepted.
function changesOf(trend) {
  return trend.changes.filter(({accepted}) => !accepted).map(change => ({...change, series: trend.series, result: trend.points[change.index].result}));
}

function entryOf(changes) {
  const [{started, series: {test}}] = changes;
  return element('li', {}, element('time', {}, formatDay(started)), ' ', element('strong', {}, test),
      ...changes.flatMap(change => [' ', element('a', {
        className: `change-link ${kindOfChange(change, change.series)}`,
        href: placeOf('/trend', {series: change.series.id}), title: describeChange(change, change.series),
      }, `${nameOfSeries(change.series)} ${sizeOf(change)}, ${kindOfChange(change, change.series)}`)]),
      element('small', {}, factsNote(changes)));
}

async function renderWhatChanged(allSeries) {
  const changed = allSeries.filter(({changes}) => changes > 0).sort((a, b) => b.last_change - a.last_change);
  if (changed.length === 0) {
    replaceContent('what-changed-list', element('p', {className: 'note'}, 'No change was found in any series.'));
    return;
  }
  const trends = await Promise.all(changed.slice(0, MAX_CHANGED_SERIES).map(({id}) => loadTrend(id)));
  const changes = trends.flatMap(changesOf).sort((a, b) => b.started - a.started);
  const entries = groupBy(changes, ({series, result}) => JSON.stringify([series.test, result])).map(([, group]) => group);
  const others = changed.length - MAX_CHANGED_SERIES;
  replaceContent('what-changed-list',
      element('ul', {className: 'changes'}, ...entries.slice(0, MAX_ENTRIES).map(entryOf)),
      others > 0 ? element('p', {className: 'note'}, `${formatCount(others)} more series have older changes: choose their test.`) : '');
}
