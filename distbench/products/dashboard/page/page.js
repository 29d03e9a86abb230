// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The frame of the page: requests to the dashboard's server, with the token that
// allows changes, and the places of the page. The fragment of the address says
// which view is shown and what is chosen in it, as in "#/results?search=nightly".

const TOKEN_KEY = 'distbench-token';

const NOT_LIVE = 'Nothing is live here: this dashboard shows a folder of results. ' +
    'That of a sequencer, test_sequencer --dashboard_port=PORT, also shows its tests and nodes.';

// By path; leave() is optional.
const views = new Map([
  ['/live', {show: showLive, leave: leaveLive}],
  ['/results', {show: showResults}],
  ['/trend', {show: showTrends}],
]);

let shownPath = null;

// How many places were shown.
let visits = 0;

// What /api/session says; loaded before the first view is shown.
let session = null;

// Answers by address, as promises, while a view is shown.
const keptAnswers = new Map();

// The requests for them, a few at a time: the server has others to answer. Those
// that wait are functions that begin them.
const MAX_REQUESTS = 4;
const waitingRequests = [];
let runningRequests = 0;

// Keeps the token of the address for this tab, and takes it out of the address,
// which people copy. Returns whether there was one.
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return false;
  sessionStorage.setItem(TOKEN_KEY, token);
  history.replaceState(null, '', '#/');
  return true;
}

// "/api/results?test=a"; empty values are left out.
function addressOf(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.toString() === '' ? path : `${path}?${query}`;
}

function placeOf(path, parameters) {
  return `#${addressOf(path, parameters)}`;
}

function currentPlace() {
  const [path, query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  return {path, parameters: Object.fromEntries(new URLSearchParams(query))};
}

// Throws an Error whose message says what is wrong and what to do.
async function request(address, {headers = {}, ...options} = {}) {
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token !== null) headers['X-Distbench-Token'] = token;
  const response = await fetch(address, {...options, headers}).catch(() => {
    throw new Error('The dashboard does not answer. See whether its program still runs, then load the page again.');
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new Error(answer.error ?? `The dashboard answered "${response.status} ${response.statusText}".`);
}

// A request that waits when its view is left is never made, nor answered.
async function requestInTurn(address) {
  if (runningRequests < MAX_REQUESTS) ++runningRequests;
  else await new Promise(begin => { waitingRequests.push(begin); });
  try {
    return await request(address);
  } finally {
    if (waitingRequests.length > 0) waitingRequests.shift()();
    else --runningRequests;
  }
}

// Asks once while a view is shown, and again after an error.
function getOnce(path, parameters) {
  const address = addressOf(path, parameters);
  if (!keptAnswers.has(address)) {
    keptAnswers.set(address, requestInTurn(address));
    keptAnswers.get(address).catch(() => keptAnswers.delete(address));
  }
  return keptAnswers.get(address);
}

function showProblem(text, id = 'problem') {
  byId(id).hidden = text === '';
  byId(id).textContent = text;
}

// Shows why the promise failed, if it did while its place is still shown.
async function withProblems(promise) {
  const visit = visits;
  try {
    await promise;
  } catch (error) {
    if (visit === visits) showProblem(error.message);
  }
}

// Returns whether the server has made a change. Why it refused one is shown until
// the next one, in all places: the click that ends a note may lead to another place.
async function postChange(path, content) {
  showProblem('', 'refusal');
  try {
    await request(path, {
      method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(content),
    });
    return true;
  } catch (error) {
    showProblem(error.message, 'refusal');
    return false;
  }
}

// properties: of the element, such as a title.
function button(text, onClick, properties = {}) {
  const node = element('button', {type: 'button', ...properties}, text);
  node.addEventListener('click', onClick);
  return node;
}

function note(text) {
  return element('p', {className: 'note'}, text);
}

// What was drawn last, as JSON, by id.
const drawnContents = new Map();

// Draws a part again only if its content changes, so that focus and unfolded
// details stay.
function drawIfChanged(id, content, makeNodes) {
  const text = JSON.stringify(content);
  if (drawnContents.get(id) === text) return;
  drawnContents.set(id, text);
  replaceContent(id, ...makeNodes(content));
}

// A table whose columns explain themselves, {title, help}: to the mouse, and to all
// others in a legend in the part "NAME-columns".
function explainedTable(columns, rows, name) {
  const table = makeTable(columns, rows, name);
  table.querySelectorAll('th').forEach((cell, i) => { cell.title = columns[i].help; });
  drawIfChanged(`${name}-columns`, columns.map(({title, help}) => [title, help]), entries => [
    element('details', {className: 'column-help'}, element('summary', {}, 'What the columns mean'),
        element('dl', {}, ...entries.flatMap(([title, help]) => [element('dt', {}, title), element('dd', {}, help)]))),
  ]);
  return table;
}

function showView(path) {
  views.get(shownPath)?.leave?.();
  keptAnswers.clear();
  waitingRequests.length = 0;
  shownPath = path;
  for (const link of document.querySelectorAll('nav a')) {
    const isShown = link.hash === placeOf(path);
    link.ariaCurrent = isShown ? 'page' : null;
    byId(`${link.hash.slice(2)}-view`).hidden = !isShown;
    if (isShown) document.title = `${link.textContent} – distbench`;
  }
}

function showPlace() {
  if (takeToken()) {
    // The token allows more than the page was made for.
    location.reload();
    return;
  }
  const {path, parameters} = currentPlace();
  const isLive = path !== '/live' || session.live;
  // The first view depends on whether the server has a sequencer.
  const shown = views.has(path) && isLive ? path : session.live ? '/live' : '/results';
  const isEntered = shown !== shownPath;
  if (isEntered) showView(shown);
  ++visits;
  showProblem(isLive ? '' : NOT_LIVE);
  withProblems(views.get(shown).show(parameters, isEntered));
}

// Goes to another place of the page. isSmallStep: the browser's "back" skips the
// place that is left.
function goTo(path, parameters, isSmallStep = false) {
  history[isSmallStep ? 'replaceState' : 'pushState'](null, '', placeOf(path, parameters));
  showPlace();
}

async function start() {
  takeToken();
  session = await request('/api/session');
  const {source, name, version, live, may_write: mayWrite, why_not_write: whyNot} = session;
  const title = source === 'sequencer' ? `Sequencer ${name}` : `Results in ${name}`;
  byId('subtitle').textContent = mayWrite ? title : `${title} · read only`;
  byId('page-maker').textContent = `distbench ${version}.` +
      (mayWrite ? '' : ` Notes, marks and cancelling are not available: ${whyNot}`);
  document.querySelector('nav a').hidden = !live;
  byId('skip-link').addEventListener('click', event => {
    event.preventDefault();
    byId('main').focus();
  });
  window.addEventListener('hashchange', showPlace);
  showPlace();
  document.body.dataset.rendered = 'true';
}

withProblems(start());
