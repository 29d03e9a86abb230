// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where the parts of the graph of services are drawn, in pixels.

const BOX = {width: 160, height: 46, gap: 20};
const LABEL = {width: 196, height: 62, gap: 10};

// Between a box and the labels beside it, for the curves.
const ROOM = 46;
const MARGIN = 8;

function stackHeight(count, {height, gap}) {
  return count === 0 ? 0 : count * (height + gap) - gap;
}

// Gives items a y, one below the other, around the middle.
function stackUp(items, size, middle) {
  const top = middle - stackHeight(items.length, size) / 2;
  items.forEach((item, i) => { item.y = top + i * (size.height + size.gap); });
}

function middleOf(item, size) {
  return item.y + size.height / 2;
}

// Puts services below those that stand beside the first of their callers.
function sortByCallers(tier, labels) {
  const rank = box => {
    const callers = labels.filter(label => label.server === box && label.client.tier < box.tier);
    return callers.reduce((sum, {client}) => sum + client.y, 0) / Math.max(1, callers.length);
  };
  return tier.map(box => ({box, rank: rank(box)})).sort((a, b) => a.rank - b.rank).map(({box}) => box);
}

// Tiers are columns, from left to right. The labels of the RPCs that a tier
// sends stand between it and the next one. Returns {width, height, boxes,
// labels}: services and edges with their places. A label has its client's and
// its server's box.
function layOutTopology(services, edges) {
  const boxes = services.map(service => ({...service}));
  const byName = new Map(boxes.map(box => [box.name, box]));
  const labels = edges.map(edge => ({edge, client: byName.get(edge.client), server: byName.get(edge.server)}));
  const numbers = [...new Set(boxes.map(box => box.tier))].sort((a, b) => a - b);
  const tiers = numbers.map(number => boxes.filter(box => box.tier === number));
  const gaps = numbers.map(number => labels.filter(label => label.client.tier === number));
  const height = 2 * MARGIN + Math.max(
      ...tiers.map(tier => stackHeight(tier.length, BOX)), ...gaps.map(gap => stackHeight(gap.length, LABEL)));
  const stride = BOX.width + LABEL.width + 2 * ROOM;
  tiers.forEach((tier, i) => {
    stackUp(sortByCallers(tier, labels), BOX, height / 2);
    for (const box of tier) box.x = MARGIN + i * stride;
    gaps[i].forEach(label => { label.x = MARGIN + i * stride + BOX.width + ROOM; });
  });
  for (const gap of gaps) {
    gap.sort((a, b) => a.client.y - b.client.y || a.server.y - b.server.y);
    stackUp(gap, LABEL, height / 2);
  }
  const hasLastGap = gaps.at(-1).length > 0;
  const width = 2 * MARGIN + (tiers.length - 1) * stride + BOX.width + (hasLastGap ? ROOM + LABEL.width : 0);
  return {width, height, boxes, labels};
}

// A curve that starts and ends level.
function curve(x1, y1, x2, y2) {
  const middle = (x1 + x2) / 2;
  return `M ${x1} ${y1} C ${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

// The curves of a label: from its client to it, and on to its server. RPCs to
// the same or an earlier tier turn back to the right side of their server.
function pathsOf(label) {
  const y = middleOf(label, LABEL);
  const start = curve(label.client.x + BOX.width, middleOf(label.client, BOX), label.x, y);
  const target = middleOf(label.server, BOX);
  if (label.server.tier > label.client.tier) {
    const tip = label.server.x;
    return {lines: [start, curve(label.x + LABEL.width, y, tip - 7, target)],
      arrow: `M ${tip} ${target} l -9 -5 v 10 z`};
  }
  const tip = label.server.x + BOX.width;
  return {lines: [start, curve(label.x, y + 16, tip + 7, target + 12)],
    arrow: `M ${tip} ${target + 12} l 9 -5 v 10 z`};
}
