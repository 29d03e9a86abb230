// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The median of the repeats of a test, for charts that show each repeat as a
// thin line.

// A median of two lines would be a third one between them.
const MIN_REPEATS = 3;

// The latency within which a share of the RPCs ended; infinite among failures.
function latencyAtShare({count, distribution}, share) {
  const entry = distribution.find(([, below]) => below >= share * count * (1 - 1e-12));
  return entry === undefined ? Infinity : entry[0];
}

// For each share of the RPCs, the median of its latencies in the repeats. Ends
// where most repeats have failed RPCs.
function medianLatency(latencies) {
  const shortest = latencies.reduce((a, b) => a.count <= b.count ? a : b);
  const distribution = shortest.distribution.map(([, below]) => [
    medianOf(latencies.map(latency => latencyAtShare(latency, below / shortest.count))), below,
  ]).filter(([ns]) => ns !== Infinity);
  return {count: shortest.count, min_ns: medianOf(latencies.map(({min_ns: ns}) => ns)), distribution};
}

// For each interval of the given width, the median of the repeats that have it,
// if these are most of them.
function medianOverTime(lines, interval) {
  const points = lines.flatMap(line => line.points).filter(({y}) => !Number.isNaN(y));
  return groupBy(points, ({x}) => Math.round(x / interval))
      .filter(([, repeats]) => 2 * repeats.length > lines.length)
      .map(([index, repeats]) => ({x: index * interval, y: medianOf(repeats.map(({y}) => y))}))
      .sort((a, b) => a.x - b.x);
}

// The lines, each followed by that of the median of its curve if this has
// enough repeats. makeMedian(repeats) returns the points of a median.
function withMedians(lines, makeMedian) {
  return groupBy(lines, ({curve, kind}) => JSON.stringify([curve, kind])).flatMap(([, repeats]) => {
    if (repeats.length < MIN_REPEATS) return repeats;
    const [{curve, color, isDashed, kind = ''}] = repeats;
    return [...repeats, {
      curve, color, isDashed, isBold: true, points: makeMedian(repeats),
      label: `${curve}, median of ${repeats.length}${kind}`,
    }];
  });
}

// The entries of a legend: one for each curve, whatever its repeats.
function curveEntries(curves, markOf = () => '') {
  return groupBy(curves, ({curve}) => curve).map(([curve, [first, ...others]]) => ({
    curve,
    color: first.color,
    label: `${curve}${markOf(first)}` + (others.length === 0 ? ''
        : ` (${others.length + 1} repeats${others.length + 1 < MIN_REPEATS ? '' : ', median bold'})`),
  }));
}
