#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Counts the test cases of a `bazel test` and prints "N passed, N failed".

Before that line come the failures, and how many cases of which target were
skipped for which reason.

Usage: summarize_tests.py BUILD_EVENTS BAZEL_STATUS [FAILED_CHECK...]

BUILD_EVENTS is the file written by --build_event_json_file, so that results of
earlier runs are not counted; BAZEL_STATUS is Bazel's exit status; each
FAILED_CHECK, which failed before Bazel, is one failure more. No failure
that Bazel reports is lost: a target that did not build, a test that crashed
before it could report its cases, and an error before any target each count as
one failure. Exits with 1 if anything failed or no test ran.
"""

import collections
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree


def cases_of(xml_path):
    """Returns (passed, failed names, reasons of skips) of one test.xml."""
    passed, failed, skipped = 0, [], []
    for case in xml.etree.ElementTree.parse(xml_path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(
                ".".join(filter(None, [case.get("classname"), case.get("name")]))
            )
        elif (
            case.find("skipped") is not None
            or case.get("status") == "notrun"
            or case.get("result") == "skipped"
        ):
            skipped.append(reason_of_skip(case))
        else:
            passed += 1
    return passed, failed, skipped


def reason_of_skip(case):
    # Googletest puts a line with the place in the source before the reason.
    text = re.sub(r"^\S+:\d+\n", "", case.findtext("skipped") or "")
    return " ".join(text.split()) or "no reason given"


def xml_path_of(result):
    for output in result.get("testActionOutput", []):
        if output.get("name") == "test.xml":
            return urllib.parse.unquote(
                urllib.parse.urlparse(output["uri"]).path
            )
    return None


def last_attempts(events):
    """Yields (label, result) of the last attempt of each run of each test."""
    results = {}
    for event in events:
        test_id = event["id"].get("testResult")
        if test_id and "testResult" in event:
            key = (test_id["label"], test_id.get("run"), test_id.get("shard"))
            results[key] = event["testResult"]
    for (label, _, _), result in results.items():
        yield label, result


def unbuilt_targets(events):
    for event in events:
        target = event["id"].get("targetCompleted")
        if target and not event.get("completed", {}).get("success"):
            yield target["label"]


def count(events, bazel_status):
    """Returns (passed, failures, skips): a number, a list of names, and a
    Counter of (label, reason)."""
    total_passed, failures, skips = 0, [], collections.Counter()
    for label in unbuilt_targets(events):
        failures.append(f"{label} (did not build)")
    for label, result in last_attempts(events):
        path = xml_path_of(result)
        passed, failed, skipped = cases_of(path) if path else (0, [], [])
        total_passed += passed
        failures += [f"{label} {name}" for name in failed]
        skips.update((label, reason) for reason in skipped)
        status = result.get("status")
        if status not in ("PASSED", "FLAKY") and not failed:
            failures.append(f"{label} ({status})")
    if bazel_status != 0 and not failures:
        failures.append(f"bazel (exit status {bazel_status})")
    return total_passed, failures, skips


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines if line.strip()]
    passed, failures, skips = count(events, int(arguments[1]))
    failures += arguments[2:]
    for name in failures:
        print(f"FAILED: {name}")
    for (label, reason), cases in skips.items():
        print(f"SKIPPED: {cases} of {label}: {reason}")
    if not passed and not failures:
        print("No test ran.")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
