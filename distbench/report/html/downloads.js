// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Charts as images, and their data as CSV.

const CSV_TYPE = 'text/csv;charset=utf-8';

function download(name, blob) {
  const url = URL.createObjectURL(blob);
  element('a', {href: url, download: name}).click();
  // The browser has opened it long before.
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// Text that a spreadsheet would take for a formula gets an apostrophe in front.
function harmlessText(value) {
  return /^[=+\-@\t\r]./s.test(value) && Number.isNaN(Number(value)) ? `'${value}` : String(value);
}

// As in RFC 4180, except that lines end in a line feed.
function csvText(rows) {
  const cell = value => {
    const text = harmlessText(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map(row => `${row.map(cell).join(',')}\n`).join('');
}

function lineRows(lines, x, y, caption) {
  const columns = [
    x.column ?? {title: x.title?.text ?? 'x', valueOf: point => point.x},
    y.column ?? {title: caption, valueOf: point => point.y},
  ].flat();
  const rows = lines.flatMap(({label, points}) => points.filter(point => !Number.isNaN(point.y)).map(
      point => [label, ...columns.map(column => column.valueOf(point))]));
  return [['curve', ...columns.map(column => column.title)], ...rows];
}

const IMAGE_MARGIN = 12;
const IMAGE_LINE = 20;

// The canvas with a caption above and the names of the lines below it.
function imageOf(canvas, caption, entries) {
  const ratio = canvas.width / canvas.clientWidth;
  const legendHeight = IMAGE_LINE * entries.length;
  const image = element('canvas', {
    width: canvas.width + 2 * IMAGE_MARGIN * ratio,
    height: canvas.height + (2 * IMAGE_MARGIN + IMAGE_LINE + legendHeight) * ratio,
  });
  const context = image.getContext('2d');
  context.fillStyle = cssColor('--surface');
  context.fillRect(0, 0, image.width, image.height);
  context.scale(ratio, ratio);
  context.font = '13px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = cssColor('--ink');
  context.fillText(caption, IMAGE_MARGIN, IMAGE_MARGIN + IMAGE_LINE / 2);
  context.drawImage(canvas, IMAGE_MARGIN, IMAGE_MARGIN + IMAGE_LINE, canvas.clientWidth, canvas.clientHeight);
  entries.forEach(({label, color}, i) => {
    const y = IMAGE_MARGIN + IMAGE_LINE + canvas.clientHeight + IMAGE_LINE * (i + 0.5);
    context.fillStyle = color;
    context.fillRect(IMAGE_MARGIN, y - 2, 14, 4);
    context.fillStyle = cssColor('--ink');
    context.fillText(label, IMAGE_MARGIN + 20, y);
  });
  return image;
}

// The buttons of a chart or heat map; listRows() and listEntries() return its data,
// and the entries of its legend, when a button is pressed.
function addDownloads(canvas, name, captionOf, listRows, listEntries) {
  const button = (title, onClick) => {
    const node = element('button', {type: 'button', title: `Save as ${title}`}, title);
    node.addEventListener('click', onClick);
    return node;
  };
  toolsOf(canvas).append(
      button('PNG', () => imageOf(canvas, captionOf(), listEntries()).toBlob(
          blob => download(`${name}.png`, blob))),
      button('CSV', () => download(`${name}.csv`, new Blob([csvText(listRows())], {type: CSV_TYPE}))));
}

// What the buttons save, by the id of the chart.
const drawings = new Map();

// The visible lines, one for each color and name.
function imageEntries(id) {
  const visible = drawings.get(id).lines.filter(line => !hiddenCurves.has(nameOfCurve(line)));
  return groupBy(visible, nameOfCurve).map(([label, [{color}]]) => ({label, color}));
}

chartExtensions.push((id, chart, {lines, x, y}) => {
  const canvas = byId(id);
  if (!drawings.has(id)) {
    const captionOf = () => canvas.closest('figure')?.querySelector('figcaption')?.textContent ?? id;
    addDownloads(canvas, `distbench-${id}`, captionOf,
        () => lineRows(drawings.get(id).lines, drawings.get(id).x, drawings.get(id).y, captionOf()),
        () => imageEntries(id));
  }
  drawings.set(id, {lines, x, y});
});
