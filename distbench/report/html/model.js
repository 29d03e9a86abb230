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

// The shortest labels that distinguish the runs.
function labelRuns(tests) {
  const sources = [...new Set(tests.map(test => test.source))];
  const areBaseNamesUnique = new Set(sources.map(baseName)).size === sources.length;
  const repeated = tests.some(test => test.repetition > 0);
  return tests.map(({name, repetition, source}) => {
    let label = name;
    if (repeated) label += ` #${repetition + 1}`;
    if (sources.length > 1) label += ` (${areBaseNamesUnique ? baseName(source) : source})`;
    return label;
  });
}

const runs = (() => {
  const labels = labelRuns(data.tests);
  return data.tests.map((test, index) => ({...test, index, label: labels[index]}));
})();

const rpcNames = [...new Set(runs.flatMap(run => run.rpcs.map(rpc => rpc.name)))];

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

// The selected curves: one per RPC and run.
function selectCurves(selection) {
  const selected = runs.filter(run => selection.runs.has(run.index)).flatMap(
      run => run.rpcs.filter(rpc => selection.rpcs.has(rpc.name)).map(rpc => ({run, rpc})));
  const manyRuns = runs.length > 1;
  const manyRpcs = rpcNames.length > 1;
  return selected.map(({run, rpc}) => ({
    run,
    rpc,
    label: [manyRuns ? run.label : '', manyRpcs || !manyRuns ? rpc.name : '']
        .filter(part => part !== '').join(' · '),
  }));
}

// The initial selection: all runs, and as many RPCs as there are colours.
function initialSelection() {
  const shownRuns = runs.slice(0, MAX_CURVES);
  const rpcCount = Math.max(1, Math.floor(MAX_CURVES / Math.max(1, shownRuns.length)));
  const isOpenLoop = runs.some(run => run.rpcs.some(rpc => rpc.response_time !== null));
  return {
    runs: new Set(shownRuns.map(run => run.index)),
    rpcs: new Set(rpcNames.slice(0, rpcCount)),
    latency: isOpenLoop ? 'response_time' : 'service_time',
  };
}
