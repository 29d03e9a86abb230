# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The dashboard's pages in a real browser, over a stand-in for its server.
Skipped if there is no chromium."""

import json

from tests import report_page
from tests import testing_main

import dashboard_page
import fake_dashboard
from dashboard_page import HOSTILE, count, text

LIVE = {"live": True, "source": "sequencer", "name": "127.0.0.1:1"}

READ_ONLY = {"may_write": False, "why_not_write": "No token was given."}

SEARCH = "#results-search input"
FIRST_ROW = "#results-table tbody tr:first-child"
ACCEPTED = f"{FIRST_ROW} [aria-label^=Accepted]"
IS_ACCEPTED = f"document.querySelector('{ACCEPTED}').checked"
NOTE = f"document.querySelector('{FIRST_ROW} textarea')"
FOCUS = "document.activeElement"


class DashboardPageTest(dashboard_page.PageTest):
    def serve(self, **contents):
        dashboard = fake_dashboard.FakeDashboard(**contents)
        self.addCleanup(dashboard.close)
        return dashboard

    def serve_history(self, **contents):
        results, trends = fake_dashboard.make_history()
        return self.serve(results=results, trends=trends, **contents)

    # ---- Session -------------------------------------------------------------

    def test_the_token_leaves_the_address_and_is_sent(self):
        dashboard = self.serve_history()
        page = self.open_page(dashboard.address, "#token=secret-1")
        self.assertNotIn("secret", page.evaluate("location.href"))
        self.assertNotIn("secret", page.evaluate("document.body.innerHTML"))
        self.click(page, ACCEPTED)
        page.wait_for(lambda: dashboard.posts, "a request was sent")
        page.wait_until(IS_ACCEPTED)
        self.assertEqual(page.evaluate(count("#problem[hidden]")), 1)
        path, headers, content = dashboard.posts[0]
        self.assertEqual(path, "/api/accepted")
        self.assertEqual(headers["X-Distbench-Token"], "secret-1")
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertTrue(content["accepted"])
        self.assertEqual(page.complaints, [])
        page.close()

    def test_without_the_right_to_write_nothing_offers_it(self):
        dashboard = self.serve_history(session={**LIVE, **READ_ONLY})
        dashboard.show(running=fake_dashboard.make_run())
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#running-name", "checkout")
        self.assertEqual(page.evaluate(count("#live-view .danger")), 0)
        self.assertIn("No token was given.", page.evaluate(text("#page-maker")))
        page.evaluate("location.hash = '#/results'")
        self.wait_for_rows(page, 100)
        self.assertIn("p99 2.1 ms", page.evaluate(text("#results-table .metrics")))
        self.assertEqual(page.evaluate(count("#results-table textarea")), 0)
        self.assertEqual(page.evaluate(count("[aria-label^=Accepted]")), 0)
        page.close()

    def test_empty_dashboards_say_what_to_do(self):
        page = self.open_page(self.serve().address, "#/live")
        self.wait_for_text(page, "#problem", "test_sequencer --dashboard_port")
        self.wait_for_text(page, "#results-count", "run_tests --outfile=")
        page.evaluate("location.hash = '#/trend'")
        self.wait_for_text(page, "#series-grid", "no results")
        page.close()
        two = {"name": "/lab, 1, /b", "folders": ["/lab, 1", "/b"]}
        page = self.open_page(self.serve(session=two).address, "#/results")
        self.wait_for_text(page, "#results-count", "outfile=/lab, 1/NAME.pb.gz")
        page.close()
        live = self.serve(session=LIVE)
        page = self.open_page(live.address)
        self.wait_for_text(page, "#nodes-list", "distbench node_manager")
        self.wait_for_text(page, "#running-none", "No test is running")
        page.close()

    # ---- Live ----------------------------------------------------------------

    def test_equal_nodes_are_one_entry_that_unfolds_in_natural_order(self):
        dashboard = self.serve(session=LIVE)
        names = [f"node{i}" for i in reversed(range(25))]
        nodes = [fake_dashboard.make_node(name) for name in names]
        other = fake_dashboard.make_node("other", facts={"CPUs": "64"})
        dashboard.show(nodes=[*nodes, other])
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#nodes-list", "25 ×")
        self.assertEqual(page.evaluate(count("#nodes-list details")), 2)
        last = page.evaluate(text("#nodes-list details:last-child"))
        self.assertIn("other", last)
        self.click(page, "#nodes-list summary")
        # What is unfolded stays so when something else changes.
        nodes.append(fake_dashboard.make_node("node25"))
        dashboard.show(nodes=[*nodes, other])
        self.wait_for_text(page, "#nodes-list", "26 ×")
        shown = page.evaluate(text("#nodes-list details[open]"))
        self.assertLess(shown.index("node2\t"), shown.index("node10\t"))
        page.close()

    def test_figures_are_drawn_over_time(self):
        dashboard = self.serve(session=LIVE)
        dashboard.show(running=fake_dashboard.make_run(measured_seconds=0))
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#running-name", "checkout")
        self.assertEqual(page.evaluate(count("#live-charts[hidden]")), 1)
        points = (
            "Chart.getChart('live-latency')?.data.datasets"
            ".map(({data}) => data.map(({y}) => y))"
        )

        def show(seconds, expected, **changes):
            run = fake_dashboard.make_run(measured_seconds=seconds, **changes)
            dashboard.show(running=run)
            page.wait_until(
                f"JSON.stringify({points}) === '{json.dumps(expected)}'"
                ".replaceAll(' ', '')"
            )

        show(1, [[0.5], [2]], p50=0.5, p99=2)
        self.assertIn("500 ms", page.evaluate(text("#running-tiles")))
        show(2, [[0.5, 1], [2, 3]], p50=1, p99=3)
        # Nothing new was measured.
        show(2, [[0.5, 1], [2, 3]], elapsed_seconds=13)
        # Nothing succeeded, so that there are no latencies.
        failed = {"failed_per_second": 7, "failed_above_percent": 0}
        show(3, [[0.5, 1], [2, 3]], p50=None, p99=None, **failed)
        # The lines are as before, so that only the tiles tell that it is there.
        self.wait_for_text(page, "#running-tiles", "failed")
        tiles = page.evaluate(text("#running-tiles"))
        self.assertEqual(tiles.count("failed"), 2)
        failures = "Chart.getChart('live-failures').data.datasets[0].data"
        self.assertEqual(page.evaluate(f"{failures}.at(-1).y"), 7)
        self.assertEqual(page.evaluate(f"{failures}.length"), 3)
        self.assert_fits_a_phone(page)
        # Another test has figures of its own.
        show(1, [[4], [5]], p50=4, p99=5, test_index=1)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_each_rpc_has_a_row_and_charts(self):
        def figures(rate, p99):
            return {
                "per_second": rate,
                "failed_per_second": 0,
                "failed_above_percent": None,
                "p50": 0.001,
                "p99": p99,
            }

        dashboard = self.serve(session=LIVE)

        def show(seconds, **rpcs):
            run = fake_dashboard.make_run(measured_seconds=seconds, rpcs=rpcs)
            dashboard.show(running=run)

        show(1)
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#running-name", "checkout")
        self.assertEqual(page.evaluate(count("#live-choice[hidden]")), 1)
        show(2, rpc10=figures(7, 0.002), rpc9=figures(40, 0.25))
        self.wait_for_text(page, "#live-rpcs", "250 ms")
        rows = "[...document.querySelectorAll('#live-rpcs tbody tr')]"
        self.assertEqual(
            page.evaluate(f"{rows}.map(row => row.cells[0].innerText)"),
            ["rpc9", "rpc10"],
        )
        page.evaluate(
            "const choice = document.getElementById('live-rpc');"
            "choice.value = 'rpc10'; choice.dispatchEvent(new Event('change'))"
        )
        rates = (
            "Chart.getChart('live-rate').data.datasets[0].data"
            ".map(({x, y}) => [x, y])"
        )
        self.assertEqual(page.evaluate(rates), [[2, 7]])
        # Nothing of it has ended in this second; it keeps its row.
        show(3, rpc9=figures(41, 0.25))
        self.wait_for_text(page, "#live-rpcs", "41")
        self.assertEqual(page.evaluate(rates), [[2, 7]])
        self.assertEqual(page.evaluate(f"{rows}[1].cells[1].innerText"), "–")
        self.assert_fits_a_phone(page)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_nothing_is_claimed_before_the_first_status(self):
        dashboard = self.serve(session=LIVE)
        dashboard.hold("/api/live")
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#connection", "Connecting")
        dot = (
            "getComputedStyle(document.getElementById('connection'),"
            " '::before').content"
        )
        self.assertEqual(page.evaluate(dot), '""')
        shown = "document.getElementById('running-none').checkVisibility()"
        self.assertFalse(page.evaluate(shown))
        dashboard.release()
        self.wait_for_text(page, "#connection", "Live")
        self.assertIn("●", page.evaluate(dot))
        self.wait_for_text(page, "#running-none", "No test is running")
        page.close()

    def test_lost_connections_are_shown_and_come_back(self):
        dashboard = self.serve(session=LIVE)
        dashboard.show(running=fake_dashboard.make_run())
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#connection", "Live")
        dashboard.refuses_streams = True
        dashboard.drop_streams()
        self.wait_for_text(page, "#connection", "asks every few seconds")
        dashboard.show(running=fake_dashboard.make_run(test="the next one"))
        self.wait_for_text(page, "#running-name", "the next one")
        dashboard.refuses_streams = False
        page.wait_until(f"{text('#connection')}.trim() === 'Live'")
        dashboard.close()
        self.wait_for_text(page, "#connection", "trying again")
        page.wait_until(f"{count('#live-parts.stale')} === 1")
        page.close()

    def test_cancelling_asks_first(self):
        dashboard = self.serve(session=LIVE)
        waiting = fake_dashboard.make_run(id="run8")
        dashboard.show(running=fake_dashboard.make_run(), queue=[waiting])
        page = self.open_page(dashboard.address)
        self.click(page, "#running-actions button")
        # The harmless answer has the focus.
        page.wait_until("document.activeElement.id === 'question-no'")
        self.click(page, "#question-no")
        self.click(page, "#queue-list button")
        self.wait_for_text(page, "#question-text", "run8")
        self.assertEqual(dashboard.posts, [])
        self.click(page, "#question-yes")
        self.wait_for_text(page, "#running-none", "No test is running")
        contents = [content for _, _, content in dashboard.posts]
        self.assertEqual(contents, [{"run": "run8"}])
        page.close()

    def test_quick_answers_are_heard_once(self):
        # The three clicks come before the browser tells the page that the first
        # question was closed.
        dashboard = self.serve(session=LIVE)
        waiting = fake_dashboard.make_run(id="run8")
        dashboard.show(running=fake_dashboard.make_run(), queue=[waiting])
        page = self.open_page(dashboard.address)
        self.click(page, "#running-actions button")
        page.evaluate(
            """for (const selector of
            ['#question-no', '#queue-list button', '#question-yes'])
              document.querySelector(selector).click()"""
        )
        self.wait_for_text(page, "#running-none", "No test is running")
        sent = [url for url in page.requests if url.endswith("/api/cancel")]
        self.assertEqual(len(sent), 1)
        self.assertEqual(
            [content for _, _, content in dashboard.posts], [{"run": "run8"}]
        )
        page.close()

    # ---- Results -------------------------------------------------------------

    def test_search_filters_and_paging_are_in_the_address(self):
        page = self.open_page(self.serve_history().address, "#/results")
        self.wait_for_rows(page, 100)
        self.assertIn("100 of 200", page.evaluate(text("#results-count")))
        self.click(page, "#results-more button")
        self.wait_for_rows(page, 200)
        self.type_into(page, SEARCH, "nightly/19", "input")
        self.wait_for_rows(page, 11)
        self.type_into(page, "#results-filters select", "search", "change")
        self.wait_for_rows(page, 3)
        self.assertEqual(
            page.evaluate("location.hash"),
            "#/results?search=nightly%2F19&test=search",
        )
        self.reload(page)
        self.wait_for_rows(page, 3)
        self.assertEqual(
            page.evaluate(f"document.querySelector('{SEARCH}').value"),
            "nightly/19",
        )
        self.assertEqual(page.evaluate(count(".chip.used")), 1)
        self.type_into(page, ".chip.used select", "", "change")
        self.wait_for_rows(page, 11)
        self.click(page, "#clear-filters")
        self.wait_for_rows(page, 100)
        page.evaluate("history.back()")
        self.wait_for_rows(page, 11)
        days = "after=2026-01-02&before=2026-01-03"
        page.evaluate(f"location.hash = '#/results?{days}'")
        self.wait_for_rows(page, 2)
        page.evaluate("location.hash = '#/results?search=nothing-like-it'")
        self.wait_for_text(page, "#results-count", "No result matches")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_a_search_is_one_entry_with_its_answer(self):
        answer = "converged: 350 (342 to 357) iterations per second"
        results = [fake_dashboard.make_result(i) for i in range(5)]
        for i, verdict in enumerate(("ok", "warn", "ok")):
            results[2 * i].update(
                file="search.pb.gz", answer=answer, headline=verdict,
                test="checkout (search)",
            )
        page = self.open_page(self.serve(results=results).address, "#/results")
        self.wait_for_rows(page, 5)
        shown = "#results-table tbody tr:not(.folded)"
        self.assertEqual(page.evaluate(count(shown)), 3)
        entry = page.evaluate(text(FIRST_ROW))
        for part in (answer, "2 more runs", "warn", "ok"):
            self.assertIn(part, entry)
        self.click(page, ".fold")
        self.assertEqual(page.evaluate(count(shown)), 5)
        self.assertEqual(page.evaluate(text("#results-table")).count(answer), 1)
        # Whatever the order of the rows.
        self.click(page, "#results-table th:first-child button")
        self.click(page, ".fold")
        self.assertEqual(page.evaluate(count(shown)), 3)
        self.assert_fits_a_phone(page)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_all_columns_fit_a_usual_window(self):
        query = {"p99 response time": 0.0021, "succeeded": 5012.3}
        metrics = {f"checkout_query · {k}": v for k, v in query.items()}
        units = {name: "seconds" for name in metrics}
        result = fake_dashboard.make_result(
            1,
            metrics=metrics,
            units=units,
            doubts="1 missed, 1 undecided of 2 objectives; 4 warnings",
        )
        page = self.open_page(self.serve(results=[result]).address, "#/results")
        self.wait_for_rows(page, 1)
        table = "document.getElementById('results-table')"
        self.assertLessEqual(
            page.evaluate(f"{table}.scrollWidth"),
            page.evaluate(f"{table}.clientWidth"),
        )
        page.close()

    def test_headlines_come_in_the_order_of_the_server(self):
        result = fake_dashboard.make_result(
            1,
            headlines=["query · succeeded", "lookup · succeeded"],
            metrics={"lookup · succeeded": 7, "query · succeeded": 8},
            units={},
        )
        page = self.open_page(self.serve(results=[result]).address, "#/results")
        self.wait_for_rows(page, 1)
        shown = page.evaluate(text(".metrics"))
        self.assertLess(shown.index("query"), shown.index("lookup"))
        page.close()

    def test_other_traffic_is_marked(self):
        results, trends = fake_dashboard.make_history()
        results[199]["traffic_changed"] = True
        trends[0]["points"][40]["traffic_changed"] = True
        trends[0]["traffic_kinds"] = 2
        dashboard = self.serve(results=results, trends=trends)
        page = self.open_page(dashboard.address, "#/results")
        self.wait_for_text(page, FIRST_ROW, "traffic changed")
        self.assertEqual(
            page.evaluate(text("#results-table")).count("traffic changed"), 1
        )
        series = trends[0]["series"]["id"]
        page.evaluate(f"location.hash = '#/trend?series={series}'")
        self.wait_for_text(page, "#trend-note", "2 kinds of traffic")
        self.click(page, "#trend-details summary")
        self.wait_for_text(page, "#trend-table", "traffic changed")
        self.wait_for_text(page, "#series-grid", "2 kinds of traffic")
        page.wait_until(f"{count('#series-grid .other-traffic')} === 1")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_misses_and_failures_are_seen(self):
        missed = fake_dashboard.make_result(
            1,
            verdict="warn",
            headline="missed",
            doubts="1 missed, 1 undecided of 2 objectives; 4 warnings",
            metrics={"query · failed": 0.0157, "query · p99": None},
            units={"query · failed": "share", "query · p99": "seconds"},
        )
        page = self.open_page(self.serve(results=[missed]).address, "#/results")
        self.wait_for_rows(page, 1)
        entry = page.evaluate(text(FIRST_ROW))
        self.assertIn("1 missed, 1 undecided of 2 objectives", entry)
        self.assertRegex(entry, r"query · failed\s+1\.57 %")
        self.assertRegex(entry, r"query · p99\s+failed")
        self.assertEqual(page.evaluate(count(f"{FIRST_ROW} .badge.missed")), 1)
        self.assertNotIn("warn ", entry)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_columns_explain_themselves(self):
        page = self.open_page(self.serve_history().address, "#/results")
        self.wait_for_rows(page, 100)
        self.assertEqual(page.evaluate(count("#results-table th")), 9)
        self.assertEqual(
            page.evaluate(count('#results-table th[title]:not([title=""])')), 9
        )
        page.evaluate("document.querySelector('#results-columns summary').focus()")
        page.press("Enter", "\r")
        self.wait_for_text(page, "#results-columns", "take it as it is")
        page.close()

    def test_says_that_it_is_still_reading(self):
        dashboard = self.serve(session={"reading": True})
        page = self.open_page(dashboard.address, "#/results")
        self.wait_for_text(page, "#results-count", "still being read")
        page.evaluate("location.hash = '#/trend'")
        self.wait_for_text(page, "#series-grid", "still being read")
        page.evaluate("location.hash = '#/results'")
        dashboard.results = [fake_dashboard.make_result(1)]
        self.wait_for_rows(page, 1)
        self.assertIn(
            "more are being read", page.evaluate(text("#results-count"))
        )
        dashboard.results = []
        dashboard.session["reading"] = False
        self.reload(page)
        self.wait_for_text(page, "#results-count", "no results")
        page.close()

    def test_two_results_are_compared_the_older_is_the_base(self):
        page = self.open_page(self.serve_history().address, "#/results")
        self.wait_for_rows(page, 100)
        for row in (1, 3):
            self.click(page, f"tbody tr:nth-child({row}) .tick input")
        self.assertTrue(
            page.evaluate("document.querySelector('#compare a').href").endswith(
                f"/compare?base={197:016x}-0&new={199:016x}-0"
            )
        )
        self.click(page, "tbody tr:nth-child(5) .tick input")
        self.assertEqual(page.evaluate(count("#compare a")), 0)
        page.close()

    def test_notes_and_marks_are_edited_in_place(self):
        dashboard = self.serve_history()
        page = self.open_page(dashboard.address, "#/results")
        page.wait_until(f"{NOTE}?.value === ''")
        self.send_note(page, "z")
        page.wait_for(lambda: dashboard.posts, "the note was sent")
        # Escape takes back what was typed, and sends nothing.
        page.evaluate(f"{NOTE}.focus()")
        page.press("q", "q")
        page.press("Escape")
        self.assertEqual(page.evaluate(f"{NOTE}.value"), "z")
        self.reload(page)
        page.wait_until(f"{NOTE}?.value === 'z'")
        self.assertEqual(self.sent_notes(dashboard), ["z"])
        # A refusal is shown, and nothing looks as if it were done.
        dashboard.session["may_write"] = False
        self.click(page, ACCEPTED)
        self.wait_for_text(page, "#refusal", "read only")
        page.wait_until(f"!{IS_ACCEPTED}")
        self.send_note(page, "q")
        page.wait_until(f"{NOTE}.value === 'z'")
        page.close()

    def test_refusals_are_shown_in_all_places(self):
        dashboard = self.serve_history(session=LIVE)
        dashboard.show(running=fake_dashboard.make_run())
        page = self.open_page(dashboard.address, "#/results")
        page.wait_until(f"{NOTE}?.value === ''")
        dashboard.session["may_write"] = False
        # The answer comes after the click that leaves the note, or before it.
        dashboard.hold("/api/notes")
        self.send_note(page, "z")
        page.wait_for(lambda: dashboard.waiting, "the note was sent")
        page.evaluate("location.hash = '#/trend'")
        page.wait_until(f"{count('#series-grid svg')} === 4")
        dashboard.release()
        self.wait_for_text(page, "#refusal", "read only")
        page.evaluate("location.hash = '#/live'")
        self.wait_for_text(page, "#running-name", "checkout")
        self.wait_for_text(page, "#refusal", "read only")
        # The next change has its own answer.
        dashboard.hold("/api/cancel")
        self.click(page, "#running-actions button")
        self.click(page, "#question-yes")
        page.wait_until(f"{count('#refusal[hidden]')} === 1")
        page.evaluate("location.hash = '#/results'")
        self.wait_for_rows(page, 100)
        dashboard.release()
        self.wait_for_text(page, "#refusal", "read only")
        page.close()

    def test_what_is_typed_meanwhile_stays(self):
        dashboard = self.serve_history()
        page = self.open_page(dashboard.address, "#/results")
        page.wait_until(f"{NOTE}?.value === ''")
        for may_write in (True, False):
            dashboard.session["may_write"] = may_write
            dashboard.hold("/api/notes")
            self.send_note(page, "z")
            page.wait_for(lambda: dashboard.waiting, "the note was sent")
            page.evaluate(f"{NOTE}.focus()")
            page.press("q", "q")
            typed = page.evaluate(f"{NOTE}.value")
            dashboard.release()
            self.hear_answers(page)
            if not may_write:
                self.wait_for_text(page, "#refusal", "read only")
            self.assertEqual(page.evaluate(f"{NOTE}.value"), typed)
        self.assertEqual(self.sent_notes(dashboard), ["z", "zqz"])
        page.close()

    def test_notes_are_trimmed_sorted_and_filtered(self):
        dashboard = self.serve_history()
        page = self.open_page(dashboard.address, "#/results")
        page.wait_until(f"{NOTE}?.value === ''")
        self.send_note(page, " a ")
        page.wait_for(lambda: dashboard.posts, "the note was sent")
        self.click(page, "#results-table th:nth-child(8) button")
        self.click(page, "#results-table th:nth-child(8) button")
        page.wait_until(f"{NOTE}.value === 'the switch was rebooted'")
        self.type_into(page, "#results-table .filter input", "rebooted", "input")
        shown = "#results-table tbody tr:not([hidden])"
        self.assertEqual(page.evaluate(count(shown)), 1)
        self.send_note(page, " ", replaces=True)
        page.wait_for(lambda: len(dashboard.posts) == 2, "the note was sent")
        self.assertEqual(self.sent_notes(dashboard), ["a", ""])
        page.close()

    def test_an_overtaken_page_of_the_list_is_dropped(self):
        dashboard = self.serve_history()
        page = self.open_page(dashboard.address, "#/results")
        self.wait_for_rows(page, 100)
        dashboard.hold("/api/results?limit=100&cursor=100")
        self.click(page, "#results-more button")
        page.wait_for(lambda: dashboard.waiting, "More was asked for")
        page.evaluate("location.hash = '#/trend'")
        page.wait_until(f"{count('#series-grid svg')} === 4")
        page.evaluate("location.hash = '#/results'")
        self.click(page, "#results-more button:not([disabled])")
        page.wait_for(
            lambda: sum("cursor" in url for url in page.requests) == 2,
            "More was asked for again",
        )
        dashboard.release()
        page.wait_until(
            "performance.getEntriesByType('resource')"
            ".filter(({name}) => name.includes('cursor')).length === 2"
        )
        self.hear_answers(page)
        self.assertEqual(page.evaluate(count("#results-table tbody tr")), 200)
        page.close()

    def test_names_with_blanks_are_chosen(self):
        test = " two  blanks"
        results = [fake_dashboard.make_result(i) for i in range(3)]
        results.append(fake_dashboard.make_result(3, test=test))
        dashboard = self.serve(results=results)
        page = self.open_page(dashboard.address, "#/results")
        self.wait_for_rows(page, 4)
        self.type_into(page, "#results-filters select", test, "change")
        self.wait_for_rows(page, 1)
        self.assertEqual(
            page.evaluate("document.querySelector('#filters select').value"), test
        )
        page.close()

    def hear_answers(self, page):
        """Waits until the page has heard an answer, after those before it."""
        page.evaluate("fetch('/api/session').then(answer => answer.json())")

    def sent_notes(self, dashboard):
        return [content["note"] for _, _, content in dashboard.posts]

    def send_note(self, page, note, replaces=False):
        page.evaluate(f"{NOTE}.focus()")
        if replaces:
            page.evaluate(f"{NOTE}.select()")
        for key in note:
            page.press(key, key)
        page.press("Enter", "\r")

    def test_unreadable_files_are_listed(self):
        dashboard = self.serve_history()
        dashboard.problems = [{"file": "a.pb", "problem": "it ends too early"}]
        page = self.open_page(dashboard.address)
        self.wait_for_text(page, "#problems", "1 file")
        page.evaluate("document.querySelector('#problems details').open = true")
        self.assertIn("it ends too early", page.evaluate(text("#problems")))
        page.close()

    # ---- Trends --------------------------------------------------------------

    def test_changes_are_named_with_size_and_facts(self):
        page = self.open_page(self.serve_history().address, "#/trend")
        self.wait_for_text(page, "#what-changed", "6.1.0-18 → 6.1.0-20")
        # p50 and p99 changed at the same result.
        self.assertIn(
            "query · p99 +5.0 %, worse query · p50 +5.0 %, worse",
            page.evaluate(text("#what-changed")),
        )
        page.wait_until(f"{count('#series-grid svg')} === 4")
        # The series with the newest change comes first.
        self.assertIn("p99", page.evaluate(text("#series-grid a")))
        self.click(page, "#series-grid a")
        self.wait_for_text(page, "#trend-changes", "level +10.0 %")
        changes = page.evaluate(text("#trend-changes"))
        for part in (
            "level +5.0 % (mean 1 ms → 1.05 ms",
            "p = 0.001",
            "2026-03-02",
            "better level −10.0 %",
        ):
            self.assertIn(part, " ".join(changes.split()))
        page.wait_until(f"{report_page.IS_DRAWN}('trend-chart')")
        self.assertEqual(page.evaluate("location.hash"), "#/trend?series=1")
        page.wait_until(f"{FOCUS}.id === 'trend-title'")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_a_change_of_what_a_server_says_is_no_judgement(self):
        results, trends = fake_dashboard.make_history()
        trends[0]["series"].update(
            metric="metric:heap", rpc="the query", unit="bytes", better="neither"
        )
        dashboard = self.serve(results=results, trends=trends)
        page = self.open_page(dashboard.address, "#/trend?series=1")
        self.wait_for_text(page, "#what-changed", "metric:heap +10.0 %, changed")
        page.wait_until(f"{report_page.IS_DRAWN}('trend-chart')")
        self.assertEqual(
            page.evaluate(text("#trend-caption")),
            "checkout: the query · metric:heap",
        )
        self.assertIn("changed level", page.evaluate(text("#trend-changes")))
        page.wait_until(f"{count('#series-grid .change.changed')} > 0")
        self.assertEqual(page.complaints, [])
        page.close()

    def test_a_trend_is_also_a_table_and_a_file(self):
        dashboard = self.serve_history()
        page = self.open_page(dashboard.address, "#/trend?series=1&since=30")
        self.wait_for_text(page, "#trend-title", "checkout: query · p99")
        page.evaluate("document.querySelector('#trend-details').open = true")
        page.wait_until(f"{count('#trend-table tbody tr')} === 31")
        page.allow_downloads(self.folder)
        page.evaluate(
            "[...document.querySelectorAll('#trend .tools button')]"
            ".find(button => button.textContent === 'CSV').click()"
        )
        file = page.downloaded(self.path("distbench-trend-chart.csv"))
        lines = file.decode().splitlines()
        self.assertEqual(
            lines[0], "curve,started,p99 (seconds),low,high,verdict,result"
        )
        self.assertEqual(len(lines), 32)
        page.close()

    def wait_for_trend(self, page):
        """Waits for the chart, and for all that is loaded after it: what is
        above it moves it."""
        page.wait_until(
            f"{report_page.IS_DRAWN}('trend-chart')"
            f" && {count('#what-changed-list *')} > 0"
            f" && {count('#series-grid svg')} === 4"
        )

    def point_on_trend(self, page, index):
        """Shows a point of the chart, and returns where it is: x and y."""
        return page.evaluate(
            f"""(canvas => {{
              canvas.scrollIntoView();
              const box = canvas.getBoundingClientRect();
              const point = Chart.getChart(canvas).getDatasetMeta(0)
                  .data[{index}];
              return [box.left + point.x, box.top + point.y];
            }})(document.getElementById('trend-chart'))"""
        )

    def test_zoom_is_in_the_address_and_points_open_results(self):
        page = self.open_page(self.serve_history().address, "#/trend?series=1")
        self.wait_for_trend(page)
        scale = "Chart.getChart('trend-chart').scales.x"
        whole = page.evaluate(f"{scale}.max - {scale}.min")
        left, y = self.point_on_trend(page, 10)
        page.drag(y, left, left + 200)
        page.wait_until("/zoom=\\d+%3A\\d+/.test(location.hash)")
        self.reload(page)
        self.wait_for_trend(page)
        page.wait_until(f"{scale}.max - {scale}.min < {whole / 2}")
        page.press("Escape")
        page.wait_until("!location.hash.includes('zoom')")
        x, y = self.point_on_trend(page, 10)
        page.drag(y, x, x)
        page.wait_until("location.pathname.startsWith('/results/')")
        page.close()

    def test_opens_on_the_longest_trend(self):
        series = fake_dashboard.make_series
        trends = [
            fake_dashboard.make_trend(
                series(1, "a", "p99", "alone"), 1, error="needs at least 10"
            ),
            fake_dashboard.make_trend(series(2, "query", "p99", "often"), 20),
            fake_dashboard.make_trend(series(3, "b", "p99", "seldom"), 12),
        ]
        page = self.open_page(self.serve(trends=trends).address, "#/trend")
        self.wait_for_text(page, "#series-grid", "query · p99")
        self.assertEqual(
            page.evaluate(
                "document.querySelector('#trend-controls select').value"
            ),
            "often",
        )
        page.close()

    def test_trends_are_loaded_a_few_at_a_time(self):
        trends = [
            fake_dashboard.make_trend(
                fake_dashboard.make_series(i, f"rpc{i}", "p99"), 20
            )
            for i in range(10)
        ]
        dashboard = self.serve(trends=trends)
        dashboard.hold("/api/trend")
        page = self.open_page(dashboard.address, "#/trend")
        page.wait_until(f"{count('#series-grid a')} === 10")
        page.wait_for(lambda: len(dashboard.waiting) >= 4, "trends are loaded")
        # What waits when the view is left is not asked for.
        page.evaluate("location.hash = '#/results'")
        page.wait_until(f"{count('#results-view[hidden]')} === 0")
        dashboard.release()
        self.wait_for_text(page, "#results-count", "no results")
        asked = [url for url in page.requests if "/api/trend" in url]
        self.assertEqual(len(asked), 4)
        page.evaluate("location.hash = '#/trend'")
        page.wait_until(f"{count('#series-grid svg')} === 10")
        page.close()

    def test_trends_are_shown_after_an_error(self):
        dashboard = self.serve_history()
        trends, dashboard.trends = dashboard.trends, None
        page = self.open_page(dashboard.address, "#/trend")
        self.wait_for_text(page, "#problem", "There is no /api/series")
        # Nothing to draw again yet.
        page.print_colors()
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        uncaught = [entry for entry in page.complaints if "exception" in entry]
        self.assertEqual(uncaught, [])
        dashboard.trends = trends
        page.evaluate("location.hash = '#/trend?series=1'")
        self.wait_for_text(page, "#what-changed", "6.1.0-18 → 6.1.0-20")
        page.close()

    def test_small_charts_show_the_chosen_time_only(self):
        results, trends = fake_dashboard.make_history()
        trends[0]["points"][-1]["started"] += 30 * fake_dashboard.DAY_MS
        dashboard = self.serve(results=results, trends=trends[:1])
        page = self.open_page(dashboard.address, "#/trend?series=1&since=7")
        page.wait_until(f"{count('#series-grid svg')} === 1")
        self.assertEqual(page.evaluate(count("#series-grid .change")), 0)
        self.assertEqual(page.evaluate(count("#series-grid .band")), 1)
        page.close()

    def test_a_change_without_room_keeps_its_number(self):
        # There is room for the day of the first one, but not for its size.
        trend = fake_dashboard.make_trend(
            fake_dashboard.make_series(1, "query", "p99"),
            200,
            [(80, 1.1, []), (100, 1.1, [])],
        )
        trend["changes"][0]["relative"] = 1e12
        dashboard = self.serve(trends=[trend])
        page = self.open_page(dashboard.address, "#/trend?series=1")
        page.wait_until("Chart.getChart('trend-chart')?.chartArea !== undefined")
        # What the chart writes when it is drawn again, without the axes' labels.
        labels = page.evaluate(
            """(() => {
              const chart = Chart.getChart('trend-chart');
              const {left, top} = chart.chartArea;
              const labels = [];
              const {fillText} = CanvasRenderingContext2D.prototype;
              CanvasRenderingContext2D.prototype.fillText = (...args) => {
                labels.push(args);
              };
              chart.draw();
              CanvasRenderingContext2D.prototype.fillText = fillText;
              return labels.filter(([, x, y]) => x > left && y > top)
                  .map(([label]) => label);
            })()"""
        )
        self.assertEqual(labels[0], "1")
        self.assertNotIn("2026-03-22", labels)
        page.close()

    def test_the_shortest_zoom_is_drawn(self):
        at = fake_dashboard.FIRST_DAY_MS + 20 * fake_dashboard.DAY_MS
        page = self.open_page(
            self.serve_history().address,
            f"#/trend?series=1&zoom={at}:{at}.0003",
        )
        self.wait_for_text(page, "#trend-changes", "level +10.0 %")
        page.wait_until(f"{count('#series-grid svg')} === 4")
        page.close()

    def test_short_histories_say_what_they_need(self):
        page = self.open_page(self.serve_history().address, "#/trend?series=5")
        self.wait_for_text(page, "#trend-note", "needs at least 10 results")
        self.assertNotIn("No change", page.evaluate(text("#trend")))
        page.close()

    # ---- All views -----------------------------------------------------------

    def hostile_dashboard(self):
        result = fake_dashboard.make_result(
            1, test=HOSTILE, label=HOSTILE, hosts=[HOSTILE], note=HOSTILE,
            file=HOSTILE, attributes={HOSTILE: HOSTILE}, metrics={HOSTILE: 1},
            units={HOSTILE: HOSTILE},
        )
        facts = [{"name": HOSTILE, "before": HOSTILE, "after": "", "distance": 0}]
        series = fake_dashboard.make_series(1, HOSTILE, HOSTILE, HOSTILE)
        changes = [(20, 2, facts)]
        trend = fake_dashboard.make_trend(series, 40, changes)
        dashboard = self.serve(
            session={**LIVE, "name": HOSTILE}, results=[result], trends=[trend]
        )
        dashboard.problems = [{"file": HOSTILE, "problem": HOSTILE}]
        run = fake_dashboard.make_run(
            label=HOSTILE, test=HOSTILE, tests=[HOSTILE]
        )
        node = fake_dashboard.make_node(
            HOSTILE, hostname=HOSTILE, facts={HOSTILE: HOSTILE}
        )
        dashboard.show(running=run, queue=[run], nodes=[node])
        return dashboard

    def test_names_stay_text(self):
        page = self.open_page(self.hostile_dashboard().address)
        for place, shown in (
            ("#/live", "#nodes-list"),
            ("#/results", "#results-table"),
            ("#/trend?series=1", "#trend-changes"),
        ):
            page.evaluate(f"location.hash = '{place}'")
            self.wait_for_text(page, shown, "<img src=x")
            self.assertEqual(page.evaluate("document.images.length"), 0)
            self.assertNotEqual(page.evaluate("document.title"), "broken")
            self.assert_fits_a_phone(page)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_results_are_cards_on_a_phone(self):
        page = self.open_page(self.serve_history().address, "#/results")
        self.wait_for_rows(page, 100)
        self.assert_fits_a_phone(page)
        table = "document.querySelector('#results-table')"
        page.wait_until(f"{table}.scrollWidth <= {table}.clientWidth")
        self.assertIn(
            "Hosts",
            page.evaluate(
                f"getComputedStyle({table}.querySelector("
                "'td[data-title=Hosts]'), '::before').content"
            ),
        )
        page.close()

    def test_nonsense_in_the_address_is_harmless(self):
        dashboard = self.serve_history()
        page = self.open_page(
            dashboard.address, "#/trend?series=x&since=-1&zoom=b:a"
        )
        page.wait_until(f"{count('#series-grid svg')} === 4")
        page.evaluate("location.hash = '#%%/?&=#'")
        self.wait_for_rows(page, 100)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_everything_is_reached_by_the_keyboard(self):
        results = [fake_dashboard.make_result(i) for i in range(2)]
        dashboard = self.serve(session=LIVE, results=results)
        page = self.open_page(dashboard.address, "#/results")
        self.wait_for_rows(page, 2)
        page.evaluate("document.body.focus()")
        reached = []
        for _ in range(60):
            page.press("Tab")
            if page.evaluate(f"{FOCUS} === document.body"):
                break  # All of the page was visited.
            reached.append(
                page.evaluate(f"{FOCUS}.ariaLabel ?? {FOCUS}.textContent")
            )
            # The focus is seen; browsers draw that of a date's parts.
            outline = page.evaluate(f"getComputedStyle({FOCUS}).outlineStyle")
            if page.evaluate(f"{FOCUS}.type") != "date":
                self.assertNotEqual(outline, "none", reached)
            if reached[-1].startswith("Compare checkout of 2026-01-01"):
                page.press(" ", " ")
        self.assertEqual(reached[0], "Skip to the content")
        for part in ("Results", "Search results", "checkout", "Note on checkout"):
            self.assertIn(part, reached)
        self.assertEqual(page.evaluate(count(".tick input:checked")), 1)
        page.close()


if __name__ == "__main__":
    testing_main.main()
