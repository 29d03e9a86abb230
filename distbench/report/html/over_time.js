// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Charts of rates and latencies over time.

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
      }, point => `${formatRate(point.y)} per second at ${point.x.toFixed(1)} s`, faultBands(curves));
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
        return Number.isFinite(ns) ? atLeastOne(ns) : NaN;
      }, NaN),
    }));
  });
  const drawn = withMedians(lines, repeats => medianOverTime(repeats, intervalWidth(curves)));
  drawLines('latency-over-time-chart', drawn, SECONDS_AXIS, {...latencyAxis(drawn, 'y'), column: LATENCY_COLUMN},
      point => `${formatTime(point.y)} at ${point.x.toFixed(1)} s`, faultBands(curves));
}

function renderOverTime(curves, chosen) {
  const withSeries = curves.map(curve => ({...curve, intervals: intervalsOf(curve)}))
      .filter(({intervals}) => intervals.length > 0);
  showSection('over-time', withSeries.length > 0);
  if (withSeries.length === 0) return;
  // Lateness and wire times have no series.
  const shown = LATENCIES[chosen].columns === null ? 'service_time' : chosen;
  byId('over-time-note').textContent = overTimeNote(withSeries) + faultNote(withSeries);
  legend('over-time-legend', curveEntries(withSeries, ({rpc}) => latencyOf(rpc, shown).mark));
  drawRates(withSeries);
  drawLatencyOverTime(withSeries, shown);
}
