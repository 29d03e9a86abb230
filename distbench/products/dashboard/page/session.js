// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Requests to the dashboard's server, and the token that allows changes.

const TOKEN_KEY = 'distbench-token';

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
function addressOf(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.toString() === '' ? path : `${path}?${query}`;
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

function getJson(path, parameters = {}) {
  return request(addressOf(path, parameters));
}

function postJson(path, content) {
  return request(path, {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(content),
  });
}

// Returns a function that awaits requests and gives null for those that were
// overtaken by a later one.
function latestOnly() {
  let last = 0;
  return async promise => {
    const number = ++last;
    try {
      const answer = await promise;
      return number === last ? answer : null;
    } catch (error) {
      if (number === last) throw error;
      return null;
    }
  };
}

// properties: of the element, such as a title.
function button(text, onClick, properties = {}) {
  const node = element('button', {type: 'button', ...properties}, text);
  node.addEventListener('click', onClick);
  return node;
}

function showProblem(text) {
  byId('problem').hidden = text === '';
  byId('problem').textContent = text;
}

// Shows why the promise failed, if it did.
async function withProblems(promise) {
  try {
    await promise;
  } catch (error) {
    showProblem(error.message);
  }
}

// What /api/session says; loaded before the first view is shown.
const session = {};

async function loadSession() {
  Object.assign(session, await getJson('/api/session'));
  const source = session.source === 'sequencer' ? `Sequencer ${session.name}` : `Results in ${session.name}`;
  byId('subtitle').textContent = session.may_write ? source : `${source} · read only`;
  byId('subtitle').title = session.why_not_write;
  byId('page-maker').textContent = [
    `distbench ${session.version}.`,
    session.may_write ? '' : `Notes, marks and cancelling are not available: ${session.why_not_write}`,
  ].filter(Boolean).join(' ');
}
