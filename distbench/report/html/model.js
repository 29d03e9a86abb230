// The report's data, and the formats of its quantities. Everything that comes
// from a result reaches the page as text, never as markup.

const data = JSON.parse(document.getElementById('report-data').textContent);

// The number of curves that colours can distinguish.
const MAX_CURVES = 8;

const LATENCIES = {
  service_time: {title: 'service time', columns: 'service'},
  response_time: {title: 'response time', columns: 'response'},
  lateness: {title: 'lateness', columns: null},
};

const rowObjects = new WeakMap();

// The rows of a table as objects; built once.
function rowsOf(table) {
  if (!rowObjects.has(table)) {
    rowObjects.set(table, table.rows.map(row =>
        Object.fromEntries(table.columns.map((column, i) => [column, row[i]]))));
  }
  return rowObjects.get(table);
}

function baseName(path) {
  return path.split('/').pop();
}

const nameOrder = new Intl.Collator('en', {numeric: true});

// Compares numbers in names by value: node2 before node10.
function compareNames(a, b) {
  return nameOrder.compare(a, b);
}

function sortedByName(items, key) {
  return [...items].sort((a, b) => compareNames(a[key], b[key]));
}

function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

// Unlike Math.min() and Math.max(), for any number of values.
function leastOf(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function greatestOf(values) {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// [[key, items]] in the order of their first items.
function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups];
}

// The shortest labels that distinguish the tests: one for each run, without
// its repetition.
function labelTests(tests) {
  const sources = [...new Set(tests.map(test => test.source))];
  const areBaseNamesUnique = new Set(sources.map(baseName)).size === sources.length;
  return tests.map(({name, source}) => sources.length === 1 ? name
      : `${name} (${areBaseNamesUnique ? baseName(source) : source})`);
}

// The tests with their runs: the repeats of a test in one result.
const testGroups = new Map();

const runs = (() => {
  const labels = labelTests(data.tests);
  const all = data.tests.map((test, index) => {
    const key = JSON.stringify([test.source, test.name]);
    if (!testGroups.has(key)) testGroups.set(key, {label: labels[index], runs: []});
    const run = {...test, index, group: testGroups.get(key)};
    run.group.runs.push(run);
    return run;
  });
  for (const {label, runs: repeats} of testGroups.values()) {
    // Tests of one name need not be repeats.
    const areNumbered = new Set(repeats.map(run => run.repetition)).size === repeats.length;
    repeats.forEach((run, i) => {
      run.label = repeats.length === 1 ? label : `${label} #${(areNumbered ? run.repetition : i) + 1}`;
    });
  }
  return all;
})();

const rpcNames = [...new Set(runs.flatMap(run => run.rpcs.map(rpc => rpc.name)))];

// Divides sorted names into the n that rank highest, and all in blocks of n.
// Returns [{title, names}]; a single entry if all fit.
function blocksOf(names, n, rank) {
  if (names.length <= n) return [{title: 'all', names}];
  const busiest = new Set([...names].sort((a, b) => rank(b) - rank(a)).slice(0, n));
  const blocks = [{title: `the ${n} busiest`, names: names.filter(name => busiest.has(name))}];
  for (let i = 0; i < names.length; i += n) {
    const block = names.slice(i, i + n);
    blocks.push({title: `${block[0]} – ${block.at(-1)}`, names: block});
  }
  return blocks;
}

function formatWith(value, units) {
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) {
      return `${Number((value / size).toPrecision(3))} ${unit}`;
    }
  }
  const [size, unit] = units[units.length - 1];
  return `${Number((value / size).toPrecision(3))} ${unit}`;
}

const TIME_UNITS = [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const BYTE_UNITS = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];

function formatTime(ns) {
  if (ns === 'failed' || ns === Infinity) return 'failed';
  return ns === null || ns === undefined ? '–' : formatWith(ns, TIME_UNITS);
}

function formatBytes(bytes) {
  return bytes === null || bytes === undefined ? '–' : formatWith(bytes, BYTE_UNITS);
}

function formatCount(count) {
  return count === null || count === undefined ? '–' : count.toLocaleString('en');
}

function formatRate(perSecond) {
  if (perSecond === null || perSecond === undefined) return '–';
  return perSecond >= 100 ? Math.round(perSecond).toLocaleString('en')
                          : String(Number(perSecond.toPrecision(3)));
}

// ISO 8601 in UTC, to the second.
function formatDate(timestampNs) {
  return timestampNs === null ? '–'
      : `${new Date(timestampNs / 1e6).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

