#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Measures how fast Chromium shows the HTML pages of large results.

For each size: makes a result, renders its page, opens it as often as asked, each
time in a new browser, and prints the page's size, and the medians and the largest
of two times from the start of the navigation: until the first content is painted
(the browser's own figure), and until everything is drawn: the second frame after
the page's scripts have ended. The page paints nothing before its verdict, findings
and services are there. Exits with 1 if a median or a size is above its limit.
Limits are meant for an idle machine.

    bazel build -c opt //distbench/cli:distbench \\
        //distbench/report/testing:make_example_result
    bench/page_paint.py
"""

import argparse
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from tests import browser  # pylint: disable=wrong-import-position

MB = 1e6

# By name: what make_example_result makes (clients, servers, RPCs, seconds, count,
# slowness, nodes), and the limits: seconds until the first paint, and bytes.
CASES = {
    "25 nodes": ((13, 12, 2, 60, 5, 1, 25), 0.5, 5 * MB),
    "100 x 100 pairs, 2 RPCs": ((100, 100, 2, 60, 1, 1, 25), 2, 5 * MB),
    "1000 instances, 9900 pairs, 2 RPCs": ((10, 990, 2, 60, 1, 1, 25), 2, 5 * MB),
}

# Until all is drawn, for each of them.
MAX_DRAWN_SECONDS = 2

# Resolves to [first paint, all drawn] in milliseconds.
PAINTS = """Promise.all([
  new Promise(resolve => new PerformanceObserver(list => {
    const [first] = list.getEntriesByName('first-contentful-paint');
    if (first !== undefined) resolve(first.startTime);
  }).observe({type: 'paint', buffered: true})),
  new Promise(resolve => {
    const afterFrame = next => requestAnimationFrame(() => setTimeout(next));
    const look = () => {
      if (document.body?.dataset.rendered !== 'true') return setTimeout(look);
      afterFrame(() => afterFrame(() => resolve(performance.now())));
    };
    look();
  }),
])"""


def run(owner, *arguments):
    outcome = owner.run_to_end(*arguments)
    if outcome.status != 0:
        sys.exit(f"{arguments[0]} failed: {outcome}")


def make_page(owner, build, size):
    """Returns the path of the page of a result of this size."""
    result, page = owner.path("result.pb.gz"), owner.path("page.html")
    make = f"{build}/distbench/report/testing/make_example_result"
    run(owner, make, result, "example", *map(str, size))
    distbench = f"{build}/distbench/cli/distbench"
    run(owner, distbench, "report", result, "--format=html", "-o", page)
    return page


def paints(owner, file):
    """Returns the two times of a new browser, in seconds."""
    page = browser.Page(owner, f"file://{file}", size=(1280, 1000))
    times = page.evaluate(PAINTS)
    page.close()
    return [ms / 1000 for ms in times]


def figures(times):
    return f"{statistics.median(times):.2f} s (at most {max(times):.2f} s)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--build", default=os.path.join(ROOT, "bazel-bin"))
    arguments = parser.parse_args()
    if not browser.CHROMIUM:
        sys.exit("no chromium: try scripts/install_deps.sh --with-browser")
    is_within = True
    print("| page | size | first paint | all drawn | limits |")
    print("|---|---|---|---|---|")
    for name, (size, max_seconds, max_bytes) in CASES.items():
        with browser.owner() as owner:
            file = make_page(owner, os.path.abspath(arguments.build), size)
            bytes_ = os.path.getsize(file)
            first, drawn = zip(
                *(paints(owner, file) for _ in range(arguments.runs))
            )
        print(
            f"| {name} | {bytes_ / MB:.2f} MB | {figures(first)} "
            f"| {figures(drawn)} "
            f"| {max_seconds} s, {MAX_DRAWN_SECONDS} s, {max_bytes / MB:.0f} MB |",
            flush=True,
        )
        if (
            statistics.median(first) > max_seconds
            or statistics.median(drawn) > MAX_DRAWN_SECONDS
            or bytes_ > max_bytes
        ):
            is_within = False
    sys.exit(0 if is_within else 1)


if __name__ == "__main__":
    main()
