// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts, and tables of changes with their intervals as bars.

function renderVerdict() {
  const {base, new: next} = comparison;
  byId('subtitle').textContent = `Base: ${base.source}, ${countRuns(base.runs)}; ` +
      `new: ${next.source}, ${countRuns(next.runs)}. Made by distbench ${comparison.distbench_version}.`;
  document.title = `${verdictBadge(comparison.verdict).textContent} – distbench comparison`;
  replaceContent('headline', verdictBadge(comparison.verdict), comparison.headline);
  replaceContent('checks-table', ...(comparison.checks.length === 0 ? [] : [makeTable(
      [{title: 'Condition'}, {title: 'Verdict'}, {title: 'Test', isWrapped: true}, {title: 'Evidence', isWrapped: true}],
      comparison.checks.map(check => [check.condition, badge(check.verdict), check.test, check.evidence]))]));
  replaceContent('cautions', ...comparison.cautions.map(text => element('p', {className: 'note'}, text)));
}

// How far the bars of an RPC reach, as the logarithm of a ratio. A single wide
// interval must not make all others invisible.
function scaleOf(metrics) {
  const sizes = metrics.filter(metric => metric.change_is === 'ratio' && metric.change !== null)
      .flatMap(({change, lower, upper}) => [change, lower ?? 1, upper ?? 1])
      .map(ratio => Math.abs(Math.log(ratio)));
  return Math.min(Math.max(1.05 * Math.max(...sizes, 0), Math.log(1.02)), Math.log(3));
}

// Bars show what the cells beside them say.
function intervalBar(metric, scale) {
  if (metric.change_is !== 'ratio' || metric.change === null) return '';
  const place = ratio => 50 + 50 * Math.max(-1, Math.min(1, Math.log(ratio) / scale));
  const mark = (className, from, to) => {
    const node = element('i', {className});
    node.style.left = `${place(from)}%`;
    if (to !== undefined) node.style.width = `${place(to) - place(from)}%`;
    return node;
  };
  const {change, lower, upper, noise_floor: noise} = metric;
  return element('div', {className: `interval ${metric.verdict}`, ariaHidden: 'true'},
      ...(noise === null ? [] : [mark('noise', 1 / (1 + noise), 1 + noise)]),
      element('i', {className: 'axis'}),
      ...(lower === null ? [] : [mark('range', lower, upper)]), mark('point', change));
}

function changeCell(metric) {
  const {change_is: kind, change, difference, unit} = metric;
  if (change === null || kind !== 'ratio') return formatMetricChange(metric, change);
  return element('span', {}, formatChange(true, change),
      element('small', {}, signed(difference, formatMetric(unit, Math.abs(difference)))));
}

// A change of more than half is told as a factor, in either direction.
function noiseText(kind, noise) {
  if (kind !== 'ratio') return `±${(100 * noise).toFixed(3)} pp`;
  return noise < 0.5 ? `±${(100 * noise).toFixed(1)} %` : `x${(1 + noise).toFixed(2)}`;
}

function remarkOn({reason, noise_floor: noise, is_beyond_noise_floor: isBeyond, change_is: kind}) {
  if (reason !== null) return reason;
  if (noise === null) return '';
  return `${isBeyond ? 'beyond' : 'within'} the noise floor of ${noiseText(kind, noise)}`;
}

function distributionText({verdict, reason, p_value: pValue, distance}) {
  if (verdict === 'not shown') return `Distribution: unknown: ${reason}`;
  return `Distribution: ${verdict === 'differs' ? 'differs' : 'no difference shown'} ` +
      `(p = ${Number(pValue.toPrecision(2))}; quantiles are ${(100 * distance).toFixed(1)} % apart on average)`;
}

function changesTable(metrics, scale) {
  const columns = [
    {title: 'Metric'}, {title: 'Verdict'}, {title: 'Base', isNumber: true}, {title: 'New', isNumber: true},
    {title: 'Change', isNumber: true}, {title: ''},
    {title: `${100 * comparison.confidence} % interval`}, {title: '', isWrapped: true},
  ];
  return makeTable(columns, metrics.map(metric => [
    metric.metric, verdictBadge(metric.verdict), formatMetric(metric.unit, metric.base), formatMetric(metric.unit, metric.new),
    changeCell(metric), intervalBar(metric, scale),
    metric.change === null ? '–' : formatInterval(metric, value => formatMetricChange(metric, value)), remarkOn(metric),
  ]));
}

// A table that can be folded, with what belongs to it.
function renderMetrics(title, group, isOpen, ...notes) {
  const scale = scaleOf(group.metrics);
  const hasBars = group.metrics.some(metric => metric.change_is === 'ratio' && metric.change !== null);
  return element('details', {open: isOpen},
      element('summary', {}, title, verdictBadge(worstOf(group))),
      element('div', {className: 'scroll'}, changesTable(group.metrics, scale)),
      ...[...notes, ...(hasBars ? [`Bars reach from ${formatChange(true, Math.exp(-scale))} to ` +
          `${formatChange(true, Math.exp(scale))}; the line in the middle is no change.`] : [])]
          .map(note => element('p', {className: 'note'}, note)));
}

function renderRpc(rpc, isOpen) {
  return renderMetrics(`${rpc.name}, ${rpc.latency}`, rpc, isOpen, distributionText(rpc.distribution));
}

// Of nothing that the test reads of servers, better or worse can be said.
function renderRunMetrics({metrics}) {
  return metrics.length === 0 ? [] : [renderMetrics('metrics of the test', {metrics}, true)];
}

// More RPCs are folded, unless they changed.
const MOST_OPEN = 6;

function renderTest(test) {
  const rpcs = [...test.rpcs].sort((a, b) => SEVERITY.indexOf(worstOf(a)) - SEVERITY.indexOf(worstOf(b)));
  return [
    element('h3', {}, `${test.name} (base: ${countRuns(test.base_runs)}, new: ${countRuns(test.new_runs)})`),
    ...(test.not_comparable === null ? [] : [element('div', {className: 'finding'},
        badge(test.is_invalid ? 'invalid' : 'not comparable'), element('p', {}, test.not_comparable))]),
    ...test.notes.map(note => element('p', {className: 'note'}, note)),
    ...rpcs.map((rpc, i) => renderRpc(rpc, i < MOST_OPEN || worstOf(rpc) === 'worse')),
    ...renderRunMetrics(test),
  ];
}

function renderChanges() {
  showSection('changes', comparison.tests.length > 0);
  replaceContent('changes-list', ...comparison.tests.flatMap(renderTest));
}

function searchRows(search) {
  if (search.not_comparable !== null) {
    return [[search.question, '', badge('not comparable'), '–', '–', '–', search.not_comparable]];
  }
  return search.metrics.map(metric => {
    const format = value => metric.metric === 'load' ? String(Number(value.toPrecision(6))) : formatTime(value);
    return [search.question, metric.metric, verdictBadge(metric.verdict), format(metric.base), format(metric.new),
      formatChange(true, metric.change), formatInterval(metric, value => formatChange(true, value))];
  });
}

function renderSearches() {
  showSection('searches', comparison.searches.length > 0);
  replaceContent('searches-table', makeTable([
    {title: 'Search', isWrapped: true}, {title: ''}, {title: 'Verdict'}, {title: 'Base', isNumber: true},
    {title: 'New', isNumber: true}, {title: 'Change', isNumber: true},
    {title: `${100 * comparison.confidence} % interval`, isWrapped: true},
  ], comparison.searches.flatMap(searchRows)));
  replaceContent('searches-notes', ...comparison.search_notes.map(note => element('p', {className: 'note'}, note)));
}
