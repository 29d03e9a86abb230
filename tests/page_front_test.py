# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The front of the HTML report: title, verdicts and findings, in a
real browser. Skipped if there is no chromium."""

from tests import browser
from tests import page_results
from tests import report_page
from tests import testing_main

HOSTILE = report_page.HOSTILE
TIERS = page_results.TIERS
log = page_results.log
result = page_results.result
samples = page_results.samples
simple = page_results.simple


class PageFrontTest(report_page.ReportPageTest):
    # ---- Order of drawing ----------------------------------------------------

    def open_held(self, fragment=""):
        """A page whose first frame comes when its release() is called."""
        path = self.path("held.html")
        outcome = self.distbench(
            "report", self.write("r.pb", simple()), "--format=html", "-o", path
        )
        self.assertEqual(outcome.status, 0, outcome)
        # Not all browsers keep the place when parts above it grow or go.
        hold = (
            "<style>* { overflow-anchor: none; }</style><script>"
            "requestAnimationFrame = next => { window.release = next; };"
            "</script>"
        )
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("<body>", f"<body>{hold}", 1))
        page = browser.Page(self, f"file://{path}{fragment}", size=(800, 400))
        page.wait_until("document.body?.dataset.rendered === 'first'")
        return page

    def assert_all_is_drawn(self, page):
        self.assertIn("query", self.text_of(page, "latency-table"))
        self.assertEqual(self.visibility(page, "latency"), "visible")
        self.assertEqual(page.complaints, [])

    def visibility(self, page, element):
        return page.evaluate(
            f"getComputedStyle(document.getElementById('{element}')).visibility"
        )

    def test_charts_do_not_keep_the_verdict_waiting(self):
        page = self.open_held()
        self.assertEqual(self.text_of(page, "title"), "simple")
        self.assertNotEqual(self.badges(page), [])
        self.assertEqual(self.visibility(page, "headline"), "visible")
        self.assertEqual(self.visibility(page, "latency"), "hidden")
        self.assertEqual(self.text_of(page, "latency-table"), "")
        page.evaluate("release()")
        page.wait_until("document.body.dataset.rendered === 'true'")
        self.assert_all_is_drawn(page)

    def test_printing_draws_what_is_missing(self):
        page = self.open_held()
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.assert_all_is_drawn(page)

    def test_the_place_that_the_address_names_is_shown(self):
        page = self.open_held(fragment="#latency")
        page.evaluate("release()")
        page.wait_until("document.body.dataset.rendered === 'true'")
        top = page.evaluate(
            "document.getElementById('latency').getBoundingClientRect().top"
        )
        self.assertGreaterEqual(top, -1)
        self.assertLess(top, 400)

    # ---- Title ---------------------------------------------------------------

    def test_title_names_test_and_equal_hosts_once(self):
        nodes = "".join(
            f'node_resources {{ key: "node{i}" value {{ host {{ '
            f'hostname: "h{i}" kernel: "Linux 6.1.0-18 x86_64" cpu_count: 2 '
            "} } } "
            for i in range(25)
        )
        page = self.open_text(
            simple(
                more=f"resource_usage_logs {{ {nodes} }} run_info {{ "
                'version: "1.2" random_seed: 77 '
                "start_timestamp_ns: 1700000000000000000 }"
            )
        )
        self.assertEqual(self.text_of(page, "title"), "simple")
        self.assertEqual(
            page.evaluate("document.title"), "simple – distbench"
        )
        subtitle = self.text_of(page, "subtitle")
        for text in ("2023-11-14 22:13:20 UTC", "distbench 1.2", "seed 77"):
            self.assertIn(text, subtitle)
        self.assertEqual(
            self.text_of(page, "hosts"), "25 × Linux 6.1.0-18, 2 CPUs"
        )
        self.open_details(page)
        self.assertIn("node24", self.text_of(page, "nodes-table"))
        page.close()

    def test_nodes_of_the_same_host_are_not_hosts(self):
        nodes = "".join(
            f'node_resources {{ key: "node{i}" value {{ host {{ '
            'hostname: "h" cpu_count: 1 } } } '
            for i in range(3)
        )
        page = self.open_text(simple(more=f"resource_usage_logs {{ {nodes} }}"))
        self.assertEqual(
            self.text_of(page, "hosts"), "3 nodes on 1 host: 1 × 1 CPU"
        )
        page.close()

    # ---- Verdicts ------------------------------------------------------------

    def test_only_what_met_its_objectives_is_green(self):
        for objective, badge in (
            ("query p50<=1s", "ok: badge ok"),
            ("query p50<=1us", "missed: badge invalid"),
            # 200 RPCs are too few for an upper bound of p99.
            ("query p99<=1s", "undecided: badge warn"),
        ):
            with self.subTest(objective):
                page = self.open_text(simple(f'objectives: "{objective}"'))
                self.assertEqual(self.badges(page), [badge])
                self.assertIn(objective, self.text_of(page, "headline"))
                page.close()

    def test_what_failed_and_was_never_sent_counts_once(self):
        page = self.open_text(page_results.waited_in_vain())
        headline = self.text_of(page, "headline")
        self.assertIn("25 % of all RPCs", headline)
        self.assertIn("100 of them were never sent", headline)
        self.assertNotIn("160", headline)
        maximum = "#latency-table tbody td:last-child"
        self.assertEqual(
            page.evaluate(f"document.querySelector('{maximum}').textContent"),
            "failed",
        )
        self.assertIn(
            "those that succeeded: 500 µs",
            page.evaluate(f"document.querySelector('{maximum} span').title"),
        )
        edge = page.evaluate(
            "document.querySelector('#topology-graph .edge').textContent"
        )
        self.assertIn("25 % failed", edge)
        page.close()

    def test_failed_runs_say_so(self):
        page = self.open_text(
            simple(more='run_info { failure: "node1 left" }'), status=3
        )
        self.assertEqual(self.badges(page), ["failed: badge failed"])
        self.assertIn("node1 left", self.text_of(page, "findings"))
        page.close()

    def test_a_run_that_measured_nothing_is_not_ok(self):
        page = self.open_text("test_results {}")
        self.assertEqual(self.badges(page), ["nothing measured: badge warn"])
        page.close()

    # ---- Tiles ---------------------------------------------------------------

    def test_tiles_have_load_latency_and_failures(self):
        page = self.open_report(self.example("one", 2, 3, 1, 20, 50))
        tiles = page.evaluate(
            "[...document.querySelectorAll('#headline .tile')]"
            ".map(tile => tile.innerText)"
        )
        self.assertEqual(len(tiles), 4)
        self.assertIn("300/s", tiles[0])
        self.assertIn("of 300/s offered", tiles[0])
        for tile, percentile in zip(tiles[1:3], ("p50", "p99")):
            self.assertIn(f"{percentile}, response time", tile)
            self.assertRegex(tile, r"\d+ µs – [\d.]+ (µs|ms) \(95 % conf")
        self.assertIn("0 % of all RPCs", tiles[3])
        page.close()

    def test_tiles_are_those_of_rpcs_that_nothing_causes(self):
        page = self.open_text(TIERS)
        self.assertEqual(self.count(page, "#headline .headline-rpc"), 1)
        headline = self.text_of(page, "headline-parts")
        self.assertIn("query", headline)
        self.assertIn("p99, service time", headline)
        self.assertIn("no offered rate", headline)
        page.close()

    def test_repeats_share_their_tiles(self):
        page = self.open_text(
            "".join(
                simple(more=f"run_info {{ repetition: {i} }}", latency_ns=ns)
                for i, ns in enumerate((2000, 9000, 4000))
            )
        )
        self.assertEqual(self.count(page, "#headline .tile"), 4)
        p99 = page.evaluate(
            "document.querySelectorAll('#headline .tile')[2].innerText"
        )
        self.assertIn("4 µs", p99)
        self.assertIn("median; 2 µs – 9 µs in 3 runs", p99)
        self.open_details(page)
        repeats = self.text_of(page, "repeats-0")
        for text in ("simple #1", "simple #2", "simple #3", "9 µs"):
            self.assertIn(text, repeats)
        page.close()

    def test_several_tests_are_a_table_of_verdicts(self):
        page = self.open_text(
            simple(name="good")
            + simple('objectives: "query p50<=1us"', name="bad")
        )
        self.assertEqual(self.text_of(page, "title"), "good, bad")
        rows = page.evaluate(
            "[...document.querySelectorAll('#verdicts-table tbody tr')]"
            ".map(row => row.innerText)"
        )
        self.assertEqual(len(rows), 2)
        self.assertRegex(rows[0], r"good\s+ok\s+query")
        self.assertRegex(rows[1], r"bad\s+missed\s+query")
        page.close()

    # ---- Findings ------------------------------------------------------------

    def test_findings_of_a_kind_share_their_advice(self):
        findings = "".join(
            "findings { severity: WARN code: "
            f'"measurements_lost" message: "host h{i} lost time" '
            'advice: "Use dedicated CPUs." } '
            for i in range(5)
        )
        page = self.open_text(
            simple(
                more=f"run_info {{ {findings} findings {{ severity: INVALID "
                'code: "unheard_of" message: "something" } }'
            ),
            status=3,
        )
        text = self.text_of(page, "findings-list")
        self.assertLess(text.index("something"), text.index("host h0"))
        self.assertEqual(text.count("What to do:"), 1)
        self.assertIn("dedicated CPUs", text)
        self.assertIn("2 more", text)
        self.assertNotIn("host h4", text)
        self.open_details(page)
        self.assertIn("host h4", self.text_of(page, "findings-list"))
        page.close()

    def test_of_what_hosts_have_alike_the_worst_is_shown(self):
        findings = "".join(
            f'findings {{ severity: WARN code: "stolen" message: "of h{i}" }} '
            for i in range(5)
        )
        page = self.open_text(simple(more=f"run_info {{ {findings} }}"))
        text = self.text_of(page, "findings-list")
        self.assertIn("of h0", text)
        self.assertNotIn("of h1", text)
        self.assertIn("4 more", text)
        page.close()

    # ---- Names ---------------------------------------------------------------

    def test_names_stay_text(self):
        text = result(
            f'name: "{HOSTILE}" objectives: "{HOSTILE}" '
            f'services {{ name: "{HOSTILE}" count: 2 }} '
            f'rpc_descriptions {{ name: "{HOSTILE}" client: "{HOSTILE}" '
            f'server: "{HOSTILE}" }}',
            log(HOSTILE, 0, {f"{HOSTILE}/0": samples(200, 2000)}),
            f'run_info {{ version: "{HOSTILE}" findings {{ severity: WARN '
            f'code: "{HOSTILE}" message: "{HOSTILE}" }} }} '
            f'resource_usage_logs {{ node_resources {{ key: "{HOSTILE}" '
            f'value {{ host {{ hostname: "h" kernel: "{HOSTILE}" '
            f'cpu_model: "{HOSTILE}" }} }} }} }}',
        )
        page = self.open_text(text)
        page.evaluate(
            "document.querySelector('#topology-graph .service')"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        self.open_details(page)
        for part in (
            "title",
            "subtitle",
            "hosts",
            "headline",
            "findings",
            "topology-table",
            "topology-instances",
        ):
            self.assertIn("<img src=x", self.text_of(page, part), part)
        self.assertEqual(page.evaluate("document.images.length"), 0)
        self.assertNotEqual(page.evaluate("document.title"), "broken")
        self.assertEqual(page.complaints, [])
        page.close()


if __name__ == "__main__":
    testing_main.main()
