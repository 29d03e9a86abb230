// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which runs, RPCs and kind of latency the page shows, and the curves that
// follow from it.

// The repeats of a test have the same hue; more lines would hide one another.
const MAX_LINES = 48;

function countOf(rpcs) {
  return sumOf(rpcs.map(rpc => rpc.succeeded_count + rpc.failed_count));
}

// The names of the RPCs with the most requests, in the order of the config.
function busiestRpcs(count) {
  const total = name => countOf(runs.flatMap(run => run.rpcs.filter(rpc => rpc.name === name)));
  const totals = new Map(rpcNames.map(name => [name, total(name)]));
  const busiest = [...rpcNames].sort((a, b) => totals.get(b) - totals.get(a)).slice(0, count);
  return rpcNames.filter(name => busiest.includes(name));
}

// As many tests and RPCs as there are colours.
function initialSelection() {
  const groups = [...testGroups.values()].slice(0, MAX_CURVES);
  const rpcCount = Math.max(1, Math.floor(MAX_CURVES / Math.max(1, groups.length)));
  const isOpenLoop = runs.some(run => run.rpcs.some(rpc => rpc.response_time !== null));
  return {
    runs: new Set(groups.flatMap(group => group.runs.map(run => run.index))),
    rpcs: new Set(busiestRpcs(rpcCount)),
    latency: isOpenLoop ? 'response_time' : 'service_time',
  };
}

// The chosen latency of an RPC; its service time if it has none.
function latencyOf(rpc, chosen) {
  const name = rpc[chosen] === null ? 'service_time' : chosen;
  return {name, latency: rpc[name], mark: name === chosen ? '' : `, ${LATENCIES[name].title}`};
}

// The selected curves, one per RPC and run; those of one RPC after each other.
// `curve` names an RPC of a test, whose repeats share it.
function selectCurves(selection) {
  const selected = runs.filter(run => selection.runs.has(run.index));
  const isNamed = rpcNames.length > 1 || runs.length === 1;
  const label = (test, rpc) => [runs.length > 1 ? test.label : '', isNamed ? rpc.name : '']
      .filter(part => part !== '').join(' · ');
  return [...selection.rpcs].sort((a, b) => rpcNames.indexOf(a) - rpcNames.indexOf(b)).flatMap(
      name => selected.flatMap(run => run.rpcs.filter(rpc => rpc.name === name).map(rpc => ({
        run, rpc, label: label(run, rpc),
        curve: label(run.group, rpc),
      }))));
}

// The curves that are drawn, with their colours: the busiest, if there are more
// than colours, and of each as many repeats as there is room for.
function coloredCurves(all) {
  const byCurve = new Map(groupBy(all, ({curve}) => curve));
  const names = [...byCurve.keys()];
  const drawn = blocksOf(names, MAX_CURVES, name => countOf(byCurve.get(name).map(({rpc}) => rpc)))[0].names;
  const repeats = Math.floor(MAX_LINES / Math.max(1, drawn.length));
  return drawn.flatMap((name, i) => byCurve.get(name).slice(0, repeats).map((entry, _, entries) => ({
    ...entry, color: seriesColor(i), isThin: entries.length > 1,
  })));
}

// What of the selection is not drawn, and why; empty if all is.
function selectionNote(all, drawn) {
  if (drawn.length === all.length) return '';
  const countCurves = curves => new Set(curves.map(({curve}) => curve)).size;
  const [drawnCount, allCount] = [countCurves(drawn), countCurves(all)];
  return (drawnCount < allCount
      ? `${drawnCount} of ${allCount} selected curves are drawn, those with the most RPCs; `
      : `${drawn.length} of ${all.length} selected repeats are drawn, the first of each test; `) +
      'choose fewer runs or RPCs to see the others.';
}
