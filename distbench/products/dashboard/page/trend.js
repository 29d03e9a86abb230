// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One trend: its chart, its changes in words, and its table.

function nameOfSeries({rpc, metric}) {
  return `${rpc} · ${metric}`;
}

function verdictOn(change, series) {
  return badge(kindOfChange(change, series));
}

function changeItem(change, {points, series}) {
  const around = change.index === 0 ? [] : [' ', element('a', {
    href: addressOf('/compare', {base: points[change.index - 1].result, new: points[change.index].result}),
  }, 'Compare before and after')];
  return element('li', {}, `${formatTimestamp(change.started)} `, verdictOn(change, series),
      ` ${describeChange(change, series)}${change.accepted ? ', accepted' : ''}`,
      element('small', {}, factsNote([change]), ...around));
}

function renderChangeList(trend) {
  replaceContent('trend-changes', trend.changes.length > 0
      ? element('ol', {className: 'changes'}, ...trend.changes.map(change => changeItem(change, trend)))
      : element('p', {className: 'note'}, trend.error === '' ? 'No change: the results differ by no more than their noise.' : ''));
}

// "change 1: +5.1 %" at the point where a change begins.
function remarksByIndex({changes}) {
  return new Map(changes.map((change, i) => [change.index, `change ${i + 1}: ${sizeOf(change)}`]));
}

// points: [index, point], newest first.
function trendTable(trend, points) {
  const {unit, metric} = trend.series;
  const remarks = remarksByIndex(trend);
  return makeTable([
    {title: 'Started (UTC)'}, {title: metric, isNumber: true}, {title: 'Low', isNumber: true}, {title: 'High', isNumber: true},
    {title: 'Verdict'}, {title: 'Remark', isWrapped: true},
  ], points.map(([index, point]) => [
    element('a', {href: reportOf(point.result)}, formatTimestamp(point.started).replace(' UTC', '')),
    ...[point.value, point.low, point.high].map(value => formatValue(unit, value)), badge(point.verdict),
    [point.accepted ? 'accepted' : '', remarks.get(index) ?? ''].filter(Boolean).join(', '),
  ]), 'trend');
}

// The table is made when it is unfolded: it may have thousands of rows.
function offerTable(trend, start) {
  const details = byId('trend-details');
  const render = () => replaceContent('trend-table', ...(details.open ? [trendTable(trend,
      [...trend.points.entries()].filter(([, {started}]) => started >= start).reverse())] : []));
  details.ontoggle = render;
  render();
}

function describeTrend({error, left_out: leftOut}) {
  return [
    error,
    error === '' ? 'Each point is a result with its interval. Bands are the noise floor; vertical lines are changes.' : '',
    leftOut === 0 ? '' : `${plural(leftOut, 'result')} not judged: invalid, failed, with too many failures, or not read.`,
  ].filter(Boolean).join(' ');
}

// days: how many to show; 0 for all.
function renderTrend(trend, days) {
  const start = startOf(trend, days);
  const points = pointsSince(trend, start);
  const {series} = trend;
  byId('trend').hidden = false;
  byId('trend-title').textContent = `${series.test}: ${nameOfSeries(series)}`;
  byId('trend-caption').textContent = `${series.test}: ${nameOfSeries(series)}` +
      (series.better === 'neither' ? '' : `, ${series.better} is better`);
  byId('trend-note').textContent = describeTrend(trend);
  byId(TREND_CHART).closest('figure').hidden = points.length === 0;
  if (points.length > 0) drawTrend(trend, points, start);
  renderChangeList(trend);
  offerTable(trend, start);
}
