// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Helpers that create parts of the page.

function byId(id) {
  return document.getElementById(id);
}

// element('td', {className: 'number'}, 'text', child, ...)
function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function replaceContent(id, ...children) {
  byId(id).replaceChildren(...children);
}

// Shows a section only if it has content.
function showSection(id, isShown) {
  byId(id).hidden = !isShown;
}

// Tells those who remember the view that the user has changed it.
function tellViewChanged() {
  document.dispatchEvent(new Event('viewchange'));
}

// Functions (table, columns, name) that add to each table, and may return what to
// show instead of it.
const tableExtensions = [];

// columns: [{title, isNumber, isWrapped}]; rows: arrays of texts or nodes. What
// the user does to a table with a name holds when it is made again.
function makeTable(columns, rows, name) {
  const classes = columns.map(
      column => column.isNumber ? 'number' : column.isWrapped ? 'wrap' : '');
  const header = element('tr', {}, ...columns.map(
      (column, i) => element('th', {scope: 'col', className: classes[i]}, column.title)));
  const body = rows.map(row => element('tr', {}, ...row.map(
      (cell, i) => element('td', {className: classes[i]}, cell))));
  const table = element('table', {}, element('thead', {}, header), element('tbody', {}, ...body));
  return tableExtensions.reduce((shown, extend) => extend(table, columns, name) ?? shown, table);
}

// The row of buttons above the box of a chart; made when first asked for.
function toolsOf(canvas) {
  const box = canvas.parentElement;
  if (!box.previousElementSibling?.classList.contains('tools')) box.before(element('div', {className: 'tools'}));
  return box.previousElementSibling;
}

function badge(verdict) {
  const className = verdict === 'note' ? 'note-badge' : verdict.replaceAll(' ', '-');
  return element('span', {className: `badge ${className}`}, verdict);
}

// A check box or radio button with a label.
function chip(type, group, label, checked, onChange) {
  const input = element('input', {type, name: group, checked});
  input.addEventListener('change', () => onChange(input.checked));
  return element('label', {className: 'chip', title: label}, input, element('span', {}, label));
}

// options: [[value, label]].
function selectBox(title, options, value, onChange) {
  const box = element('select', {}, ...options.map(
      ([key, label]) => element('option', {value: key, selected: key === value}, label)));
  box.addEventListener('change', () => onChange(box.value));
  return element('label', {}, `${title} `, box);
}
