# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The dashboard's pages in a real browser, over the real programs. Skipped if
there is no chromium."""

import json
import os
import random
import time
import urllib.request

from tests import programs
from tests import report_page
from tests import testing_main

import dashboard_page
from dashboard_page import HOSTILE, text

# The second half is slower, and ran with another kernel.
RESULTS = 200
SLOWER = 1.1

FIRST_START_S = 1_767_225_600  # 2026-01-01
DAY_S = 86_400

RESULT_ROW = "#results-table tbody tr"


def result(name, start_s, latency_ns, kernel):
    """A result of one RPC as text. name: without quotation marks."""
    samples = "".join(
        "successful_rpc_samples { "
        f"start_timestamp_ns: {start_s * 10**9 + i * 10**7} "
        f"latency_ns: {latency_ns + i} }} "
        for i in range(200)
    )
    return (
        f'test_results {{ traffic_config {{ name: "{name}" '
        'rpc_descriptions { name: "query" client: "c" server: "s" } } '
        'service_logs { instance_logs { key: "c/0" value { peer_logs { '
        f'key: "s/0" value {{ rpc_logs {{ key: 0 value {{ {samples} }} }} }} '
        "} } } } "
        'resource_usage_logs { node_resources { key: "n" value { host { '
        f'hostname: "h" kernel: "{kernel}" }} }} }} }} '
        f"run_info {{ start_timestamp_ns: {start_s * 10**9} }} }}\n"
    )


class DashboardHistoryTest(dashboard_page.PageTest):
    def write_results(self, name="checkout", number=RESULTS):
        """Results of a test, one a day, whose latencies rise in the middle."""
        noise = random.Random(1)
        folder = self.path("results")
        os.makedirs(folder)
        for i in range(number):
            is_new = i >= number / 2
            latency_ns = 1e6 * noise.gauss(SLOWER if is_new else 1, 0.02)
            text_of_result = result(
                name,
                FIRST_START_S + i * DAY_S,
                round(latency_ns),
                "6.1.0-20" if is_new else "6.1.0-18",
            )
            self.write(f"results/{i:03}.pb", text_of_result)
        return folder

    def open_results(self, name="checkout", number=RESULTS):
        """Opens the dashboard of results, once it has read them."""
        server = self.start(
            programs.DISTBENCH,
            "serve",
            self.write_results(name, number),
            "--port=0",
            f"--index={self.path('index.db')}",
        )
        address = server.wait_for(r"^Dashboard at (http://\S+)$").group(1)
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while self.total(address) < number:
            self.assertLess(time.monotonic(), end, server.text("err"))
        return self.open_address(address)

    def total(self, address):
        api = address.partition("#")[0] + "api/results"
        with urllib.request.urlopen(api) as answer:
            return json.load(answer)["total"]

    def open_address(self, address):
        place, _, fragment = address.partition("/#")
        return self.open_page(place, f"#{fragment}")

    def test_results_are_found_noted_and_compared(self):
        page = self.open_results()
        self.wait_for_rows(page, 100)
        self.assertNotIn("token", page.evaluate("location.href"))
        note = f"document.querySelector('{RESULT_ROW} textarea')"
        page.evaluate(f"{note}.focus()")
        page.press("z", "z")
        page.press("Enter", "\r")
        page.wait_for(
            lambda: any(url.endswith("/notes") for url in page.requests),
            "the note was sent",
        )
        accepted = f"{RESULT_ROW}:first-child [aria-label^=Accepted]"
        self.click(page, accepted)
        page.evaluate("location.hash = '#/results?search=199'")
        self.wait_for_rows(page, 1)
        self.reload(page)
        self.wait_for_rows(page, 1)
        page.wait_until(f"{note}?.value === 'z'")
        page.wait_until(f"document.querySelector('{accepted}').checked")
        self.assertEqual(page.complaints, [])
        page.evaluate("location.hash = '#/results'")
        self.wait_for_rows(page, 100)
        for row in (1, 100):
            self.click(page, f"{RESULT_ROW}:nth-child({row}) .tick input")
        self.click(page, "#compare a")
        page.wait_until("document.querySelector('#headline') !== null")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_a_change_is_named_and_attributed(self):
        page = self.open_results()
        page.evaluate("location.hash = '#/trend'")
        self.wait_for_text(page, "#what-changed", "worse")
        self.click(page, "#what-changed .badge.worse")
        self.wait_for_text(page, "#trend-changes", "level +")
        changes = page.evaluate(text("#trend-changes"))
        self.assertIn("kernel 6.1.0-18 → 6.1.0-20", changes)
        page.wait_until(f"{report_page.IS_DRAWN}('trend-chart')")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_names_of_results_stay_text(self):
        page = self.open_results(HOSTILE.replace('"', "'"), 2)
        self.wait_for_rows(page, 2)
        self.assertIn("<img src=x", page.evaluate(text("#results-table")))
        self.assertEqual(page.evaluate("document.images.length"), 0)
        self.click(page, "#results-table td a")
        page.wait_until("document.body?.dataset.rendered === 'true' && "
                        "location.pathname.startsWith('/results/')")
        self.assertNotEqual(page.evaluate("document.title"), "broken")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_a_running_test_is_followed_and_cancelled(self):
        sequencer = self.start_sequencer(
            "--dashboard_port=0", f"--results_dir={self.path('kept')}"
        )
        address = sequencer.wait_for(r"^Dashboard at (http://\S+)$").group(1)
        for _ in range(2):
            self.start_node(sequencer)
        page = self.open_address(address)
        self.wait_for_text(page, "#nodes-list", "2 ×")
        config = programs.client_server_config(programs.ENDLESS)
        run = self.start(
            programs.DISTBENCH,
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={self.write('test.conf', config)}",
            f"--outfile={self.path('out.pb')}",
        )
        self.wait_for_text(page, "#running-name", "client_server")
        # There may be no tile yet.
        tile = "document.querySelector('.tile:nth-child(2) .tile-value')"
        succeeded = f"Number({tile}?.innerText.replaceAll(',', ''))"
        page.wait_until(f"{succeeded} > 0")
        first = page.evaluate(succeeded)
        page.wait_until(f"{succeeded} > {first}")
        self.click(page, "#running-actions button")
        self.click(page, "#question-yes")
        self.wait_for_text(page, "#running-none", "No test is running")
        run.wait()
        self.assertEqual(page.complaints, [])
        page.close()


if __name__ == "__main__":
    testing_main.main()
