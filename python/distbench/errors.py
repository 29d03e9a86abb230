# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The errors of this package, all of them DistbenchError."""


class DistbenchError(Exception):
    """The base of all errors of this package. Messages name the place, the
    problem and the remedy."""


class ResultError(DistbenchError, ValueError):
    """A file is not a result or a report, or lacks what was asked for."""


class UnknownNameError(ResultError, KeyError):
    """A result has no test or RPC of this name; lists those that it has."""

    # KeyError would show the message as a literal.
    __str__ = Exception.__str__


class ConfigError(DistbenchError, ValueError):
    """A test, an address or a setting of the connection is wrong."""


class MissingPackageError(DistbenchError, ImportError):
    """A function needs a package that is not installed."""


class ProgramError(DistbenchError):
    """The program distbench is missing or cannot be run."""


class SequencerError(DistbenchError):
    """A sequencer cannot be reached, or refused what it was asked for.

    Attributes:
        code: the name of the gRPC status, such as "INVALID_ARGUMENT".
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
