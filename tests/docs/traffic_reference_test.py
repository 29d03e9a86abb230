# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""docs/traffic_reference.md is what scripts/generate_reference makes of the protos, and
its links lead somewhere."""

import re
import unittest

from scripts import reference
from scripts import reference_protos
from scripts import reference_words
from tests import testing_main


def setUpModule():
    global PROTOS
    PROTOS = reference_protos.read(".")


def read_page():
    with open(reference.PAGE, encoding="utf-8") as file:
        return file.read()


def row_of(message, field):
    """The row of the page's table with this field."""
    section = re.search(rf"^##+ {message}$.*?(?=^##+ )", read_page(), re.M | re.S)[0]
    return re.search(rf"^\|[^|]*`{field}`.*$", section, re.M)[0]


class TrafficReferenceTest(unittest.TestCase):
    def test_page_is_fresh(self):
        # Not assertEqual, whose message would be the difference of two long pages.
        there = {each.product for each in [*PROTOS.drivers, *PROTOS.activities]}
        missing = {product for _, product in PROTOS.product_words} - there
        self.assertTrue(
            reference.page(PROTOS) == reference.without(read_page(), missing),
            f"{reference.PAGE} is not what the files of proto/ say now; run "
            f"{reference.COMMAND} and commit the page",
        )

    def test_what_a_product_adds_can_be_left_out(self):
        products = sorted({each.product for each in PROTOS.drivers} - {""})
        if not products:
            self.skipTest("no product has a driver")
        drivers = [each for each in PROTOS.drivers if each.product != products[0]]
        rest = reference.page(_Without(PROTOS, drivers))
        page = reference.page(PROTOS)
        self.assertTrue(rest != page)
        self.assertTrue(rest == reference.without(page, products[:1]))

    def test_links_within_the_page_have_their_headings(self):
        page = read_page()
        headings = {line.lower() for line in re.findall(r"^#+ (\w+)$", page, re.M)}
        for anchor in re.findall(r"\]\(#(\w+)\)", page):
            self.assertIn(anchor, headings)

    def test_columns_of_tables(self):
        for line in read_page().splitlines():
            if line.startswith("|"):
                self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 5, line)

    def test_a_quantity_has_one_row_with_both_fields(self):
        row = row_of("RpcSpec", "deadline")
        self.assertIn("`deadline`<br>`deadline_us`", row)
        self.assertIn("duration, text<br>integer, microseconds", row)
        self.assertIn("above 0", row)

    def test_fields_below_a_comment_share_it(self):
        self.assertIn("`x_size`<br>`y_size`<br>`z_size`", row_of("ServiceSpec", "x_size"))

    def test_rules_in_words(self):
        for message, field, words in [
            ("RpcSpec", "server", "required; a name in `services`"),
            ("RpcSpec", "multi_server_channel_name", "not with `stream`"),
            ("ServiceSpec", "count", "required, unless `x_size` or `external` is given"),
            ("ServiceSpec", "z_size", "needs `y_size`"),
            ("AdmissionSpec", "refuse", "`newest` or `oldest`; default: `newest`"),
            ("HedgingPolicy", "percentile", "above 0, below 100"),
            ("SineRate", "period", "required; at least 1 ms"),
            ("NumaBinding", "cpus", "indices, such as `0-3,8`"),
            ("DistributedSystemDescription", "search", "Of the product `search`."),
            ("RetryPolicy", "max_backoff", "default: 1 s"),
            ("grpc_stream", "streams", "1 to 1024; default: 1"),
        ]:
            self.assertIn(words, row_of(message, field), (message, field))

    def test_a_field_without_a_comment_is_named(self):
        message = PROTOS.message("RpcSpec")
        silent = message._replace(
            fields=[field._replace(comment="") for field in message.fields]
        )
        with self.assertRaisesRegex(reference.Undocumented, "RpcSpec.name"):
            reference.page(_Replaced(PROTOS, silent))


class _Without:
    """Protos with fewer drivers."""

    def __init__(self, protos, drivers):
        self._protos = protos
        self.drivers = drivers

    def __getattr__(self, name):
        return getattr(self._protos, name)


class _Replaced:
    """Protos of which one message is another one."""

    def __init__(self, protos, message):
        self._protos = protos
        self._message = message

    def message(self, name):
        if name == self._message.name:
            return self._message
        return self._protos.message(name)

    def __getattr__(self, name):
        return getattr(self._protos, name)


# How many fields the first version has. Others say since which version they are there.
FIRST_VERSION = "0.9.0"
FIELDS_OF_THE_FIRST_VERSION = 355


def numbers_of(version):
    return [int(part) for part in version.split(".")]


def problem_of_versions(protos, version, count):
    """What is wrong with `since` of fields, by the program's version and the number of
    fields of the first one; empty if nothing is."""
    fields = [
        (f"{message.name}.{field.name}", field.rules.since)
        for message in reference.messages_of(protos)
        for field in message.fields
    ]
    for name, since in fields:
        if since and not re.fullmatch(r"\d+\.\d+\.\d+", since):
            return f"{name}: since is {since}, and not a version such as {version}"
        if since and numbers_of(since) > numbers_of(version):
            return f"{name}: since is {since}, above VERSION, which is {version}"
        if since and numbers_of(since) <= numbers_of(FIRST_VERSION):
            return f"{name}: since is {since}; fields of {FIRST_VERSION} do not say so"
    silent = sum(not since for _, since in fields)
    if silent != count:
        return (
            f"{silent} fields do not say since which version they are there, and not "
            f'{count}; a new field does: (rules).since = "{version}"'
        )
    return ""


class SinceTest(unittest.TestCase):
    def with_field(self, since):
        """The protos with a field that was added to ServiceSpec."""
        message = PROTOS.message("ServiceSpec")
        rules = type(message.fields[0].rules)(since=since)
        added = message.fields[0]._replace(name="added", comment="New.", rules=rules)
        return _Replaced(PROTOS, message._replace(fields=[*message.fields, added]))

    def test_new_fields_say_since_when_they_are_there(self):
        with open("VERSION", encoding="utf-8") as file:
            version = file.read().strip()
        self.assertEqual(
            problem_of_versions(PROTOS, version, FIELDS_OF_THE_FIRST_VERSION), ""
        )

    def test_what_is_wrong_with_versions(self):
        messages = reference.messages_of(PROTOS)
        count = sum(not f.rules.since for m in messages for f in m.fields)
        for since, version, problem in [
            ("", "1.1.0", "a new field does"),
            ("1.1.0", "1.1.0", ""),
            ("1.1.0", "1.10.0", ""),
            ("1.1.0", "1.0.1", "above VERSION"),
            ("0.9.0", "1.0.1", "do not say so"),
            ("soon", "1.1.0", "not a version"),
        ]:
            found = problem_of_versions(self.with_field(since), version, count)
            self.assertIn(problem, found)
            self.assertEqual(bool(found), bool(problem), found)

    def test_the_page_says_so(self):
        self.assertIn(
            "New. Since version 1.1.0.", reference.page(self.with_field("1.1.0"))
        )


class WordsTest(unittest.TestCase):
    def test_comments(self):
        prose = reference_words.Prose({"RetryPolicy", "Action"})
        for comment, markdown in [
            ('such as "leaf*"', "such as `leaf*`"),
            ("the rpc_name of it", "the `rpc_name` of it"),
            ("a * b", r"a \* b"),
            ("see docs/products/search.md.", "see [search.md](products/search.md)."),
            ("a RetryPolicy", "a [RetryPolicy](#retrypolicy)"),
            ("Action is a word", "Action is a word"),
            ("`as_it is`", "`as_it is`"),
            ("net.ipv4.tcp_ecn is one", "`net.ipv4.tcp_ecn` is one"),
        ]:
            self.assertEqual(prose.markdown(comment), markdown)

    def test_conditions(self):
        for when, words in [
            (["a", "!b"], "`a` is given, and `b` is not given"),
            (["a|b"], "`a` or `b` is given"),
            (["a=x,y"], "`a` is `x` or `y`"),
            (["!a=x"], "`a` is not `x`"),
            (["a", "a=x"], "`a` is given as `x`"),
            (["!a|a=x"], "`a` is not given or `a` is `x`"),
            (["a>b|!a<c"], "`a` is above `b` or `a` is not below `c`"),
            (["a.b", "!c.d"], "`a.b` is given, and `c.d` is not given"),
        ]:
            self.assertEqual(reference_words.conditions(when), words)


if __name__ == "__main__":
    testing_main.main()
