# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The program distbench, which derives everything that this package shows of
results."""

import importlib.metadata
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from distbench.errors import ProgramError, ResultError

Json = dict[str, Any]
PathLike = str | os.PathLike[str]

# Where start_distbench_localhost.sh and others look for it, too.
_VARIABLE = "DISTBENCH"

_REMEDY = (
    f"set {_VARIABLE} or program= to a built distbench of the version of this "
    "package, or install it (apt install distbench; docs/packages.md)"
)

# The statuses with which report and compare have written their output: all is
# well; a run failed or its numbers are false.
_WRITTEN = (0, 3)


class Program:
    """A distbench that can be run."""

    def __init__(self, path: PathLike | None = None) -> None:
        """Finds the program: at `path`, or where the environment's DISTBENCH
        says, or on PATH.

        Raises:
            ProgramError: it is not there.
        """
        given = path or os.environ.get(_VARIABLE)
        found = shutil.which(os.fspath(given or "distbench"))
        if found is None and given:
            source = "program" if path else _VARIABLE
            raise ProgramError(
                f"{source}={os.fspath(given)} is not a program; {_REMEDY}"
            )
        if found is None:
            raise ProgramError(
                "the program distbench, which derives all figures from results, "
                f"is not on PATH; {_REMEDY}"
            )
        self._path = found

    def report(self, paths: Iterable[PathLike]) -> Json:
        """Returns what distbench says of results, which may be folders.

        Raises:
            ResultError: one of them is not a result.
        """
        return self._document("report", "--format=json", "--", *paths)

    def compare(
        self, base: PathLike, new: PathLike, *, allow_different_traffic: bool
    ) -> Json:
        """Returns what distbench says of the difference between two results."""
        flag = "--allow_different_traffic"
        flags = [flag] if allow_different_traffic else []
        return self._document("compare", "--format=json", *flags, "--", base, new)

    def fetch(
        self, run_id: str, outfile: PathLike, connection: Mapping[str, str]
    ) -> None:
        """Writes the result of a run that has ended into a file.

        Args:
            connection: the values of DISTBENCH_* that a Client uses.

        Raises:
            ProgramError: there is no result to write.
        """
        ours = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DISTBENCH_TEST_SEQUENCER", "DISTBENCH_TLS_"))
        }
        # No such folder, so no defaults of the user's.
        ours["XDG_CONFIG_HOME"] = f"{os.fspath(outfile)}.none"
        outfile_flag = f"--outfile={os.fspath(outfile)}"
        outcome = self._run(
            ["runs", "wait", "--quiet", "--binary_output", outfile_flag, run_id],
            {**ours, **connection},
        )
        # The status also says how the run ended.
        if not os.path.exists(outfile):
            raise ProgramError(
                f"{self._path} did not get the result of run {run_id}: "
                f"{_complaint(outcome)}"
            )

    def _document(self, *arguments: PathLike) -> Json:
        outcome = self._run(arguments)
        if outcome.returncode not in _WRITTEN:
            raise ResultError(_complaint(outcome))
        try:
            document: Json = json.loads(outcome.stdout)
        except ValueError:
            raise ProgramError(
                f"{self._path} did not write JSON: {_complaint(outcome)}; is it "
                f"distbench? {_REMEDY}"
            ) from None
        return document

    def _run(
        self,
        arguments: Iterable[PathLike],
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                [self._path, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                env=environment,
            )
        except OSError as error:
            raise ProgramError(
                f"cannot run {self._path}: {error.strerror}; {_REMEDY}"
            ) from None


def package_version() -> str:
    """Returns the version of this package."""
    try:
        return importlib.metadata.version("distbench")
    except importlib.metadata.PackageNotFoundError:
        return "unknown (it is not installed)"


def _complaint(outcome: subprocess.CompletedProcess[bytes]) -> str:
    said = outcome.stderr.decode(errors="replace").strip()
    return said.removeprefix("distbench: ") or f"status {outcome.returncode}"
