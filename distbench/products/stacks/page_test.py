# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The comparison of stacks on the page, in a real browser. Skipped if there is no
chromium."""

from tests import page_results
from tests import report_page
from tests import testing_main


def over_driver(driver, offered_count, latency_us):
    """Returns a run of a second, whose traffic depends on offered_count."""
    samples = [page_results.sample(page_results.START_S, latency_us, 0)] * 99
    end_s = page_results.START_S + 1 - latency_us / 1e6
    samples.append(page_results.sample(end_s, latency_us, 0))
    return page_results.run(
        f"load {offered_count}",
        {"query": samples},
        config=f"""
          default_protocol: "{driver}" services {{ name: "c" count: 1 }}
          actions {{
            name: "run" iterations {{ max_iteration_count: {offered_count} }}
          }}""",
        log="offered_loads { key: 0 value { "
        f"offered_count: {offered_count} }} }}",
        usage="""node_resources { key: "node0" value {
          engine_usages { key: "c/0" value { user_cpu_time_seconds: 2 } }
        } }""",
    )


def stacks():
    """Two drivers under two loads, and one of them under a third."""
    return "".join(
        over_driver(driver, count, latency_us)
        for driver, latency_us, counts in (
            ("grpc", 3000, (100, 200)),
            ("tcp", 1000, (100, 200, 300)),
        )
        for count in counts
    )


class StacksPageTest(report_page.ReportPageTest):
    def test_stacks_are_compared_under_each_load(self):
        page = self.open_text(stacks())
        self.assertEqual(
            self.column(page, "stacks-table", 0),
            ["100 offered per second"] * 2 + ["200 offered per second"] * 2,
        )
        self.assertEqual(
            self.column(page, "stacks-table", 1), ["grpc", "tcp"] * 2
        )
        # 2 s for 100 RPCs.
        self.assertEqual(self.column(page, "stacks-table", 6)[0], "20 ms")
        points = self.points(page, "stacks-latency-chart", "tcp, p50")
        self.assertEqual([round(x) for x, _ in points], [100, 200])
        for _, ns in points:
            self.assertAlmostEqual(ns / 1e6, 1, delta=0.01)
        self.assertEqual(self.labels(page, "stacks-cpu-chart"), ["grpc", "tcp"])
        sentences = self.text_of(page, "stacks-sentences")
        self.assertIn("a single run does not tell", sentences)
        self.assertNotIn("times the", sentences)
        self.assertIn("load 300 (", self.text_of(page, "stacks-omissions"))
        page.close()

    def test_results_of_one_driver_compare_no_stacks(self):
        page = self.open_report(self.example("one", 2, 2, 1, 2, 20))
        self.assertTrue(self.is_hidden(page, "stacks"))
        page.close()


if __name__ == "__main__":
    testing_main.main()
