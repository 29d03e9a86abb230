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
  const cell = element('div', {className: 'result-note'});
  showNote(cell, result);
  return cell;
}

function showNote(cell, result) {
  cell.replaceChildren(result.note);
  if (!session.may_write) return;
  const title = result.note === '' ? 'Add a note' : 'Edit';
  const button = element('button', {type: 'button', className: 'quiet'}, title);
  button.addEventListener('click', () => editNote(cell, result));
  cell.append(' ', button);
}

function editNote(cell, result) {
  const box = element('textarea', {value: result.note, rows: 2, maxLength: 2000, ariaLabel: `Note on ${result.test}`});
  const button = (text, onClick) => {
    const node = element('button', {type: 'button'}, text);
    node.addEventListener('click', onClick);
    return node;
  };
  const close = () => {
    showNote(cell, result);
    cell.querySelector('button').focus();
  };
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
