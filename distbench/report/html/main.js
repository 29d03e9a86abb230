// The selection, and the drawing of everything that depends on it.

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

function renderAll() {
  renderSearches();
  renderProtection();
  renderBlame();
  renderSweep();
  renderStacks();
  renderSelection();
  renderPeers();
  renderResources();
}

renderSubtitle();
renderHeadline();
renderRuns();
renderFindings();
renderTopology();
renderNuma();
renderControls();
renderTimeParts();
renderStreams();
renderPolicies();
renderRecoveries();
renderActivities();
renderConfigs();
renderAll();

followView(selection, initialView, () => {
  Object.assign(selection, restoreView(initialView));
  controlUpdates.forEach(update => update());
  renderAll();
  restoreDetails();
});
restoreDetails();
followPrinting(renderAll);
// Colours come from the style sheet, which follows the system setting.
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', renderAll);
document.body.dataset.rendered = 'true';
