#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Prints debian/changelog, with an entry for each version in CHANGELOG.md.

    deploy/packages/debian_changelog.py --system=debian12 --seconds=1790000000

A heading "## 1.2.0 (2026-10-31)" is a version with its date. "## Unreleased" is
the version in the file VERSION, at the time --seconds since 1970. Packages for
an older system have older versions, so that packages of the next release of a
distribution replace those of the last one.
"""

import argparse
import datetime
import email.utils
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]

UNRELEASED = "## Unreleased"
RELEASED = re.compile(r"## (\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)")

ENTRY = """\
distbench ({version}-1.{system}) unstable; urgency=medium

  * Version {version}. What has changed is in
    /usr/share/doc/distbench/changelog.gz.

 -- {maintainer}  {date}
"""


class Problem(Exception):
    """A file that is not as it should be."""


def versions(changelog, unreleased_version, unreleased_seconds):
    """Returns pairs of version and time in seconds, the newest first."""
    found = []
    for number, line in enumerate(changelog.splitlines(), 1):
        if not line.startswith("## "):
            continue
        released = RELEASED.fullmatch(line)
        if released:
            midnight = datetime.datetime.fromisoformat(released[2]).replace(
                tzinfo=datetime.timezone.utc
            )
            found.append((released[1], int(midnight.timestamp())))
        elif line == UNRELEASED and not found:
            found.append((unreleased_version, unreleased_seconds))
        else:
            raise Problem(
                f"CHANGELOG.md:{number}: '{line}' is no version; write "
                f"'## 1.2.0 (2026-10-31)', or '{UNRELEASED}' as the first one"
            )
    if not found:
        raise Problem("CHANGELOG.md has no version; see its first heading")
    if found[0][0] != unreleased_version:
        raise Problem(
            f"the file VERSION says {unreleased_version}, but the newest "
            f"version in CHANGELOG.md is {found[0][0]}"
        )
    return found


def maintainer_in(control):
    """Returns the maintainer that debian/control names."""
    match = re.search(r"^Maintainer: (.+)$", control, re.MULTILINE)
    if match is None:
        raise Problem("debian/control names no maintainer")
    return match[1]


def debian_changelog(found, system, maintainer):
    """Returns the text of debian/changelog for pairs of versions()."""
    return "\n".join(
        ENTRY.format(
            version=version,
            system=system,
            maintainer=maintainer,
            date=email.utils.formatdate(seconds),
        )
        for version, seconds in found
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--system", required=True, help="such as debian12, in lower case"
    )
    parser.add_argument(
        "--seconds", required=True, type=int, help="of the last change"
    )
    flags = parser.parse_args()
    try:
        found = versions(
            (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8"),
            (SOURCE / "VERSION").read_text(encoding="utf-8").strip(),
            flags.seconds,
        )
        control = (SOURCE / "debian/control").read_text(encoding="utf-8")
        text = debian_changelog(found, flags.system, maintainer_in(control))
    except Problem as problem:
        sys.exit(f"debian_changelog.py: {problem}")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
