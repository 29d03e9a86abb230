# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The page of `distbench compare` in a real browser. Skipped if there is no
chromium."""

from tests import report_page
from tests import testing_main

HOSTILE = report_page.HOSTILE

# A small result, with the version, the host's kernel and a finding given.
RESULT = """
test_results {{
  traffic_config {{ name: "{name}" rpc_descriptions {{ name: "{name}" }} }}
  service_logs {{ instance_logs {{ key: "c/0" value {{ peer_logs {{
    key: "s/0" value {{ rpc_logs {{ key: 0 value {{
      successful_rpc_samples {{ start_timestamp_ns: 1000 latency_ns: 2000 }}
      successful_rpc_samples {{ start_timestamp_ns: 1500 latency_ns: 3000 }}
    }} }} }}
  }} }} }} }}
  resource_usage_logs {{ node_resources {{
    key: "n" value {{ host {{ kernel: "{kernel}" cpu_model: "Z80" }} }}
  }} }}
  run_info {{ findings {{ severity: WARN code: "odd" message: "{name}" }} }}
}}
"""

CHARTS = (
    "percentiles-chart",
    "shares-chart",
    "load-chart",
    "p50-chart",
    "p99-chart",
)

# Tells whether a canvas has pixels of a colour of the style sheet.
HAS_COLOUR = """((id, name) => {
  const canvas = document.getElementById(id);
  if (canvas.width === 0 || canvas.height === 0) return false;
  const hex = getComputedStyle(document.documentElement)
      .getPropertyValue(name).trim();
  const wanted = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
  const {data} = canvas.getContext('2d').getImageData(
      0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (wanted.every((part, j) => Math.abs(data[i + j] - part) < 24)) ++found;
  }
  return found > 50;
})"""


class ComparisonPageTest(report_page.ReportPageTest):
    def open_comparison(self, base, new, *flags, dark=False, status=0):
        file = self.path("changes.html")
        outcome = self.distbench(
            "compare", base, new, "--format=html", "-o", file, *flags
        )
        self.assertEqual(outcome.status, status, outcome)
        return self.open_page(file, dark=dark)

    def test_base_and_new_are_drawn_over_each_other(self):
        base, new = self.side("base", 1), self.side("new", 2)
        for dark in (False, True):
            with self.subTest(dark=dark):
                page = self.open_comparison(base, new, dark=dark)
                for chart in CHARTS:
                    for colour in ("--base", "--new"):
                        self.assertTrue(
                            page.evaluate(f"{HAS_COLOUR}('{chart}', '{colour}')"),
                            (chart, colour),
                        )
                self.assertIn("new (2 runs)", self.text_of(page, "curves-legend"))
                page.close()

    def test_the_verdict_and_the_changes_are_shown(self):
        page = self.open_comparison(
            self.side("base", 1),
            self.side("new", 2),
            "--fail_if=rpc_0:p50>5%",
            "--fail_if=rpc_1:failures>1%",
            status=2,
        )
        self.assertIn("failed", self.text_of(page, "headline"))
        self.assertIn("1 failed", self.text_of(page, "headline"))
        checks = self.text_of(page, "checks-table")
        for text in ("rpc_0:p50>5%", "fail", "p50 changed by +"):
            self.assertIn(text, checks)
        changes = self.text_of(page, "changes-list")
        for text in ("p50", "worse", "example (base: 2 runs"):
            self.assertIn(text, changes)
        # Twice the service time, and the same lateness.
        self.assertRegex(changes, r"\+9\d\.\d %")
        # Bars of slower metrics lie on the right of the middle.
        self.assertGreater(
            page.evaluate(
                "parseFloat(document.querySelector("
                "'.interval.worse .point').style.left)"
            ),
            50,
        )
        self.assertIn("failed", page.evaluate("document.title"))
        page.close()

    def test_no_difference_is_one_that_was_not_shown(self):
        side = self.side("base", 1)
        page = self.open_comparison(side, side)
        for part in ("headline", "changes-list"):
            self.assertIn("no difference shown", self.text_of(page, part))
        self.assertIn("no difference shown", page.evaluate("document.title"))
        page.close()

    def test_another_rpc_can_be_chosen(self):
        page = self.open_comparison(self.side("base", 1), self.side("new", 2))
        before = self.text_of(page, "curves-note")
        page.evaluate(
            """(box => { box.value = '1';
            box.dispatchEvent(new Event('change')); })(
            document.querySelector('#curves-controls select'))"""
        )
        after = self.text_of(page, "curves-note")
        self.assertEqual(
            sorted([before[:5], after[:5]]), ["rpc_0", "rpc_1"]
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_what_else_differs_is_shown(self):
        base = RESULT.format(name="query", kernel="6.1")
        new = RESULT.format(name="query", kernel="6.12").replace(
            'name: "query" rpc', 'name: "query" default_protocol: "tcp" rpc'
        )
        page = self.open_comparison(
            self.write("base.pb", base), self.write("new.pb", new)
        )
        differences = self.text_of(page, "differences-list")
        self.assertRegex(differences, r"kernel\s+6\.1\s+6\.12")
        self.assertRegex(differences, r"Equal: .*CPU model \(Z80\)")
        self.assertIn('+ default_protocol: "tcp"', differences)
        self.assertNotIn("- default_protocol", differences)
        self.assertRegex(
            self.text_of(page, "findings-table"), r"warn\s+query\s+query\s+1 of 1"
        )
        page.close()

    def test_tests_that_are_not_compared_are_shown(self):
        page = self.open_comparison(
            self.write(
                "two.pb",
                RESULT.format(name="a", kernel="6.1")
                + RESULT.format(name="b", kernel="6.1"),
            ),
            self.write("one.pb", RESULT.format(name="a", kernel="6.1")),
        )
        changes = self.text_of(page, "changes-list")
        self.assertIn("it is in base only", changes)
        self.assertIn("too few RPCs", changes)
        page.close()
        page = self.open_comparison(
            self.write("failed.pb", 'test_results { run_info { failure: "x" } }'),
            self.write("none.pb", "test_results {}"),
            status=3,
        )
        self.assertIn("invalid", self.text_of(page, "headline"))
        self.assertIn("did not run to its end", self.text_of(page, "changes-list"))
        self.assertTrue(self.is_hidden(page, "curves"))
        page.close()

    def test_a_phone_does_not_scroll_sideways(self):
        page = self.open_comparison(self.side("base", 1), self.side("new", 2))
        page.resize(360, 740)
        self.wait_for_narrow_charts(page)
        page.wait_until("document.documentElement.scrollWidth <= 360")
        page.close()

    def test_names_stay_text(self):
        result = RESULT.format(name=HOSTILE, kernel=HOSTILE)
        page = self.open_comparison(
            self.write("hostile.pb", result),
            self.write("other.pb", result.replace("Z80", HOSTILE)),
        )
        for element in ("changes-list", "differences-list", "findings-table"):
            self.assertIn("<img src=x", self.text_of(page, element))
        self.assertEqual(page.evaluate("document.images.length"), 0)
        self.assertNotEqual(page.evaluate("document.title"), "broken")
        page.close()


if __name__ == "__main__":
    testing_main.main()
