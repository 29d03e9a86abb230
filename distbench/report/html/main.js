// The selection, and the drawing of everything that depends on it.

const selection = initialSelection();

function toggle(set, value) {
  return checked => {
    if (checked) set.add(value);
    else set.delete(value);
    renderSelection();
  };
}

function controlRow(title, chips) {
  return element('div', {className: 'control-row'}, element('span', {className: 'title'}, title), ...chips);
}

function renderControls() {
  const latencies = Object.entries(LATENCIES).filter(
      ([name]) => runs.some(run => run.rpcs.some(rpc => rpc[name] !== null)));
  const rows = [];
  if (runs.length > 1) {
    rows.push(controlRow('Runs', runs.map(run => chip(
        'checkbox', 'run', run.label, selection.runs.has(run.index), toggle(selection.runs, run.index)))));
  }
  if (rpcNames.length > 1) {
    rows.push(controlRow('RPCs', rpcNames.map(name => chip(
        'checkbox', 'rpc', name, selection.rpcs.has(name), toggle(selection.rpcs, name)))));
  }
  if (latencies.length > 1) {
    rows.push(controlRow('Latency', latencies.map(([name, {title}]) => chip(
        'radio', 'latency', title, selection.latency === name, () => {
          selection.latency = name;
          renderSelection();
        }))));
  }
  byId('controls').hidden = rows.length === 0;
  replaceContent('controls', ...rows);
}

function renderSelection() {
  const all = selectCurves(selection);
  const curves = all.slice(0, MAX_CURVES).map((curve, i) => ({...curve, color: seriesColor(i)}));
  const note = byId('selection-note');
  note.hidden = all.length <= MAX_CURVES;
  note.textContent = `${MAX_CURVES} of ${all.length} selected curves are drawn; ` +
      'choose fewer runs or RPCs to see the others.';
  renderLatencyTable(all, selection.latency);
  renderFailures(all);
  const drawn = curves.filter(curve => curve.rpc[selection.latency] !== null);
  legend('latency-legend', drawn.length > 1 ? drawn : []);
  drawPercentiles(drawn, selection.latency);
  drawCdf(drawn, selection.latency);
  renderOverTime(curves, selection.latency);
}

function renderAll() {
  renderSearches();
  renderProtection();
  renderBlame();
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
renderActivities();
renderConfigs();
renderAll();

// Colours come from the style sheet, which follows the system setting.
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', renderAll);
document.body.dataset.rendered = 'true';
