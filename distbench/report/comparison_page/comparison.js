// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Draws the page.

renderVerdict();
renderChanges();
renderSearches();
renderDifferences();
renderFindings();
renderCurvesControls();
renderCurves();

// Colours of charts come from the style sheet, which follows the system setting.
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', renderCurves);
document.body.dataset.rendered = 'true';
