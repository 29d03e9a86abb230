// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Charts of latency distributions.

function percentileAxis(largest) {
  // If there are many decades, there is no room for the median.
  const ticks = largest > 1e5 ? [1] : [1, 2];
  for (let x = 10; x <= largest * 1.0001; x *= 10) ticks.push(x);
  return {
    type: 'logarithmic',
    min: 1,
    max: largest,
    title: {text: 'percentile'},
    column: {title: 'percentile', valueOf: point => 100 * point.share},
    afterBuildTicks: axis => { axis.ticks = visibleTicks(axis, ticks); },
    ticks: {
      autoSkip: false,
      callback: value => `${Number((100 - Number((100 / value).toPrecision(2))).toFixed(8))}%`,
    },
  };
}

// The maximum is at the share of the last RPC.
function percentilePoints({count, distribution}) {
  return distribution.map(([ns, below]) => {
    const share = below < count ? below / count : 1 - 1 / count;
    return {x: 1 / (1 - share), y: atLeastOne(ns), share: below / count};
  });
}

function cdfPoints({count, min_ns: min, distribution}) {
  return [{x: atLeastOne(min), y: 0},
    ...distribution.map(([ns, below]) => ({x: atLeastOne(ns), y: 100 * below / count}))];
}

const LATENCY_COLUMN = {title: 'latency_ns', valueOf: point => point.y};

// curves: those of the selection, each with the latency to draw and its mark.
function drawLatencies(curves) {
  const linesOf = pointsOf => withMedians(
      curves.map(({mark, ...curve}) => ({...curve, label: curve.label + mark, points: pointsOf(curve.latency)})),
      repeats => pointsOf(medianLatency(repeats.map(({latency}) => latency))));
  const percentiles = linesOf(percentilePoints);
  const [, largest] = rangeOf(percentiles, 'x');
  drawLines('percentile-chart', percentiles, percentileAxis(Math.max(10, largest)),
      {...latencyAxis(percentiles, 'y'), column: LATENCY_COLUMN},
      point => `${describePercentile(point.share)} = ${formatTime(point.y)}`);
  const shares = linesOf(cdfPoints);
  drawLines('cdf-chart', shares,
      {...latencyAxis(shares, 'x'), column: {title: 'latency_ns', valueOf: point => point.x}}, {
        min: 0,
        max: 100,
        ticks: {callback: value => `${value}%`},
        title: {text: 'of the RPCs'},
      }, point => `${Number(point.y.toPrecision(6))} % within ${formatTime(point.x)}`);
}

function renderLatencyCharts(curves, chosen) {
  const drawn = curves.map(curve => ({...curve, ...latencyOf(curve.rpc, chosen)}))
      .filter(({latency}) => latency !== null && latency.distribution.length > 0);
  legend('latency-legend', curveEntries(drawn, ({mark}) => mark));
  drawLatencies(drawn);
}
