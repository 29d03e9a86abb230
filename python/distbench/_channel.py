# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Connections to a sequencer: addresses, TLS files and what went wrong."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from distbench._optional import import_optional
from distbench._program import PathLike
from distbench.errors import ConfigError, SequencerError

if TYPE_CHECKING:
    import grpc

_KEEPALIVE_MS = 5000

_HOST_AND_PORT = re.compile(r"(\[[^\]]+\]|[^:\[\]]+):([0-9]{1,5})")


# Variables of the environment, by the field of Endpoint.
_VARIABLES = {
    "address": "DISTBENCH_TEST_SEQUENCER",
    "tls_ca": "DISTBENCH_TLS_CA",
    "tls_cert": "DISTBENCH_TLS_CERT",
    "tls_key": "DISTBENCH_TLS_KEY",
    "tls_name": "DISTBENCH_TLS_NAME",
}


@dataclass(frozen=True)
class Endpoint:
    """Where a sequencer is, and the PEM files and the name for TLS."""

    address: str
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    tls_name: str | None = None

    def environment(self) -> dict[str, str]:
        """Returns the variables by which programs connect to it, too."""
        return {
            variable: getattr(self, field)
            for field, variable in _VARIABLES.items()
            if getattr(self, field) is not None
        }


def find_endpoint(environment: Mapping[str, str], **given: PathLike | None) -> Endpoint:
    """Completes what the caller gave of Endpoint's fields from the environment.

    Raises:
        ConfigError: there is no address, or it is none, or the TLS files are not
            complete.
    """
    fields: dict[str, str] = {}
    for field, variable in _VARIABLES.items():
        value = given.get(field)
        if value is None:
            value = environment.get(variable)
        if value:
            fields[field] = os.fspath(value)
    if "address" not in fields:
        raise ConfigError(
            'no sequencer is given; pass its address "HOST:PORT", or set '
            "DISTBENCH_TEST_SEQUENCER"
        )
    found = Endpoint(**fields)
    parts = _HOST_AND_PORT.fullmatch(found.address)
    if parts is None or not 0 < int(parts[2]) < 65536:
        raise ConfigError(
            f'"{found.address}" is not HOST:PORT, such as localhost:10000 or '
            "[::1]:10000"
        )
    if (found.tls_cert is None) != (found.tls_key is None):
        raise ConfigError(
            "tls_cert and tls_key (DISTBENCH_TLS_CERT, DISTBENCH_TLS_KEY) belong "
            "together, and only one of them is given"
        )
    if found.tls_ca is None and (found.tls_cert or found.tls_name):
        raise ConfigError(
            "tls_cert and tls_name need tls_ca (DISTBENCH_TLS_CA), by which the "
            "sequencer's certificate is checked"
        )
    return found


def open_channel(endpoint: Endpoint) -> "grpc.Channel":
    """Opens a channel; connects when it is first used.

    Raises:
        ConfigError: a TLS file cannot be read; names it.
        MissingPackageError: grpcio is not installed.
    """
    library = import_optional("grpc", "client", "a connection to a sequencer")
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        # Notices when the sequencer's host is gone.
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
        ("grpc.http2.max_pings_without_data", 0),
        # Does not reuse what another client found out about the address.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if endpoint.tls_ca is None:
        channel: "grpc.Channel" = library.insecure_channel(endpoint.address, options)
        return channel
    credentials = library.ssl_channel_credentials(
        _read("tls_ca", endpoint.tls_ca),
        _read("tls_key", endpoint.tls_key),
        _read("tls_cert", endpoint.tls_cert),
    )
    if endpoint.tls_name is not None:
        options.append(("grpc.ssl_target_name_override", endpoint.tls_name))
    channel = library.secure_channel(endpoint.address, credentials, options)
    return channel


def _read(argument: str, path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"{argument}: cannot read {path}: {error.strerror}") from None


def explain(error: "grpc.RpcError", endpoint: Endpoint) -> SequencerError:
    """Turns gRPC's error into one that says what was tried and what to check.
    Errors of the sequencer itself are passed on."""
    call: Any = error
    code = call.code().name
    details = call.details() or ""
    address = endpoint.address
    if code == "UNIMPLEMENTED":
        message = (
            f"the server at {address} is not a test sequencer of this distbench: it "
            "is another program, or a sequencer of another implementation, which "
            "needs its own clients; is it the right port?"
        )
    elif code == "DEADLINE_EXCEEDED":
        message = (
            f"{address} did not answer in time; is the host up, does a firewall "
            "allow the port, and is it the test sequencer's port?"
        )
    elif code != "UNAVAILABLE":
        message = details
    elif "Connection refused" in details:
        message = (
            f"nothing listens at {address}; is the test sequencer running there, "
            "and is this its port?"
        )
    elif "DNS resolution failed" in details or "Domain name not found" in details:
        message = f"the host name in {address} is unknown; is it right? ({details})"
    else:
        message = f"the test sequencer at {address} was lost or cannot be reached: " + (
            f"{details}; {_tls_advice(endpoint)}"
        )
    return SequencerError(code, message)


def _tls_advice(endpoint: Endpoint) -> str:
    if endpoint.tls_ca is None:
        return "if it requires TLS, give tls_ca, and tls_cert and tls_key"
    return (
        f"are {endpoint.tls_ca} and the other TLS files those of this cluster, and "
        "does the sequencer use TLS? distbench status with the same files says "
        "which certificate was refused"
    )
