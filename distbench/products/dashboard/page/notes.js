// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A result's note and its mark "accepted", edited in place.

function acceptedCell(result) {
  if (!session.may_write) return result.accepted ? 'accepted' : '';
  const box = element('input', {
    type: 'checkbox', checked: result.accepted, title: 'You have looked at this result and take it as it is',
    ariaLabel: `Accepted: ${result.test} of ${formatTimestamp(result.started)}`,
  });
  box.addEventListener('change', () => withProblems(saveAccepted(result, box)));
  return box;
}

async function saveAccepted(result, box) {
  try {
    await postJson('/api/accepted', {result: result.id, accepted: box.checked});
    result.accepted = box.checked;
    showProblem('');
  } finally {
    box.checked = result.accepted;
  }
}

function noteCell(result) {
  return showNote(element('div', {className: 'result-note'}), result);
}

function showNote(cell, result) {
  cell.replaceChildren(result.note);
  if (!session.may_write) return cell;
  cell.append(' ', button(result.note === '' ? 'Add a note' : 'Edit', () => editNote(cell, result), {className: 'quiet'}));
  return cell;
}

function editNote(cell, result) {
  const box = element('textarea', {value: result.note, rows: 2, maxLength: 2000, ariaLabel: `Note on ${result.test}`});
  const close = () => showNote(cell, result).querySelector('button').focus();
  const save = () => withProblems((async () => {
    await postJson('/api/notes', {result: result.id, note: box.value.trim()});
    result.note = box.value.trim();
    showProblem('');
    close();
  })());
  box.addEventListener('keydown', event => {
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      save();
    }
  });
  cell.replaceChildren(box, button('Save', save), ' ', button('Cancel', close));
  box.focus();
}
