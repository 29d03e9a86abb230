// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Starts the page.

function keepFocusOnSkip() {
  byId('skip-link').addEventListener('click', event => {
    event.preventDefault();
    byId('main').focus();
  });
}

async function start() {
  takeToken();
  keepFocusOnSkip();
  followClicks();
  await loadSession();
  if (!session.live) views.delete('/live');
  window.addEventListener('hashchange', showPlace);
  document.addEventListener('viewchange', keepZoom);
  const redraw = () => { if (shownTrends !== null) renderChosen(); };
  followPrinting(redraw);
  // Colours come from the style sheet, which follows the system setting.
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  showPlace();
  document.body.dataset.rendered = 'true';
}

withProblems(start());
