// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Experiments: what a service kept beside its antagonists, and when.

const protectionView = {experiment: 0, cell: 0, run: 0};

function estimateCell(cell, name) {
  const lower = cell[`${name}_lower`];
  if (lower === null) return formatShare(cell[name]);
  return element('span', {}, formatShare(cell[name]),
      element('small', {}, `${formatShare(lower)} – ${formatShare(cell[`${name}_upper`])}`));
}

// Seconds whose p95 was failed are in no mean.
function impactCell(cell) {
  const mean = estimateCell(cell, 'mean_lat_imp');
  const failed = cell.lat_imp_failed_seconds;
  if (failed === 0) return mean;
  return element('span', {}, mean, element('small', {}, `p95 failed in ${failed} of ${cell.seconds} seconds`));
}

function recoveryText({recovered_after_s: seconds, recovered_after_failed: isLate}) {
  if (isLate) return 'not in time';
  return seconds === null ? '–' : `${Number(seconds.toPrecision(3))} s`;
}

function workCell(cell) {
  if (cell.work_csv === null) return cell.antagonist === '' ? '–' : 'not accounted';
  return element('span', {}, formatShare(cell.work_csv),
      element('small', {}, cell.work_csv_resource.replace('_', ' ')));
}

function cellLabel({controls, antagonist, load}) {
  return [controls === '' ? '' : `controls ${controls}`, antagonist === '' ? 'no antagonist' : antagonist, load]
      .filter(part => part !== '').join(', ');
}

// Of an open loop, also what was offered.
function antagonistRate(cell, name) {
  const rate = cell[`${name}_completed_per_second`];
  const offered = cell[`${name}_offered_per_second`];
  return rate === null ? '–' : offered > 0 ? `${formatRate(rate)} of ${formatRate(offered)}` : formatRate(rate);
}

function antagonistCell(cell) {
  if (cell.antagonist === '') return '–';
  return element('span', {}, antagonistRate(cell, 'antagonist'),
      element('small', {}, `alone ${antagonistRate(cell, 'antagonist_alone')}`));
}

function renderCells(experiment) {
  const columns = [
    {title: 'Controls'}, {title: 'Antagonist'}, {title: 'Load'}, {title: 'Runs', isNumber: true},
    {title: 'Isolation', isNumber: true}, {title: 'Its p05', isNumber: true},
    {title: 'Impact on p95', isNumber: true}, {title: 'Recovered', isNumber: true},
    {title: 'Antagonist per second', isNumber: true}, {title: 'Work done', isNumber: true},
    {title: 'Missing', isNumber: true}, {title: 'Failed', isNumber: true},
  ];
  replaceContent('protection-table', makeTable(columns, experiment.cells.map(cell => [
    cell.controls || '–', cell.antagonist || 'none', cell.load || '–', `${cell.measured_runs}/${cell.runs}`,
    estimateCell(cell, 'mean_isol'), formatShare(cell.p05_isol), impactCell(cell),
    recoveryText(cell), antagonistCell(cell), workCell(cell), formatShare(cell.missing), formatShare(cell.failed),
  ])));
}

function notesOf(cell) {
  const ofRuns = cell.by_run.filter(run => run.notes.length > 0)
      .map(run => `Run ${run.repetition + 1}: ${run.notes.join('; ')}.`);
  return [...cell.notes.map(note => `Note: ${note}.`), ...ofRuns];
}

// The seconds of a run, with their times relative to the start of the interference.
function timelineOf(experiment, cell, run) {
  return rowsOf(experiment.seconds)
      .filter(row => row.controls === cell.controls && row.antagonist === cell.antagonist &&
          row.load === cell.load && row.repetition === run.repetition)
      .map(row => ({...row, time: (row.start_timestamp_ns - run.phases.interfere_start_timestamp_ns) / 1e9}));
}

function pointsOf(rows, column, scale = 1) {
  return rows.map(row => ({x: row.time, y: Number.isFinite(row[column]) ? row[column] * scale : NaN}));
}

// Shows a chart if any of its lines has a point, and returns whether one does.
function drawTimeline(id, lines, y, format, shade) {
  const drawn = lines.filter(line => line.points.some(point => !Number.isNaN(point.y)));
  byId(id).closest('figure').hidden = drawn.length === 0;
  if (drawn.length === 0) return false;
  drawLines(id, drawn, {title: {text: 'seconds since the antagonist started'}, zoom: 'protection'}, y,
      point => `${format(point.y)} at ${point.x.toFixed(1)} s`,
      shade === null ? [] : [shadePlugin(shade)]);
  return true;
}

// All runs of the cell, one colour each.
function drawRuns(timelines, shade) {
  const lines = (column, label, isDashed) => timelines.map(({run, rows, color}) => ({
    label: `run ${run.repetition + 1}${label}`, curve: `run ${run.repetition + 1}`, color, isDashed,
    points: pointsOf(rows, column),
  }));
  const rateAxis = {beginAtZero: true, ticks: {callback: value => formatRate(value)}};
  drawTimeline('protection-goodput-chart', lines('goodput_per_second', '', false), rateAxis, formatRate, shade);
  const latencies = lines('p95_ns', '', false);
  drawTimeline('protection-latency-chart', latencies, latencyAxis(latencies, 'y'), formatTime, shade);
  const offered = lines('antagonist_offered_per_second', ', offered', true)
      .filter(line => line.points.some(point => point.y > 0));
  drawTimeline('protection-work-chart', [...lines('antagonist_completed_per_second', '', false), ...offered],
      rateAxis, formatRate, shade);
  legend('protection-runs-legend', timelines.map(({run, color}) => ({label: `run ${run.repetition + 1}`, color})));
}

// What subject and antagonist of one run used.
function drawUsage({rows}, shade) {
  const line = (label, i, column, scale) => ({
    label, color: seriesColor(i), isDashed: false, points: pointsOf(rows, column, scale),
  });
  const zero = {beginAtZero: true};
  const hasCpu = drawTimeline('protection-cpu-chart', [
    line('subject', 0, 'subject_cpus'), line('antagonist', 1, 'antagonist_cpus'),
  ], zero, value => `${value.toFixed(2)} cores`, shade);
  const hasMemory = drawTimeline('protection-memory-chart', [
    line('subject', 0, 'subject_memory_bytes', 2 ** -20), line('antagonist', 1, 'antagonist_memory_bytes', 2 ** -20),
  ], zero, value => `${value.toFixed(1)} MiB`, shade);
  const resources = [['cpu', 'CPU'], ['memory', 'memory'], ['io', 'I/O']];
  const ofSubject = resources.map(
      ([name, title], i) => ({...line(`${title}, subject`, i, `subject_${name}_pressure`, 100), curve: title}));
  const ofHost = resources.map(
      ([name, title], i) => ({...line(`${title}, host`, i, `host_${name}_pressure`, 100), curve: title, isDashed: true}));
  drawTimeline('protection-pressure-chart', [...ofSubject, ...ofHost], zero, value => `${value.toFixed(1)} %`, shade);
  legend('protection-usage-legend', !hasCpu && !hasMemory ? []
      : ['subject', 'antagonist'].map((label, i) => ({label, color: seriesColor(i)})));
  legend('protection-pressure-legend', resources.map(([, label], i) => ({label, color: seriesColor(i)})));
}

function drawCell() {
  const experiment = data.experiments[protectionView.experiment];
  const cell = experiment.cells[protectionView.cell];
  replaceContent('protection-notes', ...notesOf(cell).map(note => element('p', {className: 'note'}, note)));
  const timelines = cell.by_run.filter(run => run.problem === null)
      .map((run, i) => ({run, rows: timelineOf(experiment, cell, run), color: seriesColor(i)}))
      .filter(({rows}) => rows.length > 0);
  byId('protection-timeline').hidden = timelines.length === 0;
  if (timelines.length === 0) return;
  protectionView.run = Math.min(protectionView.run, timelines.length - 1);
  const shadeOf = ({phases}) => cell.antagonist === '' ? null
      : {from: 0, to: (phases.recover_start_timestamp_ns - phases.interfere_start_timestamp_ns) / 1e9};
  drawRuns(timelines.slice(0, MAX_CURVES), shadeOf(timelines[0].run));
  const chosen = timelines[protectionView.run];
  drawUsage(chosen, shadeOf(chosen.run));
  replaceContent('protection-run-controls', ...(timelines.length === 1 ? [] : [selectBox(
      'Run', timelines.map(({run}, i) => [String(i), String(run.repetition + 1)]), String(protectionView.run),
      value => {
        protectionView.run = Number(value);
        drawCell();
      })]));
}

// What the page does not show is said, so that nobody takes an end of a timeline for an end of the run.
function experimentNotes({omissions, notes, seconds}) {
  return [...omissions, ...notes.map(note => `Note: ${note}.`), ...(seconds.rows_left_out === 0 ? [] : [
    `The timelines of later cells lack ${seconds.rows_left_out} seconds, which are in the CSV table protection_seconds.`,
  ])];
}

function drawExperiment() {
  const experiment = data.experiments[protectionView.experiment];
  byId('protection-title').textContent = [
    experiment.test_name, experiment.rpc === '' ? '' : `RPC ${experiment.rpc}`, experiment.objective ?? '',
    experiment.problem === null ? '' : `not measured: ${experiment.problem}`,
  ].filter(part => part !== '').join(', ');
  replaceContent('protection-omissions', ...experimentNotes(experiment).map(text => element('p', {className: 'note'}, text)));
  renderCells(experiment);
  const hasCells = experiment.cells.length > 0;
  byId('protection-timeline').hidden = !hasCells;
  replaceContent('protection-controls', ...[
    data.experiments.length === 1 ? null : selectBox(
        'Experiment', data.experiments.map(
            ({source, test_name: name}, i) => [String(i), `${baseName(source)}: ${name}`]),
        String(protectionView.experiment), value => {
          Object.assign(protectionView, {experiment: Number(value), cell: 0, run: 0});
          drawExperiment();
        }),
    !hasCells ? null : selectBox(
        'Timeline of', experiment.cells.map((cell, i) => [String(i), cellLabel(cell)]), String(protectionView.cell),
        value => {
          Object.assign(protectionView, {cell: Number(value), run: 0});
          drawCell();
        }),
  ].filter(box => box !== null));
  if (hasCells) drawCell();
}

// The first cell with an antagonist has the most to show.
function firstCellToShow({cells}) {
  return Math.max(0, cells.findIndex(cell => cell.antagonist !== ''));
}

function renderProtection() {
  showSection('protection', data.experiments.length > 0);
  if (data.experiments.length > 0) drawExperiment();
}

if (data.experiments.length > 0) protectionView.cell = firstCellToShow(data.experiments[0]);

addPart({redraw: renderProtection});
