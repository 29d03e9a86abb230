"""Hosts of their own for tests: network namespaces, joined by a bridge.

Everything is inside namespaces (network, mounts, process ids) that belong to
one process: when that ends, however that comes, the kernel ends whatever it has
started and removes the networks. So nothing is left behind, nothing outside can
be hit, and any number of tests run beside each other with the same addresses.
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

# Whoever is not root may be it in a namespace of users.
_WAYS_IN = [_UNSHARE, [*_UNSHARE, "--user", "--map-root-user"]]

_CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.faults import namespaces
namespaces.set_up()
namespaces.Lab().add_host("a").check()
"""

# Of the switch, where the test itself is.
ADDRESS = "10.77.0.254"


class Unavailable(Exception):
    """This machine cannot do it; says why."""


def _root():
    return os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def is_inside():
    return _INSIDE in os.environ


def enter():
    """Runs the calling program again, inside; returns there.

    Raises Unavailable where the machine does not allow it.
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
    """Once, inside: `ip netns` has a folder of its own for its names."""
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    _run("ip", "link", "set", "lo", "up")


def _run(*arguments):
    # tc is where not every PATH leads.
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
    """A network namespace with an address and a host name of its own."""

    def __init__(self, name, number):
        self.name = name
        self.address = f"10.77.0.{number}"
        self._port = f"to-{name}"  # of the switch
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
        """Runs a program there; it keeps the process id of what starts this."""
        return [
            *("ip", "netns", "exec", self.name, "unshare", "--uts"),
            *("sh", "-c", 'hostname "$0" && exec "$@"', self.name, *arguments),
        ]

    def run(self, *arguments):
        return _run(*self.command(*arguments))

    def check(self):
        """It can reach the switch."""
        with socket.create_server((ADDRESS, 0)) as listener:
            where = (ADDRESS, listener.getsockname()[1])
            connect = f"import socket; socket.create_connection({where}, 5)"
            self.run(sys.executable, "-c", connect)

    def cut_link(self):
        """Nothing comes or goes any more, and nobody is told."""
        _run("ip", "link", "set", self._port, "nomaster")

    def heal_link(self):
        _run("ip", "link", "set", self._port, "master", "switch")

    def set_link(self, is_up):
        """As if the cable were pulled out, or put in."""
        _run("ip", "link", "set", self._port, "up" if is_up else "down")

    def throttle(self, kilobits_per_second):
        """Limits what the host sends; None: no longer."""
        where = ("ip", "netns", "exec", self.name, "tc", "qdisc")
        if kilobits_per_second is None:
            _run(*where, "del", "dev", "eth0", "root")
        else:
            _run(
                *(*where, "replace", "dev", "eth0", "root", "tbf"),
                *("rate", f"{kilobits_per_second}kbit"),
                *("burst", "16kb", "latency", "2s"),
            )


class Lab:
    """A switch, to which hosts are connected. One a process."""

    def __init__(self):
        _run("ip", "link", "add", "switch", "type", "bridge")
        _run("ip", "addr", "add", f"{ADDRESS}/24", "dev", "switch")
        _run("ip", "link", "set", "switch", "up")
        self._count = 0

    def add_host(self, name):
        self._count += 1
        return Host(name, self._count)
