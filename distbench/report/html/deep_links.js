// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The address's fragment: what the user has chosen, so that a copied address
// shows the same. It may contain anything; what is not understood is ignored.

function validRuns(text) {
  return text.split(',').filter(part => /^\d+$/.test(part)).map(Number).filter(index => index < runs.length);
}

// "NAME:MIN:MAX", such as "time:1.5:9".
function restoreZoom(text) {
  const [name, ...bounds] = text.split(':');
  const [min, max] = bounds.map(Number);
  if (bounds.length === 2 && Number.isFinite(min) && Number.isFinite(max) && min < max) zooms.set(name, {min, max});
}

// "TABLE:COLUMN:DIRECTION", such as "latency:7:descending".
function restoreOrder(text) {
  const [name, column, direction] = text.split(':');
  if (/^\d{1,3}$/.test(column) && DIRECTIONS.includes(direction)) {
    tableOrders.set(name, {column: Number(column), direction});
  }
}

function openDetails(ids) {
  for (const id of ids) {
    const node = byId(id);
    if (node instanceof HTMLDetailsElement) node.open = true;
  }
}

// The selection of the fragment; what it does not say is as in `initial`.
function restoreSelection(initial, fragment) {
  const chosenRuns = validRuns(fragment.get('runs') ?? '');
  const chosenRpcs = fragment.getAll('rpc').filter(name => rpcNames.includes(name));
  const latency = fragment.get('latency');
  return {
    runs: new Set(chosenRuns.length > 0 ? chosenRuns : initial.runs),
    rpcs: new Set(chosenRpcs.length > 0 ? chosenRpcs : initial.rpcs),
    latency: Object.hasOwn(LATENCIES, latency) ? latency : initial.latency,
  };
}

// Restores zooms and orders, and returns the selection.
function restoreView(initial) {
  const fragment = new URLSearchParams(location.hash.slice(1));
  zooms.clear();
  tableOrders.clear();
  fragment.getAll('zoom').forEach(restoreZoom);
  fragment.getAll('sort').forEach(restoreOrder);
  return restoreSelection(initial, fragment);
}

// To be called once all is drawn.
function restoreDetails() {
  openDetails(new URLSearchParams(location.hash.slice(1)).getAll('open'));
}

function isSameSet(a, b) {
  return a.size === b.size && [...a].every(item => b.has(item));
}

// What differs from the initial view.
function fragmentOf(selection, initial) {
  const fragment = new URLSearchParams();
  if (!isSameSet(selection.runs, initial.runs)) fragment.set('runs', [...selection.runs].join(','));
  if (!isSameSet(selection.rpcs, initial.rpcs)) [...selection.rpcs].forEach(name => fragment.append('rpc', name));
  if (selection.latency !== initial.latency) fragment.set('latency', selection.latency);
  for (const [name, {min, max}] of zooms) {
    fragment.append('zoom', [name, ...[min, max].map(value => Number(value.toPrecision(6)))].join(':'));
  }
  for (const [name, {column, direction}] of tableOrders) fragment.append('sort', `${name}:${column}:${direction}`);
  for (const node of document.querySelectorAll('details[id][open]')) fragment.append('open', node.id);
  return fragment.toString();
}

const FRAGMENT_KEYS = ['runs', 'rpc', 'latency', 'zoom', 'sort', 'open'];

// Keeps the fragment up to date, and calls restore() where the user enters another
// one. Other fragments are places on the page.
function followView(selection, initial, restore) {
  const save = () => history.replaceState(null, '', `#${fragmentOf(selection, initial)}`);
  document.addEventListener('viewchange', save);
  // Toggling does not bubble.
  document.addEventListener('toggle', event => { if (event.target.id !== '') save(); }, true);
  window.addEventListener('hashchange', () => {
    const fragment = new URLSearchParams(location.hash.slice(1));
    if (FRAGMENT_KEYS.some(key => fragment.has(key))) restore();
  });
}
