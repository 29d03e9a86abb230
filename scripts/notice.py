# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What NOTICE says of the libraries that the programs use, and whether it is so.

NOTICE is for people. Its tables are the indented lines: columns with two spaces or
more between them, the first line their titles. They are compared with the
build, with what the Debian package contains, and with linked programs.
"""

import ast
import collections
import fnmatch
import glob
import os
import re
import subprocess

NOTICE = "NOTICE"
# Where the build says which libraries there are, in a call of this function.
LIBRARIES = "third_party/libraries.bzl"
_LIBRARIES_FUNCTION = "system_libraries"
# Where the Debian package says what its programs contain.
RULES = "debian/rules"

# The titles of sections and of columns in NOTICE.
LINKED = "LINKED"
THROUGH = re.compile(r"LINKED THROUGH THESE, IN DEBIAN (\d+)")
CONTAINED = "CONTAINED"
_NAME, _LICENCE, _SHARED, _FILE = "Name", "Licence", "Libraries", "Of the package with"
_TARGETS = ("Target of @system", "Targets of @system")

# What a copyright file of Debian says of a licence; these have no common language.
_MIT = r"Expat|\bMIT\b|X11|Permission is hereby granted, free of charge"
WORDS = {
    "Apache-2.0": r"Apache-2|Apache License",
    "BSD-2-Clause": r"BSD-2",
    "BSD-3-Clause": r"BSD-3|BSD-C3|Neither the name",
    "BSL-1.0": r"BSL-1\.0",
    "GPL-2.0-only": r"GPL-2",
    "GPL-2.0-or-later": r"GPL-2\+",
    "GPL-3.0-or-later WITH GCC-exception-3.1": r"GCC Runtime\s+Library Exception",
    "ICU": _MIT,
    "LGPL-2.1-only": r"(?s)Lesser General Public License, v2\.1",
    "LGPL-2.1-or-later": r"LGPL-2(\.1)?\+|(?s:Lesser General.*version 2\.1 of the)",
    "LGPL-3.0-or-later": r"LGPL-3\+",
    "MIT": _MIT,
    "Zlib": r"(?i)zlib",
    "blessing": r"public-domain",
    "bzip2-1.0.6": r"The origin of this software must not be misrepresented",
    "public domain": r"(?i)public domain",
}

# A row of NOTICE. linked: patterns of shared libraries, without "lib" and ".so";
# targets: of @system; file: of the package that has its copyright, or "".
Row = collections.namedtuple("Row", "section name licence linked targets file")

# What the build names. optional: targets that may be left out.
Libraries = collections.namedtuple("Libraries", "targets optional")


class Unreadable(Exception):
    """A file is not as expected; the message says which and how."""


def read(text):
    """Returns the rows of NOTICE."""
    rows, section, titles = [], None, None
    for line in text.splitlines():
        if line and line == line.upper() and line[0].isalpha():
            section, titles = line, None
        if not line.startswith("    ") or section is None:
            continue
        cells = re.split(r" {2,}", line.strip())
        if titles is None:
            titles = cells
        elif len(cells) != len(titles):
            raise Unreadable(
                f'{NOTICE}: the row "{line.strip()}" of {section} has {len(cells)} '
                f"columns, its table {len(titles)}: {', '.join(titles)}"
            )
        else:
            rows.append(_row(section, dict(zip(titles, cells))))
    if not rows:
        raise Unreadable(f"{NOTICE} has no tables; its rows begin with four spaces")
    return rows


def _row(section, cells):
    names = [cells[title] for title in _TARGETS if title in cells]
    targets = [name for cell in names for name in cell.split() if name != "-"]
    return Row(
        section,
        cells[_NAME],
        cells[_LICENCE],
        cells.get(_SHARED, "").split(),
        targets,
        cells.get(_FILE, ""),
    )


def licences_of(expression):
    """Returns the licences of an SPDX expression without parentheses."""
    return re.split(r" (?:AND|OR) ", expression)


def libraries_of_build(text):
    """Returns the Libraries of the call that lists them; Starlark is read as Python."""
    try:
        calls = [node for node in ast.walk(ast.parse(text)) if _is_list(node)]
        (call,) = calls
        # What replaces libraries is a parameter.
        values = {
            item.arg: ast.literal_eval(item.value)
            for item in call.keywords
            if not isinstance(item.value, ast.Name)
        }
    except (SyntaxError, ValueError) as error:
        raise Unreadable(
            f"{LIBRARIES} has no call of {_LIBRARIES_FUNCTION} with plain lists: {error}"
        ) from error
    targets = set()
    for group in ("modules", "headers", "optional_modules", "without_module"):
        targets.update(values.get(group, {}))
    targets.update(path.rpartition("/")[2] for path in values.get("files", []))
    return Libraries(targets, set(values.get("optional_modules", {})))


def _is_list(node):
    return (
        isinstance(node, ast.Call) and getattr(node.func, "id", "") == _LIBRARIES_FUNCTION
    )


def packages_in_package(text):
    """Returns the files in debian/rules whose packages' copyright is installed."""
    found = re.search(r"^INCLUDED_FILES =((?:.*\\\n)*.*)", text, re.MULTILINE)
    if not found:
        raise Unreadable(f"{RULES} has no line INCLUDED_FILES = FILE...")
    return set(found.group(1).replace("\\\n", " ").split())


def problems_of_names(rows, libraries, included):
    """Returns how NOTICE differs from what the build and the package name."""
    named = [target for row in rows for target in row.targets]
    problems = [
        f"{LIBRARIES} uses {target}, which {NOTICE} lacks; add it with its licence"
        for target in sorted(libraries.targets - set(named))
    ]
    problems += [
        f"{NOTICE} has {target}, which {LIBRARIES} does not use; take it out"
        for target in sorted(set(named) - libraries.targets)
    ]
    problems += [
        f"{NOTICE} has {target} twice"
        for target, count in sorted(collections.Counter(named).items())
        if count > 1
    ]
    files = {row.file for row in rows if row.section == CONTAINED}
    for file in sorted(files ^ included):
        problems.append(
            f"{file} is in only one of {NOTICE} ({CONTAINED}) and {RULES} "
            "(INCLUDED_FILES)"
        )
    return problems + [
        f'{NOTICE}: scripts/notice.py does not know the licence "{licence}" of {row.name}'
        for row in rows
        for licence in licences_of(row.licence)
        if licence not in WORDS
    ]


def stem_of(path):
    """Returns the name of a shared library: grpc++ of libgrpc++.so.1.51."""
    return re.sub(r"\.so(\.[\w.]*)?$", "", os.path.basename(path)).removeprefix("lib")


def problems_of_links(rows, linked, optional, release):
    """Returns how NOTICE differs from what programs are linked to.

    linked: names of libraries, as of stem_of(), of all programs together.
    optional: targets of libraries that a build may leave out.
    release: the version of Debian here, or "". What libraries bring with them
      differs between systems, so that their rows may be unused on another one.
    """
    used, problems = set(), []
    for name in sorted(linked):
        owners = [
            (row, pattern)
            for row in rows
            for pattern in row.linked
            if fnmatch.fnmatchcase(name, pattern)
        ]
        used.update((row.name, pattern) for row, pattern in owners)
        if not owners:
            problems.append(
                f"the programs are linked to lib{name}, which {NOTICE} lacks; add it "
                "with its licence"
            )
    for row in rows:
        missing = [name for name in row.linked if (row.name, name) not in used]
        through = THROUGH.fullmatch(row.section)
        elsewhere = through and through.group(1) != release
        if elsewhere or _may_be_missing(row, missing, optional):
            continue
        problems += [
            f"{NOTICE} says that the programs are linked to lib{name} ({row.name}), "
            "and none is; take it out"
            for name in missing
        ]
    return problems


def _may_be_missing(row, missing, optional):
    # glibc 2.34 and GCC's libraries have what older ones have in libraries of their
    # own, of which an architecture may need none.
    if row.name in ("glibc", "GCC's libraries"):
        return len(missing) < len(row.linked)
    return bool(row.targets) and set(row.targets) <= optional


def problems_of_copyright(row, package, text):
    """Returns which licences of a row a package's copyright file does not mention."""
    return [
        f"{NOTICE} says that {row.name} is under {licence}, of which the copyright file "
        f"of {package} says nothing"
        for licence in licences_of(row.licence)
        if licence in WORDS and not re.search(WORDS[licence], text)
    ]


# ---- Of this machine --------------------------------------------------------


def libraries_of_program(path):
    """Returns the paths of the shared libraries of a program, also of those that
    others bring."""
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise Unreadable(f"ldd {path}: {(listed.stderr or listed.stdout).strip()}")
    missing = re.findall(r"(\S+) => not found", listed.stdout)
    if missing:
        raise Unreadable(f"{path} needs {', '.join(missing)}, not found here")
    return re.findall(r"(/\S+) \(0x", listed.stdout)


def packages_of(paths):
    """Returns the Debian packages of files, by path; without dpkg, none."""
    # Packages name files in /lib that are reached by /usr/lib, or the other way round.
    names = {}
    for path in paths:
        for place in (path, os.path.realpath(path)):
            for name in (place, place.removeprefix("/usr"), "/usr" + place):
                names[name] = path
    try:
        # Fails because some names are of no package, and prints those of the others.
        owners = subprocess.run(
            ["dpkg-query", "--search", *names], capture_output=True, text=True, check=False
        ).stdout
    except OSError:
        return {}
    found = {}
    for line in owners.splitlines():
        packages, _, name = line.rpartition(": ")
        found[names[name]] = re.split("[:,]", packages)[0]
    return found


def copyright_of(package):
    """Returns the package's copyright file, or None if it is not installed."""
    for path in glob.glob(f"/usr/share/doc/{package}/copyright"):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    return None


def debian_release():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', file.read(), re.MULTILINE))
    except OSError:
        return ""
    return fields.get("VERSION_ID", "") if fields.get("ID") == "debian" else ""


def problems_of_programs(rows, programs, optional):
    """Returns how NOTICE differs from the programs, and from the copyright files of
    the packages whose libraries they use."""
    files = sorted({path for program in programs for path in libraries_of_program(program)})
    linked = {stem_of(path) for path in files}
    problems = problems_of_links(rows, linked, optional, debian_release())
    packages = packages_of(files + [row.file for row in rows if row.file])
    for row in rows:
        used = {
            package
            for path, package in packages.items()
            if path == row.file
            or any(fnmatch.fnmatchcase(stem_of(path), name) for name in row.linked)
        }
        for package in sorted(used):
            text = copyright_of(package)
            if text is not None:
                problems += problems_of_copyright(row, package, text)
    return problems
