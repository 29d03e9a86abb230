# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Writes files to a C++ source: embed_files.py NAMESPACE HEADER SOURCE FILE...

The lines of copyright and licence with which source files begin are left out: a page
would have them again for each of its scripts.
"""

import os
import re
import sys

# Longer literals than the standard guarantees, but far below compilers' limits.
PIECE_BYTES = 4096

# As scripts/licences.py writes them, in any style of comments; with the empty line
# that follows. A file may be made of several.
LICENCE = re.compile(
    rb"^[^\w\n]*Copyright distbench authors[^\w\n]*\n"
    rb"[^\w\n]*SPDX-License-Identifier: Apache-2\.0[^\w\n]*(?:\n\n?|\Z)",
    re.MULTILINE,
)


def constant_name(path):
    words = re.split(r"[^A-Za-z0-9]+", os.path.basename(path))
    return "k" + "".join(word.capitalize() for word in words)


def literal(content):
    def escaped(byte):
        character = chr(byte)
        if character in '"\\?':
            return "\\" + character
        if character == "\n":
            return "\\n"
        return character if 32 <= byte < 127 else f"\\{byte:03o}"

    pieces = [
        '    "' + "".join(map(escaped, content[i : i + PIECE_BYTES])) + '"'
        for i in range(0, len(content), PIECE_BYTES)
    ]
    return "\n".join(pieces) or '    ""'


def main(namespace, header_path, source_path, *paths):
    opening = f"\n\nnamespace {namespace} {{\n\n"
    header = ['#include "absl/strings/string_view.h"' + opening]
    source = [f'#include "{os.path.basename(header_path)}"' + opening]
    for path in paths:
        with open(path, "rb") as file:
            content = LICENCE.sub(b"", file.read())
        name = constant_name(path)
        header.append(f"extern const absl::string_view {name};\n")
        source.append(
            f"const absl::string_view {name}(\n{literal(content)},\n"
            f"    {len(content)});\n\n"
        )
    for lines in (header, source):
        lines.append(f"\n}}  // namespace {namespace}\n")
    with open(header_path, "w", encoding="utf-8") as file:
        file.write("#pragma once\n\n" + "".join(header))
    with open(source_path, "w", encoding="utf-8") as file:
        file.write("".join(source))


if __name__ == "__main__":
    main(*sys.argv[1:])
