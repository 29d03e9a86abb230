// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What is drawn around the points of a trend: noise floors, intervals, changes.

const LABEL_LINE = 15;

// Draws within the chart's area only.
function withinArea({ctx: context, chartArea: {left, top, right, bottom}}, draw) {
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  draw(context);
  context.restore();
}

function drawSegments(context, {x, y}, {points, segments}) {
  for (const {first, last, mean, noise_low: low, noise_high: high} of segments) {
    const [left, right] = [first, last].map(i => x.getPixelForValue(points[i].started));
    context.globalAlpha = 0.16;
    context.fillStyle = cssColor('--series-1');
    context.fillRect(left, y.getPixelForValue(high), right - left, y.getPixelForValue(low) - y.getPixelForValue(high));
    context.globalAlpha = 0.7;
    context.fillRect(left, y.getPixelForValue(mean) - 0.5, right - left, 1);
  }
  context.globalAlpha = 1;
}

function drawIntervals(context, {x, y}, {points}) {
  context.beginPath();
  for (const {started, low, high} of points) {
    if (low === null || high === null) continue;
    context.moveTo(x.getPixelForValue(started), y.getPixelForValue(low));
    context.lineTo(x.getPixelForValue(started), y.getPixelForValue(high));
  }
  context.globalAlpha = 0.6;
  context.strokeStyle = cssColor('--series-1');
  context.stroke();
  context.globalAlpha = 1;
}

// Draws lines of text on the right of `at`, or on the left if there is no room.
function drawLabel(context, lines, at, {top, right}) {
  const width = Math.max(...lines.map(line => context.measureText(line).width)) + 8;
  const from = at + width <= right ? at + 2 : at - width - 2;
  context.globalAlpha = 0.85;
  context.fillStyle = cssColor('--surface');
  context.fillRect(from, top, width, LABEL_LINE * lines.length + 2);
  context.globalAlpha = 1;
  context.fillStyle = cssColor('--ink');
  lines.forEach((line, i) => context.fillText(line, from + 4, top + LABEL_LINE * (i + 0.5) + 1));
}

// What a label says where there is so much room; its number always.
function labelOf(context, change, number, room) {
  const fits = line => context.measureText(line).width + 12 <= room;
  const title = `${number}: ${sizeOf(change)}`;
  if (!fits(title)) return [String(number)];
  return [title, ...[formatDay(change.started), ...describeFacts(change).slice(0, 2)].filter(fits)];
}

const CHANGE_COLORS = {worse: '--invalid', better: '--ok', changed: '--warn'};

function drawChanges(context, {chartArea, scales}, {changes, series}) {
  const {left, right, top, bottom} = chartArea;
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  context.lineWidth = 1.5;
  const shown = changes.map((change, i) => ({change, number: i + 1, at: scales.x.getPixelForValue(change.started)}))
      .filter(({at}) => at >= left && at <= right);
  for (const {change, at} of shown) {
    context.strokeStyle = cssColor(CHANGE_COLORS[kindOfChange(change, series)]);
    context.beginPath();
    context.moveTo(at, top);
    context.lineTo(at, bottom);
    context.stroke();
  }
  shown.forEach(({change, number, at}, i) => {
    // The last label may be on the left of its line.
    const room = i + 1 < shown.length ? shown[i + 1].at - at : Math.max(right - at, at - (shown[i - 1]?.at ?? left) - 60);
    drawLabel(context, labelOf(context, change, number, room), at, chartArea);
  });
}

function trendMarks(trend) {
  return {
    id: 'trend',
    beforeDatasetsDraw: chart => withinArea(chart, context => {
      drawSegments(context, chart.scales, trend);
      drawIntervals(context, chart.scales, trend);
    }),
    afterDatasetsDraw: chart => withinArea(chart, context => drawChanges(context, chart, trend)),
  };
}
