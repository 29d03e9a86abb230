// Charts of rates and latencies over time.

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

function drawRates(curves) {
  const lines = curves.flatMap(({intervals, label, ...curve}) => {
    const rated = intervalsWithRate(intervals);
    const rate = column => pointsOver(rated, ({row, covered}) => row[column] / covered, 0);
    const isOpenLoop = intervals.some(({row}) => row.offered > 0);
    return [{...curve, label, points: rate('succeeded')}, ...(isOpenLoop ? [{
      ...curve, label: `${label}, offered`, kind: ', offered', points: rate('offered'), isDashed: true,
    }] : [])];
  });
  byId('rate-caption').textContent = lines.some(line => line.isDashed)
      ? 'RPCs per second: succeeded, and offered (dashed)' : 'RPCs per second, succeeded';
  drawLines('rate-chart', withMedians(lines, repeats => medianOverTime(repeats, intervalWidth(curves))),
      SECONDS_AXIS, {
        beginAtZero: true, ticks: {callback: value => formatRate(value)},
        column: {title: 'per_second', valueOf: point => point.y},
      }, point => `${formatRate(point.y)} per second at ${point.x.toFixed(1)} s`);
}

function drawLatencyOverTime(curves, chosen) {
  byId('latency-over-time-caption').textContent = `p99 and p50 (dashed) of the ${LATENCIES[chosen].title} over time`;
  const lines = curves.flatMap(({intervals, label, ...curve}) => {
    const {name, mark} = latencyOf(curve.rpc, chosen);
    return ['p99', 'p50'].map(percentile => ({
      ...curve,
      label: `${label}, ${percentile}${mark}`,
      kind: `, ${percentile}${mark}`,
      isDashed: percentile === 'p50',
      points: pointsOver(intervals, ({row}) => {
        const ns = row[`${LATENCIES[name].columns}_${percentile}_ns`];
        return typeof ns === 'number' ? atLeastOne(ns) : NaN;
      }, NaN),
    }));
  });
  const drawn = withMedians(lines, repeats => medianOverTime(repeats, intervalWidth(curves)));
  drawLines('latency-over-time-chart', drawn, SECONDS_AXIS, {...latencyAxis(drawn, 'y'), column: LATENCY_COLUMN},
      point => `${formatTime(point.y)} at ${point.x.toFixed(1)} s`);
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

function renderOverTime(curves, chosen) {
  const withSeries = curves.map(curve => ({...curve, intervals: intervalsOf(curve)}))
      .filter(({intervals}) => intervals.length > 0);
  showSection('over-time', withSeries.length > 0);
  if (withSeries.length === 0) return;
  // Lateness has no series.
  const shown = chosen === 'lateness' ? 'service_time' : chosen;
  byId('over-time-note').textContent = overTimeNote(withSeries);
  legend('over-time-legend', curveEntries(withSeries, ({rpc}) => latencyOf(rpc, shown).mark));
  drawRates(withSeries);
  drawLatencyOverTime(withSeries, shown);
}
