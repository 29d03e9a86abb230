# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that result files of all kinds are read, and that others are refused
with a message that names the file, the problem and the remedy."""

import gzip
import os
import stat
import tempfile
import unittest
from unittest import mock

import distbench
from distbench.result_files import parse, rpc_logs, write_file
from python.tests.example import message_of, test_result
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

    def message(self, path):
        with open(path, "rb") as file:
            return parse(file.read(), path)

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
            self.assertEqual(self.message(path), message, name)
            (run,) = distbench.read_results(path).runs
            self.assertEqual(run.result, message.test_results[0], name)
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
            self.assertEqual(self.message(path), first)
        self.assertEqual(os.listdir(self.folder), ["same.pb"])

    def test_links_are_followed(self):
        target = self.write("target.pb", b"")
        link = os.path.join(self.folder, "link.pb")
        os.symlink("target.pb", link)
        message = message_of(test_result(name="a"))
        write_file(message, link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.message(target), message)
        self.assertEqual(len(os.listdir(self.folder)), 2)

    def test_a_link_to_a_new_file_makes_that(self):
        link = os.path.join(self.folder, "link.pb")
        os.symlink("new.pb", link)
        message = message_of(test_result(name="a"))
        write_file(message, link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(
            self.message(os.path.join(self.folder, "new.pb")), message
        )

    def test_a_pipe_is_written_and_stays(self):
        pipe = os.path.join(self.folder, "pipe.pb")
        os.mkfifo(pipe)
        # Also if the writer fails to open it, the test ends.
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        message = message_of(test_result(name="a"))
        write_file(message, pipe)
        self.assertTrue(stat.S_ISFIFO(os.lstat(pipe).st_mode))
        self.assertEqual(parse(os.read(reader, 65536), pipe), message)
        self.assertEqual(os.listdir(self.folder), ["pipe.pb"])

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
        self.assertEqual(parse(contents, "short.pb"), message)

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
        self.assert_refused(b"tests { name: 'x' }", "it is a config, no result")
        self.assert_refused(b"test_results { nme: 1 }", "line 1, column 19.*nme")
        self.assert_refused(whole[:-5], "or cut off")
        self.assert_refused(gzip.compress(whole)[:-20], "ends too early")
        # Field 7 of varint 1, as jobs of distbench bench have.
        self.assert_refused(b"\x38\x01", "distbench bench -r FILE format")

    def test_names_that_are_not_utf_8_are_no_crash(self):
        contents = message_of(test_result()).SerializeToString()
        path = self.write("bad.pb", contents.replace(b"server/0", b"server/\xff"))
        results = distbench.read_results(path)
        self.assertEqual(results.runs[0].rpc("query").succeeded, 1000)
        with self.assertRaisesRegex(distbench.ResultError, "bad.pb.*(UTF-8|cut off)"):
            results.table("samples")

    def test_a_file_that_is_given_twice_is_read_once(self):
        path = self.write("a.pb", message_of(test_result()).SerializeToString())
        self.assertEqual(len(distbench.read_results(path, path).runs), 1)

    def test_a_result_stays_what_it_was_when_it_was_read(self):
        path = self.write("a.pb", message_of(test_result("a")).SerializeToString())
        results = distbench.read_results(path)
        self.write("a.pb", message_of(test_result("b")).SerializeToString())
        self.assertEqual(results.runs[0].result, test_result("a"))


class LogsTest(unittest.TestCase):
    def test_logs_have_names(self):
        result = test_result(values=[5])
        config = result.traffic_config
        config.rpc_replay_traces.add(name="recorded")
        instance = result.service_logs.instance_logs["client/0"]
        peer = instance.peer_logs["server/0"]
        peer.replay_logs[1].successful_rpc_samples.add(latency_ns=7)
        peer.rpc_logs[9].successful_rpc_samples.add(latency_ns=9)
        found = [
            (log.client, log.server, log.rpc, log.log.successful_rpc_samples[0])
            for log in rpc_logs(result)
        ]
        self.assertEqual(
            [(*names, sample.latency_ns) for *names, sample in found],
            [
                ("client/0", "server/0", "query", 5),
                ("client/0", "server/0", "recorded", 7),
                ("client/0", "server/0", "rpc[9]", 9),
            ],
        )


if __name__ == "__main__":
    testing_main.main()
