# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The lines of copyright and licence with which every source file begins.

Each line is a comment of its own, so that whoever needs a file without them, as
third_party/embed_files.py does, takes out two lines. An empty line follows: what
the file says of itself is another comment. Only what a program requires to be
first, such as "#!", is above.

Nothing here reads files: their texts come in, problems or texts come out.
"""

import collections
import fnmatch
import re

COPYRIGHT = "Copyright distbench authors"
IDENTIFIER = "SPDX-License-Identifier: Apache-2.0"

# How a line of comment begins and ends.
Style = collections.namedtuple("Style", "begin end")

_HASH = Style("# ", "")
_SLASHES = Style("// ", "")

# Patterns of paths and the style of their comments; the first that matches counts.
# A pattern without a slash is for names. Files without a row here are source if
# they begin with "#!".
SOURCES = [
    ("deploy/kubernetes/chart/templates/*", Style("{{- /* ", " */ -}}")),
    ("*.c", _SLASHES),
    ("*.cc", _SLASHES),
    ("*.go", _SLASHES),
    ("go.mod", _SLASHES),
    ("*.h", _SLASHES),
    ("*.js", _SLASHES),
    ("*.proto", _SLASHES),
    ("*.thrift", _SLASHES),
    ("*.css", Style("/* ", " */")),
    ("*.conf", Style("<!-- ", " -->")),
    ("*.html", Style("<!-- ", " -->")),
    ("*.bazel", _HASH),
    ("*.bzl", _HASH),
    ("BUILD", _HASH),
    ("*.BUILD", _HASH),
    ("WORKSPACE", _HASH),
    ("Containerfile", _HASH),
    ("*.py", _HASH),
    ("*.sbatch", _HASH),
    ("*.service", _HASH),
    ("*.sh", _HASH),
    ("*.rpmlintrc", _HASH),
    ("*.spec", _HASH),
    ("*.supp", _HASH),
    ("*.sysusers", _HASH),
    ("*.toml", _HASH),
    ("*.yaml", _HASH),
    ("*.yml", _HASH),
]

# What is no source, or has no place for comments: patterns of paths, the licence,
# and why. These rows come before those of SOURCES. A pattern without a slash is
# for names.
Data = collections.namedtuple("Data", "pattern licence reason")

_OURS = "Apache-2.0"
DATA = [
    Data("LICENSE", _OURS, "the text of the licence"),
    Data("NOTICE", _OURS, "licences of what the programs use"),
    Data("VERSION", _OURS, "a number"),
    Data(".github/CODEOWNERS", _OURS, "a list"),
    Data(".*", _OURS, "settings of tools"),
    Data("*.md", _OURS, "documentation"),
    Data("*.schema.json", _OURS, "generated"),
    Data("*.ipynb", _OURS, "JSON"),
    Data("go.sum", _OURS, "generated"),
    Data("*.png", _OURS, "pictures"),
    Data("*.svg", _OURS, "pictures"),
    Data("*.config", _OURS, "tests, which users copy"),
    Data("py.typed", _OURS, "a mark, without content"),
    Data("bench/gallery/testdata/*", _OURS, "output of other programs, for tests"),
    Data("debian/distbench.[deil]*", _OURS, "lists of debhelper"),
    Data("debian/distbench.manpages", _OURS, "a list of debhelper"),
    Data("debian/control", _OURS, "debian/copyright says it of the package"),
    Data("debian/copyright", _OURS, "the licence, for Debian"),
    Data("debian/source/format", _OURS, "a number"),
    Data("deploy/grafana/dashboard.json", _OURS, "JSON"),
    Data("deploy/kubernetes/manifests/*", _OURS, "rendered from the chart"),
    Data("deploy/systemd/default/*", _OURS, "settings, which users edit"),
    Data(
        "distbench/products/simulation/model/reference_costs.textproto",
        _OURS,
        "generated",
    ),
    Data(
        "distbench/report/html/library_licence.txt",
        "MIT",
        "the licence of Chart.js, which is a package of the distribution",
    ),
    Data("docs/gallery/results/*", _OURS, "results"),
    Data("docs/tutorial/results/*", _OURS, "results"),
    Data("python/examples/data/*", _OURS, "results"),
    Data("test_builder/help/*.txt", _OURS, "what the program prints"),
    Data(
        "test_builder/patterns/homa_workloads.csv",
        _OURS,
        "figures of others; workloads/real/homa_w1 says whose",
    ),
    Data("test_builder/testdata/*", _OURS, "input of tests"),
    Data("tests/compatibility/*/*", _OURS, "files of earlier versions"),
    Data("tests/corpus/*/*", _OURS, "input of tests"),
    Data("workloads/jobs.yaml", _OURS, "jobs, which users copy"),
    Data(
        "workloads/real/*/*",
        _OURS,
        "figures of others; provenance.textproto beside them says whose",
    ),
]

# The first lines of files that have to be above the licence.
_ABOVE = re.compile(r"(?:(?:#!|<\?xml|<!DOCTYPE).*\n)*")
# Somebody's copyright, or a licence, in the first lines of a file.
_NAMED = re.compile(
    r"Copyright (?:\([cC]\)|©|[A-Z0-9]|distbench).*|SPDX-License-Identifier: *\S+"
)
_FIRST_LINES = 12


def _matches(path, pattern):
    name = path if "/" in pattern else path.rpartition("/")[2]
    return fnmatch.fnmatchcase(name, pattern)


def data_of(path):
    """Returns the row of DATA for a path, or None."""
    return next((row for row in DATA if _matches(path, row.pattern)), None)


def style_of(path, text):
    """Returns the style of a source file's comments, or None."""
    for pattern, style in SOURCES:
        if _matches(path, pattern):
            return style
    return _HASH if text.startswith("#!") else None


def header(style):
    """Returns the two lines."""
    return "".join(
        f"{style.begin}{line}{style.end}\n" for line in (COPYRIGHT, IDENTIFIER)
    )


def has_header(style, text):
    body = text[_ABOVE.match(text).end() :]
    head = header(style)
    return body == head or body.startswith(head + "\n")


def with_header(style, text):
    """Returns the text with the two lines, where they belong."""
    above = _ABOVE.match(text).group()
    body = text[len(above) :].lstrip("\n")
    return above + header(style) + ("\n" + body if body else "")


def problem_of(path, text):
    """Returns what is wrong with a file, or None."""
    if data_of(path):
        return None
    style = style_of(path, text)
    if style is None:
        return (
            f"{path}: nothing says whether it is source; give SOURCES or DATA of "
            "scripts/licences.py a row for it"
        )
    if has_header(style, text):
        return None
    named = _named_licence(text)
    if named:
        return (
            f'{path} has "{named}", not the lines of copyright and licence of '
            "distbench, then an empty line; if it is the work of others, give DATA "
            "of scripts/licences.py a row with its licence"
        )
    return (
        f"{path} has no lines of copyright and licence; scripts/check_licences "
        "--fix adds them"
    )


def fixed(path, text):
    """Returns the text with the lines if only these are missing, else None."""
    style = style_of(path, text)
    if data_of(path) or style is None or has_header(style, text):
        return None
    return None if _named_licence(text) else with_header(style, text)


def _named_licence(text):
    first = "\n".join(text.splitlines()[:_FIRST_LINES])
    found = _NAMED.search(first)
    return found.group() if found else None


def unused_rows(paths):
    """Returns problems: rows of the table of data that are for no file."""
    used = {data_of(path) for path in paths}
    return [
        f"DATA of scripts/licences.py has a row for {row.pattern}, and no file is "
        "one of these; delete it"
        for row in DATA
        if row not in used
    ]
