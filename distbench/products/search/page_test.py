# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A load search on the page in a real browser, compared with an approved picture.
Skipped if there is no chromium."""

from tests import page_results
from tests import report_page
from tests import testing_main
from tests.pictures import approved_pictures


def _bucket(ns):
    """The bucket of a latency of at least 128 ns in a histogram with 7 bits."""
    octave = ns.bit_length() - 7
    return 128 * octave + (ns >> (octave - 1)) - 128


def _probe(number, phase, load, p99_us, outcome):
    fast_ns, slow_ns = 500 * p99_us, 1000 * p99_us
    count = 5 * load
    return f"""
      probes {{
        number: {number} phase: "{phase}" outcome: "{outcome}"
        requested_load: {load} achieved_load: {load}
        measured: "p99 {p99_us} us" load_of_limit: {p99_us / 1000}
        start_timestamp_ns: {1_700_000_000_000_000_000 + number * 10**10}
        end_timestamp_ns: {1_700_000_005_000_000_000 + number * 10**10}
        host_cpu_share: {load / 20000}
        statistics {{
          succeeded_count: {count}
          first_start_timestamp_ns: 1000000000
          last_end_timestamp_ns: 6000000000
          service_time_ns {{
            sub_bucket_bits: 7
            bucket_index_deltas: {_bucket(fast_ns)}
            bucket_index_deltas: {_bucket(slow_ns) - _bucket(fast_ns)}
            bucket_counts: {count - count // 25} bucket_counts: {count // 25}
            min: {fast_ns} max: {slow_ns}
            sum: {count * fast_ns} sum_of_squares: {count * fast_ns**2}
          }}
        }}
      }}"""


def search():
    """A search that found 8000 requests per second."""
    probes = (
        ("bracket", 2000, 210, "met"),
        ("bracket", 4000, 320, "met"),
        ("bracket", 16000, 5400, "missed"),
        ("bisect", 8000, 870, "met"),
        ("bisect", 11000, 1900, "missed"),
        ("bisect", 9000, 1150, "missed"),
        ("final", 8000, 890, "met"),
    )
    return f"""
searches {{
  search {{ objectives: "query p99<=1ms" tolerance: 0.1 }}
  load_unit: "requests per second" evidence: "the bracket is narrow enough"
  load: 8000 min_load: 7800 max_load: 9000 confidence_level: 0.95
  verdict: "converged" is_proven: true
  {''.join(_probe(i + 1, *probe) for i, probe in enumerate(probes))}
}}
"""


class SearchPictureTest(approved_pictures.PicturesTest):
    folder_of_test = "distbench/products/search"
    names = ("search",)

    def test_search(self):
        page = self.open_text(page_results.TIERS + search())
        self.check(page, "search", "#search")
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.check_that_all_are_compared()


class SearchVerdictTest(report_page.ReportPageTest):
    def test_only_proven_searches_are_green(self):
        for search, badge, of_run in (
            ('verdict: "converged" is_proven: true', "converged: badge ok",
             "ok: badge ok"),
            ('verdict: "converged" is_proven: false',
             "converged, not proven: badge warn", "not proven: badge warn"),
            ('verdict: "budget_exhausted"', "budget exhausted: badge warn",
             "not proven: badge warn"),
            ('verdict: "objective_unreachable"',
             "objective unreachable: badge invalid", "not proven: badge warn"),
            # The search was stopped.
            ("", "not ended: badge warn", "not proven: badge warn"),
        ):
            with self.subTest(search):
                page = self.open_text(
                    page_results.simple()
                    + 'searches { search { objectives: "query p99<=1s" } '
                    'probes { number: 1 phase: "bracket" outcome: "met" '
                    f"requested_load: 5 }} {search} }}"
                )
                self.assertEqual(self.badges(page), [badge, of_run])
                self.assertIn(
                    badge.split(":")[0], self.text_of(page, "search-verdict")
                )
                page.close()


class SearchNotesTest(report_page.ReportPageTest):
    def test_disturbances_and_attempts_are_said(self):
        page = self.open_text(
            page_results.simple()
            + 'searches { search { objectives: "query p99<=1s" } '
            'probes { number: 1 phase: "bracket" outcome: "met" '
            'requested_load: 5 disturbances: "a compiler took 40 % of a CPU" } '
            'verdict: "converged" evidence: "narrow enough" '
            'earlier_attempts { verdict: "budget_exhausted" '
            'probes { number: 1 } probes { number: 2 } } }'
        )
        notes = self.text_of(page, "search-notes")
        self.assertIn("other programs disturbed 1 of 1 probes (1)", notes)
        self.assertIn(
            "Attempts before, without an answer: "
            "budget exhausted after 2 probes.",
            notes,
        )
        self.assertIn(
            "disturbed: a compiler took 40 % of a CPU",
            self.text_of(page, "probes-table"),
        )
        page.close()


def _run_at(end_s):
    """A run of the test "simple" that ended then."""
    return page_results.run(
        "simple",
        {"query": [page_results.sample(end_s - 1, 100)] * 200},
        run_info=f"start_timestamp_ns: {end_s - 5}000000000 "
        f"end_timestamp_ns: {end_s}000000000",
    )


class SearchOfAListTest(report_page.ReportPageTest):
    def test_runs_at_several_loads_are_no_repeats(self):
        ends = [page_results.START_S + 10 * i for i in range(1, 5)]
        probes = "".join(
            f'probes {{ number: {i + 1} phase: "final" outcome: "{outcome}" '
            f'requested_load: {100 * (i + 1)} measured: "p99 {i + 1} ms" '
            f"end_timestamp_ns: {end}000000000 excess: {excess} "
            'disturbances: "a compiler took a CPU" } '
            for i, (end, outcome, excess) in enumerate(
                zip(ends, ("met", "met", "missed", "met"), (-1, -1, 1, -1))
            )
        )
        page = self.open_text(
            "".join(map(_run_at, ends))
            + 'searches { search { objectives: "query p99<=3ms" } '
            'load_unit: "iterations per second" loads: 100 loads: 200 '
            f'loads: 300 loads: 400 load: 200 {probes} verdict: "not_all_met" '
            'evidence: "3 of 4 loads met" }'
        )
        headline = self.text_of(page, "headline-parts")
        self.assertNotIn("median", headline)
        self.assertNotIn("runs of this test", headline)
        self.assertIn(
            "200 iterations per second; met: 100, 200, 400; missed: 300",
            headline,
        )
        self.assertIn("400 met although 300 missed", headline)
        self.assertIn("disturbed 4 of 4 probes", headline)
        self.assertEqual(self.count(page, "#verdicts-table tbody tr"), 4)
        legend = self.text_of(page, "latency-legend")
        self.assertNotIn("repeats", legend)
        self.assertIn("simple at 300 iterations per second", legend)
        self.open_details(page)
        self.assertIn(
            "search with query p99<=3ms: missed, p99 3 ms",
            self.text_of(page, "headline-parts"),
        )
        page.close()

    def test_runs_at_one_load_are_repeats(self):
        ends = [page_results.START_S + 10 * i for i in range(1, 4)]
        probes = "".join(
            f'probes {{ number: {i + 1} phase: "final" outcome: "met" '
            f"requested_load: 100 end_timestamp_ns: {end}000000000 }} "
            for i, end in enumerate(ends)
        )
        page = self.open_text(
            "".join(map(_run_at, ends))
            + 'searches { search { objectives: "query p99<=3ms" } load: 100 '
            f'{probes} verdict: "converged" }}'
        )
        self.assertIn(
            "simple (3 repeats, median bold)",
            self.text_of(page, "latency-legend"),
        )
        page.close()

    def test_an_answer_in_doubt_is_not_green(self):
        page = self.open_text(
            page_results.simple()
            + 'searches { search { objectives: "query p99<=1s" } '
            'probes { number: 1 phase: "final" outcome: "met" '
            'requested_load: 5 disturbances: "a compiler took a CPU" } '
            'load: 5 verdict: "converged" is_proven: true }'
        )
        self.assertEqual(
            self.badges(page),
            ["converged, doubtful: badge warn", "not proven: badge warn"],
        )
        page.close()


class SearchRunTest(report_page.ReportPageTest):
    def test_a_run_of_a_search_has_the_objectives_of_the_search(self):
        page = self.open_text(
            page_results.simple()
            + 'searches { search { objectives: "query p95<=30ms" } '
            'probes { number: 1 phase: "bracket" outcome: "met" '
            'requested_load: 250 load_of_limit: 0.5 } '
            'probes { number: 2 phase: "bracket" outcome: "missed" '
            'requested_load: 279 } verdict: "budget_exhausted" }'
        )
        headline = self.text_of(page, "headline-parts")
        self.assertIn("run of the search with query p95<=30ms", headline)
        self.assertNotIn("objectives were set", headline)
        self.assertIn(
            "probe 2 (279, missed)", self.text_of(page, "search-limit-absent")
        )
        page.close()


if __name__ == "__main__":
    testing_main.main()
