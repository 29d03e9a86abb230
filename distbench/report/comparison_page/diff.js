// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The difference between two texts, line by line.

// Of the table of common subsequences; longer texts are shown as replaced.
const MAX_DIFF_CELLS = 4e6;

// Equal lines shown around those that differ.
const DIFF_CONTEXT = 3;

// The longest common subsequence as steps {kind, line}, where kind is 'equal',
// 'removed' (from a) or 'added' (in b).
function alignLines(a, b) {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      lengths[i * width + j] = a[i] === b[j] ? 1 + lengths[(i + 1) * width + j + 1]
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const steps = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      steps.push({kind: 'equal', line: a[i++]});
      ++j;
    } else if (j === b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      steps.push({kind: 'removed', line: a[i++]});
    } else {
      steps.push({kind: 'added', line: b[j++]});
    }
  }
  return steps;
}

function diffLines(a, b) {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) ++start;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const oldLines = a.slice(start, a.length - end);
  const newLines = b.slice(start, b.length - end);
  const mark = kind => line => ({kind, line});
  const middle = (oldLines.length + 1) * (newLines.length + 1) <= MAX_DIFF_CELLS
      ? alignLines(oldLines, newLines)
      : [...oldLines.map(mark('removed')), ...newLines.map(mark('added'))];
  return [...a.slice(0, start).map(mark('equal')), ...middle, ...a.slice(a.length - end).map(mark('equal'))];
}

const DIFF_SIGNS = {equal: ' ', removed: '-', added: '+'};

// The lines that differ with what is around them.
function diffView(steps) {
  const isNear = steps.map(() => false);
  for (const [i, {kind}] of steps.entries()) {
    if (kind !== 'equal') isNear.fill(true, Math.max(0, i - DIFF_CONTEXT), i + DIFF_CONTEXT + 1);
  }
  const lines = [];
  let skipped = 0;
  const endOfGap = () => {
    if (skipped > 0) lines.push(element('span', {className: 'skipped'}, `… ${skipped} equal lines`));
    skipped = 0;
  };
  for (const [i, {kind, line}] of steps.entries()) {
    if (!isNear[i]) {
      ++skipped;
      continue;
    }
    endOfGap();
    lines.push(element('span', {className: kind}, `${DIFF_SIGNS[kind]} ${line}`));
  }
  endOfGap();
  return element('pre', {className: 'diff'}, ...lines);
}
