# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""All pairs on the page in a real browser, compared with an approved picture. Skipped
if there is no chromium."""

import json

from tests import page_results
from tests import report_page
from tests import testing_main
from tests.pictures import approved_pictures

US = 1000
START_NS = page_results.START_S * 10**9


def statistics(ns, failed=0):
    """200 RPCs of a pair in ten seconds; all failed if there is no time."""
    succeeded = 0 if ns is None else 200 - failed
    times = "" if ns is None else (
        f"service_time_ns {{ {page_results.histogram(ns // 2, succeeded)} }}"
        f"response_time_ns {{ {page_results.histogram(ns, succeeded)} }}"
    )
    return f"""statistics {{
      succeeded_count: {succeeded} failed_count: {failed} {times}
      first_start_timestamp_ns: {START_NS}
      last_end_timestamp_ns: {START_NS + 10**10}
    }}"""


def cluster(kind, hosts, statistics_of, host="host"):
    """A test of all pairs, four hosts to a rack. statistics_of(client, server):
    those of a pair, by the numbers of its hosts."""
    names = range(hosts)
    logs = "".join(
        page_results.log(
            f"node/{client}",
            0,
            {
                f"node/{server}": statistics_of(client, server)
                for server in names
                if server != client
            },
        )
        for client in names
    )
    endpoints = "".join(
        f"""service_endpoints {{ key: "node/{number}" value {{
          hostname: "{host}{number}" node_alias: "node{number}"
          attributes {{ name: "rack" value: "r{number // 4}" }}
        }} }}"""
        for number in names
    )
    return page_results.result(
        f"""name: "all_pairs_{kind}"
        attributes {{ key: "all_pairs" value: "{kind}" }}
        services {{ name: "node" count: {hosts} }}
        rpc_descriptions {{ name: "pair" client: "node" server: "node" }}""",
        logs,
        f"placement {{ {endpoints} }}",
    )


def two_slow(kind, hosts=12, **more):
    """Hosts 3 and 10 are slow, and the path from 0 to 1."""

    def statistics_of(client, server):
        slow = sum(number in (3, 10) for number in (client, server))
        path = 2400 if (client, server) == (0, 1) else 0
        base = 100 if kind == "steady" else 350
        # A little different, as real ones are.
        varied = (7 * client + 11 * server) % 9
        return statistics((base + 900 * slow + path + varied) * US)

    return cluster(kind, hosts, statistics_of, **more)


def both(**more):
    return two_slow("steady", **more) + two_slow("burst", **more)


# The lowest contrast of the matrices' numbers with what is behind them.
CONTRAST = """(() => {
  const luminance = color => {
    const [r, g, b] = color.match(/\\d+/g).map(Number).map(channel => {
      const value = channel / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return Math.min(...[...document.querySelectorAll('.matrix tbody td:not(.none)')]
      .map(cell => {
        const {color, backgroundColor} = getComputedStyle(cell);
        const [low, high] = [luminance(color), luminance(backgroundColor)]
            .sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      }));
})()"""


class AllPairsPageTest(approved_pictures.PicturesTest):
    folder_of_test = "distbench/products/all_pairs"
    names = ("all_pairs",)

    def marked(self, page):
        """The names that the matrices mark, each time."""
        return page.evaluate(
            "[...document.querySelectorAll('#all-pairs-maps .marked-name')]"
            ".map(title => title.textContent)"
        )

    def framed(self, page):
        return page.evaluate(
            "[...document.querySelectorAll('#all-pairs-maps .marked')]"
            ".map(cell => cell.title.split('\\n')[0])"
        )

    def figures(self, page):
        """The numbers of the matrices, by test, line and column."""
        return page.evaluate(
            "[...document.querySelectorAll('#all-pairs-maps tbody')].map("
            "body => [...body.rows].map(row => [...row.querySelectorAll('td')].map("
            "cell => cell.textContent)))"
        )

    def captions(self, page):
        return page.evaluate(
            "[...document.querySelectorAll('#all-pairs-maps caption, "
            "#all-pairs-maps figcaption')].map(caption => caption.textContent)"
        )

    def outliers(self, page):
        """Of each test, the lines of its list."""
        return page.evaluate(
            "[...document.querySelectorAll('#all-pairs-outliers > div')].map("
            "part => [...part.querySelectorAll('li')].map(item => item.textContent))"
        )

    def choose_by(self, page, value):
        self.choose(page, "#all-pairs-controls label:first-child select", value)

    def choose_figure(self, page, value):
        self.choose(page, "#all-pairs-controls label:last-child select", value)

    def test_two_slow_hosts_and_a_slow_pair_are_named_and_marked(self):
        page = self.open_text(both())
        for lines in self.outliers(page):
            self.assertEqual(
                [line.split(":")[0] for line in lines],
                ["host3, as client and server", "host10, as client and server",
                 "host0 -> host1"],
            )
        self.assertEqual(self.marked(page), 4 * ["▲ host3", "▲ host10"])
        self.assertEqual(self.framed(page), 2 * ["host0 → host1"])
        self.check(page, "all_pairs", "#all-pairs")
        page.close()

    def test_figures_are_those_of_the_data(self):
        result = self.write("result.pb", both())
        page = self.open_results(result)
        document = json.loads(
            self.distbench("report", result, "--format=json").out
        )
        for key, figure in (("p50_ns", "p50"), ("p99_ns", "p99")):
            self.choose_figure(page, key)
            for by in ("host", "rack"):
                self.choose_by(page, by)
                self.check_figures(page, document, by, key, figure)
        page.close()

    def check_figures(self, page, document, by, key, figure):
        for caption in self.captions(page):
            self.assertIn(f"{figure} of response times by {by}, ms", caption)
        for shown, test in zip(self.figures(page), document["tests"]):
            cells = test["all_pairs"]["cells"]
            rows = [dict(zip(cells["columns"], row)) for row in cells["rows"]]
            expected = [
                f"{row[key] / 1e6:.3g}" for row in rows if row["by"] == by
            ]
            self.assertEqual(
                [text for line in shown for text in line if text], expected
            )

    def test_a_slow_rack_is_named_as_one(self):
        def statistics_of(client, server):
            slow = sum(number // 4 == 1 for number in (client, server))
            return statistics((100 + 900 * slow) * US)

        page = self.open_text(cluster("steady", 12, statistics_of))
        lines = self.outliers(page)[0]
        self.assertEqual(len(lines), 1)
        self.assertIn("all hosts of rack r1, as client and server", lines[0])
        self.assertEqual(
            self.marked(page),
            2 * ["▲ host4", "▲ host5", "▲ host6", "▲ host7"],
        )
        self.choose_by(page, "rack")
        self.assertEqual(self.marked(page), 2 * ["▲ r1"])
        page.close()

    def test_a_host_that_is_slow_as_server_is_marked_as_one(self):
        page = self.open_text(
            cluster(
                "steady",
                8,
                lambda client, server: statistics(
                    (1000 if server == 2 else 100) * US
                ),
            )
        )
        self.assertEqual(
            page.evaluate(
                "[...document.querySelectorAll('#all-pairs-maps .marked-name')]"
                ".map(title => [title.scope, title.textContent])"
            ),
            [["col", "▲ host2"]],
        )
        page.close()

    def test_a_host_that_does_not_answer(self):
        def statistics_of(client, server):
            is_silent = 5 in (client, server)
            return statistics(None if is_silent else 100 * US, 200 * is_silent)

        page = self.open_text(cluster("steady", 8, statistics_of))
        self.assertEqual(
            self.outliers(page),
            [["host5, as client and server: 2800 of 2800 RPCs failed"]],
        )
        self.assertEqual(self.marked(page), 2 * ["▲ host5"])
        lines = self.figures(page)[0]
        self.assertEqual(lines[5], 5 * ["✕"] + [""] + 2 * ["✕"])
        self.assertEqual(lines[0][4:7], ["100", "✕", "100"])
        page.close()

    def test_many_hosts_are_a_picture_and_a_short_table(self):
        page = self.open_text(both(hosts=60))
        for number in (0, 1):
            self.assertTrue(
                page.evaluate(
                    f"{report_page.IS_DRAWN}('all-pairs-map-{number}')"
                )
            )
        self.open_details(page)
        pairs = list(
            zip(*(self.column(page, "all-pairs-table", i) for i in (0, 1)))
        )
        self.assertEqual(len(pairs), 500)
        self.assertEqual(pairs[0], ("host0", "host1"))
        self.assertEqual(
            self.text_of(page, "all-pairs-table-note"),
            "The 500 slowest by p50 of 7,080.",
        )
        self.choose_by(page, "rack")
        self.assertEqual(len(self.figures(page)[0]), 15)
        page.close()

    def test_two_hosts_are_not_compared(self):
        page = self.open_text(
            cluster("steady", 2, lambda a, b: statistics((100 + 900 * a) * US))
        )
        self.assertIn(
            "2 hosts, 2 pairs", self.text_of(page, "all-pairs-outliers")
        )
        self.assertIn(
            "Too few hosts to compare", self.text_of(page, "all-pairs-outliers")
        )
        page.close()

    def test_an_invalid_run_says_so_and_not_that_all_is_well(self):
        finding = """findings { severity: INVALID code: "late_sends" message: "m" }"""
        page = self.open_text(
            cluster("steady", 4, lambda a, b: statistics(100 * US)).replace(
                "placement {", f"run_info {{ {finding} }} placement {{", 1
            )
        )
        text = self.text_of(page, "all-pairs-outliers")
        self.assertIn("invalid", text)
        self.assertIn("unknown, as the run is invalid", text)
        self.assertNotIn("is out of line.", text.replace("Who is out of line is", ""))
        self.assertIn("(response times)", text)
        page.close()

    def test_nodes_of_one_machine_are_nodes(self):
        text = cluster("steady", 4, lambda a, b: statistics(100 * US))
        for number in range(4):
            text = text.replace(f'hostname: "host{number}"', 'hostname: "vm"')
        page = self.open_text(text)
        said = self.text_of(page, "all-pairs-outliers")
        self.assertIn("4 nodes, 12 pairs", said)
        self.assertIn("No node and no pair is out of line.", said)
        self.assertIn("p50 of response times by node", self.captions(page)[0])
        page.close()

    def test_a_test_that_failed_has_no_maps(self):
        page = self.open_text(cluster("steady", 1, None))
        self.assertIn(
            "No pair was measured", self.text_of(page, "all-pairs-outliers")
        )
        self.assertEqual(self.captions(page), [])
        page.close()

    def test_names_stay_text(self):
        page = self.open_text(both(host=report_page.HOSTILE))
        self.assertEqual(self.count(page, "img"), 0)
        self.assertNotEqual(page.evaluate("document.title"), "broken")
        self.assertIn("</script>", self.outliers(page)[0][0])
        self.assertIn("onerror", self.marked(page)[0])
        page.close()

    def test_numbers_are_read_on_all_colours(self):
        for arguments in ({}, {"dark": True}):
            page = self.open_text(both(), **arguments)
            self.assertGreater(page.evaluate(CONTRAST), 4.5, arguments)
            page.print_colors()
            self.assertGreater(page.evaluate(CONTRAST), 4.5, arguments)
            page.close()

    def test_a_phone_scrolls_the_maps_alone(self):
        page = self.open_text(both(), size=(360, 740))
        self.assertLessEqual(
            page.evaluate("document.documentElement.scrollWidth"), 360
        )
        page.close()

    def test_other_tests_have_no_section(self):
        page = self.open_text(page_results.simple())
        self.assertTrue(self.is_hidden(page, "all-pairs"))
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.check_that_all_are_compared()


if __name__ == "__main__":
    testing_main.main()
