# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Talks to a dashboard as browsers do, and as they do not."""

import json
import os
import re
import socket
import ssl
import time

from tests import programs

MAKE_EXAMPLE_RESULT = os.path.abspath(
    "distbench/report/testing/make_example_result"
)


class Answer:
    """A response: its status, headers with names in small letters, and body."""

    def __init__(self, received):
        head, _, self.body = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:1000]}"


class Dashboard:
    """A running dashboard, whose address a program has printed."""

    def __init__(self, program):
        match = program.wait_for(
            r"^Dashboard at (https?)://(.*):(\d+)/(?:#token=(\w+))?$"
        )
        self.scheme, self.host, port, self.token = match.groups()
        self.port = int(port)
        self.origin = f"{self.scheme}://{self.host}:{self.port}"

    def connect(self, tls=None):
        connection = socket.create_connection(
            ("127.0.0.1", self.port), programs.DEADLINE_SECONDS
        )
        if tls is not None:
            connection = tls.wrap_socket(connection, server_hostname="localhost")
        return connection

    def send(self, raw, tls=None):
        """Sends bytes on a connection of their own; returns the Answer."""
        with self.connect(tls) as connection:
            connection.sendall(raw)
            received = b""
            while chunk := connection.recv(1 << 16):
                received += chunk
        return Answer(received)

    def ask(self, method, target, headers=None, body=b"", tls=None):
        lines = {
            "Host": f"{self.host}:{self.port}",
            "Connection": "close",
            **(headers or {}),
        }
        if body:
            lines["Content-Length"] = str(len(body))
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        request = f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body
        return self.send(request, tls)

    def get(self, target, headers=None, tls=None):
        return self.ask("GET", target, headers, tls=tls)

    def post(self, target, content, headers=None, tls=None):
        """Posts as the dashboard's own page does; headers replace its own."""
        own = {
            "Content-Type": "application/json",
            "Origin": self.origin,
            "X-Distbench-Token": self.token or "",
            **(headers or {}),
        }
        own = {name: value for name, value in own.items() if value is not None}
        body = json.dumps(content).encode()
        return self.ask("POST", target, own, body, tls)


class EventStream:
    """The events of /api/live."""

    def __init__(self, dashboard):
        self._connection = dashboard.connect()
        self._connection.sendall(
            f"GET /api/live HTTP/1.1\r\nHost: {dashboard.host}\r\n\r\n".encode()
        )
        self._received = ""
        self._nodes = None

    def next_status(self):
        """Returns the next status, with the nodes of the last event of them."""
        while True:
            match = re.search(r"event: (\w+)\ndata: (.*)\n\n", self._received)
            if match:
                self._received = self._received[match.end() :]
                data = json.loads(match.group(2))
                if match.group(1) == "status":
                    return {**data, "nodes": self._nodes}
                self._nodes = data
                continue
            chunk = self._connection.recv(1 << 16)
            if not chunk:
                raise AssertionError(f"the stream ended: {self._received}")
            self._received += chunk.decode()

    def wait_until(self, is_right):
        """Returns the first status for which this holds."""
        while not is_right(status := self.next_status()):
            pass
        return status

    def close(self):
        self._connection.close()


class DashboardTest(programs.ClusterTest):
    """A test with dashboards."""

    def make_result(self, name, test_name="example"):
        outcome = self.run_to_end(
            MAKE_EXAMPLE_RESULT, name, test_name, *"2 2 2 5 1000".split()
        )
        self.assertEqual(outcome.status, 0, outcome)

    def serve(self, folder, *flags):
        self.program = self.start(
            programs.DISTBENCH,
            "serve",
            folder,
            "--port=0",
            f"--index={self.path('index.db')}",
            *flags,
        )
        return Dashboard(self.program)

    def wait_for_results(self, dashboard, count):
        """Returns the answer of /api/results that has so many results."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while time.monotonic() < end:
            answer = dashboard.get("/api/results")
            self.assertEqual(answer.status, 200, answer)
            if answer.json()["total"] == count:
                return answer.json()["results"]
        raise AssertionError(f"there are not {count} results: {answer}")

    def wait_for_problems(self, dashboard):
        """Returns the files of /api/problems as soon as there is one."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while time.monotonic() < end:
            files = dashboard.get("/api/problems").json()["files"]
            if files:
                return files
        raise AssertionError("all files can be read")


def tls_context(flags):
    """A client's context from the flags of certificates.Authority."""
    files = dict(flag[2:].split("=", 1) for flag in flags)
    context = ssl.create_default_context(cafile=files["tls_ca"])
    if "tls_cert" in files:
        context.load_cert_chain(files["tls_cert"], files["tls_key"])
    return context
