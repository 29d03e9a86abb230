// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What products add to the page. A part is an object with some of these
// functions. They fill sections or parts of them:
//   renderFirst(): drawn with the verdicts, which the browser shows first,
//   renderOnce(): drawn after that,
//   redraw(): drawn after that, and again when colours or the width change.
// They add to what the core shows of all that is on the page:
//   title(): what a page without runs is about; empty if of something else,
//   headlines(): lines with verdicts on what is not a run,
//   variantOf(run): what tells the run from others of its test in its result that
//       are no repeats of it, such as its load; empty if they are,
//   objectivesOf(run): what is said of a run without objectives; empty if that,
//   doubtOf(run): why the run answers less than was asked; empty if it does,
//   outcomes(): what else was measured or simulated, with a boolean `simulated`.

const addedParts = [];

function addPart(part) {
  addedParts.push(part);
}

// The functions of that name.
function partsWith(name) {
  return addedParts.map(part => part[name]).filter(Boolean);
}
