# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The commands and flags of programs, from what their help says."""

import re


def flags_of(help_text):
    """Returns the flags that a help text explains, without their values."""
    found = set()
    for names in re.findall(r"^  (-[^ =]*)", help_text, re.MULTILINE):
        found.update(name for name in names.split(",") if re.match(r"--?[a-z]", name))
    return found


def subcommands_of(help_text):
    """Returns the names in the section of subcommands."""
    _, _, section = help_text.partition("\nSubcommands:\n")
    section = section.split("\n\n")[0]
    return re.findall(r"^  ([a-z]\w*)", section, re.MULTILINE)


def lines(program, help_of, command=()):
    """Yields "PROGRAM COMMAND... FLAG" of the command and what is below it.

    help_of: from words of a command line to what --help prints after them.
    """
    text = help_of(*command, "--help")
    for flag in sorted(flags_of(text)):
        yield " ".join([program, *command, flag])
    for name in subcommands_of(text):
        if name != "help":
            yield from lines(program, help_of, (*command, name))
