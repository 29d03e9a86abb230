// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The places of the page: the fragment of the address says which view is shown
// and what is chosen in it, as in "#/results?search=nightly".

const NOT_LIVE = 'Nothing is live here: this dashboard shows a folder of results. ' +
    'That of a sequencer, test_sequencer --dashboard_port=PORT, also shows its tests and nodes.';

// By path: {id: of the view's element, title, show(parameters), leave()}.
const views = new Map();

function placeOf(path, parameters = {}) {
  return `#${addressOf(path, parameters)}`;
}

function currentPlace() {
  const [path, query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  return {path, parameters: Object.fromEntries(new URLSearchParams(query))};
}

// The first view, which depends on whether the server has a sequencer.
function firstPath() {
  return session.live ? '/live' : '/results';
}

function renderNavigation(current) {
  replaceContent('views', ...[...views].map(([path, {title}]) => {
    const link = element('a', {href: placeOf(path)}, title);
    if (path === current) link.setAttribute('aria-current', 'page');
    return link;
  }));
}

let shownView = null;

function showPlace() {
  if (takeToken()) {
    // The token allows more than the page was made for.
    location.reload();
    return;
  }
  const {path, parameters} = currentPlace();
  const shown = views.has(path) ? path : firstPath();
  const view = views.get(shown);
  if (shownView !== view) {
    shownView?.leave?.();
    renderNavigation(shown);
    for (const {id} of views.values()) byId(id).hidden = id !== view.id;
    document.title = `${view.title} – distbench`;
  }
  shownView = view;
  showProblem('');
  withProblems(view.show(parameters));
  if (path === '/live' && shown !== path) showProblem(NOT_LIVE);
}

// Goes to another place of the page. isSmallStep: the browser's "back" skips the
// place that is left.
function goTo(path, parameters, isSmallStep = false) {
  history[isSmallStep ? 'replaceState' : 'pushState'](null, '', placeOf(path, parameters));
  showPlace();
}
