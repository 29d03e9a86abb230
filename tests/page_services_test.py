# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The services of the HTML report and what they send each other, in a real
browser. Skipped if there is no chromium."""

from tests import page_results
from tests import report_page
from tests import testing_main

TIERS = page_results.TIERS
log = page_results.log
result = page_results.result
samples = page_results.samples

# Whether no two of the labels and boxes of the graph cover each other.
NOTHING_OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('#topology-graph rect')]
      .map(rect => rect.getBoundingClientRect());
  return boxes.every((a, i) => boxes.slice(i + 1).every(
      b => a.right <= b.left || b.right <= a.left ||
          a.bottom <= b.top || b.bottom <= a.top));
})()"""

SERVICE = """[...document.querySelectorAll('#topology-graph .service')].find(
    service => service.getAttribute('aria-label').startsWith('%s'))"""


class PageServicesTest(report_page.ReportPageTest):
    def press(self, page, service, key):
        page.evaluate(
            f"""(service => {{
              service.focus();
              service.dispatchEvent(new KeyboardEvent('keydown',
                  {{key: '{key}', bubbles: true}}));
            }})({SERVICE % service})"""
        )

    def test_services_are_drawn_with_what_is_worst(self):
        page = self.open_text(TIERS)
        self.assertEqual(self.count(page, "#topology-graph .service"), 3)
        self.assertEqual(self.count(page, "#topology-graph .edge"), 2)
        self.assertTrue(page.evaluate(NOTHING_OVERLAPS))
        lefts = page.evaluate(
            "['load', 'root', 'leaf'].map(name => "
            "[...document.querySelectorAll('#topology-graph .service')]"
            ".find(box => box.getAttribute('aria-label').startsWith(name))"
            ".getBoundingClientRect().left)"
        )
        self.assertEqual(lefts, sorted(lefts))
        edges = page.evaluate(
            "[...document.querySelectorAll('#topology-graph .edge')]"
            ".map(edge => edge.textContent)"
        )
        query, fetch = sorted(edges, reverse=True)
        self.assertIn("p99 9 µs", query)
        self.assertNotIn("most failures", query)
        self.assertIn("20 % failed", fetch)
        self.assertIn("▲ most failures", fetch)
        self.assertIn("highest p99", fetch, "failures are above all latencies")
        self.open_details(page)
        table = self.text_of(page, "topology-table")
        for text in ("root (2)", "leaf (3)", "failed", "service time"):
            self.assertIn(text, table)
        page.close()

    def test_instances_are_listed_by_keyboard(self):
        page = self.open_text(TIERS)
        is_hidden = "document.getElementById('topology-instances').hidden"
        self.assertTrue(page.evaluate(is_hidden))
        self.press(page, "leaf", "Enter")
        instances = self.text_of(page, "topology-instances")
        self.assertLess(instances.index("leaf/2"), instances.index("leaf/0"))
        self.assertEqual(
            page.evaluate(
                "document.activeElement.getAttribute('aria-expanded')"
            ),
            "true",
        )
        self.press(page, "root", " ")
        self.assertIn("root/1", self.text_of(page, "topology-instances"))
        self.assertEqual(
            self.count(page, '#topology-graph [aria-expanded="true"]'), 1
        )
        self.press(page, "root", "Enter")
        self.assertTrue(page.evaluate(is_hidden))
        page.close()

    def test_a_thousand_instances_are_one_box_and_a_filter(self):
        logs = log(
            "load/0",
            0,
            {f"leaf/{i}": samples(1, 2000 + i) for i in range(1000)},
        )
        page = self.open_text(
            result(
                'services { name: "load" count: 1 } '
                'services { name: "leaf" count: 1000 } '
                'rpc_descriptions { name: "get" client: "load" '
                'server: "leaf" }',
                logs,
            )
        )
        self.assertEqual(self.count(page, "#topology-graph .service"), 2)
        self.assertIn(
            "1,000 instances",
            page.evaluate(
                "document.getElementById('topology-graph').textContent"
            ),
        )
        self.press(page, "leaf", "Enter")
        rows = "#topology-instances-table tbody tr"
        self.assertEqual(self.count(page, rows), 30)
        self.assertIn(
            "970 of 1,000 rows are left out",
            self.text_of(page, "topology-instances-note"),
        )
        page.evaluate(
            """(filter => { filter.value = 'LEAF/77';
            filter.dispatchEvent(new Event('input')); })(
            document.querySelector('#topology-instances-head input'))"""
        )
        # leaf/77 and leaf/770 to leaf/779.
        self.assertEqual(self.count(page, rows), 11)
        page.close()

    def test_cycles_are_drawn(self):
        page = self.open_text(
            result(
                'rpc_descriptions { name: "self" client: "a" server: "a" } '
                'rpc_descriptions { name: "ask" client: "a" server: "b" } '
                'rpc_descriptions { name: "back" client: "b" server: "a" }',
                log("a/0", 0, {"a/1": samples(3, 2000)}),
            )
        )
        self.assertEqual(self.count(page, "#topology-graph .edge"), 3)
        self.assertTrue(page.evaluate(NOTHING_OVERLAPS))
        svg = page.evaluate(
            "document.querySelector('#topology-graph svg').outerHTML"
        )
        self.assertNotIn("NaN", svg)
        self.assertNotIn("undefined", svg)
        self.assertIn("nothing sent", svg)
        page.close()

    def test_graph_scrolls_inside_itself(self):
        page = self.open_text(TIERS)
        self.assertTrue(
            page.evaluate(
                """(() => {
                  const main = document.querySelector('main');
                  main.style.width = '360px';
                  const graph = document.getElementById('topology-graph');
                  return graph.scrollWidth > graph.clientWidth &&
                      graph.clientWidth < 360;
                })()"""
            )
        )
        page.close()


if __name__ == "__main__":
    testing_main.main()
