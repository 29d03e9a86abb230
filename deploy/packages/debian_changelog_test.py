# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""debian/changelog has the versions of CHANGELOG.md."""

import unittest

from deploy.packages import debian_changelog
from tests import testing_main

RELEASED = "## 0.8.0 (2026-01-02)\n\n- Something.\n"
AT_MIDNIGHT = 1767312000  # on 2026-01-02, UTC


def versions(text, version="0.9.0"):
    return debian_changelog.versions(text, version, 1790000000)


class VersionsTest(unittest.TestCase):
    def test_newest_first(self):
        self.assertEqual(
            versions("# Changelog\n\n## Unreleased\n\n### New\n\n" + RELEASED),
            [("0.9.0", 1790000000), ("0.8.0", AT_MIDNIGHT)],
        )

    def test_a_released_version(self):
        self.assertEqual(
            versions(RELEASED, "0.8.0"), [("0.8.0", AT_MIDNIGHT)]
        )

    def test_another_version_than_that_of_the_programs(self):
        with self.assertRaisesRegex(
            debian_changelog.Problem, "VERSION says 0.9.0.* is 0.8.0"
        ):
            versions(RELEASED)

    def test_a_heading_that_is_no_version(self):
        with self.assertRaisesRegex(
            debian_changelog.Problem, "CHANGELOG.md:2: '## Soon' is no version"
        ):
            versions("# Changelog\n## Soon\n")

    def test_unreleased_changes_come_first(self):
        with self.assertRaisesRegex(debian_changelog.Problem, "as the first"):
            versions(RELEASED + "## Unreleased\n", "0.8.0")

    def test_no_version(self):
        with self.assertRaisesRegex(debian_changelog.Problem, "no version"):
            versions("# Changelog\n")


class DebianChangelogTest(unittest.TestCase):
    def test_the_form_that_dpkg_reads(self):
        self.assertEqual(
            debian_changelog.debian_changelog(
                [("0.8.0", AT_MIDNIGHT)], "debian12", "A B <a@b.example>"
            ),
            "distbench (0.8.0-1.debian12) unstable; urgency=medium\n\n"
            "  * Version 0.8.0. What has changed is in\n"
            "    /usr/share/doc/distbench/changelog.gz.\n\n"
            " -- A B <a@b.example>  Fri, 02 Jan 2026 00:00:00 -0000\n",
        )

    def test_the_maintainer_of_the_control_file(self):
        self.assertEqual(
            debian_changelog.maintainer_in("Source: a\nMaintainer: A <a@b>\n"),
            "A <a@b>",
        )


if __name__ == "__main__":
    testing_main.main()
