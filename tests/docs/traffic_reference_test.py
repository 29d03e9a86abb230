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
    section = re.search(rf"^## {message}$.*?(?=^## )", read_page(), re.M | re.S)[0]
    return re.search(rf"^\|[^|]*`{field}`.*$", section, re.M)[0]


class TrafficReferenceTest(unittest.TestCase):
    def test_page_is_fresh(self):
        # Not assertEqual, whose message would be the difference of two long pages.
        self.assertTrue(
            reference.page(PROTOS) == read_page(),
            f"{reference.PAGE} is not what the files of proto/ say now; run "
            f"{reference.COMMAND} and commit the page",
        )

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
        ]:
            self.assertIn(words, row_of(message, field), (message, field))

    def test_a_field_without_a_comment_is_named(self):
        message = PROTOS.message("RpcSpec")
        silent = message._replace(
            fields=[field._replace(comment="") for field in message.fields]
        )
        with self.assertRaisesRegex(reference.Undocumented, "RpcSpec.name"):
            reference.page(_Replaced(PROTOS, silent))


class _Replaced:
    """Protos of which one message is another one."""

    def __init__(self, protos, message):
        self._protos = protos
        self._message = message

    def message(self, name):
        if name == self._message.name:
            return self._message
        return self._protos.message(name)


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
        ]:
            self.assertEqual(reference_words.conditions(when), words)


if __name__ == "__main__":
    testing_main.main()
