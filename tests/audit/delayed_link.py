# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Links and routes between hosts that take a known time, without help of the kernel.

Not every kernel can delay packets (netem). Here, each end is a network device whose
other end is a file of this process, which passes the packets on.
"""

import contextlib
import fcntl
import os
import queue
import struct
import threading
import time

_DEVICES = "/dev/net/tun"
_TUNSETIFF = 0x400454CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000
_PACKET_BYTES = 65536


def why_unavailable():
    """Returns why there can be no such link, or None."""
    if os.access(_DEVICES, os.R_OK | os.W_OK):
        return None
    return f"{_DEVICES} cannot be opened"


class DelayedLink:
    """Delays packets between two hosts by delay_seconds each way."""

    def __init__(self, hosts, addresses, delay_seconds):
        ends = []
        for number, (host, pair) in enumerate(
            zip(hosts, (addresses, addresses[::-1]))
        ):
            ends.append(_open_device(f"wire{number}"))
            host.take_device(f"wire{number}", *pair)
        for source, sink in (ends, ends[::-1]):
            _pass_on(source, sink, delay_seconds)


class DelayedRoutes:
    """Delays by delay_seconds what a host sends to some addresses of others on its
    switch. What it receives comes as before."""

    def __init__(self, host, addresses, delay_seconds):
        self._host = host
        self._devices = (f"slow-{host.name}", f"late-{host.name}")
        near, far = map(_open_device, self._devices)
        host.detour(self._devices, addresses)
        _pass_on(near, far, delay_seconds)

    def close(self):
        """The host sends as before; packets on their way are lost."""
        self._host.end_detour(self._devices)


def _pass_on(source, sink, delay_seconds):
    """Passes packets from a device's end to another one until the first is gone."""
    packets = queue.SimpleQueue()

    def receive():
        try:
            while packet := os.read(source, _PACKET_BYTES):
                packets.put((time.monotonic() + delay_seconds, packet))
        except OSError:
            packets.put(None)  # Its device was deleted.

    def send():
        while (each := packets.get()) is not None:
            due, packet = each
            time.sleep(max(0, due - time.monotonic()))
            with contextlib.suppress(OSError):
                os.write(sink, packet)

    for work in (receive, send):
        threading.Thread(target=work, daemon=True).start()


def _open_device(name):
    """Makes a device; returns its other end, a file."""
    end = os.open(_DEVICES, os.O_RDWR)
    request = struct.pack("16sH", name.encode(), _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(end, _TUNSETIFF, request)
    return end
