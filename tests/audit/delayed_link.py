# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A link between two hosts that takes a known time, without help of the kernel.

Not every kernel can delay packets (netem). Here, each host has a network device
whose other end is a file of this process, which passes the packets on.
"""

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
        self._delay_seconds = delay_seconds
        ends = [
            _open_device(f"wire{number}", host, *pair)
            for number, (host, pair) in enumerate(
                zip(hosts, (addresses, addresses[::-1]))
            )
        ]
        for source, sink in (ends, ends[::-1]):
            packets = queue.SimpleQueue()
            for work in (self._receive, self._send):
                threading.Thread(
                    target=work, args=(source, sink, packets), daemon=True
                ).start()

    def _receive(self, source, _, packets):
        while packet := os.read(source, _PACKET_BYTES):
            packets.put((time.monotonic() + self._delay_seconds, packet))

    def _send(self, _, sink, packets):
        while True:
            due, packet = packets.get()
            time.sleep(max(0, due - time.monotonic()))
            os.write(sink, packet)


def _open_device(name, host, address, peer_address):
    """Makes a device of the host; returns its other end, a file."""
    end = os.open(_DEVICES, os.O_RDWR)
    request = struct.pack("16sH", name.encode(), _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(end, _TUNSETIFF, request)
    host.take_device(name, address, peer_address)
    return end
