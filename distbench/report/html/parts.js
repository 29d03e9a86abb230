// What products add to the page. A part is an object with some of these
// functions, which take no arguments and fill sections or parts of them:
//   renderFirst: drawn with the verdicts, which the browser shows first,
//   renderOnce: drawn after that,
//   redraw: drawn after that, and again when colours or the width change.

const addedParts = [];

function addPart(part) {
  addedParts.push(part);
}

// The functions of that name.
function partsWith(name) {
  return addedParts.map(part => part[name]).filter(Boolean);
}
