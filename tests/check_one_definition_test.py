# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What counts as a definition of a type, and which ones clash."""

import unittest

from scripts import definitions
from tests import testing_main


class TypesTest(unittest.TestCase):
    def assert_defines(self, text, *names):
        self.assertEqual(definitions.types_defined_in(text), set(names), text)

    def test_types_of_namespaces_are_found(self):
        self.assert_defines(
            """
            namespace a::b {
            class One { int x; };
            struct Two final : public One, private ns::Other<int> {};
            template <typename T, std::enable_if_t<(sizeof(T) > 4)>* = nullptr>
            class Three {};
            template <> struct Three<int, nullptr> {};
            enum class Four : int { kA, kB };
            enum Five { kC };
            union Six { int i; float f; };
            class [[nodiscard]] Seven {};
            class A_MACRO Eleven {};
            struct One::Part {};
            inline namespace v1 { class Eight {}; }
            extern "C" { struct Nine { int n; }; }
            }
            class Ten {};
            """,
            "a::b::One",
            "a::b::Two",
            "a::b::Three",
            "a::b::Three<int, nullptr>",
            "a::b::Four",
            "a::b::Five",
            "a::b::Six",
            "a::b::Seven",
            "a::b::One::Part",
            "a::b::v1::Eight",
            "a::b::Nine",
            "Ten",
            "a::b::Eleven",
        )

    def test_what_is_local_is_left_out(self):
        self.assert_defines(
            """
            namespace a {
            namespace { class Hidden {}; namespace b { class Too {}; } }
            class Forward;
            enum class Opaque : int;
            struct Point MakePoint() { struct Local { int x; }; return {}; }
            void F(struct Point p) { class Local {}; }
            class Outer { class Inner {}; void G() { if (true) { } } };
            using Alias = Outer;
            const struct Point kPoints[] = {{1}, {2}};
            auto lambda = [] { struct Local {}; };
            }
            """,
            "a::Outer",
        )

    def test_comments_literals_and_directives_do_not_count(self):
        self.assert_defines(
            '''
            // class A {
            /* class B { */
            #define BRACE { \\
              class C {
            namespace a {
            const char* s = "class D {"; const char c = '{'; char q = '\\'';
            const char* r = R"x(class E { )" )x"; const int n = 1'000'000;
            class F {};
            }
            ''',
            "a::F",
        )

    def test_braces_have_to_match(self):
        for text in ["class A {", "class A {};}"]:
            with self.assertRaises(definitions.Unreadable):
                definitions.types_defined_in(text)


class ProblemsTest(unittest.TestCase):
    def test_one_name_has_one_file(self):
        queue = "namespace distbench { class EventQueue {}; }"
        found = definitions.problems(
            [("bench/a.h", queue), ("bench/b.h", queue), ("bench/c.h", "class A {};")]
        )
        self.assertEqual(len(found), 1, found)
        self.assertIn(
            "distbench::EventQueue is defined in bench/a.h and in bench/b.h", found[0]
        )

    def test_a_file_may_choose_between_two(self):
        text = "#if A\nclass B {};\n#else\nclass B { int x; };\n#endif\n"
        self.assertEqual(definitions.problems([("bench/a.h", text)]), [])

    def test_rooms_have_namespaces(self):
        for path, namespace, problems in [
            ("distbench/engine/a.h", "distbench::engine", 0),
            ("distbench/engine/worker/a.h", "distbench::engine", 0),
            ("distbench/products/search/a.h", "distbench::search", 0),
            ("test_builder/a.h", "distbench::test_builder", 0),
            ("distbench/engine/a.h", "std", 0),
            ("distbench/engine/a.h", "distbench", 1),
            ("distbench/products/search/a.h", "distbench::products", 1),
        ]:
            found = definitions.problems(
                [(path, f"namespace {namespace} {{ class A {{}}; }}")]
            )
            self.assertEqual(len(found), problems, (path, namespace))

    def test_the_file_that_can_not_be_read_is_named(self):
        with self.assertRaisesRegex(definitions.Unreadable, "bench/a.h"):
            definitions.problems([("bench/a.h", "{")])


if __name__ == "__main__":
    testing_main.main()
