# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the unittest cases of the calling script and reports each of them to
Bazel, which otherwise counts the script as one case."""

import os
import time
import unittest
import xml.etree.ElementTree as ElementTree


class _XmlResult(unittest.TextTestResult):
    """Also collects test.xml's contents, in JUnit's format."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.suite = ElementTree.Element("testsuite", name="unittest")

    def startTest(self, test):
        super().startTest(test)
        self._started = time.monotonic()
        self._case = ElementTree.SubElement(
            self.suite,
            "testcase",
            classname=type(test).__name__,
            name=test._testMethodName,
        )

    def stopTest(self, test):
        self._case.set("time", f"{time.monotonic() - self._started:.3f}")
        super().stopTest(test)

    def _mark(self, kind, text):
        ElementTree.SubElement(self._case, kind).text = text

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._mark("failure", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._mark("error", self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._mark("skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._mark("failure", self._exc_info_to_string(err, test))


class _ShardLoader(unittest.TestLoader):
    """Loads this shard's part of the cases, if Bazel divides the test."""

    def getTestCaseNames(self, testCaseClass):
        index = int(os.environ.get("TEST_SHARD_INDEX", 0))
        shards = int(os.environ.get("TEST_TOTAL_SHARDS", 1))
        return super().getTestCaseNames(testCaseClass)[index::shards]


def _tell_that_shards_are_supported():
    path = os.environ.get("TEST_SHARD_STATUS_FILE")
    if path:
        with open(path, "w", encoding="utf-8"):
            pass


def main():
    _tell_that_shards_are_supported()
    runner = unittest.TextTestRunner(verbosity=2, resultclass=_XmlResult)
    program = unittest.main(
        module="__main__",
        testRunner=runner,
        testLoader=_ShardLoader(),
        exit=False,
    )
    xml_path = os.environ.get("XML_OUTPUT_FILE")
    if xml_path:
        ElementTree.ElementTree(program.result.suite).write(xml_path)
    raise SystemExit(0 if program.result.wasSuccessful() else 1)
