# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What users do with the HTML report in a real browser: zooming, sorting,
links, downloads, printing, reading on a phone. Skipped if there is no
chromium."""

from tests import page_results
from tests import report_page
from tests import testing_main

START_S = page_results.START_S
run = page_results.run
sample = page_results.sample

# The least space between two labels of a chart's x axis, in pixels.
TICK_GAP = """(id => {
  const {scales: {x}, ctx} = Chart.getChart(id);
  ctx.font = `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;
  const ends = x.ticks.map(({label, value}) => {
    const half = ctx.measureText(label).width / 2;
    const center = x.getPixelForValue(value);
    return [center - half, center + half];
  });
  return Math.min(...ends.slice(1).map(([left], i) => left - ends[i][1]));
})"""

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


class PageUseTest(report_page.ReportPageTest):
    def test_nothing_is_cut_off_on_a_phone(self):
        page = self.open_report(
            self.example("base", 3, 4, 14, 20, 50),
            self.example("new", 3, 4, 14, 20, 50),
        )
        page.resize(360, 740)
        self.wait_for_narrow_charts(page)
        for chart in ("percentile-chart", "cdf-chart"):
            self.assertGreater(page.evaluate(f"{TICK_GAP}('{chart}')"), 0, chart)
        self.open_details(page)
        page.wait_until("document.documentElement.scrollWidth <= 360")
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
            self.column(page, "latency-table", 0), ["new · rpc_1"]
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
                for chart in report_page.CHARTS_WITH_LEGENDS:
                    self.assertTrue(
                        page.evaluate(f"{report_page.IS_DRAWN}('{chart}')"),
                        chart,
                    )
                self.assertEqual(page.evaluate("document.images.length"), 0)
                page.close()

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
        image = page.downloaded(self.path("distbench-percentile-chart.png"))
        self.assertTrue(image.startswith(b"\x89PNG"))
        press("percentile-chart", "CSV")
        text = page.downloaded(self.path("distbench-percentile-chart.csv")).decode()
        self.assertEqual(
            text,
            'curve,percentile,latency_ns\n"a, ""b""",100,100000\n',
        )
        press("heat-map-canvas", "CSV")
        text = page.downloaded(self.path("distbench-peers.csv")).decode()
        self.assertTrue(text.startswith("client,server,per_second,p50,p99,"))
        self.assertIn("\nc/0,s/0,", text)
        self.assertEqual(page.complaints, [])
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


if __name__ == "__main__":
    testing_main.main()
