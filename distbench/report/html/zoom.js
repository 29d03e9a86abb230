// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Zooming into charts by dragging, charts of the same time axis together.

// {min, max} of the x axis, by the name that charts are zoomed under.
const zooms = new Map();

// What zooming needs to know of each chart, by its id: {name, extent, axis}.
const zoomable = new Map();

const MIN_DRAG_PIXELS = 6;

// The part of the zoom within the chart's points; null if there is none.
function zoomWithin({name, extent: [least, greatest]}) {
  const zoom = zooms.get(name);
  if (zoom === undefined) return null;
  const min = Math.max(zoom.min, least);
  const max = Math.min(zoom.max, greatest);
  return min < max ? {min, max} : null;
}

function showReset(id, isShown) {
  toolsOf(byId(id)).querySelector('.reset-zoom').hidden = !isShown;
}

function applyZoom(id) {
  const chart = charts.get(id);
  const {axis} = zoomable.get(id);
  const zoom = zoomWithin(zoomable.get(id));
  const {x} = chart.options.scales;
  [x.min, x.max] = zoom === null ? [axis.min, axis.max] : [zoom.min, zoom.max];
  chart.update('none');
  showReset(id, zoom !== null);
}

// Sets the zoom of all charts with this name; null resets it.
function setZoom(name, zoom) {
  if (zoom === null) zooms.delete(name);
  else zooms.set(name, zoom);
  for (const [id, chart] of zoomable) {
    if (chart.name === name) applyZoom(id);
  }
  tellViewChanged();
}

function addDragging(canvas) {
  const box = element('div', {className: 'zoom-box', hidden: true});
  canvas.after(box);
  let from = null;
  const clamp = x => {
    const {left, right} = charts.get(canvas.id).chartArea;
    return Math.min(right, Math.max(left, x));
  };
  canvas.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    from = clamp(event.offsetX);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    if (from === null) return;
    const to = clamp(event.offsetX);
    box.hidden = Math.abs(to - from) < MIN_DRAG_PIXELS;
    box.style.left = `${Math.min(from, to)}px`;
    box.style.width = `${Math.abs(to - from)}px`;
  });
  canvas.addEventListener('pointerup', event => {
    if (from === null) return;
    const pixels = [from, clamp(event.offsetX)].sort((a, b) => a - b);
    from = null;
    box.hidden = true;
    if (pixels[1] - pixels[0] < MIN_DRAG_PIXELS) return;
    const [min, max] = pixels.map(x => charts.get(canvas.id).scales.x.getValueForPixel(x));
    setZoom(zoomable.get(canvas.id).name, {min, max});
  });
  canvas.addEventListener('pointercancel', () => {
    from = null;
    box.hidden = true;
  });
  canvas.addEventListener('dblclick', () => setZoom(zoomable.get(canvas.id).name, null));
}

function addResetButton(canvas) {
  const button = element('button', {type: 'button', className: 'reset-zoom', hidden: true}, 'Reset zoom');
  button.addEventListener('click', () => setZoom(zoomable.get(canvas.id).name, null));
  toolsOf(canvas).prepend(button);
}

chartExtensions.push((id, chart, {lines, x}) => {
  const canvas = byId(id);
  if (!zoomable.has(id)) {
    addDragging(canvas);
    addResetButton(canvas);
  }
  zoomable.set(id, {
    name: x.zoom ?? id,
    extent: rangeOf(lines, 'x'),
    axis: {min: x.min, max: x.max},
  });
  if (zooms.has(x.zoom ?? id)) applyZoom(id);
  else showReset(id, false);
});

document.addEventListener('keydown', event => {
  if (event.key !== 'Escape' || event.target.closest?.('input, select')) return;
  for (const name of [...zooms.keys()]) setZoom(name, null);
});
