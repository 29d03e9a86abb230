# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A shell on a terminal of its own, into which a test types."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
import time

from tests import programs

_PROMPT = "READY> "

# Types what shows the line as it is after a Tab.
_SHOW = "\x18\x10"

# Empties the line. An interrupt would also drop what is typed next.
_CLEAR = "\x15"

# How each shell starts without the user's settings, and what it needs to
# complete and to show its line when it reads _SHOW.
_SHELLS = {
    "bash": (
        ["bash", "--noprofile", "--norc", "-i"],
        """
bind 'set show-all-if-ambiguous on'
bind 'set page-completions off'
bind 'set enable-bracketed-paste off'
bind -x '"\\C-x\\C-p": printf "\\nLINE=<%s>\\n" "$READLINE_LINE"'
source {completions}/bash/distbench
source {completions}/bash/test_builder
""",
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        """
fpath=({completions}/zsh $fpath)
autoload -Uz compinit && compinit -u -D
LISTMAX=1000
show-line() {{ print -r -- $'\\n'"LINE=<$BUFFER>" }}
zle -N show-line
bindkey '^X^P' show-line
""",
    ),
}


def has(shell):
    return shutil.which(shell) is not None


class TerminalShell:
    """Starts one of bash and zsh in a folder; completions: the folder with its
    scripts. Use as a context manager, which ends the shell."""

    def __init__(self, shell, completions, folder, environment):
        arguments, self._setup = _SHELLS[shell]
        self._setup = self._setup.format(completions=completions)
        self._terminal, terminal_of_shell = pty.openpty()
        self._text = ""
        self._shell = subprocess.Popen(
            arguments,
            stdin=terminal_of_shell,
            stdout=terminal_of_shell,
            stderr=terminal_of_shell,
            cwd=folder,
            env={
                **environment,
                "TERM": "vt100",
                "PS1": _PROMPT,
                "INPUTRC": "/dev/null",
                "COLUMNS": "200",
            },
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(terminal_of_shell)

    def __enter__(self):
        setup = os.path.join(
            os.environ.get("TEST_TMPDIR", "/tmp"), f"shell_setup_{os.getpid()}"
        )
        with open(setup, "w", encoding="utf-8") as file:
            file.write(self._setup)
        try:
            self._wait_for(re.escape(_PROMPT))
            self._type(f"source {setup}; echo set''up\n")
            self._wait_for("setup")
            self._wait_for(re.escape(_PROMPT))
        except BaseException:
            self.__exit__()
            raise
        finally:
            os.remove(setup)
        return self

    def __exit__(self, *_):
        # What the shell started is in its session.
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()
        os.close(self._terminal)

    def _type(self, keys):
        os.write(self._terminal, keys.encode())

    def _wait_for(self, pattern):
        """Returns the first match in what was not matched yet."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while True:
            match = re.search(pattern, self._text)
            if match:
                self._text = self._text[match.end() :]
                return match
            remaining = end - time.monotonic()
            if remaining <= 0 or not select.select(
                [self._terminal], [], [], remaining
            )[0]:
                raise AssertionError(
                    f'the shell did not show "{pattern}": {self._text!r}'
                )
            self._text += os.read(self._terminal, 65536).decode(
                errors="replace"
            )

    def line_after_tab(self, typed):
        """Types a line and Tab; returns the line that the shell makes of it."""
        self._type(typed + "\t" + _SHOW)
        line = self._wait_for(r"LINE=<([^\r\n]*)>").group(1)
        self._type(_CLEAR)
        return line

    def wait_for_candidates(self, typed, *candidates):
        """Types a line and Tab twice; waits until all candidates are shown."""
        self._type(typed + "\t\t" + _SHOW)
        shown = self._wait_for(r"(?s)(.*)LINE=<").group(1)
        self._type(_CLEAR)
        for candidate in candidates:
            if candidate not in shown:
                raise AssertionError(f"{candidate!r} is not in {shown!r}")
