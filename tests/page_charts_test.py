"""The charts, tables and links of the HTML report in a real browser. Skipped if
there is no chromium."""

import os
import select
import time
import urllib.parse

from tests import programs
from tests import report_page
from tests import testing_main

START_S = 1_700_000_000

CHARTS_WITH_LEGENDS = (
    "percentile-chart",
    "cdf-chart",
    "rate-chart",
    "latency-over-time-chart",
    "cpu-chart",
    "memory-chart",
)

# The labels of what a chart draws, without what is hidden.
LINES = """(id => {
  const chart = Chart.getChart(id);
  return chart.data.datasets.filter((_, i) => chart.isDatasetVisible(i))
      .map(dataset => dataset.label);
})"""

# The points of a line of a chart: pairs of x and y.
POINTS = """((id, label) => Chart.getChart(id).data.datasets
    .find(dataset => dataset.label === label).data.map(({x, y}) => [x, y]))"""

# [min, max] of the x axis of a chart.
X_RANGE = """(id => {
  const {min, max} = Chart.getChart(id).scales.x;
  return [min, max];
})"""

# Each cell of a column of a table, by the id of its box.
COLUMN = """((id, column) =>
    [...document.getElementById(id).querySelectorAll('tbody tr')]
        .filter(row => !row.hidden).map(row => row.cells[column].innerText))"""

# None of them says anything that this page has.
HOSTILE_FRAGMENTS = (
    "#runs=99,-1,__proto__&rpc=nothing&latency=__proto__",
    "#latency=constructor&sort=latency:999:ascending&sort=latency&sort=:::",
    "#sort=latency:-1:descending&sort=__proto__:0:ascending",
    "#zoom=time:NaN:1&zoom=time:5:1&zoom=time:1e308:2e308&zoom=cdf-chart:-9:-8",
    "#open=report-data&open=%3Cimg%20src=x%3E&open=latency-table",
    "#zoom=time:-1e300:1e300&zoom=percentile-chart:1:1e300",
    "#%E0%A4%A&&&===&=&runs=" + "9," * 1000,
    "#latency",
)


def sample(start_s, latency_us, lateness_us=None):
    late = (
        "" if lateness_us is None else f"lateness_ns: {1000 * lateness_us}"
    )
    return (
        "successful_rpc_samples { "
        f"start_timestamp_ns: {round(start_s * 1e9)} "
        f"latency_ns: {1000 * latency_us} {late} }}"
    )


def run(name, rpcs, config="", log="", run_info="", usage=""):
    """Returns a run as text. rpcs: for each name, the samples from client c/0
    to server s/0; config, log (of the client), run_info and usage are further
    fields of the messages of these names."""
    descriptions = " ".join(
        f'rpc_descriptions {{ name: "{rpc}" }}' for rpc in rpcs
    )
    logs = " ".join(
        f"rpc_logs {{ key: {i} value {{ {' '.join(samples)} }} }}"
        for i, samples in enumerate(rpcs.values())
    )
    return f"""
test_results {{
  traffic_config {{ name: "{name}" {descriptions} {config} }}
  service_logs {{ instance_logs {{ key: "c/0" value {{
    peer_logs {{ key: "s/0" value {{ {logs} }} }}
    {log}
  }} }} }}
  run_info {{ {run_info} }}
  resource_usage_logs {{ {usage} }}
}}
"""


def series(counts):
    """Returns the series of RPC 0: counts in the seconds from START_S on."""
    intervals = " ".join(
        f"intervals {{ index: {START_S + i} sent_count: {count} "
        f"succeeded_count: {count} }}"
        for i, count in enumerate(counts)
    )
    return (
        "rpc_time_series { key: 0 value { interval_ns: 1000000000 "
        f"{intervals} }} }}"
    )


def swept(name, attributes, offered_count, latency_us):
    """Returns a run of a second, as a test of a sweep."""
    config = " ".join(
        f'attributes {{ key: "{key}" value: "{value}" }}'
        for key, value in {"traffic_pattern": "clique", **attributes}.items()
    )
    samples = [sample(START_S, latency_us, 0)] * 99
    samples.append(sample(START_S + 1 - latency_us / 1e6, latency_us, 0))
    return run(
        name,
        {"query": samples},
        config=config,
        log="offered_loads { key: 0 value { "
        f"offered_count: {offered_count} }} }}",
    )


class PageChartsTest(report_page.ReportPageTest):
    def labels(self, page, chart):
        return page.evaluate(f"{LINES}('{chart}')")

    def points(self, page, chart, label):
        return page.evaluate(f"{POINTS}('{chart}', '{label}')")

    def x_range(self, page, chart):
        return page.evaluate(f"{X_RANGE}('{chart}')")

    def column(self, page, table, column):
        return page.evaluate(f"{COLUMN}('{table}', {column})")

    def choose(self, page, selector, value):
        page.evaluate(
            f"""(box => {{ box.value = '{value}';
            box.dispatchEvent(new Event('change')); }})(
            document.querySelector('{selector}'))"""
        )

    def fragment(self, page):
        return urllib.parse.parse_qs(page.evaluate("location.hash.slice(1)"))

    def drag_on(self, page, chart, from_share, to_share):
        """Drags over a part of the x axis of a chart."""
        left, right, y = page.evaluate(
            f"""(canvas => {{
              canvas.scrollIntoView({{block: 'center'}});
              const box = canvas.getBoundingClientRect();
              const {{left, right}} = Chart.getChart(canvas).chartArea;
              return [box.left + left, box.left + right,
                      box.top + box.height / 2];
            }})(document.getElementById('{chart}'))"""
        )
        page.drag(
            y,
            left + from_share * (right - left),
            left + to_share * (right - left),
        )

    def test_every_rpc_is_shown_whatever_the_latency(self):
        page = self.open_report(
            self.write(
                "tiers.pb",
                run(
                    "tiers",
                    {
                        "front": [sample(START_S, 500, 100)] * 3,
                        "middle": [sample(START_S, 200)] * 3,
                        "unused": [],
                    },
                ),
            )
        )
        # Response time is chosen at first, which only open loops have.
        self.assertEqual(
            self.column(page, "latency-table", 0), ["front", "middle", "unused"]
        )
        self.assertEqual(
            self.column(page, "latency-table", 1),
            ["response time", "service time", "service time"],
        )
        self.assertIn("600 µs", self.column(page, "latency-table", 5)[0])
        self.assertIn("200 µs", self.column(page, "latency-table", 5)[1])
        self.assertEqual(
            self.labels(page, "percentile-chart"),
            ["front", "middle, service time"],
        )
        self.assertIn(
            "middle, service time", self.text_of(page, "latency-legend")
        )
        page.evaluate("document.querySelector('input[name=latency]').click()")
        self.assertEqual(
            self.labels(page, "percentile-chart"), ["front", "middle"]
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_every_chart_has_a_legend_that_hides_its_curves(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        for chart in CHARTS_WITH_LEGENDS:
            with self.subTest(chart=chart):
                shown = self.labels(page, chart)
                legend = (
                    "document.getElementById"
                    f"('{chart}').closest('section').querySelector('.legend')"
                )
                name = page.evaluate(
                    f"{legend}.querySelector('button').innerText"
                )
                self.assertTrue(any(name in label for label in shown))
                page.evaluate(f"{legend}.querySelector('button').focus()")
                page.press("Enter", "\r")
                hidden = self.labels(page, chart)
                self.assertLess(len(hidden), len(shown))
                self.assertFalse(any(name in label for label in hidden))
                page.press("Enter", "\r")
                self.assertEqual(self.labels(page, chart), shown)
        page.close()

    def test_hidden_curves_stay_hidden(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        page.evaluate(
            "document.querySelector('#latency-legend button').click()"
        )
        # The charts are drawn anew.
        page.evaluate("document.querySelector('input[name=latency]').click()")
        self.assertEqual(self.labels(page, "cdf-chart"), ["rpc_1"])
        self.assertEqual(
            page.evaluate(
                "document.querySelector('#over-time-legend button').ariaPressed"
            ),
            "false",
        )
        page.close()

    def test_partial_seconds_have_the_rates_of_what_they_cover(self):
        page = self.open_report(
            self.write(
                "partial.pb",
                run(
                    "partial",
                    {
                        "query": [
                            sample(START_S + 0.7, 1000),
                            sample(START_S + 3.749, 1000),
                        ]
                    },
                    log=series([30, 100, 100, 75]),
                    run_info=f"start_timestamp_ns: {START_S}500000000",
                ),
            )
        )
        points = self.points(page, "rate-chart", "query")
        # 0.3 s of the first second are less than half of it.
        self.assertEqual([round(x, 3) for x, _ in points], [0.5, 1.5, 2.5])
        self.assertEqual([round(y) for _, y in points], [100, 100, 100])
        note = self.text_of(page, "over-time-note")
        self.assertIn("less than half", note)
        self.assertIn("the part in which traffic ran", note)
        # Its latencies are as good as any.
        self.assertEqual(
            len(self.points(page, "latency-over-time-chart", "query, p50")), 4
        )
        page.close()

    def test_traffic_of_a_part_of_a_second_has_a_rate(self):
        page = self.open_report(
            self.write(
                "short.pb",
                run(
                    "short",
                    {
                        "query": [
                            sample(START_S + 0.2, 1000),
                            sample(START_S + 0.399, 1000),
                        ]
                    },
                    log=series([40]),
                ),
            )
        )
        [[_, rate]] = self.points(page, "rate-chart", "query")
        self.assertEqual(round(rate), 200)
        page.close()

    def test_of_many_nodes_the_busiest_are_drawn(self):
        usage = " ".join(
            f"""node_resources {{ key: "node{i}" value {{
              samples {{ end_timestamp_ns: {START_S}000000000
                duration_ns: 1000000000 process_cpu_ns: {1000 + i} }}
              host {{ hostname: "h{i}" }} }} }}"""
            for i in range(25)
        )
        page = self.open_report(
            self.write("nodes.pb", run("nodes", {}, usage=usage))
        )
        drawn = self.labels(page, "memory-chart")
        self.assertEqual(drawn, [f"node{i}" for i in range(17, 25)])
        self.assertIn(
            "8 of 25 nodes are drawn", self.text_of(page, "resources-nodes")
        )
        self.choose(page, "#resources-nodes select", "node8 – node15")
        self.assertEqual(
            self.labels(page, "memory-chart"),
            [f"node{i}" for i in range(8, 16)],
        )
        self.open_details(page)
        self.assertEqual(
            [
                line.split("\n")[0]
                for line in self.column(page, "nodes-table", 0)
            ],
            [f"node{i}" for i in range(25)],
        )
        page.close()

    def test_the_heat_map_shows_what_its_pairs_have(self):
        page = self.open_report(self.example("few", 3, 4, 1, 1, 26))
        self.assertTrue(
            page.evaluate(f"{report_page.IS_DRAWN}('heat-map-canvas')")
        )
        self.assertEqual(
            page.evaluate(
                "document.querySelector("
                "'#peers-controls label:last-child select').value"
            ),
            "p50",
        )
        reason = (
            "without a p99, which takes 100 RPCs of a pair: the busiest has 26"
        )
        self.assertIn(reason, self.text_of(page, "heat-map"))
        self.choose(page, "#peers-controls label:last-child select", "p99")
        self.assertIn(
            f"All 12 pairs are {reason}", self.text_of(page, "heat-map")
        )
        page.close()

    def test_repeats_of_a_test_share_a_hue(self):
        files = []
        for name, latency_us in (("base", 100), ("new", 300)):
            repeats = "".join(
                run(
                    "test",
                    {"query": [sample(START_S, latency_us + i)] * 3},
                    run_info=f"repetition: {i}",
                )
                for i in range(4)
            )
            files.append(self.write(f"{name}.pb", repeats))
        page = self.open_report(*files)
        datasets = page.evaluate(
            "Chart.getChart('percentile-chart').data.datasets.map("
            "({label, borderColor, borderWidth}) =>"
            " [label, borderColor, borderWidth])"
        )
        colors = {}
        for name in ("base", "new"):
            group = [entry for entry in datasets if f"{name}.pb" in entry[0]]
            self.assertEqual(len(group), 5)
            colors[name] = {color for _, color, _ in group}
            self.assertEqual(len(colors[name]), 1)
            widths = {label: width for label, _, width in group}
            median = f"test ({name}.pb), median of 4"
            self.assertGreater(widths.pop(median), max(widths.values()))
        self.assertNotEqual(colors["base"], colors["new"])
        medians = self.points(
            page, "percentile-chart", "test (base.pb), median of 4"
        )
        # Between the second and the third repeat.
        self.assertAlmostEqual(medians[0][1] / 101_500, 1, delta=0.01)
        # One entry and one chip for all repeats.
        self.assertEqual(
            self.text_of(page, "latency-legend").count("4 repeats"), 2
        )
        page.evaluate("document.querySelector('input[name=test]').click()")
        self.assertEqual(len(self.labels(page, "percentile-chart")), 5)
        self.assertEqual(self.fragment(page)["runs"], ["4,5,6,7"])
        page.close()

    def test_nothing_is_cut_off_on_a_phone(self):
        page = self.open_report(
            self.example("base", 3, 4, 14, 20, 50),
            self.example("new", 3, 4, 14, 20, 50),
        )
        page.resize(360, 740)
        page.wait_until(
            "Chart.getChart('rate-chart').width <= 360 && innerWidth === 360"
        )
        self.open_details(page)
        self.assertLessEqual(
            page.evaluate("document.documentElement.scrollWidth"), 360
        )
        table, box = page.evaluate(
            "(box => [box.querySelector('table').offsetWidth, box.offsetWidth])"
            "(document.getElementById('latency-table'))"
        )
        self.assertGreater(table, box)
        # The name of a row stays in sight.
        moved = page.evaluate(
            """(box => {
              const cell = box.querySelector('td');
              const before = cell.getBoundingClientRect().left;
              box.scrollLeft = 200;
              return cell.getBoundingClientRect().left - before;
            })(document.getElementById('latency-table'))"""
        )
        self.assertEqual(moved, 0)
        page.close()

    def test_dragging_zooms_into_all_charts_over_time(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        whole = self.x_range(page, "rate-chart")
        percentiles = self.x_range(page, "percentile-chart")
        self.drag_on(page, "rate-chart", 0.25, 0.5)
        zoomed = self.x_range(page, "rate-chart")
        width = whole[1] - whole[0]
        self.assertAlmostEqual(zoomed[0], whole[0] + 0.25 * width, delta=0.5)
        self.assertAlmostEqual(zoomed[1], whole[0] + 0.5 * width, delta=0.5)
        for chart in ("latency-over-time-chart", "cpu-chart", "memory-chart"):
            self.assertEqual(self.x_range(page, chart), zoomed, chart)
        self.assertEqual(self.x_range(page, "percentile-chart"), percentiles)
        self.assertIn("time:", self.fragment(page)["zoom"][0])
        # Also where charts are drawn anew.
        page.evaluate("document.querySelector('input[name=latency]').click()")
        self.assertEqual(
            self.x_range(page, "latency-over-time-chart"), zoomed
        )
        page.press("Escape")
        self.assertEqual(self.x_range(page, "rate-chart"), whole)
        self.assertNotIn("zoom", self.fragment(page))
        self.drag_on(page, "cdf-chart", 0.25, 0.5)
        reset = (
            "document.getElementById('cdf-chart').closest('figure')"
            ".querySelector('.reset-zoom')"
        )
        self.assertFalse(page.evaluate(f"{reset}.hidden"))
        page.evaluate(f"{reset}.click()")
        self.assertTrue(page.evaluate(f"{reset}.hidden"))
        self.drag_on(page, "cpu-chart", 0.25, 0.5)
        page.evaluate(
            "document.getElementById('rate-chart')"
            ".dispatchEvent(new MouseEvent('dblclick'))"
        )
        self.assertEqual(self.x_range(page, "rate-chart"), whole)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_tables_are_sorted_by_their_titles(self):
        page = self.open_report(self.example("many", 2, 2, 14, 5, 20))
        page.evaluate(
            "document.querySelectorAll('input[name=rpc]')"
            ".forEach(box => box.checked || box.click())"
        )
        names = [f"rpc_{i}" for i in range(14)]
        self.assertEqual(self.column(page, "latency-table", 0), names)

        def press_title(column):
            page.evaluate(
                "document.querySelectorAll('#latency-table th')"
                f"[{column}].querySelector('button').focus()"
            )
            page.press("Enter", "\r")
            return page.evaluate(
                "document.querySelectorAll('#latency-table th')"
                f"[{column}].ariaSort"
            )

        # Each RPC is slower than the one before.
        self.assertEqual(press_title(4), "descending")
        self.assertEqual(self.column(page, "latency-table", 0), names[::-1])
        self.assertEqual(self.fragment(page)["sort"], ["latency:4:descending"])
        self.assertEqual(press_title(4), "ascending")
        self.assertEqual(self.column(page, "latency-table", 0), names)
        self.assertEqual(press_title(4), "none")
        self.assertEqual(press_title(0), "ascending")
        # By numbers in names: rpc_2 before rpc_10.
        self.assertEqual(self.column(page, "latency-table", 0), names)
        page.evaluate(
            """(box => { box.value = 'RPC_1';
            box.dispatchEvent(new Event('input')); })(
            document.querySelector('#latency-table input'))"""
        )
        self.assertEqual(
            self.column(page, "latency-table", 0),
            ["rpc_1", "rpc_10", "rpc_11", "rpc_12", "rpc_13"],
        )
        self.assertIn("5 of 14 rows", self.text_of(page, "latency-table"))
        page.close()

    def test_a_link_shows_what_its_sender_saw(self):
        results = [
            self.example("base", 3, 4, 2, 20, 50),
            self.example("new", 3, 4, 2, 20, 50, 1.5),
        ]
        page = self.open_report(
            *results,
            fragment="#runs=1&rpc=rpc_1&latency=service_time&zoom=time:2:5"
            "&sort=nodes:0:descending&open=config-1&open=peers-highest",
        )
        self.assertEqual(
            self.column(page, "latency-table", 0), ["new (new.pb.gz) · rpc_1"]
        )
        self.assertEqual(self.x_range(page, "rate-chart"), [2, 5])
        self.assertEqual(
            page.evaluate(
                "document.querySelector('#nodes-table th').ariaSort"
            ),
            "descending",
        )
        for details in ("config-1", "peers-highest"):
            self.assertTrue(
                page.evaluate(f"document.getElementById('{details}').open")
            )
        self.assertEqual(
            page.evaluate(
                "document.querySelector('input[name=latency]:checked')"
                ".closest('label').innerText.trim()"
            ),
            "service time",
        )
        # Another link in the same page.
        page.evaluate("location.hash = '#runs=0&open=config-0'")
        page.wait_until("document.getElementById('config-0').open")
        self.assertEqual(len(self.column(page, "latency-table", 0)), 2)
        self.assertNotEqual(self.x_range(page, "rate-chart"), [2, 5])
        self.assertEqual(page.complaints, [])
        page.close()

    def test_what_is_folded_is_in_the_link(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        self.assertEqual(page.evaluate("location.hash"), "")
        page.evaluate("document.getElementById('peers-highest').open = true")
        page.wait_until("location.hash !== ''")
        self.assertEqual(self.fragment(page)["open"], ["peers-highest"])
        page.close()

    def test_links_may_say_anything(self):
        result = self.example("one", 3, 4, 2, 20, 50)
        for fragment in HOSTILE_FRAGMENTS:
            with self.subTest(fragment=fragment[:80]):
                page = self.open_report(result, fragment=fragment)
                self.assertEqual(
                    self.column(page, "latency-table", 0), ["rpc_0", "rpc_1"]
                )
                for chart in CHARTS_WITH_LEGENDS:
                    self.assertTrue(
                        page.evaluate(f"{report_page.IS_DRAWN}('{chart}')"),
                        chart,
                    )
                self.assertEqual(page.evaluate("document.images.length"), 0)
                page.close()

    def downloaded(self, name):
        """Waits for a file in the test's folder, and returns its content."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while not os.path.exists(self.path(name)):
            self.assertLess(time.monotonic(), end, os.listdir(self.folder))
            select.select([], [], [], 0.05)
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_charts_are_saved(self):
        result = run(
            report_page.HOSTILE,
            {'a, \\"b\\"': [sample(START_S, 100)] * 4},
        )
        page = self.open_report(self.write("one.pb", result))
        page.allow_downloads(self.folder)

        def press(canvas, title):
            page.evaluate(
                f"""[...document.getElementById('{canvas}').parentElement
                .previousElementSibling.querySelectorAll('button')]
                .find(button => button.innerText === '{title}').click()"""
            )

        press("percentile-chart", "PNG")
        image = self.downloaded("distbench-percentile-chart.png")
        self.assertTrue(image.startswith(b"\x89PNG"))
        press("percentile-chart", "CSV")
        text = self.downloaded("distbench-percentile-chart.csv").decode()
        self.assertEqual(
            text,
            'curve,percentile,latency_ns\n"a, ""b""",100,100000\n',
        )
        press("heat-map-canvas", "CSV")
        text = self.downloaded("distbench-peers.csv").decode()
        self.assertTrue(text.startswith("client,server,per_second,p50,p99,"))
        self.assertIn("\nc/0,s/0,", text)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_sweeps_are_curves(self):
        tests = "".join(
            swept(
                f"clique {count} {size}",
                {
                    "swept_parameter": "node_count,size",
                    "node_count": str(count),
                    "size": str(size),
                    "traffic_alias": f"clique_{count}x{size}",
                },
                offered_count=100 * count,
                latency_us=10 * count + size,
            )
            for size in (1, 1000)
            for count in (2, 10, 4)
        )
        page = self.open_report(self.write("sweep.pb", tests))
        # Over load, which depends on the number of nodes.
        points = self.points(page, "sweep-latency-chart", "size 1, p99")
        self.assertEqual([round(x) for x, _ in points], [200, 400, 1000])
        self.assertEqual(
            [
                [round(x), round(y)]
                for x, y in self.points(
                    page, "sweep-rate-chart", "size 1000, offered"
                )
            ],
            [[200, 200], [400, 400], [1000, 1000]],
        )
        # Over a parameter.
        self.choose(
            page, "#sweep-controls label:last-child select", "node_count"
        )
        points = self.points(page, "sweep-latency-chart", "size 1, p50")
        self.assertEqual([x for x, _ in points], [2, 4, 10])
        for (_, ns), us in zip(points, (21, 41, 101)):
            self.assertAlmostEqual(ns / (1000 * us), 1, delta=0.01)
        self.choose(page, "#sweep-controls label:last-child select", "size")
        self.assertEqual(
            self.labels(page, "sweep-latency-chart")[::2],
            ["node_count 2, p99", "node_count 4, p99", "node_count 10, p99"],
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_other_tests_are_no_sweep(self):
        page = self.open_report(
            self.example("base", 2, 2, 1, 2, 20),
            self.example("new", 2, 2, 1, 2, 20),
        )
        self.assertTrue(
            page.evaluate("document.getElementById('sweep').hidden")
        )
        page.close()

    def test_paper_shows_everything_in_light_colours(self):
        page = self.open_report(
            self.example("one", 3, 4, 2, 20, 50), dark=True
        )
        color = "Chart.getChart('rate-chart').data.datasets[0].borderColor"
        dark = page.evaluate(color)
        page.evaluate(
            "document.querySelector('#latency-legend button').click()"
        )
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.assertNotEqual(page.evaluate(color), dark)
        self.assertEqual(len(self.labels(page, "cdf-chart")), 2)
        closed = "document.querySelectorAll('details:not([open])').length"
        self.assertEqual(page.evaluate(closed), 0)
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.evaluate(color), dark)
        self.assertEqual(len(self.labels(page, "cdf-chart")), 1)
        self.assertGreater(page.evaluate(closed), 0)
        page.close()

    def test_a_page_of_many_pairs_stays_small(self):
        self.open_report(self.example("big", 100, 100, 2, 10, 1)).close()
        self.assertLess(os.path.getsize(self.path("report.html")), 5_000_000)


if __name__ == "__main__":
    testing_main.main()
