// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A small chart of a trend: its points, noise floors and changes.

const SPARK_WIDTH = 240;
const SPARK_HEIGHT = 56;

function svgNode(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Maps [from, to] to [0, size]; the middle if all values are equal.
function scaleTo(from, to, size) {
  return value => to === from ? size / 2 : size * (value - from) / (to - from);
}

function sparkBand({points}, {first, last, noise_low: low, noise_high: high}, x, y) {
  const left = x(points[first].started);
  return svgNode('rect', {
    class: 'band', x: left, width: Math.max(1, x(points[last].started) - left),
    y: y(high), height: Math.max(1, y(low) - y(high)),
  });
}

function sparkChange(change, series, x) {
  const at = x(change.started);
  return svgNode('line', {class: `change ${kindOfChange(change, series)}`, x1: at, x2: at, y1: 0, y2: SPARK_HEIGHT});
}

// start: the time from which on the trend is shown.
function sparkline(trend, start) {
  const points = pointsSince(trend, start);
  const values = points.map(point => point.value);
  const x = scaleTo(points[0]?.started, points.at(-1)?.started, SPARK_WIDTH);
  const up = scaleTo(leastOf(values), greatestOf(values), SPARK_HEIGHT - 8);
  const y = value => SPARK_HEIGHT - 4 - up(value);
  const path = points.map(({started, value}, i) => `${i === 0 ? 'M' : 'L'}${x(started).toFixed(1)} ${y(value).toFixed(1)}`);
  return svgNode('svg', {viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
      ...trend.segments.filter(({last}) => trend.points[last].started >= start)
          .map(segment => sparkBand(trend, segment, x, y)),
      svgNode('path', {class: 'curve', d: path.join('')}),
      ...trend.changes.filter(({started}) => started >= start).map(change => sparkChange(change, trend.series, x)));
}
