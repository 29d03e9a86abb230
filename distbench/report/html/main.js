// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The selection, and the drawing of everything that depends on it.

groupRuns();

const initialView = initialSelection();
const selection = restoreView(initialView);

// Functions that make the controls show the selection.
const controlUpdates = [];

function showChange() {
  controlUpdates.forEach(update => update());
  renderSelection();
  tellViewChanged();
}

function selectionChip(type, group, label, isChosen, onChange) {
  const node = chip(type, group, label, isChosen(), checked => {
    onChange(checked);
    showChange();
  });
  controlUpdates.push(() => { node.querySelector('input').checked = isChosen(); });
  return node;
}

// A chip that puts values into a set of the selection.
function setChip(group, label, key, values) {
  return selectionChip('checkbox', group, label, () => values.every(value => selection[key].has(value)),
      isChosen => values.forEach(value => selection[key][isChosen ? 'add' : 'delete'](value)));
}

function controlRow(title, chips) {
  return element('div', {className: 'control-row'}, element('span', {className: 'title'}, title), ...chips);
}

function renderControls() {
  const groups = [...testGroups.values()];
  const latencies = Object.entries(LATENCIES).filter(
      ([name]) => runs.some(run => run.rpcs.some(rpc => rpc[name] !== null)));
  const runChip = run => setChip('run', run.label, 'runs', [run.index]);
  const rows = [];
  if (groups.length > 1) {
    rows.push(controlRow('Tests', groups.map(
        ({label, runs: repeats}) => setChip('test', label, 'runs', repeats.map(run => run.index)))));
  }
  if (groups.length < runs.length) {
    rows.push(element('details', {id: 'single-runs'}, element('summary', {}, 'Single runs'),
        controlRow('', runs.map(runChip))));
  }
  if (rpcNames.length > 1) {
    rows.push(controlRow('RPCs', rpcNames.map(name => setChip('rpc', name, 'rpcs', [name]))));
  }
  if (latencies.length > 1) {
    rows.push(controlRow('Latency', latencies.map(([name, {title}]) => selectionChip(
        'radio', 'latency', title, () => selection.latency === name, () => { selection.latency = name; }))));
  }
  byId('controls').hidden = rows.length === 0;
  replaceContent('controls', ...rows);
}

function renderSelection() {
  const all = selectCurves(selection);
  const drawn = coloredCurves(all);
  const note = selectionNote(all, drawn);
  byId('selection-note').hidden = note === '';
  byId('selection-note').textContent = note;
  renderLatencyTable(all, selection.latency);
  renderFailures(all);
  renderLatencyCharts(drawn, selection.latency);
  renderAttempts(drawn);
  renderOverTime(drawn, selection.latency);
}

// What depends on the selection, on colours or on the width of the page.
const REDRAWN = [
  renderSweep, renderSelection,
  renderPeers, renderResources, ...partsWith('redraw'),
];

function renderAll() {
  REDRAWN.forEach(render => render());
}

// What the page begins with, and what follows when the browser has shown that: charts
// take several times as long as all that is above them.
const FIRST = [
  renderSubtitle, renderHeadline, renderRuns, renderFindings,
  ...partsWith('renderFirst'), renderTopology,
];
const LATER = [
  ...partsWith('renderOnce'), renderBindings, renderControls, renderTimeParts, renderStreams, renderPolicies,
  renderRecoveries, renderFaults, renderAdmission, renderActivities, renderConfigs,
  ...REDRAWN, restoreDetails,
];

function setRendered(state) {
  document.body.dataset.rendered = state;
}

// Long enough for most parts, and too short for users to notice.
const TURN_MS = 50;

function drawRest(end = Infinity) {
  while (LATER.length > 0) {
    if (performance.now() >= end) return;
    LATER.shift()();
    if (LATER.length > 0) continue;
    // What the address names has moved.
    byId(location.hash.slice(1))?.scrollIntoView();
    setRendered('true');
  }
}

// Lets the browser show what there is, and answer, between turns.
function drawInTurns() {
  drawRest(performance.now() + TURN_MS);
  if (LATER.length > 0) setTimeout(drawInTurns);
}

FIRST.forEach(render => render());
setRendered('first');
// A hidden page has no frames.
if (document.hidden) setTimeout(drawInTurns);
else requestAnimationFrame(() => setTimeout(drawInTurns));

followView(selection, initialView, () => {
  Object.assign(selection, restoreView(initialView));
  controlUpdates.forEach(update => update());
  renderAll();
  restoreDetails();
});
followPrinting(() => {
  drawRest();
  renderAll();
});
// Colours come from the style sheet, which follows the system setting.
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', renderAll);
