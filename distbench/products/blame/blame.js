// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Who is to blame for the tail: what slow requests waited for, from traces.

const BLAME_PARTS = {...TIME_PARTS, undivided: 'itself'};

// What each run says about each of its kinds of requests.
const blames = runs.filter(run => run.blame !== null).flatMap(
    run => run.blame.requests.map(requests => ({run, requests})));

const blameView = {chosen: 0};

function blameLabel({rpc, part}) {
  return `${rpc}: ${BLAME_PARTS[part] ?? part}`;
}

function formatPercent(share) {
  return `${(100 * share).toFixed(share < 0.0995 && share > -0.0995 ? 1 : 0)} %`;
}

// An estimate of an object, with its interval below.
function intervalCell(entry, name, format) {
  if (entry === undefined || entry[name] === null) return '–';
  return element('span', {}, format(entry[name]),
      element('small', {}, `${format(entry[`${name}_lower`])} – ${format(entry[`${name}_upper`])}`));
}

// The shares by label, in the order of the rarest requests that have them.
function sharesByLabel(quantiles) {
  const byLabel = new Map();
  for (const quantile of [...quantiles].reverse()) {
    for (const share of quantile.shares) {
      const label = blameLabel(share);
      byLabel.set(label, (byLabel.get(label) ?? new Map()).set(quantile, share));
    }
  }
  return byLabel;
}

function shareTable(quantiles) {
  const columns = [{title: 'RPC and part', isWrapped: true}];
  for (const {percentile} of quantiles) {
    columns.push({title: `p${percentile}`, isNumber: true});
    if (percentile > 50) columns.push({title: 'of what is longer than p50', isNumber: true});
  }
  const rows = [...sharesByLabel(quantiles)].map(([label, shares]) => [label, ...quantiles.flatMap(quantile => {
    const share = shares.get(quantile);
    const ofTime = intervalCell(share, 'share', formatPercent);
    return quantile.percentile > 50 ? [ofTime, intervalCell(share, 'excess', formatPercent)] : [ofTime];
  })]);
  return makeTable(columns, rows);
}

// Bars of shares that add up to 100 %; those without a colour of their own are one.
function drawBlame(quantiles) {
  charts.get('blame-chart')?.destroy();
  const entries = [...sharesByLabel(quantiles)].map(([label, shares]) => ({
    label, values: quantiles.map(quantile => shares.get(quantile)?.share ?? 0),
  }));
  const named = entries.length > MAX_CURVES ? entries.slice(0, MAX_CURVES - 1) : entries;
  const others = entries.slice(named.length);
  const series = others.length === 0 ? named : [...named, {
    label: `${others.length} others`,
    values: quantiles.map((_, i) => others.reduce((sum, {values}) => sum + values[i], 0)),
  }];
  const ink = cssColor('--ink-soft');
  const grid = {color: cssColor('--line'), borderColor: cssColor('--line')};
  charts.set('blame-chart', new Chart(byId('blame-chart'), {
    type: 'bar',
    data: {
      labels: quantiles.map(({percentile, mean_ns: mean}) => `p${percentile}: ${formatTime(mean)}`),
      datasets: series.map(({label, values}, i) => ({label, data: values, backgroundColor: seriesColor(i)})),
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      indexAxis: 'y',
      scales: {
        x: {stacked: true, min: 0, max: 1, grid, ticks: {color: ink, callback: value => formatPercent(value)}},
        y: {stacked: true, grid, ticks: {color: ink}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: ({dataset, raw}) => `${dataset.label}: ${formatPercent(raw)}`}},
      },
    },
  }));
  legend('blame-legend', series.map(({label}, i) => ({label, color: seriesColor(i)})));
}

function remedyTable({remedies}) {
  const columns = [
    {title: 'If', isWrapped: true}, {title: 'p99 would be', isNumber: true}, {title: 'Saved', isNumber: true},
  ];
  return makeTable(columns, remedies.map(remedy => [
    `${remedy.instance} answered ${remedy.rpc} as fast as the other instances`,
    intervalCell(remedy, 'p99_ns', formatTime), formatPercent(remedy.saving),
  ]));
}

function lastCell({fanout_count: count, last_count: last, expected_count: expected, most_by_chance: most}) {
  return count === 0 ? '–' : element('span', {}, `${formatCount(last)} of ${formatCount(count)}`,
      element('small', {}, `of equals ${formatRate(expected)}, by chance at most ${formatCount(most)}`));
}

function stragglerTable(stragglers) {
  const columns = [
    {title: 'Instance', isWrapped: true}, {title: 'RPC', isWrapped: true}, {title: 'Straggler'},
    {title: 'Last of a fanout', isNumber: true}, {title: 'Last around p99', isNumber: true},
    {title: 'Own time', isNumber: true}, {title: 'Share of p99', isNumber: true},
  ];
  return makeTable(columns, stragglers.map(straggler => [
    straggler.instance, straggler.rpc,
    straggler.is_to_blame ? 'yes'
        : straggler.all.is_straggler || straggler.tail.is_straggler ? 'waits for others' : 'no',
    lastCell(straggler.all), lastCell(straggler.tail), formatPercent(straggler.own_share),
    straggler.tail.fanout_count === 0 ? '–' : formatPercent(straggler.tail_share),
  ]));
}

function titledTable(title, table) {
  return [element('h3', {}, title), element('div', {className: 'scroll'}, table)];
}

// How far the traces can be trusted.
function blameNote({run, requests}) {
  const leftOut = [
    [requests.incomplete_count, 'incomplete'], [requests.failed_count, 'failed'],
    [requests.warmup_count, 'of the warm-up'], [requests.damaged_count, 'damaged'],
  ].filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`);
  const {rootless_count: rootless, dropped_sample_count: dropped} = run.blame;
  return [
    `From ${formatCount(requests.trace_count)} complete traces of ${formatCount(requests.succeeded_count)} RPCs; ` +
        `${requests.latency.replace('_', ' ')}, with 95 % intervals.`,
    leftOut.length === 0 ? '' : `Left out: ${leftOut.join(', ')}.`,
    rootless === 0 ? '' : `${formatCount(rootless)} parts of requests are left out, because their first RPC was not kept.`,
    dropped === 0 ? '' : `${formatCount(dropped)} samples of RPCs were not kept.`,
    requests.moved_call_count === 0 ? '' : `${formatCount(requests.moved_call_count)} of ` +
        `${formatCount(requests.call_count)} RPCs were moved into the time of the RPC that caused them, because clocks differ.`,
  ].filter(Boolean).join(' ');
}

function showBlame() {
  const {requests} = blames[blameView.chosen];
  const quantiles = requests.quantiles.filter(({trace_count: count}) => count > 0);
  replaceContent('blame-sentences', ...requests.sentences.map(sentence => element('p', {}, sentence)));
  byId('blame-bars').hidden = quantiles.length === 0;
  if (quantiles.length > 0) drawBlame(quantiles);
  const remedies = requests.what_ifs?.remedies ?? [];
  replaceContent('blame-tables',
      ...(quantiles.length === 0 ? [] : titledTable('Shares of the time', shareTable(quantiles))),
      ...(remedies.length === 0 ? [] : titledTable('What would help', remedyTable(requests.what_ifs))),
      ...(requests.stragglers.length === 0 ? [] : titledTable(
          requests.stragglers.length < requests.tested_instance_count
              ? `Who is last: ${requests.stragglers.length} of ${requests.tested_instance_count} instances`
              : 'Who is last', stragglerTable(requests.stragglers))));
  byId('blame-note').textContent = blameNote(blames[blameView.chosen]);
}

function renderBlame() {
  showSection('blame', blames.length > 0);
  if (blames.length === 0) return;
  replaceContent('blame-controls', ...(blames.length === 1 ? [] : [selectBox(
      'Requests', blames.map(({run, requests}, i) => [String(i), `${run.label}: ${requests.rpc}`]),
      String(blameView.chosen), value => {
        blameView.chosen = Number(value);
        showBlame();
      })]));
  showBlame();
}

addPart({redraw: renderBlame});
