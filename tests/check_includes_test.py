# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What a file must include, and what it may leave to headers of the repository."""

import unittest

from scripts import includes
from tests import testing_main

LIBRARIES = includes.PRECOMPILED + "libraries.h"


def problems(**texts):
    """Of a/NAME.h for name_h, and so on."""
    return includes.problems(
        {f"a/{name.replace('_', '.')}": text for name, text in texts.items()}
    )


class IncludesTest(unittest.TestCase):
    def test_what_is_used_must_be_included(self):
        for text, header in [
            ("std::vector<int> v;", "<vector>"),
            ("int x = std::max<int>(1, 2);", "<algorithm>"),
            ("int x = std::min(1, 2);", "<algorithm>"),
            ("auto y = std::move(x);", "<utility>"),
            ("absl::Status s;", '"absl/status/status.h"'),
            ('auto s = absl::NotFoundError("");', '"absl/status/status.h"'),
            ("absl::string_view s;", '"absl/strings/string_view.h"'),
            ("int x ABSL_GUARDED_BY(mu_);", '"absl/base/thread_annotations.h"'),
            ("EXPECT_THAT(a, b);", '"gmock/gmock.h"'),
            ("EXPECT_EQ(a, b);", '"gtest/gtest.h"'),
            ("std::memcpy(a, b, c);", "<cstring>"),
            # Not precompiled.
            ("auto y = std::back_inserter(x);", "<iterator>"),
            ("f(std::initializer_list<int> x);", "<initializer_list>"),
        ]:
            found = problems(one_cc=text)
            self.assertEqual(len(found), 1, (text, found))
            self.assertIn("a/one.cc: uses ", found[0])
            self.assertIn(f"; add #include {header}", found[0])
            include = f"#include {header}\n"
            self.assertEqual(problems(one_cc=include + text), [])

    def test_headers_of_the_repository_include_for_others(self):
        two = '#include "a/two.h"\n'
        three = '#include "a/three.h"\n'
        vector = "#include <vector>\n"
        use = "std::vector<int> v;"
        self.assertEqual(problems(one_cc=two + use, two_h=three, three_h=vector), [])
        self.assertEqual(len(problems(one_cc=two + use, two_h=three, three_h="")), 1)

    def test_headers_are_held_to_it_too(self):
        self.assertEqual(len(problems(one_h="std::vector<int> v;")), 1)

    def test_comments_literals_and_other_names_are_not_uses(self):
        for text in [
            "// std::vector",
            "/* a\n std::vector */",
            'const char* s = "std::vector \\" std::set";',
            'const char* s = R"(std::vector)";',
            "mystd::vector v;",
            "std::vectors v;",
            "std::remove_cv_t<int> x;",
        ]:
            self.assertEqual(problems(one_cc=text), [], text)

    def test_what_is_precompiled_must_be_known(self):
        known = "#include <vector>\n#include <cstdint>\n"
        text = known + "#include <regex>\n"
        found = includes.problems({LIBRARIES: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"{LIBRARIES}: scripts/includes.py does not know", found[0])
        self.assertIn("<regex>", found[0])


if __name__ == "__main__":
    testing_main.main()
