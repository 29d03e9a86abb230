# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What nobody can do to a dashboard, with the real program."""

import os
import ssl

from tests import certificates
from tests import testing_main

import dashboard_client

HOSTILE = '<script>alert(1)</script>"\'&'


class DashboardSecurityTest(dashboard_client.DashboardTest):
    def setUp(self):
        super().setUp()
        self.results = self.path("results")
        os.mkdir(self.results)
        self.make_result(f"{self.results}/a.pb.gz", HOSTILE)

    def start_one(self, *flags):
        dashboard = self.serve(self.results, *flags)
        self.result = self.wait_for_results(dashboard, 1)[0]["id"]
        return dashboard

    def note(self, dashboard, headers=None, tls=None):
        content = {"result": self.result, "note": "new switch"}
        return dashboard.post("/api/notes", content, headers, tls)

    def assert_no_note(self, dashboard):
        result = dashboard.get("/api/results").json()["results"][0]
        self.assertEqual(result["note"], "")

    def test_changes_need_own_page_json_and_token(self):
        dashboard = self.start_one()
        refused = {
            "other origin": {"Origin": "http://evil.example"},
            "origin null": {"Origin": "null"},
            "other scheme": {"Origin": dashboard.origin.replace("http", "https")},
            "other port": {"Origin": f"http://{dashboard.host}:1"},
            "no origin": {"Origin": None},
            "cross-site": {"Sec-Fetch-Site": "cross-site"},
            "same-site": {"Sec-Fetch-Site": "same-site"},
            "form": {"Content-Type": "application/x-www-form-urlencoded"},
            "multipart": {"Content-Type": "multipart/form-data"},
            "text": {"Content-Type": "text/plain"},
            "no type": {"Content-Type": None},
            "no token": {"X-Distbench-Token": None},
            "wrong token": {"X-Distbench-Token": "0" * 32},
            "half of the token": {"X-Distbench-Token": dashboard.token[:16]},
        }
        for name, headers in refused.items():
            with self.subTest(name):
                answer = self.note(dashboard, headers)
                self.assertIn(answer.status, (403, 415), answer)
                self.assertTrue(answer.json()["error"])
                self.assert_no_note(dashboard)
        answer = self.note(dashboard)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json(), {"ok": True})
        results = dashboard.get("/api/results").json()["results"]
        self.assertEqual(results[0]["note"], "new switch")

    def test_says_whether_the_client_may_write(self):
        dashboard = self.start_one()
        session = dashboard.get("/api/session").json()
        self.assertFalse(session["may_write"])
        self.assertIn("token", session["why_not_write"])
        headers = {"X-Distbench-Token": dashboard.token}
        session = dashboard.get("/api/session", headers).json()
        self.assertTrue(session["may_write"])

    def test_the_token_is_printed_once_and_nowhere_else(self):
        dashboard = self.start_one()
        self.assertRegex(dashboard.token, "^[0-9a-f]{32}$")
        self.note(dashboard)
        for target in ("/", "/api/session", "/api/results", "/api/filters"):
            answer = dashboard.get(target)
            self.assertNotIn(dashboard.token.encode(), answer.body)
        outcome = self.program.stop()
        self.assertEqual(outcome.out.count(dashboard.token), 1)
        self.assertNotIn(dashboard.token, outcome.err)

    def test_only_own_names_are_hosts(self):
        dashboard = self.start_one("--dashboard_host=results.example")
        for host in (
            "evil.example",
            f"evil.example:{dashboard.port}",
            "127.0.0.1.evil.example",
            "results.example.evil.example",
            "",
        ):
            with self.subTest(host):
                answer = dashboard.get("/api/results", {"Host": host})
                self.assertEqual(answer.status, 403, answer)
        for host in ("localhost", "LOCALHOST:1", "results.example"):
            with self.subTest(host):
                answer = dashboard.get("/api/results", {"Host": host})
                self.assertEqual(answer.status, 200, answer)

    def test_pages_of_other_sites_read_nothing(self):
        dashboard = self.start_one()
        for headers in (
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
            {"Origin": "http://evil.example"},
        ):
            with self.subTest(headers):
                answer = dashboard.get("/api/results", headers)
                self.assertEqual(answer.status, 403, answer)
                self.assertNotIn("access-control-allow-origin", answer.headers)
        followed = {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        self.assertEqual(dashboard.get("/", followed).status, 200)

    def test_nothing_of_a_request_becomes_a_path(self):
        dashboard = self.start_one()
        paths = (
            "../../../../etc/passwd",
            "..%2f..%2f..%2fetc%2fpasswd",
            "%252e%252e%252fetc%252fpasswd",
            "/etc/passwd",
            "a.pb.gz",
            f"{self.result}/../../../etc/passwd",
            f"{self.result}%00",
            "....//....//etc/passwd",
        )
        for path in paths:
            for target in (
                f"/results/{path}",
                f"/results/{path}.json",
                f"/results/{path}/file",
                f"/assets/{path}",
                f"/compare?base={path}&new={self.result}",
                f"/compare?base={self.result}&new={path}",
                f"/api/trend?series={path}",
                f"/api/results?cursor={path}",
            ):
                with self.subTest(target):
                    answer = dashboard.get(target)
                    self.assertIn(answer.status, (400, 404), answer)
                    self.assertNotIn(b"root:", answer.body)

    def test_hostile_names_stay_text(self):
        dashboard = self.start_one()
        answer = dashboard.get("/api/results")
        self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(answer.json()["results"][0]["test"], HOSTILE)
        page = dashboard.get(f"/results/{self.result}")
        self.assertEqual(page.status, 200, page)
        self.assertNotIn(b"<script>alert(1)", page.body)
        policy = page.headers["content-security-policy"]
        self.assertIn("script-src 'sha256-", policy)
        self.assertNotIn("unsafe", policy)

    def test_every_answer_has_a_strict_policy(self):
        dashboard = self.start_one()
        for target in ("/", "/api/results", "/nothing", "/results/0-0"):
            with self.subTest(target):
                headers = dashboard.get(target).headers
                policy = headers["content-security-policy"]
                self.assertIn("default-src 'none'", policy)
                self.assertIn("frame-ancestors 'none'", policy)
                self.assertNotIn("unsafe", policy)
                self.assertEqual(headers["referrer-policy"], "no-referrer")
                self.assertEqual(headers["cache-control"], "no-store")

    def test_headers_cannot_be_injected(self):
        dashboard = self.start_one()
        for target in (
            "/api/results?search=%0d%0aX-Evil:%201",
            f"/results/{self.result}%0d%0aX-Evil:%201/file",
        ):
            answer = dashboard.get(target)
            self.assertNotIn("x-evil", answer.headers)
            self.assertIn(answer.status, (400, 404), answer)

    def test_limits_of_requests(self):
        dashboard = self.start_one()
        huge = {"X-Huge": "x" * 20_000}
        self.assertEqual(dashboard.get("/", huge).status, 431)
        many = {f"X-{i}": "x" for i in range(5000)}
        self.assertEqual(dashboard.get("/", many).status, 431)
        answer = dashboard.post("/api/notes", {"note": "x" * 70_000})
        self.assertEqual(answer.status, 413)
        for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "NONSENSE"):
            answer = dashboard.ask(method, "/api/results")
            self.assertIn(answer.status, (400, 405), answer)
        for body in (b"{", b"[]", b'{"result": 1, "note": "x"}', b"\xff"):
            answer = dashboard.ask(
                "POST",
                "/api/notes",
                {
                    "Content-Type": "application/json",
                    "Origin": dashboard.origin,
                    "X-Distbench-Token": dashboard.token,
                },
                body,
            )
            self.assertEqual(answer.status, 400, answer)

    def test_slow_clients_do_not_delay_others(self):
        dashboard = self.start_one()
        slow = [dashboard.connect() for _ in range(300)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHos")
        self.assertEqual(dashboard.get("/api/session").status, 200)
        for connection in slow:
            connection.close()

    def test_mutual_tls(self):
        authority = certificates.Authority(self.folder, "authority")
        host = authority.flags("host", "DNS:localhost,IP:127.0.0.1")
        alice = dashboard_client.tls_context(
            authority.flags("alice", "DNS:alice.example")
        )
        bob = dashboard_client.tls_context(
            authority.flags("bob", "DNS:bob.example")
        )
        dashboard = self.serve(
            self.results, *host, "--allow_submit=alice.example"
        )
        self.assertEqual(dashboard.scheme, "https")
        self.assertIsNone(dashboard.token)
        results = dashboard.get("/api/results", tls=bob).json()["results"]
        while not results:
            results = dashboard.get("/api/results", tls=bob).json()["results"]
        self.result = results[0]["id"]

        refused = self.note(dashboard, tls=bob)
        self.assertEqual(refused.status, 403, refused)
        self.assertIn("bob", refused.json()["error"])
        self.assertEqual(self.note(dashboard, tls=alice).status, 200)

        stranger = certificates.Authority(self.folder, "stranger")
        wrong = dashboard_client.tls_context(
            stranger.flags("alice", "DNS:alice.example")
        )
        wrong.check_hostname = False
        wrong.verify_mode = ssl.CERT_NONE
        nobody = dashboard_client.tls_context(host[:1])
        for context in (wrong, nobody):
            with self.assertRaises((ssl.SSLError, OSError, IndexError)):
                dashboard.get("/api/results", tls=context)


if __name__ == "__main__":
    testing_main.main()
