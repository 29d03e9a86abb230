# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Which files have lines of copyright and licence, and what NOTICE has to list."""

import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
import unittest

from scripts import licences
from scripts import notice
from tests import testing_main

HASH = "# Copyright distbench authors\n# SPDX-License-Identifier: Apache-2.0\n"
SLASHES = HASH.replace("#", "//")


class HeaderTest(unittest.TestCase):
    def test_lines_are_added_where_they_belong(self):
        for path, before, after in [
            ("a.cc", "// A.\nint a;\n", SLASHES + "\n// A.\nint a;\n"),
            ("a.h", "\n\nint a;\n", SLASHES + "\nint a;\n"),
            ("a/BUILD", "", HASH),
            ("a.sh", "#!/bin/sh\n# A.\n", "#!/bin/sh\n" + HASH + "\n# A.\n"),
            ("a/tool", "#!/bin/sh\n\ntrue\n", "#!/bin/sh\n" + HASH + "\ntrue\n"),
            ("a.py", '"""A."""\n', HASH + '\n"""A."""\n'),
            (
                "a.css",
                "a {}\n",
                "/* Copyright distbench authors */\n"
                "/* SPDX-License-Identifier: Apache-2.0 */\n\na {}\n",
            ),
            (
                "a.html",
                "<!DOCTYPE html>\n<html>\n",
                "<!DOCTYPE html>\n<!-- Copyright distbench authors -->\n"
                "<!-- SPDX-License-Identifier: Apache-2.0 -->\n\n<html>\n",
            ),
            (
                "deploy/kubernetes/chart/templates/a.yaml",
                "kind: Job\n",
                "{{- /* Copyright distbench authors */ -}}\n"
                "{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}\n\nkind: Job\n",
            ),
        ]:
            self.assertIn("--fix adds them", licences.problem_of(path, before), path)
            self.assertEqual(licences.fixed(path, before), after, path)
            self.assertIsNone(licences.problem_of(path, after), path)
            self.assertIsNone(licences.fixed(path, after), path)

    def test_lines_have_to_be_exact_and_first(self):
        for text in [
            "int a;\n" + SLASHES,
            "\n" + SLASHES,
            SLASHES + "int a;\n",
            SLASHES.replace("Apache-2.0", "MIT"),
            SLASHES.replace("distbench authors", "2031 Somebody"),
            SLASHES.partition("\n")[0] + "\n",
            HASH,
        ]:
            self.assertIsNotNone(licences.problem_of("a.cc", text), text)

    def test_what_others_own_is_left_alone(self):
        for text in [
            "// Copyright (c) 2014 Somebody\nint a;\n",
            "/* A library.\n * Copyright 2014 Somebody\n */\n",
            "// SPDX-License-Identifier: MIT\n",
            SLASHES + "int a;\n",
        ]:
            self.assertIn("DATA", licences.problem_of("a.cc", text), text)
            self.assertIsNone(licences.fixed("a.cc", text), text)

    def test_words_about_copyright_are_no_licence(self):
        text = '"""Lines of copyright and licence."""\n'
        self.assertEqual(licences.fixed("a.py", text), HASH + "\n" + text)

    def test_data_has_no_lines(self):
        for path in [
            "docs/a.md",
            "workloads/a.config",
            "tests/corpus/config/0123",
            "workloads/real/a/provenance.textproto",
            "deploy/kubernetes/manifests/job.yaml",
            ".bazelrc",
        ]:
            self.assertIsNone(licences.problem_of(path, "x"), path)
            self.assertIsNone(licences.fixed(path, "x"), path)

    def test_programs_of_folders_with_data_are_source(self):
        for path in ["tests/corpus/BUILD", "workloads/real/BUILD", "debian/rules"]:
            self.assertIsNone(licences.data_of(path), path)

    def test_unknown_files_are_named(self):
        problem = licences.problem_of("a/b.xyz", "text\n")
        self.assertIn("a/b.xyz: nothing says whether it is source", problem)
        self.assertIsNone(licences.fixed("a/b.xyz", "text\n"))

    def test_rows_for_no_file_are_named(self):
        names = [row.pattern.replace("*", "a") for row in licences.DATA]
        names = [name.replace("[deil]", "i") for name in names]
        self.assertEqual(licences.unused_rows(names), [])
        found = licences.unused_rows(set(names) - {"VERSION"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("VERSION", found[0])


class EmbeddedTest(unittest.TestCase):
    """third_party/embed_files.py knows the lines by itself."""

    def setUp(self):
        spec = importlib.util.spec_from_file_location(
            "embed_files", "third_party/embed_files.py"
        )
        self.embed_files = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.embed_files)

    def embedded(self, text):
        return self.embed_files.LICENCE.sub(b"", text.encode()).decode()

    def test_lines_are_left_out_in_every_style(self):
        for path, text in [
            ("a.js", "// A.\nlet a;\n"),
            ("a.css", "a {}\n"),
            ("a.html", "  <section>\n"),
            ("a.html", "<!DOCTYPE html>\n<html>\n"),
            ("a.yaml", "a: b\n"),
            ("a.js", ""),
        ]:
            whole = licences.fixed(path, text)
            self.assertNotEqual(whole, text)
            self.assertEqual(self.embedded(whole), text, path)

    def test_lines_within_are_left_out(self):
        one, two = (licences.fixed("a.js", text) for text in ("let a;\n", "let b;\n"))
        self.assertEqual(self.embedded(one + two), "let a;\nlet b;\n")

    def test_licences_of_others_stay(self):
        text = "/*!\n * Copyright 2014 Somebody\n * SPDX-License-Identifier: MIT\n */\n"
        self.assertEqual(self.embedded(text), text)


NOTICE_TEXT = """distbench

See LICENSE.

LINKED

    Name    Licence                Libraries    Target of @system
    Abseil  Apache-2.0             absl_*       absl
    gRPC    Apache-2.0 AND MIT     grpc grpc++  grpcpp
    HTTP    MIT                    nghttp2      nghttp2
    zlib    Zlib                   z            -

LINKED THROUGH THESE, IN DEBIAN 12

    Name    Licence                Libraries
    ACL     LGPL-2.1-or-later      acl

CONTAINED

    Name    Licence                Of the package with  Target of @system
    Boost   BSL-1.0                /boost.hpp           boost

What follows.
"""
BUILD_LIST = """
load("a.bzl", "system_libraries")
def distribution_libraries():
    other(name = "b")
    system_libraries(
        name = "system",
        headers = {"boost": "/boost.hpp"},
        modules = {"absl": ["absl_base"], "grpcpp": ["grpc++"]},
        optional_modules = {"nghttp2": ["libnghttp2"]},
        replacements = replacements,
    )
"""
RULES = "A = b\nINCLUDED_FILES = /boost.hpp\n"
ROWS = notice.read(NOTICE_TEXT)
LIBRARIES = notice.libraries_of_build(BUILD_LIST)
LINKED = {"absl_base", "grpc", "grpc++", "nghttp2", "z", "acl"}


class NoticeTest(unittest.TestCase):
    def test_tables_are_read(self):
        self.assertEqual(
            ROWS[1],
            notice.Row(
                "LINKED", "gRPC", "Apache-2.0 AND MIT", ["grpc", "grpc++"], ["grpcpp"], ""
            ),
        )
        self.assertEqual([row.name for row in ROWS[3:]], ["zlib", "ACL", "Boost"])
        self.assertEqual(ROWS[3].targets, [])

    def test_unreadable_tables_are_refused(self):
        for text, message in [
            ("distbench\n", "no tables"),
            (NOTICE_TEXT.replace("zlib    Zlib", "zlib Zlib"), "has 3 columns"),
        ]:
            with self.assertRaisesRegex(notice.Unreadable, message):
                notice.read(text)

    def test_libraries_of_the_build_are_read(self):
        self.assertEqual(
            LIBRARIES,
            notice.Libraries({"absl", "boost", "grpcpp", "nghttp2"}, {"nghttp2"}),
        )
        for text in ["", "system_libraries(modules = [a for a in b])", "("]:
            with self.assertRaisesRegex(notice.Unreadable, "libraries.bzl"):
                notice.libraries_of_build(text)

    def test_included_files_are_read(self):
        text = "INCLUDED_FILES = /a.h \\\n  /b.h\nINCLUDED = c\n"
        self.assertEqual(notice.packages_in_package(text), {"/a.h", "/b.h"})
        with self.assertRaisesRegex(notice.Unreadable, "debian/rules"):
            notice.packages_in_package("INCLUDED = a\n")

    def names(self, text=NOTICE_TEXT, build=BUILD_LIST, rules=RULES):
        return notice.problems_of_names(
            notice.read(text),
            notice.libraries_of_build(build),
            notice.packages_in_package(rules),
        )

    def test_build_and_package_are_as_notice_says(self):
        self.assertEqual(self.names(), [])
        for changes, message in [
            ({"build": BUILD_LIST.replace('"absl"', '"abseil"')}, "libraries.bzl uses abseil"),
            ({"build": BUILD_LIST.replace('"absl"', '"boost"')}, "NOTICE has absl"),
            ({"text": NOTICE_TEXT.replace("  -", "  absl")}, "NOTICE has absl twice"),
            ({"text": NOTICE_TEXT.replace("  BSL-1.0 ", "  BSL-7.0 ")}, '"BSL-7.0" of Boost'),
            ({"rules": "INCLUDED_FILES = /boost.hpp /b.hpp\n"}, "/b.hpp is in only one"),
            ({"rules": "INCLUDED_FILES =\n"}, "/boost.hpp is in only one"),
        ]:
            found = self.names(**changes)
            self.assertTrue(any(message in problem for problem in found), (message, found))


class LinksTest(unittest.TestCase):
    def links(self, linked, release="12", optional=LIBRARIES.optional):
        return notice.problems_of_links(ROWS, linked, optional, release)

    def test_names_of_libraries(self):
        for path, stem in [
            ("/lib/libgrpc++.so.1.51", "grpc++"),
            ("/usr/lib/x86_64-linux-gnu/libabsl_base.so.20220623", "absl_base"),
            ("/lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64"),
            ("libbz2.so.1.0", "bz2"),
        ]:
            self.assertEqual(notice.stem_of(path), stem)

    def test_programs_are_linked_as_notice_says(self):
        self.assertEqual(self.links(LINKED), [])

    def test_a_library_without_a_row_is_named(self):
        (problem,) = self.links(LINKED | {"curl"})
        self.assertIn("libcurl, which NOTICE lacks", problem)

    def test_a_row_without_a_library_is_named(self):
        for name, owner in [("grpc++", "gRPC"), ("z", "zlib"), ("acl", "ACL")]:
            (problem,) = self.links(LINKED - {name})
            self.assertIn(f"linked to lib{name} ({owner}), and none is", problem)

    def test_optional_libraries_may_be_left_out(self):
        self.assertEqual(self.links(LINKED - {"nghttp2"}), [])
        self.assertEqual(len(self.links(LINKED - {"nghttp2"}, optional=set())), 1)

    def test_what_libraries_bring_is_known_of_one_release(self):
        self.assertEqual(self.links(LINKED - {"acl"}, release="13"), [])
        self.assertEqual(len(self.links(LINKED - {"z"}, release="13")), 1)

    def test_copyright_files_mention_the_licences(self):
        grpc = ROWS[1]
        both = "License: Apache-2.0\nLicense: Expat\n"
        self.assertEqual(notice.problems_of_copyright(grpc, "libgrpc", both), [])
        found = notice.problems_of_copyright(grpc, "libgrpc", "License: Expat\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("gRPC is under Apache-2.0", found[0])
        self.assertIn("libgrpc", found[0])


class ProgramTest(unittest.TestCase):
    """scripts/check_licences, in a checkout of its own."""

    def setUp(self):
        if not shutil.which("git"):
            self.skipTest("git is missing")
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("check_licences", "checkout.py", "licences.py", "notice.py"):
            self.write(f"scripts/{name}", self.read_ours(f"scripts/{name}"))
        os.chmod(self.path("scripts/check_licences"), 0o755)
        # A file for each row of the table of data.
        for row in licences.DATA:
            path = row.pattern.replace("*", "a").replace("[deil]", "i")
            self.write(path, "data\n")
        self.write("NOTICE", NOTICE_TEXT)
        self.write("third_party/libraries.bzl", HASH + BUILD_LIST)
        self.write("debian/rules", "#!/usr/bin/make -f\n" + HASH + "\n" + RULES)
        subprocess.run(["git", "init", "--quiet", self.folder], check=True)

    @staticmethod
    def read_ours(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, *flags):
        return subprocess.run(
            [self.path("scripts/check_licences"), *flags],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def test_lines_are_missing_and_are_added(self):
        self.assertEqual(self.check().stdout, "Licences: 0 problems\n")
        self.write("a.cc", "int a;\n")
        self.write("tool", "#!/bin/sh\ntrue\n")
        os.chmod(self.path("tool"), 0o755)
        found = self.check()
        self.assertEqual(found.returncode, 1, found)
        self.assertIn("FAILED: a.cc has no lines", found.stdout)
        self.assertIn("FAILED: tool has no lines", found.stdout)
        self.assertTrue(found.stdout.endswith("Licences: 2 problems\n"), found)

        fixed = self.check("--fix")
        self.assertEqual(fixed.returncode, 0, fixed)
        self.assertIn("added to 2 files", fixed.stdout)
        self.assertEqual(self.read_ours(self.path("a.cc")), SLASHES + "\nint a;\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("tool")).st_mode), 0o755)
        self.assertIn("added to 0 files", self.check("--fix").stdout)

    def test_notice_is_compared(self):
        self.write("third_party/libraries.bzl", HASH + BUILD_LIST.replace('"absl"', '"abseil"'))
        found = self.check()
        self.assertEqual(found.returncode, 1, found)
        self.assertIn("libraries.bzl uses abseil, which NOTICE lacks", found.stdout)

    def test_what_git_ignores_is_left_alone(self):
        self.write(".gitignore", "made/\n")
        self.write("made/a.cc", "int a;\n")
        self.assertEqual(self.check("--fix").returncode, 0)
        self.assertEqual(self.read_ours(self.path("made/a.cc")), "int a;\n")

    def test_wrong_usage_is_refused(self):
        for flags in [("--fix", "--program=a"), ("a",), ("--fixed",)]:
            self.assertIn("scripts/check_licences [--fix]", self.check(*flags).stderr)
        missing = self.check("--program=/nonexistent")
        self.assertEqual(missing.returncode, 1, missing)
        self.assertIn("/nonexistent", missing.stderr)


class UsageTest(unittest.TestCase):
    def test_scripts_print_their_opening_comment_without_the_licence(self):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            script = os.path.join(folder, "script")
            text = (
                "#!/usr/bin/env bash\n# Does.\n#\n#   script A   # More.\n\n# Not this.\n"
                f"source {os.path.abspath('scripts/lib.sh')}\nusage\n"
            )
            for whole in (text, licences.fixed("script", text)):
                with open(script, "w", encoding="utf-8") as file:
                    file.write(whole)
                printed = subprocess.run(
                    ["bash", script], capture_output=True, text=True, check=True
                )
                self.assertEqual(printed.stdout, "Does.\n\n  script A   # More.\n")


if __name__ == "__main__":
    testing_main.main()
