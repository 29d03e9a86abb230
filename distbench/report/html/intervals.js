// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The intervals of series over time, which may be partial, and their points.

const SECONDS_AXIS = {title: {text: 'seconds since the start'}, zoom: 'time'};

function originOf(run, rows, column) {
  return run.run.start_timestamp_ns ?? leastOf(rows.map(row => row[column]));
}

// The intervals of an RPC: their first covered second, and how many seconds of
// them the traffic covers.
function intervalsOf({run, rpc}) {
  const rows = rowsOf(run.seconds).filter(row => row.rpc === rpc.name);
  const origin = originOf(run, rowsOf(run.seconds), 'start_timestamp_ns');
  const since = (timestampNs, otherwise) => timestampNs === null ? otherwise : (timestampNs - origin) / 1e9;
  const start = since(rpc.start_timestamp_ns, -Infinity);
  const end = since(rpc.end_timestamp_ns, Infinity);
  return rows.map(row => {
    const begin = since(row.start_timestamp_ns);
    const time = Math.max(begin, start);
    return {begin, time, row, covered: Math.min(begin + row.duration_s, end) - time};
  });
}

function isPartial({covered, row}) {
  return covered < 0.999 * row.duration_s;
}

// Less than half of an interval says little about a rate.
function hasRate({covered, row}) {
  return covered >= 0.5 * row.duration_s;
}

// Points of the intervals, with zeros across the gaps between them.
function pointsOver(intervals, valueOf, gapValue) {
  const points = [];
  let previous = null;
  for (const interval of intervals) {
    const {begin, time, row} = interval;
    if (previous !== null && begin - previous > 1.5 * row.duration_s) {
      points.push({x: previous + row.duration_s, y: gapValue});
      if (begin - previous > 2.5 * row.duration_s) points.push({x: begin - row.duration_s, y: gapValue});
    }
    points.push({x: time, y: valueOf(interval)});
    previous = begin;
  }
  return points;
}

// Traffic that covers no interval by half has only rates of parts.
function intervalsWithRate(intervals) {
  const found = intervals.filter(hasRate);
  return found.length > 0 ? found : intervals.filter(({covered}) => covered > 0);
}

// The longest, in seconds.
function intervalWidth(curves) {
  return greatestOf(curves.flatMap(({intervals}) => intervals.map(({row}) => row.duration_s)));
}

function overTimeNote(curves) {
  const partial = curves.flatMap(({intervals}) => intervals.filter(isPartial));
  const leftOut = sumOf(curves.map(({intervals}) => intervals.length - intervalsWithRate(intervals).length));
  return `Warm-up is included. A point stands for the ${intervalWidth(curves)} s that begin with it.` +
      (partial.length === 0 ? '' : ' The first and the last intervals are partial: their rates are those of the ' +
          'part in which traffic ran') +
      (leftOut === 0 ? '' : `; the rates of ${leftOut} are left out, because it is less than half of the interval`) +
      (partial.length === 0 ? '' : '.');
}
