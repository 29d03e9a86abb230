"""Finds the RPCs in the byte streams of connections."""

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
        if self.responses.keys() - self.requests.keys():
            raise capture.CaptureError("there are responses without requests")
        return sorted(
            response.first_byte_ns - self.requests[call].last_byte_ns
            for call, response in self.responses.items()
        )

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
            http_stream.data += body
            end = at + len(header) + len(body)
            http_stream.times.last_byte_ns = stream.time_ns(end - 1)
    return streams


def grpc_traffic(connections):
    traffic = Traffic()
    for number, connection in enumerate(connections):
        if not connection.to_server.data.startswith(_PREFACE):
            raise capture.CaptureError("this is not HTTP/2")
        asked = _http_streams(connection.to_server, len(_PREFACE))
        answered = _http_streams(connection.to_client, 0)
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
