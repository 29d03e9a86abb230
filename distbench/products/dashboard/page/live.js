// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer now: the running test, the queue and the nodes.

const RETRY_MS = 3000;

let stream = null;
let retryTimer = null;

// What was drawn last, as JSON, by part: parts are drawn again only if they
// change, so that focus and unfolded details stay.
const drawnParts = new Map();

function drawIfChanged(part, content, draw) {
  const text = JSON.stringify(content);
  if (drawnParts.get(part) === text) return;
  drawnParts.set(part, text);
  draw(content);
}

// Asks before it cancels a run. What it has measured is kept. The answer is the
// click itself: the browser tells of a dialog's end later, when the next question
// may be on the screen already.
function askToCancel({id, label}) {
  byId('question-text').textContent = `Cancel run ${id}${label === '' ? '' : ` (${label})`}? Measurements so far are kept.`;
  byId('question-yes').onclick = () => withProblems(postJson('/api/cancel', {run: id}));
  byId('question').showModal();
}

function cancelButton(run) {
  return button('Cancel', () => askToCancel(run), {className: 'danger', ariaLabel: `Cancel run ${run.id}`});
}

function tile(title, value, isBad) {
  return element('div', {className: isBad ? 'tile bad' : 'tile'},
      element('div', {className: 'tile-title'}, title), element('div', {className: 'tile-value'}, value));
}

function describeRun({id, label, tests}) {
  const names = tests.length <= 3 ? tests.join(', ') : `${tests.slice(0, 2).join(', ')} and ${tests.length - 2} more`;
  return [label, names, `run ${id}`].filter(Boolean).join(' · ');
}

function renderProgress({elapsed_seconds: elapsed, duration_seconds: duration}) {
  const bar = byId('running-progress');
  if (duration === null) bar.removeAttribute('value');
  else bar.value = duration > 0 ? Math.min(1, elapsed / duration) : 1;
  const passed = formatTime(1e9 * Math.floor(elapsed));
  byId('running-time').textContent = duration === null ? `${passed} so far; the test does not say how long it takes`
      : `${passed} of about ${formatTime(1e9 * duration)}`;
}

function renderRunning(running) {
  byId('running-none').hidden = running !== null;
  byId('running-parts').hidden = running === null;
  drawIfChanged('cancel', running === null || !session.may_write ? null : {id: running.id, label: running.label},
      run => replaceContent('running-actions', ...(run === null ? [] : [cancelButton(run)])));
  if (running === null) return;
  const {tests, test, test_index: index, state, succeeded, failed, per_second: rate} = running;
  const position = tests.length > 1 ? ` (test ${index + 1} of ${tests.length})` : '';
  drawIfChanged('name', [test, position, state, describeRun(running)], () => replaceContent('running-name',
      element('strong', {}, test), `${position} · ${state}`, element('small', {}, describeRun(running))));
  renderProgress(running);
  replaceContent('running-tiles', tile('RPCs per second', formatRate(rate)), tile('Succeeded', formatCount(succeeded)),
      tile('Failed', formatCount(failed), failed > 0));
}

function renderQueue(queue) {
  replaceContent('queue-list', ...(queue.length === 0 ? [element('p', {className: 'note'}, 'No run is waiting.')]
      : queue.map((run, i) => element('p', {className: 'queued'}, `${i + 1}. ${describeRun(run)} `,
          ...(session.may_write ? [cancelButton(run)] : [])))));
}

function renderRuns({running, queue}) {
  renderRunning(running);
  drawIfChanged('queue', queue, renderQueue);
  document.body.dataset.live = 'true';
}

// isCurrent: whether what is shown is the state of now.
function showConnection(text, isCurrent) {
  if (byId('connection').textContent !== text) byId('connection').textContent = text;
  byId('connection').classList.toggle('lost', !isCurrent);
  byId('live-parts').classList.toggle('stale', !isCurrent);
}

// Without a stream: asks for the state once, and tries to get a stream later.
async function askAndRetry() {
  clearTimeout(retryTimer);
  retryTimer = setTimeout(openStream, RETRY_MS);
  try {
    const status = await getJson('/api/status');
    drawIfChanged('nodes', status.nodes, renderNodes);
    renderRuns(status);
    showConnection('The server has no place for another live view; this one asks every few seconds instead.', true);
  } catch {
    showConnection('Connection lost, trying again …', false);
  }
}

function openStream() {
  stream?.close();
  stream = new EventSource('/api/live');
  // Comes before the first status, and then only when the nodes have changed.
  stream.addEventListener('nodes', event => drawIfChanged('nodes', JSON.parse(event.data), renderNodes));
  stream.addEventListener('status', event => {
    renderRuns(JSON.parse(event.data));
    showConnection('Live', true);
  });
  stream.addEventListener('error', ({target}) => {
    // The browser itself tries again unless the server has refused the stream.
    if (target.readyState === EventSource.CLOSED) askAndRetry();
    else showConnection('Connection lost, trying again …', false);
  });
}

async function showLive() {
  if (stream !== null) return;
  showConnection('Connecting …', true);
  openStream();
}

function leaveLive() {
  clearTimeout(retryTimer);
  stream?.close();
  stream = null;
}

views.set('/live', {id: 'live-view', title: 'Live', show: showLive, leave: leaveLive});
