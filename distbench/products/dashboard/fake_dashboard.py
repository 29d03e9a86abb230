# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A stand-in for the dashboard's server, for situations of its page that the
real one cannot be brought into quickly: many nodes, long histories, lost
connections.

To look at the page with made-up data, with the files that were built for the real one:

    python3 distbench/products/dashboard/fake_dashboard.py bazel-bin [PORT]
"""

import http.server
import json
import os
import random
import sys
import threading
import urllib.parse

# The second has what the report's pages have, too.
FOLDERS = ("distbench/products/dashboard/page", "distbench/report/html")

CONTENT_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
}

# That of the real server.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)

DAY_MS = 86_400_000
FIRST_DAY_MS = 1_767_225_600_000  # 2026-01-01

SESSION = {
    "version": "0.0",
    "source": "directory",
    "name": "/results",
    "folders": ["/results"],
    "live": False,
    "may_write": True,
    "why_not_write": "",
    "reading": False,
}


def make_result(number, **changes):
    """The number-th result, one each day."""
    result = {
        "id": f"{number:016x}-0",
        "file": f"nightly/{number}.pb.gz",
        "run_id": f"run{number}",
        "test": "checkout",
        "label": "nightly",
        "started": FIRST_DAY_MS + number * DAY_MS,
        "duration_seconds": 60,
        "verdict": "ok",
        "headline": changes.get("verdict", "ok"),
        "doubts": "",
        "hosts": ["h1", "h2"],
        "attributes": {"rack": "a"},
        "metrics": {"query · p99": 0.0021, "query · succeeded": 5012.3},
        "units": {"query · p99": "seconds", "query · succeeded": "per_second"},
        "accepted": False,
        "note": "",
        "answer": "",
        "traffic": "a",
        "traffic_changed": False,
        **changes,
    }
    result.setdefault("headlines", list(result["metrics"]))
    return result


def make_trend(series, count, changes=(), error=""):
    """A trend with 3 % of noise around 1 ms.

    changes: [(index, factor, facts)]: there, the level is multiplied.
    """
    noise = random.Random(series["id"])
    starts = [0, *(index for index, *_ in changes), count]
    level, spread = 0.001, 0.03
    points, segments, found = [], [], []
    for i, (first, end) in enumerate(zip(starts, starts[1:])):
        if i > 0:
            _, factor, facts = changes[i - 1]
            before, level = level, level * factor
            found.append(
                {
                    "index": first,
                    "started": FIRST_DAY_MS + first * DAY_MS,
                    "before": before,
                    "after": level,
                    "relative": factor - 1,
                    "p_value": 0.001,
                    "accepted": False,
                    "facts": facts,
                }
            )
        for number in range(first, end):
            value = level * noise.gauss(1, spread)
            points.append(
                {
                    "result": f"{number:016x}-0",
                    "started": FIRST_DAY_MS + number * DAY_MS,
                    "value": value,
                    "low": value * 0.98,
                    "high": value * 1.02,
                    "accepted": number % 50 == 20,
                    "verdict": "warn" if number % 60 == 30 else "ok",
                    "runs": [f"{number:016x}-0"],
                    "traffic": "a",
                    "traffic_changed": False,
                }
            )
        segments.append(
            {
                "first": first,
                "last": end - 1,
                "mean": level,
                "noise_low": level * (1 - 2 * spread),
                "noise_high": level * (1 + 2 * spread),
            }
        )
    return {
        "series": {
            **series,
            "points": count,
            "changes": len(found),
            "last_change": found[-1]["started"] if found else None,
        },
        "points": points,
        "segments": [] if error else segments,
        "changes": found,
        "left_out": count // 60,
        "error": error,
        "traffic_kinds": 1,
    }


def make_series(number, rpc, metric, test="checkout"):
    is_rate = metric == "succeeded"
    return {
        "id": number,
        "test": test,
        "rpc": rpc,
        "metric": metric,
        "unit": "per_second" if is_rate else "seconds",
        "better": "higher" if is_rate else "lower",
    }


def make_node(name, **changes):
    return {
        "name": name,
        "hostname": f"host-{name}",
        "state": "idle",
        "address": "10.0.0.1:5000",
        "facts": {"kernel": "6.1.0-18", "CPUs": "8"},
        "attributes": {},
        **changes,
    }


def make_run(**changes):
    return {
        "id": "run7",
        "label": "nightly",
        "tests": ["checkout", "search"],
        "test": "checkout",
        "test_index": 0,
        "state": "running",
        "elapsed_seconds": 12,
        "duration_seconds": 60,
        "succeeded": 60_123,
        "failed": 0,
        "measured_seconds": 12,
        "per_second": 5012.3,
        "failed_per_second": 0,
        "p50": 0.0009,
        "p99": 0.0021,
        "latency": "service",
        "failed_above_percent": None,
        "rpcs": {},
        **changes,
    }


class FakeDashboard:
    """Serves until close(). Its contents may be changed at any time."""

    def __init__(
        self, root=".", port=0, session=None, results=(), trends=()
    ):
        self.session = {**SESSION, **(session or {})}
        self.results = sorted(results, key=lambda result: -result["started"])
        # None: the server cannot say which there are.
        self.trends = list(trends)
        self.problems = []
        self.refuses_streams = False
        # [(path, headers, content)] of the POST requests.
        self.posts = []
        # The addresses of the requests that hold() has wait.
        self.waiting = []
        self._held = None
        self._root = root
        self._status = {"nodes": [], "running": None, "queue": []}
        self._changed = threading.Condition()
        self._epoch = 0
        handler = type("Handler", (_Handler,), {"dashboard": self})
        self._server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", port), handler
        )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def show(self, **status):
        """Changes parts of the live status."""
        with self._changed:
            self._status = {**self._status, **status}
            self._changed.notify_all()

    def drop_streams(self):
        """Ends all streams, as if connections were lost."""
        with self._changed:
            self._epoch += 1
            self._changed.notify_all()

    def hold(self, start):
        """Has requests wait whose addresses begin so, until release()."""
        self._held = start

    def release(self):
        with self._changed:
            self._held = None
            self._changed.notify_all()

    def wait_if_held(self, address):
        with self._changed:
            if self._held is None or not address.startswith(self._held):
                return
            self.waiting.append(address)
            self._changed.wait_for(lambda: self._held is None)
            self.waiting.remove(address)

    def close(self):
        self.release()
        self.drop_streams()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def events(self):
        """Yields the names of events and their data, until drop_streams()."""
        nodes = None
        for status in self._statuses():
            if status["nodes"] != nodes:
                nodes = status["nodes"]
                yield "nodes", nodes
            yield "status", {k: status[k] for k in ("running", "queue")}

    def _statuses(self):
        """Yields the status whenever it has changed, until drop_streams()."""
        with self._changed:
            epoch, last = self._epoch, None
            while epoch == self._epoch:
                if self._status is last:
                    self._changed.wait()
                    continue
                last = self._status
                yield last

    def list_results(self, query):
        def matches(result):
            searched = ("test", "label", "file", "hosts")
            text = json.dumps([result[key] for key in searched])
            attributes = [f"{k}={v}" for k, v in result["attributes"].items()]
            return (
                query.get("search", "").lower() in text.lower()
                and query.get("test", result["test"]) == result["test"]
                and query.get("label", result["label"]) == result["label"]
                and query.get("host") in [None, *result["hosts"]]
                and query.get("attribute") in [None, *attributes]
                and int(query.get("after", 0)) <= result["started"]
                and result["started"] < int(query.get("before", 1 << 60))
            )

        found = list(filter(matches, self.results))
        begin = int(query.get("cursor", 0))
        end = begin + int(query.get("limit", 100))
        return {
            "results": found[begin:end],
            "total": len(found),
            "next": str(end) if end < len(found) else None,
        }

    def filters(self):
        attributes = {}
        for result in self.results:
            for name, value in result["attributes"].items():
                attributes.setdefault(name, set()).add(value)
        return {
            "tests": sorted({result["test"] for result in self.results}),
            "labels": sorted({result["label"] for result in self.results}),
            "hosts": sorted({h for r in self.results for h in r["hosts"]}),
            "attributes": {k: sorted(v) for k, v in attributes.items()},
            "truncated": False,
        }

    def answer(self, path, query):
        if path == "/api/session":
            return self.session
        if path == "/api/results":
            return self.list_results(query)
        if path == "/api/filters":
            return self.filters()
        if path == "/api/problems":
            return {"files": self.problems}
        if path == "/api/status":
            return self._status
        if path == "/api/series" and self.trends is not None:
            return {"series": [trend["series"] for trend in self.trends]}
        if path == "/api/trend":
            for trend in self.trends:
                if str(trend["series"]["id"]) == query.get("series"):
                    return trend
        return None

    def change(self, path, content):
        for result in self.results:
            if result["id"] == content.get("result"):
                key = "note" if path == "/api/notes" else "accepted"
                result[key] = content[key]
        if path == "/api/cancel":
            self.show(running=None)

    def file(self, name):
        paths = [
            os.path.join(self._root, folder, os.path.basename(name))
            for folder in FOLDERS
        ]
        with open(next(filter(os.path.exists, paths)), "rb") as file:
            return file.read(), CONTENT_TYPES[os.path.splitext(name)[1]]


class _Handler(http.server.BaseHTTPRequestHandler):
    dashboard = None

    def log_message(self, *_):
        pass

    def _send(self, status, content, content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        self.end_headers()
        self.wfile.write(content)

    def _send_json(self, status, content):
        self._send(status, json.dumps(content).encode())

    def do_GET(self):
        self.dashboard.wait_if_held(self.path)
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        if address.path == "/":
            self._send(200, *self.dashboard.file("index.html"))
        elif address.path.startswith("/assets/"):
            self._send(200, *self.dashboard.file(address.path))
        elif address.path == "/api/live":
            self._stream()
        elif address.path.startswith(("/results/", "/compare")):
            self._send(200, self.path.encode(), "text/plain")
        elif (answer := self.dashboard.answer(address.path, query)) is not None:
            self._send_json(200, answer)
        else:
            self._send_json(404, {"error": f"There is no {self.path}."})

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        content = json.loads(self.rfile.read(size))
        self.dashboard.posts.append((self.path, dict(self.headers), content))
        self.dashboard.wait_if_held(self.path)
        if not self.dashboard.session["may_write"]:
            self._send_json(403, {"error": "This dashboard is read only."})
            return
        self.dashboard.change(self.path, content)
        self._send_json(200, {"ok": True})

    def _stream(self):
        if self.dashboard.refuses_streams:
            self._send_json(503, {"error": "All places are taken."})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for name, data in self.dashboard.events():
                event = f"event: {name}\ndata: {json.dumps(data)}\n\n"
                self.wfile.write(event.encode())
                self.wfile.flush()
        except OSError:
            pass  # The browser has closed the stream.


def make_history(count=200):
    """Results of two tests, and trends with three changes."""
    verdicts = {30: "invalid", 31: "failed", 50: "warn"}
    results = [
        make_result(
            i,
            test="checkout" if i % 3 else "search",
            label="nightly" if i % 4 else "release candidate",
            verdict=verdicts.get(i, "ok"),
            note="the switch was rebooted" if i == count - 2 else "",
            accepted=i == count - 3,
        )
        for i in range(count)
    ]
    kernel = {"name": "kernel", "before": "6.1.0-18", "after": "6.1.0-20"}
    release = {"name": "distbench", "before": "1.3", "after": "1.4"}
    too_few = "A trend needs at least 10 results."
    changes = [
        (count * 3 // 10, 1.05, [{**kernel, "distance": 0}]),
        (count * 6 // 10, 1.1, []),
        (count * 8 // 10, 0.9, [{**release, "distance": -1}]),
    ]
    trends = [
        make_trend(make_series(1, "query", "p99"), count, changes),
        make_trend(make_series(2, "query", "p50"), count, changes[:1]),
        make_trend(make_series(3, "query", "succeeded"), count),
        make_trend(make_series(4, "fetch", "p99"), count),
        make_trend(make_series(5, "find", "p99", "search"), 4, error=too_few),
    ]
    return results, trends


def main():
    results, trends = make_history()
    dashboard = FakeDashboard(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else 0,
        session={"live": True, "source": "sequencer", "name": "127.0.0.1:1"},
        results=results,
        trends=trends,
    )
    dashboard.problems = [
        {"file": "old/half.pb.gz", "problem": "it ends too early; copy it again"}
    ]
    nodes = [make_node(f"node{i}") for i in range(25)]
    facts = {"kernel": "6.12", "CPUs": "64"}
    other = make_node("node25", state="busy", facts=facts)
    queue = [make_run(id="run8", label=""), make_run(id="run9", tests=["search"])]
    dashboard.show(nodes=[*nodes, other], running=make_run(), queue=queue)
    print(dashboard.address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
