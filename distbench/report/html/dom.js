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

// columns: [{title, isNumber, isWrapped}]; rows: arrays of texts or nodes.
function makeTable(columns, rows) {
  const classes = columns.map(
      column => column.isNumber ? 'number' : column.isWrapped ? 'wrap' : '');
  const header = element('tr', {}, ...columns.map(
      (column, i) => element('th', {scope: 'col', className: classes[i]}, column.title)));
  const body = rows.map(row => element('tr', {}, ...row.map(
      (cell, i) => element('td', {className: classes[i]}, cell))));
  return element('table', {}, element('thead', {}, header), element('tbody', {}, ...body));
}

function badge(verdict) {
  const className = verdict === 'note' ? 'note-badge' : verdict;
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

function legend(id, entries) {
  replaceContent(id, ...entries.map(({label, color}) => {
    const swatch = element('i', {className: 'swatch'});
    swatch.style.background = color;
    return element('span', {}, swatch, label);
  }));
}
