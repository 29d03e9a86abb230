# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Separate hosts for tests: network namespaces, joined by a bridge.

Everything is inside namespaces (network, mounts, process ids) that belong to
one process. When it ends, for whatever reason, the kernel ends everything that
it has started and removes the networks. So nothing is left behind, nothing
outside can be affected, and tests can run concurrently with the same addresses.
"""

import os
import shutil
import socket
import subprocess
import sys

_INSIDE = "DISTBENCH_TEST_INSIDE_NAMESPACES"

_UNSHARE = [
    "unshare",
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
]

# A user who is not root may be root in a user namespace.
_WAYS_IN = [_UNSHARE, [*_UNSHARE, "--user", "--map-root-user"]]

_CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.faults import namespaces
namespaces.set_up()
namespaces.Lab().add_host("a").check()
"""

# The address of the switch, where the test itself runs.
ADDRESS = "10.77.0.254"


class Unavailable(Exception):
    """This machine allows no network namespaces; the message says why."""


def _root():
    return os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def is_inside():
    return _INSIDE in os.environ


def enter():
    """Runs the calling program again, inside the namespaces; returns there.

    Raises Unavailable if the machine does not allow it.
    """
    if is_inside():
        set_up()
        return
    for tool in ("unshare", "ip", "sh"):
        if shutil.which(tool) is None:
            raise Unavailable(
                f"{tool} is not installed (scripts/install_deps.sh)"
            )
    reasons = []
    for way in _WAYS_IN:
        check = subprocess.run(
            [*way, sys.executable, "-c", _CHECK, _root()],
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        if check.returncode == 0:
            os.environ[_INSIDE] = "1"
            os.execvp(way[0], [*way, sys.executable, *sys.orig_argv[1:]])
        reasons.append(
            (check.stderr.strip().splitlines() or ["no reason given"])[-1]
        )
    raise Unavailable(
        "network namespaces cannot be made here: " + "; ".join(reasons)
    )


def set_up():
    """Called once, inside: gives `ip netns` its own folder for names."""
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    _run("ip", "link", "set", "lo", "up")


def _run(*arguments):
    # tc is in a folder that is not on every PATH.
    path = os.pathsep.join(
        [os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]
    )
    done = subprocess.run(
        arguments,
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PATH": path},
    )
    if done.returncode != 0:
        raise Unavailable(f'{" ".join(arguments)}: {done.stderr.strip()}')
    return done.stdout


class Host:
    """A network namespace with its own address and host name."""

    def __init__(self, name, number):
        self.name = name
        self.address = f"10.77.0.{number}"
        self._port = f"to-{name}"  # the switch's port
        _run("ip", "netns", "add", name)
        _run(
            *("ip", "link", "add", self._port, "type", "veth"),
            *("peer", "name", "eth0", "netns", name),
        )
        _run("ip", "link", "set", self._port, "master", "switch", "up")
        _run(
            "ip", "-n", name, "addr", "add", f"{self.address}/24", "dev", "eth0"
        )
        for device in ("lo", "eth0"):
            _run("ip", "-n", name, "link", "set", device, "up")

    def command(self, *arguments):
        """Returns a command that runs a program there under its process id."""
        return [
            *("ip", "netns", "exec", self.name, "unshare", "--uts"),
            *("sh", "-c", 'hostname "$0" && exec "$@"', self.name, *arguments),
        ]

    def run(self, *arguments):
        return _run(*self.command(*arguments))

    def check(self):
        """Checks that the host can reach the switch."""
        with socket.create_server((ADDRESS, 0)) as listener:
            where = (ADDRESS, listener.getsockname()[1])
            connect = f"import socket; socket.create_connection({where}, 5)"
            self.run(sys.executable, "-c", connect)

    def take_device(self, name, address, peer_address):
        """Moves a point-to-point device of this process to the host."""
        _run("ip", "link", "set", name, "netns", self.name)
        here = ("ip", "-n", self.name)
        _run(*here, "addr", "add", address, "peer", peer_address, "dev", name)
        _run(*here, "link", "set", name, "up")

    def detour(self, devices, addresses):
        """What the host sends to the addresses goes into the first of two devices of
        this process, and the switch passes on what comes from the second."""
        near, far = devices
        here = ("ip", "-n", self.name)
        _run("ip", "link", "set", near, "netns", self.name)
        _run(*here, "link", "set", near, "up")
        _run("ip", "link", "set", far, "up")
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
            file.write("1")
        for address in addresses:
            route = (f"{address}/32", "dev", near, "src", self.address)
            _run(*here, "route", "add", *route)

    def end_detour(self, devices):
        near, far = devices
        _run("ip", "-n", self.name, "link", "del", near)
        _run("ip", "link", "del", far)

    def cut_link(self):
        """Drops all packets in both directions, without telling anyone."""
        _run("ip", "link", "set", self._port, "nomaster")

    def heal_link(self):
        _run("ip", "link", "set", self._port, "master", "switch")

    def block(self, address):
        """Drops what this host sends to the address."""
        _run("ip", "-n", self.name, "route", "add", "blackhole", address)

    def unblock(self, address):
        _run("ip", "-n", self.name, "route", "del", "blackhole", address)

    def set_link(self, is_up):
        """Works like pulling out the cable, or plugging it in."""
        _run("ip", "link", "set", self._port, "up" if is_up else "down")

    def throttle(self, kilobits_per_second):
        """Limits the rate at which the host sends; None: no limit."""
        _limit(("ip", "netns", "exec", self.name), "eth0", kilobits_per_second)

    def throttle_arrivals(self, kilobits_per_second):
        """Limits the rate at which the host receives; None: no limit."""
        _limit((), self._port, kilobits_per_second)


def _limit(where, device, kilobits_per_second):
    """Limits the rate at which a device sends; None: no limit."""
    qdisc = (*where, "tc", "qdisc")
    if kilobits_per_second is None:
        _run(*qdisc, "del", "dev", device, "root")
    else:
        _run(
            *(*qdisc, "replace", "dev", device, "root", "tbf"),
            *("rate", f"{kilobits_per_second}kbit"),
            *("burst", "16kb", "latency", "2s"),
        )


class Lab:
    """A switch, to which hosts are connected. One per process."""

    def __init__(self):
        _run("ip", "link", "add", "switch", "type", "bridge")
        _run("ip", "addr", "add", f"{ADDRESS}/24", "dev", "switch")
        _run("ip", "link", "set", "switch", "up")
        self._count = 0

    def add_host(self, name):
        self._count += 1
        return Host(name, self._count)
