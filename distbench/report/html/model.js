// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The report's data. Everything that comes from a result reaches the page as
// text, never as markup.

const data = JSON.parse(document.getElementById('report-data').textContent);

const LATENCIES = {
  service_time: {title: 'service time', columns: 'service'},
  response_time: {title: 'response time', columns: 'response'},
  lateness: {title: 'lateness', columns: null},
  wire_time: {title: 'wire time', columns: null},
};

// ---- What failed -------------------------------------------------------------
//
// In the data, what falls among failures is null, and a field beside it says so. On the page it is infinite, because it
// ranks above all that succeeded.

const FAILED_BESIDE = {
  value_ns: 'failed', lower_ns: 'lower_failed', upper_ns: 'upper_failed',
  measured: 'failed', value: 'failed', lower: 'lower_failed', upper: 'upper_failed',
};

function raiseFailed(figure) {
  for (const [name, beside] of Object.entries(FAILED_BESIDE)) {
    if (name in figure && figure[beside]) figure[name] = Infinity;
  }
}

// [[name, percent]] of the names that are those of percentiles: "service_p99.9_ns" or "p999_ns".
function percentilesAmong(names) {
  return names.flatMap(name => {
    const found = /^(?:service_|response_)?p(\d\d)\.?(\d*)_ns$/.exec(name);
    return found === null ? [] : [[name, Number(`${found[1]}.${found[2]}`)]];
  });
}

// Percentiles from failed_above_percent on. Closed loops have no response times, not even of failures.
function raisePercentiles(times, percentiles = percentilesAmong(Object.keys(times))) {
  const from = times.failed_above_percent ?? Infinity;
  const isClosedLoop = times.response_max_ns === null;
  for (const [name, percent] of percentiles) {
    const exists = !(isClosedLoop && name.startsWith('response_'));
    if (exists && percent >= from && times[name] === null) times[name] = Infinity;
  }
}

// What open loops should have sent of an RPC: of all its edges; null in closed loops.
function offeredPerSecond({name}, {edges}) {
  const rates = edges.filter(edge => edge.rpc === name && edge.offered_per_second !== null)
      .map(edge => edge.offered_per_second);
  return rates.length === 0 ? null : sumOf(rates);
}

for (const {objectives, rpcs, topology} of data.tests) {
  objectives.forEach(raiseFailed);
  topology.edges.forEach(edge => raisePercentiles(edge));
  for (const rpc of rpcs) {
    for (const name of Object.keys(LATENCIES)) rpc[name]?.percentiles.forEach(raiseFailed);
    rpc.offered_per_second = offeredPerSecond(rpc, topology);
  }
}

const rowObjects = new WeakMap();

// The rows of a table as objects; built once.
function rowsOf(table) {
  if (!rowObjects.has(table)) {
    const percentiles = percentilesAmong(table.columns);
    rowObjects.set(table, table.rows.map(row => {
      const object = Object.fromEntries(table.columns.map((column, i) => [column, row[i]]));
      raisePercentiles(object, percentiles);
      return object;
    }));
  }
  return rowObjects.get(table);
}

// What is not worth a shorter label.
const MIN_CUT = 16;

// "qps=100", by what test_builder has swept; null if that does not distinguish the
// tests.
function labelsOfSweep(tests) {
  const labels = tests.map(({attributes}) => (attributes.swept_parameter ?? '').split(',')
      .map(name => `${name}=${attributes[name] ?? ''}`).join(', '));
  const namesOf = new Set(tests.map(({name}, i) => JSON.stringify([name, labels[i]])));
  const isTold = tests.every(({attributes}) => attributes.swept_parameter) && namesOf.size === new Set(labels).size;
  return isTold ? labels : null;
}

// Names without the words that all begin and end with, if these are long.
function cutNames(names) {
  const words = [...new Set(names)].map(name => name.split(/(?<=[-_. ])/));
  const least = leastOf(words.map(({length}) => length)) - 1;
  const countAlike = wordAt => {
    let count = 0;
    while (count < least && words.every(own => wordAt(own, count) === wordAt(words[0], count))) ++count;
    return count;
  };
  const first = countAlike((own, i) => own[i]);
  const last = Math.min(countAlike((own, i) => own.at(-1 - i)), least - first);
  const lengthOf = part => part.join('').length;
  const [before, after] = [lengthOf(words[0].slice(0, first)), lengthOf(words[0].slice(words[0].length - last))];
  if (words.length === 1 || before + after < MIN_CUT) return names;
  return names.map(name => name.slice(before, name.length - after).replace(/[-_. ]$/, ''));
}

// Short labels that distinguish the tests: one for each run, without its repetition. The
// source tells tests of one name apart.
function labelTests(tests) {
  const sources = [...new Set(tests.map(test => test.source))];
  const areBaseNamesUnique = new Set(sources.map(baseName)).size === sources.length;
  const sourcesOf = new Map(groupBy(tests, ({name}) => name)
      .map(([name, alike]) => [name, new Set(alike.map(({source}) => source)).size]));
  const names = tests.map(({name}) => name);
  if ([...sourcesOf.values()].every(count => count === 1)) return labelsOfSweep(tests) ?? cutNames(names);
  return tests.map(({name, source}) => sourcesOf.get(name) === 1 ? name
      : `${name} (${areBaseNamesUnique ? baseName(source) : source})`);
}

const runs = data.tests.map((test, index) => ({...test, index}));

// The names behind shorter labels of runs.
const wholeNames = new Map();

// What a label, which may go on after the run, stands for; empty if that is itself.
function wholeNameOf(label) {
  return wholeNames.get(label.split(' · ')[0]) ?? '';
}

// The tests with their runs: the repeats of a test in one result. Filled by
// groupRuns(), which also sets the label and the group of each run.
const testGroups = new Map();

// What tells runs of a test in one result apart that are no repeats of each
// other; empty where all are.
function variantsOf(alike) {
  const variants = alike.map(run => partsWith('variantOf').map(variantOf => variantOf(run)).find(Boolean) ?? '');
  return new Set(variants).size === 1 ? variants.map(() => '') : variants;
}

// Needs the parts of products.
function groupRuns() {
  const labels = labelTests(data.tests);
  const keyOf = ({source, name, simulated}) => JSON.stringify([source, name, simulated]);
  for (const [key, alike] of groupBy(runs, keyOf)) {
    const variants = variantsOf(alike);
    alike.forEach((run, i) => {
      const keyOfGroup = JSON.stringify([key, variants[i]]);
      const test = `${labels[run.index]}${run.simulated ? ' (simulated)' : ''}`;
      const label = variants[i] === '' ? test : `${test} at ${variants[i]}`;
      if (!testGroups.has(keyOfGroup)) testGroups.set(keyOfGroup, {label, index: testGroups.size, runs: []});
      run.group = testGroups.get(keyOfGroup);
      run.group.runs.push(run);
    });
  }
  for (const {label, runs: repeats} of testGroups.values()) {
    // Tests of one name need not be repeats.
    const areNumbered = new Set(repeats.map(run => run.repetition)).size === repeats.length;
    repeats.forEach((run, i) => {
      run.label = repeats.length === 1 ? label : `${label} #${(areNumbered ? run.repetition : i) + 1}`;
      if (label.startsWith(run.name)) return;
      for (const short of [label, run.label]) wholeNames.set(short, run.name);
    });
  }
}

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
