// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Heat maps of clients and servers, with one cell per pair: as a canvas, or as a table
// of numbers where these are few.

// ---- Colours -----------------------------------------------------------------

// Mixes two colours; share is from 0 to 1. Returns red, green and blue.
function mixColors(low, high, share) {
  const channel = (color, i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
  return [0, 1, 2].map(
      i => Math.round(channel(low, i) + share * (channel(high, i) - channel(low, i))));
}

// One hue from light to dark, so that no eye and no printer confuses two values. Returns
// the function from shares to colours.
function heatColors() {
  const [low, high] = [cssColor('--heat-low'), cssColor('--heat-high')];
  return share => mixColors(low, high, share);
}

function cssRgb(color) {
  return `rgb(${color.join(', ')})`;
}

// Black or white on a colour, whichever has the higher contrast (WCAG 2.2, relative luminance).
function inkOn(color) {
  const [red, green, blue] = color.map(channel => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff';
}

// Scales from values to shares. Infinite values, of what failed, are the highest.

function scaleOf(low, high, shareOf) {
  return {low, high, shareOf: value => value === Infinity ? 1 : shareOf(value)};
}

function linearScale(values) {
  const [low, high] = [leastOf(values), greatestOf(values)];
  return scaleOf(low, high, value => high > low ? (value - low) / (high - low) : 0.5);
}

// Its ends are a factor of two apart, or more, so that chance remains pale.
function logarithmicScale(values) {
  const low = Math.max(1, leastOf(values));
  const high = Math.max(2 * low, greatestOf(values));
  return scaleOf(low, high, value => Math.log(Math.max(low, value) / low) / Math.log(high / low));
}

function scaleLegend({low, high}, format) {
  return element('div', {className: 'heat-scale'}, format(low), element('span', {className: 'ramp'}), format(high));
}

// ---- Canvas ------------------------------------------------------------------

// Who is out of line is marked: names of clients and of servers, and pairs as keyOfPair() has them.
const NO_MARKS = {clients: new Set(), servers: new Set(), pairs: new Set()};
const MARK = '▲';

function keyOfPair({client, server}) {
  return JSON.stringify([client, server]);
}

// Positions of cells and labels, in pixels.
function layOut(cells, context) {
  const clients = [...new Set(cells.map(cell => cell.client))].sort(compareNames);
  const servers = [...new Set(cells.map(cell => cell.server))].sort(compareNames);
  const widest = names => Math.min(180, Math.max(...names.map(name => context.measureText(name).width)));
  const size = Math.max(4, Math.min(44, Math.floor(1000 / servers.length), Math.floor(720 / clients.length)));
  const hasLabels = size >= 12;
  return {
    clients, servers, size, hasLabels,
    left: hasLabels ? Math.ceil(widest(clients)) + 24 : 20,
    top: hasLabels ? Math.ceil(widest(servers)) + 28 : 24,
    font: context.font,
  };
}

// Where there is no room for names.
function drawMarks(context, {clients, servers, size, left, top, marks}) {
  context.textAlign = 'right';
  clients.forEach((name, i) => {
    if (marks.clients.has(name)) context.fillText('▶', left - 2, top + (i + 0.5) * size);
  });
  context.textAlign = 'center';
  servers.forEach((name, i) => {
    if (marks.servers.has(name)) context.fillText('▼', left + (i + 0.5) * size, top - 7);
  });
}

function drawLabels(context, layout) {
  const {clients, servers, size, left, top} = layout;
  context.fillStyle = cssColor('--ink-soft');
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillText('clients ↓  servers →', 0, 8);
  if (!layout.hasLabels) {
    drawMarks(context, layout);
    return;
  }
  context.textAlign = 'right';
  const marked = (name, names) => `${names.has(name) ? `${MARK} ` : ''}${name}`;
  clients.forEach((name, i) => context.fillText(
      marked(name, layout.marks.clients), left - 8, top + (i + 0.5) * size, left - 8));
  context.textAlign = 'left';
  servers.forEach((name, i) => {
    context.save();
    context.translate(left + (i + 0.5) * size, top - 6);
    context.rotate(-Math.PI / 2);
    context.fillText(marked(name, layout.marks.servers), 0, 0, top - 24);
    context.restore();
  });
}

function drawCells(context, layout, cells, scale) {
  const gap = layout.size >= 8 ? 1 : 0;
  const side = layout.size - gap;
  const marked = cells.filter(cell => layout.marks.pairs.has(keyOfPair(cell)));
  const place = cell => [
    layout.left + layout.column.get(cell.server) * layout.size, layout.top + layout.line.get(cell.client) * layout.size,
  ];
  const colorOf = heatColors();
  for (const cell of cells.filter(({value}) => value !== null)) {
    context.fillStyle = cssRgb(colorOf(scale.shareOf(cell.value)));
    context.fillRect(...place(cell), side, side);
  }
  // Seen on pale cells and on dark ones.
  for (const [color, width] of [['--surface', 4], ['--ink', 2]]) {
    context.strokeStyle = cssColor(color);
    context.lineWidth = width;
    for (const cell of marked) context.strokeRect(...place(cell), side, side);
  }
}

function addTooltip(canvas, layout, cells, describe) {
  const byPosition = new Map(cells.map(
      cell => [`${layout.column.get(cell.server)},${layout.line.get(cell.client)}`, cell]));
  const tooltip = element('div', {className: 'tooltip', hidden: true});
  canvas.addEventListener('mousemove', event => {
    const column = Math.floor((event.offsetX - layout.left) / layout.size);
    const line = Math.floor((event.offsetY - layout.top) / layout.size);
    const cell = byPosition.get(`${column},${line}`);
    tooltip.hidden = cell === undefined;
    if (cell === undefined) return;
    tooltip.textContent = describe(cell);
    tooltip.style.left = `${event.clientX + 14}px`;
    tooltip.style.top = `${event.clientY + 14}px`;
  });
  canvas.addEventListener('mouseleave', () => { tooltip.hidden = true; });
  return tooltip;
}

// cells: [{client, server, value}], null where there is no value. label: what it is, for
// those who do not see it. describe(cell): the text of a tooltip.
function makeHeatMap({id, label, cells, scale, marks = NO_MARKS, describe}) {
  const canvas = element('canvas', {id});
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', label);
  const context = canvas.getContext('2d');
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  const layout = {...layOut(cells, context), marks};
  layout.column = new Map(layout.servers.map((name, i) => [name, i]));
  layout.line = new Map(layout.clients.map((name, i) => [name, i]));
  const width = Math.max(180, layout.left + layout.servers.length * layout.size);
  const height = layout.top + layout.clients.length * layout.size;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.scale(ratio, ratio);
  context.font = layout.font;
  drawLabels(context, layout);
  drawCells(context, layout, cells, scale);
  return element('div', {className: 'heat-map'}, canvas, addTooltip(canvas, layout, cells, describe));
}

// ---- Table -------------------------------------------------------------------

// More columns are a canvas.
const MAX_MATRIX_NAMES = 24;

// Titles of more columns are turned, unless they are as short as numbers.
const MAX_LEVEL_NAMES = 6;
const MAX_LEVEL_TITLE = 4;

// The same as a table, which can be read without its colours. format(cell): its text.
function makeMatrix({caption, names, cells, scale, marks = NO_MARKS, format, describe}) {
  const byPair = new Map(cells.map(cell => [keyOfPair(cell), cell]));
  const colorOf = heatColors();
  const title = (name, isMarked, {scope, isTurned}) => element('th', {
    title: name, scope, className: `${isMarked ? 'marked-name' : ''} ${isTurned ? 'turned' : ''}`,
  }, element('span', {}, `${isMarked ? `${MARK} ` : ''}${name}`));
  const isTurned = names.length > MAX_LEVEL_NAMES && names.some(name => name.length > MAX_LEVEL_TITLE);
  const head = element('tr', {}, element('td', {}, 'client ↓ server →'), ...names.map(name => title(
      name, marks.servers.has(name), {scope: 'col', isTurned})));
  const cellOf = (client, server) => {
    const cell = byPair.get(keyOfPair({client, server}));
    if (cell === undefined) return element('td', {className: 'none'});
    const isMarked = marks.pairs.has(keyOfPair(cell));
    const node = element('td', {className: isMarked ? 'marked' : '', title: describe(cell)}, format(cell));
    if (cell.value === null) return node;
    const color = colorOf(scale.shareOf(cell.value));
    node.style.background = cssRgb(color);
    node.style.color = inkOn(color);
    return node;
  };
  const rows = names.map(client => element('tr', {},
      title(client, marks.clients.has(client), {scope: 'row'}), ...names.map(server => cellOf(client, server))));
  return element('div', {className: 'scroll'}, element('table', {className: 'matrix'},
      element('caption', {}, caption), element('thead', {}, head), element('tbody', {}, ...rows)));
}
