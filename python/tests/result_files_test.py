"""Tests that result files of all kinds are read, and that others are refused
with a message that names the file, the problem and the remedy."""

import gzip
import os
import tempfile
import unittest
from unittest import mock

import distbench
from distbench.result_files import read_file, write_file
from python.tests.example import message_of, results_of, test_result
from tests import testing_main


class ResultFilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, contents):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(contents)
        return path

    def assert_refused(self, contents, problem):
        path = self.write("bad", contents)
        with self.assertRaises(distbench.ResultError) as raised:
            distbench.read_results(path)
        self.assertIn(path, str(raised.exception))
        self.assertRegex(str(raised.exception), problem)

    def test_all_encodings_are_read(self):
        message = message_of(test_result(name="größe"))
        for name, text in (
            ("binary.pb", False),
            ("binary.pb.gz", False),
            ("text.config", True),
            ("text.config.gz", True),
        ):
            path = os.path.join(self.folder, name)
            write_file(message, path, text=text)
            self.assertEqual(read_file(path), message, name)
        self.assertEqual(len(os.listdir(self.folder)), 4)

    def test_two_writers_do_not_disturb_each_other(self):
        path = os.path.join(self.folder, "same.pb")
        messages = [message_of(test_result(name=name)) for name in ("a", "b")]
        # Each is at work when the other one replaces the file.
        for first, second in (messages, messages[::-1]):
            replace = os.replace

            def late_replace(source, target):
                with mock.patch("os.replace", replace):
                    write_file(second, path)
                replace(source, target)

            with mock.patch("os.replace", late_replace):
                write_file(first, path)
            self.assertEqual(read_file(path), first)
        self.assertEqual(os.listdir(self.folder), ["same.pb"])

    def test_what_cannot_be_written_leaves_nothing(self):
        folder = os.path.join(self.folder, "folder.pb")
        os.mkdir(folder)
        with self.assertRaises(OSError):
            write_file(message_of(), folder)
        self.assertEqual(os.listdir(self.folder), ["folder.pb"])

    def test_no_length_looks_like_json(self):
        # The second byte is the length of the test: "{", after a "line break".
        message = message_of()
        message.test_results.add().run_info.failure = "x" * (ord("{") - 5)
        contents = message.SerializeToString()
        self.assertEqual(contents[:2], b"\n{")
        self.assertEqual(read_file(self.write("short.pb", contents)), message)

    def test_folders_are_read_in_the_order_of_names(self):
        write_file(message_of(test_result(name="b")), f"{self.folder}/b.pb")
        write_file(message_of(test_result(name="a")), f"{self.folder}/a.pb.gz")
        self.write("notes.txt", b"not a result")
        results = distbench.read_results(self.folder)
        self.assertEqual([run.test for run in results.runs], ["a", "b"])

    def test_a_folder_without_results_is_refused(self):
        with self.assertRaisesRegex(distbench.ResultError, "holds no results"):
            distbench.read_results(self.folder)
        with self.assertRaisesRegex(distbench.ResultError, "no result is given"):
            distbench.read_results()

    def test_a_missing_file_is_an_oserror(self):
        with self.assertRaises(FileNotFoundError):
            distbench.read_results(f"{self.folder}/missing.pb")

    def test_other_files_are_refused(self):
        whole = message_of(test_result()).SerializeToString()
        self.assert_refused(b"", "is empty")
        self.assert_refused(b'{"schema": 1}', r"read_report\(\)")
        self.assert_refused(b"tests { name: 'x' }", "text format: 1:1")
        self.assert_refused(b"test_results { nme: 1 }", "1:16.*nme")
        self.assert_refused(whole[:-5], "or cut off")
        self.assert_refused(gzip.compress(whole)[:-20], "damaged or cut off")
        # Field 7 of varint 1, as jobs of distbench bench have.
        self.assert_refused(b"\x38\x01", "distbench bench -r FILE format")

    def test_contradictions_name_the_log(self):
        result = test_result()
        log = result.service_logs.instance_logs["client/0"]
        log.peer_logs["server/0"].rpc_logs[0].statistics.failed_count = -1
        self.assert_refused(
            message_of(result).SerializeToString(),
            r"test_results\[0\]: statistics of query from client/0 to server/0: "
            "statistics hold -1",
        )

    def test_names_that_are_not_utf_8_are_refused(self):
        result = test_result()
        result.resource_usage_logs.node_resources["node0"].samples.add()
        result.resource_usage_logs.node_resources["node1"].samples.add()
        whole = message_of(result).SerializeToString()
        self.assert_refused(whole.replace(b"server/0", b"server/\xff"), "UTF-8|cut off")
        path = self.write("bad.pb", whole.replace(b"node0", b"node\xff"))
        with self.assertRaises(distbench.ResultError):
            distbench.read_results(path).table("resources")

    def test_samples_of_older_tools_become_statistics(self):
        result = test_result()
        instance = result.service_logs.instance_logs["client/0"]
        log = instance.peer_logs["server/0"].rpc_logs[0]
        log.ClearField("statistics")
        for latency in (100, 200, 300):
            log.successful_rpc_samples.add(
                start_timestamp_ns=1000, latency_ns=latency, lateness_ns=10
            )
        log.successful_rpc_samples.add(latency_ns=9999, warmup=True)
        log.failed_rpc_samples.add(error_index=1)
        path = self.write("old.pb", message_of(result).SerializeToString())
        rpc = distbench.read_results(path).runs[0].rpc("query")
        self.assertEqual((rpc.succeeded, rpc.failed, rpc.warmup), (3, 1, 1))
        self.assertEqual(rpc.failures, {"deadline": 1})
        self.assertEqual(rpc.service_time.outcomes.latency_ns.max, 300)
        self.assertEqual(rpc.response_time.outcomes.latency_ns.min, 110)
        self.assertEqual(rpc.duration_ns, 300)

    def test_samples_that_are_out_of_range_are_no_crash(self):
        for time_ns, problem in ((2**63 - 1, None), (-(2**63), "at least 0")):
            result = test_result()
            instance = result.service_logs.instance_logs["client/0"]
            log = instance.peer_logs["server/0"].rpc_logs[0]
            log.ClearField("statistics")
            log.successful_rpc_samples.add(
                start_timestamp_ns=time_ns, latency_ns=time_ns, lateness_ns=time_ns
            )
            contents = message_of(result).SerializeToString()
            if problem is not None:
                self.assert_refused(contents, problem)
                continue
            path = self.write("old.pb", contents)
            rpc = distbench.read_results(path).runs[0].rpc("query")
            self.assertEqual(rpc.response_time.outcomes.latency_ns.max, time_ns)

    def test_write_merges_files(self):
        both = results_of(test_result()) + results_of(test_result(repetition=1))
        path = os.path.join(self.folder, "both.pb.gz")
        both.write(path)
        runs = distbench.read_results(path).runs
        self.assertEqual([run.repetition for run in runs], [0, 1])

    def test_two_numa_comparisons_are_not_mixed(self):
        message = message_of()
        message.numa_comparison.omissions.append("none")
        results = distbench.Results([("a", message), ("b", message)])
        with self.assertRaisesRegex(ValueError, "only one"):
            results.write(os.path.join(self.folder, "both.pb"))


if __name__ == "__main__":
    testing_main.main()
