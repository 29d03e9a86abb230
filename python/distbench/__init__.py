# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Reads results of distbench, and runs tests on a sequencer.

    import distbench

    results = distbench.read_results("results/")
    results.frame("rpcs")                          # a pandas frame
    distbench.compare(base, new).frame()
    distbench.plots.latency_curves(results)        # matplotlib
    distbench.Client("hostA:10000").run("my_test.config")

docs/python.md explains it. What results amount to is what the program distbench
says of them. Besides it, reading needs protobuf only; pandas, matplotlib and grpcio
are imported when they are first needed.
"""

import importlib
from typing import TYPE_CHECKING, Any

from distbench.comparison import compare
from distbench.errors import (
    ConfigError,
    DistbenchError,
    MissingPackageError,
    ProgramError,
    ResultError,
    SequencerError,
    UnknownNameError,
)
from distbench.progress import Progress, RunDescription
from distbench.result_files import rpc_logs
from distbench.results import Results, read_report, read_results
from distbench.runs import (
    Finding,
    Latency,
    OfferedLoad,
    Percentile,
    RpcMeasurements,
    Run,
)
from distbench.tables import FAILED, Table

if TYPE_CHECKING:
    from distbench import plots
    from distbench.client import Client

__all__ = [
    "FAILED",
    "Client",
    "ConfigError",
    "DistbenchError",
    "Finding",
    "Latency",
    "MissingPackageError",
    "OfferedLoad",
    "Percentile",
    "ProgramError",
    "Progress",
    "ResultError",
    "Results",
    "RpcMeasurements",
    "Run",
    "RunDescription",
    "SequencerError",
    "Table",
    "UnknownNameError",
    "compare",
    "plots",
    "read_report",
    "read_results",
    "rpc_logs",
]


def __getattr__(name: str) -> Any:
    """Imports what most programs do not need when it is first used."""
    if name == "plots":
        return importlib.import_module("distbench.plots")
    if name == "Client":
        return importlib.import_module("distbench.client").Client
    raise AttributeError(f"module 'distbench' has no attribute {name!r}")
