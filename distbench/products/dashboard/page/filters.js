// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The search box and the filters of results. Their values are in the address.

const FILTER_NAMES = ['search', 'test', 'label', 'host', 'attribute', 'after', 'before'];

const SEARCH_DELAY_MS = 250;

// By name: shows the value of a filter.
const filterUpdates = new Map();

let searchTimer = null;

// The filters that the address chooses.
function chosenFilters() {
  const {parameters} = currentPlace();
  return Object.fromEntries(FILTER_NAMES.filter(name => parameters[name]).map(name => [name, parameters[name]]));
}

function chooseFilter(name, value, isSmallStep = false) {
  goTo('/results', {...chosenFilters(), [name]: value}, isSmallStep);
}

function searchBox() {
  const box = element('input', {
    type: 'search', placeholder: 'test, label, file, host, attribute', ariaLabel: 'Search results',
  });
  box.addEventListener('input', () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => chooseFilter('search', box.value, true), SEARCH_DELAY_MS);
  });
  filterUpdates.set('search', value => {
    // What is being typed is newer than the address.
    if (document.activeElement !== box) box.value = value;
  });
  return box;
}

// A chip with a control and, while the filter is used, a button that ends it.
function filterChip(name, title, control) {
  const end = button('×', () => {
    chooseFilter(name, '');
    control.focus();
  }, {title: `Any ${title}`, ariaLabel: `Any ${title}`});
  const node = element('span', {className: 'filter-chip'}, element('label', {}, `${title} `, control), end);
  control.addEventListener('change', () => chooseFilter(name, control.value));
  filterUpdates.set(name, value => {
    node.classList.toggle('used', value !== '');
    end.hidden = value === '';
    if (control instanceof HTMLSelectElement && ![...control.options].some(option => option.value === value)) {
      control.append(element('option', {value}, value));
    }
    control.value = value;
  });
  return node;
}

function choiceChip(name, title, values) {
  const options = [['', 'any'], ...[...values].sort(compareNames).map(value => [value, value])];
  return filterChip(name, title, element('select', {}, ...options.map(
      ([value, text]) => element('option', {value}, text))));
}

// Makes the controls; `choices` is what /api/filters says.
function makeFilters(choices) {
  const attributes = Object.entries(choices.attributes).flatMap(
      ([name, values]) => values.map(value => `${name}=${value}`));
  const clear = button('Clear all', () => goTo('/results', {}), {id: 'clear-filters'});
  const dateChip = (name, title) => filterChip(name, title, element('input', {type: 'date'}));
  replaceContent('results-search', searchBox());
  const chips = [['test', choices.tests], ['label', choices.labels], ['host', choices.hosts], ['attribute', attributes]]
      .filter(([, values]) => values.length > 0).map(([name, values]) => choiceChip(name, name, values));
  replaceContent('results-filters', ...chips, dateChip('after', 'from'), dateChip('before', 'to'), clear,
      choices.truncated ? element('span', {className: 'note'}, 'Not all choices are listed; search finds the others.')
          : '');
}

function showFilters() {
  const chosen = chosenFilters();
  for (const [name, update] of filterUpdates) update(chosen[name] ?? '');
  byId('clear-filters').hidden = Object.keys(chosen).length === 0;
}

// The filters as the server wants them: days, in UTC, as times in [after, before).
function filterParameters() {
  const {after, before, ...others} = chosenFilters();
  const dayStart = day => Date.parse(`${day}T00:00:00Z`);
  const times = {after: dayStart(after), before: dayStart(before) + DAY_MS};
  return {...others, ...Object.fromEntries(Object.entries(times).filter(([, time]) => !Number.isNaN(time)))};
}
