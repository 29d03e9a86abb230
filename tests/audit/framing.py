# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Finds the RPCs in the byte streams of connections."""

import bisect
import dataclasses
import struct

from tests.audit import capture

# ---- RPCs -------------------------------------------------------------------


@dataclasses.dataclass
class Message:
    """A request or a response on the wire."""

    size: int
    first_byte_ns: int
    last_byte_ns: int


@dataclasses.dataclass
class Traffic:
    """The RPCs of a capture, by the connection's number and the call's id."""

    requests: dict = dataclasses.field(default_factory=dict)
    responses: dict = dataclasses.field(default_factory=dict)
    handshakes: int = 0

    def wire_times(self):
        """Returns the time between the last byte of each request and the first
        byte of its response, in nanoseconds, ascending."""
        return sorted(self.wire_times_by_send())

    def wire_times_by_send(self):
        """Returns the same in the order in which requests were sent."""
        if self.responses.keys() - self.requests.keys():
            raise capture.CaptureError("there are responses without requests")
        pairs = sorted(
            (self.requests[call].last_byte_ns, response.first_byte_ns)
            for call, response in self.responses.items()
        )
        return [received - sent for sent, received in pairs]

    def sends(self):
        """Returns when requests were sent, ascending."""
        requests = self.requests.values()
        return sorted(request.last_byte_ns for request in requests)


def _frames(stream, start, header_bytes, size_bytes, byte_order):
    """Yields the header, the offset and the body of each frame. The header
    begins with the body's size."""
    at = start
    while at < len(stream.data):
        header = stream.data[at : at + header_bytes]
        body_bytes = int.from_bytes(header[:size_bytes], byte_order)
        end = at + header_bytes + body_bytes
        if end > len(stream.data):
            raise capture.CaptureError("the stream ends within a frame")
        yield header, at, stream.data[at + header_bytes : end]
        at = end


# ---- tcp: distbench/protocol/tcp/frame.h ------------------------------------

# Each side's hello, random bytes and proof.
_GREETING_BYTES = 16 + 32 + 32

_REQUEST, _REPLY = 1, 2


def _tcp_messages(stream, kind):
    """Returns the messages of one direction, by the id of the call."""
    if stream.data[:8] != b"distbtcp":
        raise capture.CaptureError("this is not the tcp driver")
    messages = {}
    frames = _frames(stream, _GREETING_BYTES, 16, 4, "little")
    for header, at, body in frames:
        if header[7] != kind:
            raise capture.CaptureError(f"a frame has the kind {header[7]}")
        call = int.from_bytes(header[8:], "little")
        end = at + len(header) + len(body)
        if call in messages:
            raise capture.CaptureError(f"call {call} occurs twice")
        messages[call] = Message(
            len(body), stream.time_ns(at), stream.time_ns(end - 1)
        )
    return messages


def tcp_traffic(connections):
    traffic = Traffic()
    for number, connection in enumerate(connections):
        traffic.handshakes += 1
        for messages, stream, kind in (
            (traffic.requests, connection.to_server, _REQUEST),
            (traffic.responses, connection.to_client, _REPLY),
        ):
            for call, message in _tcp_messages(stream, kind).items():
                messages[number, call] = message
    return traffic


# ---- thrift: distbench/products/thrift/traffic.thrift -----------------------

_CALL, _ANSWER = 1, 2


def _thrift_messages(stream, kind):
    """Returns the messages of GenericRpc in one direction, by sequence id, and
    the number of handshakes."""
    messages = {}
    handshakes = 0
    for header, at, body in _frames(stream, 0, 4, 4, "big"):
        version, name_bytes = struct.unpack_from("!II", body)
        if version != 0x80010000 + kind:
            raise capture.CaptureError(f"a frame has the version {version:#x}")
        name = body[8 : 8 + name_bytes]
        call, field, number, size = struct.unpack_from(
            "!IBHI", body, 8 + name_bytes
        )
        if (field, number) != (11, 1 if kind == _CALL else 0):
            raise capture.CaptureError(f"field {number} has the type {field}")
        if size != len(body) - 8 - name_bytes - 11 - 1 or body[-1] != 0:
            raise capture.CaptureError("a frame is more than one field")
        if name == b"Handshake":
            handshakes += 1
            continue
        if call in messages:
            raise capture.CaptureError(f"call {call} occurs twice")
        end = at + len(header) + len(body)
        messages[call] = Message(
            size, stream.time_ns(at), stream.time_ns(end - 1)
        )
    return messages, handshakes


def thrift_traffic(connections):
    traffic = Traffic()
    for number, connection in enumerate(connections):
        calls, handshakes = _thrift_messages(connection.to_server, _CALL)
        answers, _ = _thrift_messages(connection.to_client, _ANSWER)
        traffic.handshakes += handshakes
        for messages, found in (
            (traffic.requests, calls),
            (traffic.responses, answers),
        ):
            for call, message in found.items():
                messages[number, call] = message
    return traffic


# ---- gRPC: RFC 9113, and length-prefixed messages in its DATA frames --------

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS = 0, 1
_END_STREAM, _PADDED = 0x1, 0x8

# The first byte of a HandshakeRequest: its challenge. No GenericRequestResponse
# begins like that, as its first field is a number (proto/data_plane.proto).
_CHALLENGE = b"\x0a"


class _HttpStream:
    """What one side sends on an HTTP/2 stream."""

    def __init__(self, first_byte_ns):
        self.data = b""
        self.times = Message(0, first_byte_ns, first_byte_ns)
        self.ended = False
        self._ends = []  # of the DATA frames' parts of data
        self._byte_times = []  # of their last bytes

    def add(self, body, last_byte_ns):
        self.data += body
        self.times.last_byte_ns = last_byte_ns
        self._ends.append(len(self.data))
        self._byte_times.append(last_byte_ns)

    def messages(self):
        """Yields all messages and their times, which are those of the frames
        in which a message begins and ends."""
        at = 0
        while at < len(self.data):
            compressed, size = struct.unpack_from("!BI", self.data, at)
            end = at + 5 + size
            if compressed or end > len(self.data):
                raise capture.CaptureError("a stream ends within a message")
            yield self.data[at + 5 : end], Message(
                size, self._time_ns(at), self._time_ns(end - 1)
            )
            at = end

    def _time_ns(self, offset):
        return self._byte_times[bisect.bisect_right(self._ends, offset)]

    def message(self):
        """Returns the only message and its times."""
        message = self.data[5:]
        prefix = struct.pack("!BI", 0, len(message))  # not compressed; its size
        if not self.ended or self.data[:5] != prefix:
            raise capture.CaptureError("a stream is not one complete message")
        self.times.size = len(message)
        return message, self.times


def _http_streams(stream, start):
    """Returns the streams of one direction that begin with HEADERS, by id."""
    streams = {}
    for header, at, body in _frames(stream, start, 9, 3, "big"):
        kind, flags = header[3], header[4]
        if kind not in (_DATA, _HEADERS):
            continue
        number = int.from_bytes(header[5:], "big")
        if kind == _HEADERS and number not in streams:
            streams[number] = _HttpStream(stream.time_ns(at))
        http_stream = streams[number]
        http_stream.ended |= bool(flags & _END_STREAM)
        if kind == _DATA:
            if flags & _PADDED:
                raise capture.CaptureError("a DATA frame is padded")
            end = at + len(header) + len(body)
            http_stream.add(body, stream.time_ns(end - 1))
    return streams


def _both_directions(connection):
    if not connection.to_server.data.startswith(_PREFACE):
        raise capture.CaptureError("this is not HTTP/2")
    return (
        _http_streams(connection.to_server, len(_PREFACE)),
        _http_streams(connection.to_client, 0),
    )


def grpc_traffic(connections):
    """Of the drivers grpc and http2."""
    traffic = Traffic()
    for number, connection in enumerate(connections):
        asked, answered = _both_directions(connection)
        for call, http_stream in asked.items():
            message, times = http_stream.message()
            if message.startswith(_CHALLENGE):
                traffic.handshakes += 1
                answered.pop(call, None)
            else:
                traffic.requests[number, call] = times
        for call, http_stream in answered.items():
            traffic.responses[number, call] = http_stream.message()[1]
    return traffic


# ---- grpc_stream: StreamMessage in proto/data_plane.proto -------------------

# Its first field, 8 bytes; then the tag of the message and its length.
_SEQUENCE = b"\x09"
_MESSAGE = 0x12


def _stream_messages(http_stream):
    """Returns the messages of one direction of a stream, by their number."""
    messages = {}
    for data, times in http_stream.messages():
        if data[:1] != _SEQUENCE or data[9] != _MESSAGE:
            raise capture.CaptureError("this is not a StreamMessage")
        at = 10
        while data[at] & 0x80:  # of the length
            at += 1
        times.size = len(data) - at - 1
        messages[int.from_bytes(data[1:9], "little")] = times
    return messages


def grpc_stream_traffic(connections):
    traffic = Traffic()
    for number, connection in enumerate(connections):
        asked, answered = _both_directions(connection)
        for stream, http_stream in asked.items():
            if http_stream.data[5:].startswith(_CHALLENGE):
                traffic.handshakes += 1
                answered.pop(stream, None)
                continue
            for call, times in _stream_messages(http_stream).items():
                traffic.requests[number, stream, call] = times
        for stream, http_stream in answered.items():
            for call, times in _stream_messages(http_stream).items():
                traffic.responses[number, stream, call] = times
    return traffic
