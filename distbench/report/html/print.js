// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// On paper, colours are light, all details open and all curves shown.

function followPrinting(render) {
  let closed = [];
  let hidden = [];
  window.addEventListener('beforeprint', () => {
    hidden = [...hiddenCurves];
    hiddenCurves.clear();
    document.documentElement.classList.add('printing');
    render();
    closed = [...document.querySelectorAll('details:not([open])')];
    for (const node of closed) node.open = true;
  });
  window.addEventListener('afterprint', () => {
    for (const node of closed) node.open = false;
    for (const curve of hidden) hiddenCurves.add(curve);
    document.documentElement.classList.remove('printing');
    render();
  });
}
