# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A TCP proxy that delays, throttles, stalls and resets connections."""

import socket
import struct
import threading
import time

_CHUNK = 16 * 1024


class Proxy:
    """Forwards connections to a target, on its own thread.

    These may change at any time: `delay_seconds` each way; `bytes_per_second`
    each way and per connection (None: no limit); `is_stalled`: no bytes pass,
    but the connections stay. `bytes_passed` counts both ways together.
    """

    def __init__(self, host, target):
        self.delay_seconds = 0.0
        self.bytes_per_second = None
        self.is_stalled = False
        self.bytes_passed = 0
        self._target = target
        self._listener = socket.create_server((host, 0))
        self.address = f"{host}:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._pipes = []
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def reset(self):
        """Resets all connections; new ones are accepted."""
        with self._lock:
            pipes, self._pipes = self._pipes, []
        for pipe in pipes:
            pipe.reset()

    def close(self):
        self._is_closed = True
        self._listener.close()
        self.reset()

    def _accept(self):
        while not self._is_closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._target, timeout=5)
            except OSError:
                _reset(near)
                continue
            far.settimeout(None)
            with self._lock:
                self._pipes = [pipe for pipe in self._pipes if pipe.is_open]
                self._pipes += [_Pipe(self, near, far), _Pipe(self, far, near)]


def _reset(end):
    """Closes a socket so that its peer sees a reset."""
    try:
        end.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        end.shutdown(socket.SHUT_RD)
    except OSError:
        pass  # It is no longer connected.
    end.close()


class _Pipe:
    """One direction of a connection."""

    def __init__(self, proxy, source, sink):
        self._proxy = proxy
        self._source = source
        self._sink = sink
        self.is_open = True
        threading.Thread(target=self._carry, daemon=True).start()

    def reset(self):
        self.is_open = False
        _reset(self._source)
        _reset(self._sink)

    def _carry(self):
        try:
            while chunk := self._source.recv(_CHUNK):
                self._wait(len(chunk))
                self._sink.sendall(chunk)
                self._proxy.bytes_passed += len(chunk)
            self._sink.shutdown(socket.SHUT_WR)
        except OSError:
            _reset(self._sink)  # Its peer sees the end as this one did.
        self.is_open = False

    def _wait(self, size):
        """Waits until the bytes may pass."""
        proxy = self._proxy
        pause = proxy.delay_seconds
        if proxy.bytes_per_second is not None:
            pause += size / proxy.bytes_per_second
        time.sleep(pause)
        while proxy.is_stalled and self.is_open:
            time.sleep(0.01)
