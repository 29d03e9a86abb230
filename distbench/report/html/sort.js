// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tables that are sorted by a click on a column's title, and filtered if they
// are long.

// By the name of a table: {column, direction}; direction is one of DIRECTIONS.
const tableOrders = new Map();
const tableFilters = new Map();

const DIRECTIONS = ['ascending', 'descending'];
const MIN_FILTERED_ROWS = 13;

const UNIT_SIZES = new Map([...TIME_UNITS, ...BYTE_UNITS].map(([size, unit]) => [unit, size]));

// The number that a formatted quantity stands for; NaN if it is none.
function quantityOf(text) {
  if (text === 'failed') return Infinity;
  const match = /^(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(\S*)/.exec(text);
  if (match === null) return NaN;
  const [, digits, unit] = match;
  return Number(digits.replaceAll(',', '')) * (UNIT_SIZES.get(unit.replace(/\/s$/, '')) ?? 1);
}

// The text of a cell without what is below it, such as an interval.
function sortText(cell) {
  let node = cell;
  while (node.firstChild) node = node.firstChild;
  return node.textContent;
}

// Rows without a value are last, whatever the direction.
function compareRows(a, b, {column, direction}, isNumber) {
  const sign = direction === 'ascending' ? 1 : -1;
  const [textA, textB] = [a, b].map(row => sortText(row.cells[column]));
  if (!isNumber) return sign * compareNames(textA, textB);
  const [numberA, numberB] = [quantityOf(textA), quantityOf(textB)];
  if (Number.isNaN(numberA) || Number.isNaN(numberB)) return Number.isNaN(numberA) - Number.isNaN(numberB);
  return numberA === numberB ? 0 : sign * (numberA < numberB ? -1 : 1);
}

// order: null for the order in which the rows were made.
function sortRows(table, rows, columns, order) {
  const sorted = order === null ? rows
      : [...rows].sort((a, b) => compareRows(a, b, order, columns[order.column].isNumber));
  table.tBodies[0].append(...sorted);
  [...table.tHead.rows[0].cells].forEach((cell, i) => {
    cell.setAttribute('aria-sort', order?.column === i ? order.direction : 'none');
  });
}

// Numbers begin with the highest; the third click undoes the order.
function nextOrder(order, column, isNumber) {
  const directions = isNumber ? [...DIRECTIONS].reverse() : DIRECTIONS;
  if (order?.column !== column) return {column, direction: directions[0]};
  return order.direction === directions[0] ? {column, direction: directions[1]} : null;
}

function addSorting(table, columns, name) {
  const rows = [...table.tBodies[0].rows];
  let order = tableOrders.get(name) ?? null;
  if (order !== null && order.column >= columns.length) order = null;
  [...table.tHead.rows[0].cells].forEach((cell, i) => {
    const button = element('button', {type: 'button', className: 'sort'}, ...cell.childNodes);
    button.addEventListener('click', () => {
      order = nextOrder(order, i, columns[i].isNumber);
      sortRows(table, rows, columns, order);
      if (name === undefined) return;
      if (order === null) tableOrders.delete(name);
      else tableOrders.set(name, order);
      tellViewChanged();
    });
    cell.append(button);
  });
  sortRows(table, rows, columns, order);
}

// Shows only the rows that contain the text.
function filterRows(table, text, count) {
  const wanted = text.trim().toLowerCase();
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  const shown = rows.filter(row => !row.hidden).length;
  count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
}

function withFilter(table, name) {
  const box = element('input', {type: 'search', value: tableFilters.get(name) ?? ''});
  const count = element('output', {});
  box.addEventListener('input', () => {
    if (name !== undefined) tableFilters.set(name, box.value);
    filterRows(table, box.value, count);
  });
  filterRows(table, box.value, count);
  const controls = element('div', {className: 'filter'}, element('label', {}, 'Filter ', box), ' ', count);
  return element('div', {}, controls, table);
}

tableExtensions.push((table, columns, name) => {
  const rowCount = table.tBodies[0].rows.length;
  if (rowCount > 1) addSorting(table, columns, name);
  return rowCount < MIN_FILTERED_ROWS ? null : withFilter(table, name);
});
