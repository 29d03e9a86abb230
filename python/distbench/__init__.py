"""Reads results of distbench, and runs tests on a sequencer.

    import distbench

    results = distbench.read_results("results/")
    results.frame("rpcs")                          # a pandas frame
    distbench.compare(base, new).frame()
    distbench.plots.latency_curves(results)        # matplotlib
    distbench.Client("hostA:10000").run("my_test.config")

docs/python.md explains it. Reading needs protobuf only; pandas, matplotlib and
grpcio are imported when they are first needed.
"""

import importlib
from typing import TYPE_CHECKING, Any

from distbench.comparison import compare
from distbench.errors import (
    ConfigError,
    DistbenchError,
    MissingPackageError,
    ResultError,
    SequencerError,
)
from distbench.histogram import Histogram
from distbench.outcomes import FAILED, Latency, Outcomes, Percentile
from distbench.progress import Progress, RunDescription
from distbench.report import Report, read_report
from distbench.results import Results, read_results
from distbench.runs import Finding, OfferedLoad, RpcMeasurements, Run, add_up
from distbench.tables import Table

if TYPE_CHECKING:
    from distbench import plots
    from distbench.client import Client

__all__ = [
    "FAILED",
    "Client",
    "ConfigError",
    "DistbenchError",
    "Finding",
    "Histogram",
    "Latency",
    "MissingPackageError",
    "OfferedLoad",
    "Outcomes",
    "Percentile",
    "Progress",
    "Report",
    "ResultError",
    "Results",
    "RpcMeasurements",
    "Run",
    "RunDescription",
    "SequencerError",
    "Table",
    "add_up",
    "compare",
    "plots",
    "read_report",
    "read_results",
]


def __getattr__(name: str) -> Any:
    """Imports what most programs do not need when it is first used."""
    if name == "plots":
        return importlib.import_module("distbench.plots")
    if name == "Client":
        return importlib.import_module("distbench.client").Client
    raise AttributeError(f"module 'distbench' has no attribute {name!r}")
