"""Reads messages of Cap'n Proto: https://capnproto.org/encoding.html"""

import dataclasses
import struct

from tests.audit import capture

WORD_BYTES = 8
_STRUCT, _LIST, _FAR, _CAPABILITY = 0, 1, 2, 3
_ELEMENTS_ARE_BYTES = 2


def messages(data, start):
    """Yields the beginning, the end and the root struct of each message."""
    at = start
    while at < len(data):
        (more,) = struct.unpack_from("<I", data, at)
        sizes = struct.unpack_from(f"<{more + 1}I", data, at + 4)
        end = at + 4 * (more + 2)
        end += -(end - at) % WORD_BYTES
        segments = []
        for words in sizes:
            segments.append(data[end : end + WORD_BYTES * words])
            end += WORD_BYTES * words
        if end > len(data):
            raise capture.CaptureError("the stream ends within a message")
        yield at, end, Message(segments).struct_at(0, 0)
        at = end


@dataclasses.dataclass
class Struct:
    """A struct's data, and what its pointers refer to."""

    message: "Message"
    segment: int
    data_word: int
    data_words: int
    pointer_words: int

    def number(self, kind, byte):
        """Returns a number of this kind, as in module struct."""
        data = self.message.segments[self.segment]
        at = WORD_BYTES * self.data_word + byte
        return struct.unpack_from("<" + kind, data, at)[0]

    def struct(self, pointer):
        return self.message.struct_at(self.segment, self._word(pointer))

    def is_capability(self, pointer):
        return self.message.is_capability(self.segment, self._word(pointer))

    def byte_count(self, pointer):
        """Returns the size of what has the type Data."""
        if pointer >= self.pointer_words:
            return 0
        return self.message.byte_count_at(self.segment, self._word(pointer))

    def _word(self, pointer):
        if pointer >= self.pointer_words:
            raise capture.CaptureError(f"there is no pointer {pointer}")
        return self.data_word + self.data_words + pointer


@dataclasses.dataclass
class Message:
    segments: list

    def struct_at(self, segment, word):
        segment, target, pointer = self._follow(segment, word)
        if pointer == 0 or pointer & 3 != _STRUCT:
            raise capture.CaptureError("this is not a pointer to a struct")
        return Struct(
            self, segment, target, pointer >> 32 & 0xFFFF, pointer >> 48
        )

    def is_capability(self, segment, word):
        return self._follow(segment, word)[2] & 3 == _CAPABILITY

    def byte_count_at(self, segment, word):
        _, _, pointer = self._follow(segment, word)
        if pointer == 0:
            return 0
        if (pointer & 3, pointer >> 32 & 7) != (_LIST, _ELEMENTS_ARE_BYTES):
            raise capture.CaptureError("this is not a pointer to bytes")
        return pointer >> 35

    def _pointer(self, segment, word):
        return struct.unpack_from(
            "<Q", self.segments[segment], WORD_BYTES * word
        )[0]

    def _follow(self, segment, word):
        """Returns the segment and the word to which a pointer refers, and the
        pointer that describes what is there."""
        pointer = self._pointer(segment, word)
        if pointer & 3 != _FAR:
            offset = (pointer & 0xFFFFFFFF) >> 2
            if offset >= 1 << 29:
                offset -= 1 << 30
            return segment, word + 1 + offset, pointer
        pad_segment, pad = pointer >> 32, (pointer & 0xFFFFFFFF) >> 3
        if not pointer & 4:
            return self._follow(pad_segment, pad)
        # The pad says where, and then what.
        where = self._pointer(pad_segment, pad)
        what = self._pointer(pad_segment, pad + 1)
        return where >> 32, (where & 0xFFFFFFFF) >> 3, what
