// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/payload/message_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "distbench/payload/slice_reader.h"

namespace distbench::payload {
namespace {

// Field numbers of GenericRequestResponse.
enum Field : uint32_t {
  kRpcIndex = 1,
  kTraceContext = 2,
  kWarmup = 3,
  kResponsePayloadSize = 4,
  kServerProcessingTimeNs = 5,
  kErrorMessage = 9,
  kServerInstance = 10,
  kPayload = 15,
  kServerQueueTimeNs = 1000001,
  kServerHandlerTimeNs = 1000002,
};

enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

constexpr uint32_t Tag(Field field, WireType type) { return field << 3 | type; }

// The tags of all fields except the server's times are one byte.
constexpr int kTagBytes = 1;
constexpr int kTimeTagBytes = 4;

// protobuf rejects groups that are nested more deeply.
constexpr int kMaxGroupDepth = 100;

// ---------------------------------------------------------------------------
// Writing

constexpr int VarintBytes(uint64_t value) {
  return (std::bit_width(value | 1) + 6) / 7;
}

size_t NumberFieldBytes(uint64_t value) {
  return kTagBytes + VarintBytes(value);
}

size_t TimeFieldBytes(int64_t time_ns) {
  if (time_ns < 0) return 0;
  return kTimeTagBytes + VarintBytes(static_cast<uint64_t>(time_ns));
}

size_t StringFieldBytes(absl::string_view value) {
  return kTagBytes + VarintBytes(value.size()) + value.size();
}

// Writes fields. The caller ensures that they fit.
class HeadWriter {
 public:
  explicit HeadWriter(char* out) : out_(out) {}

  void Number(Field field, uint64_t value) {
    Number(field, value, VarintBytes(value));
  }

  void Number(Field field, uint64_t value, int width) {
    Byte(Tag(field, kVarint));
    Varint(value, width);
  }

  // Writes nothing if there is no time.
  void Time(Field field, int64_t time_ns) {
    if (time_ns < 0) return;
    Varint(Tag(field, kVarint), kTimeTagBytes);
    const auto value = static_cast<uint64_t>(time_ns);
    Varint(value, VarintBytes(value));
  }

  void String(Field field, absl::string_view value) {
    LengthOf(field, value.size(), VarintBytes(value.size()));
    std::memcpy(out_, value.data(), value.size());
    out_ += value.size();
  }

  // Writes a string field without the string itself.
  void LengthOf(Field field, uint64_t length, int width) {
    Byte(Tag(field, kLengthDelimited));
    Varint(length, width);
  }

 private:
  void Byte(uint32_t value) { *out_++ = static_cast<char>(value); }

  void Varint(uint64_t value, int width) {
    for (; width > 1; --width, value >>= 7) Byte((value & 0x7f) | 0x80);
    Byte(value & 0x7f);
  }

  char* out_;
};

// The size of all fields except the payload and the number that may be widened.
size_t OtherFieldBytes(const RequestHeader& header) {
  size_t bytes = 0;
  if (header.server_instance >= 0) {
    bytes += NumberFieldBytes(header.server_instance);
  }
  if (!header.trace_context.empty()) {
    bytes += StringFieldBytes(header.trace_context);
  }
  if (header.warmup) bytes += NumberFieldBytes(1);
  if (header.response_bytes != RequestHeader::kNoResponseBytes) {
    bytes += NumberFieldBytes(header.response_bytes);
  }
  if (header.processing_ns != 0) {
    bytes += NumberFieldBytes(header.processing_ns);
  }
  return bytes;
}

size_t OtherFieldBytes(const ResponseHeader& header) {
  size_t bytes =
      TimeFieldBytes(header.queue_ns) + TimeFieldBytes(header.handler_ns);
  if (!header.error_message.empty()) {
    bytes += StringFieldBytes(header.error_message);
  }
  return bytes;
}

// `number` is the one that may be widened. `field_bytes` is the size of all
// other fields except the payload.
MessageLayout LayOut(size_t field_bytes, int32_t number, int64_t target_bytes) {
  MessageLayout layout;
  layout.number_width = VarintBytes(number);
  layout.head_bytes = field_bytes + kTagBytes + layout.number_width;
  const int64_t room = std::clamp<int64_t>(target_bytes, 0, kMaxMessageBytes) -
                       static_cast<int64_t>(layout.head_bytes);
  if (room <= 0) return layout;
  if (room == 1) {  // too little for a payload field
    ++layout.number_width;
    ++layout.head_bytes;
    return layout;
  }
  layout.length_width = 1;
  layout.payload_bytes = room - kTagBytes - 1;
  while (VarintBytes(layout.payload_bytes) > layout.length_width) {
    ++layout.length_width;
    --layout.payload_bytes;
  }
  layout.head_bytes += kTagBytes + layout.length_width;
  return layout;
}

// Must be called last.
void WritePayloadLength(const MessageLayout& layout, HeadWriter& writer) {
  if (layout.length_width > 0) {
    writer.LengthOf(kPayload, layout.payload_bytes, layout.length_width);
  }
}

// ---------------------------------------------------------------------------
// Reading

// Same as SliceReader, but for a single slice, and completely inlined.
class FlatReader {
 public:
  explicit FlatReader(absl::string_view bytes)
      : next_(bytes.data()), end_(next_ + bytes.size()) {}

  bool at_end() const { return next_ == end_; }

  bool ReadTag(uint32_t& tag) {
    const char* const begin = next_;
    uint64_t value;
    if (!ReadVarint(value) || next_ - begin > kMaxTagBytes) return false;
    tag = static_cast<uint32_t>(value);
    return tag >> 3 != 0;  // there is no field 0
  }

  bool ReadVarint(uint64_t& value) {
    if (at_end()) return false;
    value = static_cast<unsigned char>(*next_++);
    return value < 0x80 || ReadRestOfVarint(value);
  }

  size_t bytes_left() const { return static_cast<size_t>(end_ - next_); }

  bool ReadBytes(uint64_t count, absl::string_view& bytes, std::string&) {
    const char* const begin = next_;
    if (!Skip(count)) return false;
    bytes = absl::string_view(begin, count);
    return true;
  }

  bool Skip(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - next_)) return false;
    next_ += count;
    return true;
  }

 private:
  static constexpr ptrdiff_t kMaxTagBytes = 5;
  static constexpr int kVarintBits = 70;  // ten bytes

  bool ReadRestOfVarint(uint64_t& value) {
    value &= 0x7f;
    for (int shift = 7; shift < kVarintBits && !at_end(); shift += 7) {
      const auto byte = static_cast<unsigned char>(*next_++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  const char* next_;
  const char* const end_;
};

// Skips a field of unknown number or type. Groups may contain groups.
template <typename Reader>
bool SkipField(Reader& reader, uint32_t tag) {
  int depth = 0;
  do {
    uint64_t value = 0;
    switch (tag & 7) {
      case kVarint:
        if (!reader.ReadVarint(value)) return false;
        break;
      case kFixed64:
        if (!reader.Skip(8)) return false;
        break;
      case kLengthDelimited:
        if (!reader.ReadVarint(value) || !reader.Skip(value)) return false;
        break;
      case kStartGroup:
        if (++depth > kMaxGroupDepth) return false;
        break;
      case kEndGroup:
        if (--depth < 0) return false;
        break;
      case kFixed32:
        if (!reader.Skip(4)) return false;
        break;
      default:
        return false;
    }
  } while (depth > 0 && reader.ReadTag(tag));
  return depth == 0;
}

template <typename Reader, typename Number>
bool ReadNumber(Reader& reader, Number& number) {
  uint64_t value;
  if (!reader.ReadVarint(value)) return false;
  number = static_cast<Number>(value);
  return true;
}

template <typename Reader>
bool ReadString(Reader& reader, absl::string_view& value,
                std::string& scratch) {
  uint64_t length;
  return reader.ReadVarint(length) && reader.ReadBytes(length, value, scratch);
}

// Repeated occurrences of a message merge, and so does the concatenation of
// their bytes.
template <typename Reader>
bool ReadMergedMessage(Reader& reader, absl::string_view& value,
                       std::string& scratch) {
  if (value.empty()) return ReadString(reader, value, scratch);
  std::string spanning;
  absl::string_view addition;
  if (!ReadString(reader, addition, spanning)) return false;
  // There may be millions of pieces: what was merged is not copied again.
  if (value.data() != scratch.data()) {
    scratch.assign(value.data(), value.size());
  }
  scratch.append(addition.data(), addition.size());
  value = scratch;
  return true;
}

template <typename Reader>
bool ReadField(Reader& reader, uint32_t tag, RequestHeader& header,
               std::string& scratch) {
  switch (tag) {
    case Tag(kRpcIndex, kVarint):
      return ReadNumber(reader, header.rpc_index);
    case Tag(kTraceContext, kLengthDelimited):
      return ReadMergedMessage(reader, header.trace_context, scratch);
    case Tag(kWarmup, kVarint):
      return ReadNumber(reader, header.warmup);
    case Tag(kResponsePayloadSize, kVarint):
      return ReadNumber(reader, header.response_bytes);
    case Tag(kServerProcessingTimeNs, kVarint):
      return ReadNumber(reader, header.processing_ns);
    case Tag(kServerInstance, kVarint):
      return ReadNumber(reader, header.server_instance);
    default:
      return SkipField(reader, tag);
  }
}

template <typename Reader>
bool ReadField(Reader& reader, uint32_t tag, ResponseHeader& header,
               std::string& scratch) {
  switch (tag) {
    case Tag(kErrorMessage, kLengthDelimited):
      return ReadString(reader, header.error_message, scratch);
    case Tag(kServerInstance, kVarint):
      return ReadNumber(reader, header.server_instance);
    case Tag(kServerQueueTimeNs, kVarint):
      return ReadNumber(reader, header.queue_ns);
    case Tag(kServerHandlerTimeNs, kVarint):
      return ReadNumber(reader, header.handler_ns);
    default:
      return SkipField(reader, tag);
  }
}

template <typename Header>
bool Decode(absl::Span<const absl::string_view> slices, Header& header,
            std::string& scratch) {
  SliceReader reader(slices);
  while (!reader.at_end()) {
    uint32_t tag;
    if (!reader.ReadTag(tag) || !ReadField(reader, tag, header, scratch)) {
      return false;
    }
  }
  return true;
}

template <typename Header>
bool DecodeBeforePayload(absl::string_view head, int64_t payload_bytes,
                         Header& header, std::string& scratch) {
  FlatReader reader(head);
  while (!reader.at_end()) {
    uint32_t tag;
    if (!reader.ReadTag(tag)) return false;
    if (tag != Tag(kPayload, kLengthDelimited)) {
      if (!ReadField(reader, tag, header, scratch)) return false;
      continue;
    }
    uint64_t length;
    if (!reader.ReadVarint(length)) return false;
    if (reader.at_end()) return length == static_cast<uint64_t>(payload_bytes);
    if (!reader.Skip(length)) return false;
  }
  return payload_bytes == 0;
}

}  // namespace

MessageLayout LayOutMessage(const RequestHeader& header, int64_t target_bytes) {
  return LayOut(OtherFieldBytes(header), header.rpc_index, target_bytes);
}

MessageLayout LayOutMessage(const ResponseHeader& header,
                            int64_t target_bytes) {
  return LayOut(OtherFieldBytes(header), header.server_instance, target_bytes);
}

void WriteHead(const RequestHeader& header, const MessageLayout& layout,
               char* out) {
  HeadWriter writer(out);
  writer.Number(kRpcIndex, header.rpc_index, layout.number_width);
  if (!header.trace_context.empty()) {
    writer.String(kTraceContext, header.trace_context);
  }
  if (header.warmup) writer.Number(kWarmup, 1);
  if (header.response_bytes != RequestHeader::kNoResponseBytes) {
    writer.Number(kResponsePayloadSize, header.response_bytes);
  }
  if (header.processing_ns != 0) {
    writer.Number(kServerProcessingTimeNs, header.processing_ns);
  }
  if (header.server_instance >= 0) {
    writer.Number(kServerInstance, header.server_instance);
  }
  WritePayloadLength(layout, writer);
}

void WriteHead(const ResponseHeader& header, const MessageLayout& layout,
               char* out) {
  HeadWriter writer(out);
  if (!header.error_message.empty()) {
    writer.String(kErrorMessage, header.error_message);
  }
  writer.Number(kServerInstance, header.server_instance, layout.number_width);
  writer.Time(kServerQueueTimeNs, header.queue_ns);
  writer.Time(kServerHandlerTimeNs, header.handler_ns);
  WritePayloadLength(layout, writer);
}

bool DecodeMessage(absl::Span<const absl::string_view> slices,
                   RequestHeader& header, std::string& scratch) {
  header = {.server_instance = RequestHeader::kAnyInstance};
  return Decode(slices, header, scratch);
}

bool DecodeMessage(absl::Span<const absl::string_view> slices,
                   ResponseHeader& header, std::string& scratch) {
  header = {.server_instance = ResponseHeader::kNoInstance};
  return Decode(slices, header, scratch);
}

bool DecodeHead(absl::string_view head, int64_t payload_bytes,
                RequestHeader& header, std::string& scratch) {
  header = {.server_instance = RequestHeader::kAnyInstance};
  return DecodeBeforePayload(head, payload_bytes, header, scratch);
}

bool DecodeHead(absl::string_view head, int64_t payload_bytes,
                ResponseHeader& header, std::string& scratch) {
  header = {.server_instance = ResponseHeader::kNoInstance};
  return DecodeBeforePayload(head, payload_bytes, header, scratch);
}

size_t FindHead(absl::string_view bytes, int64_t total_bytes) {
  FlatReader reader(bytes);
  uint32_t tag;
  while (!reader.at_end() && reader.ReadTag(tag)) {
    if (tag != Tag(kPayload, kLengthDelimited)) {
      if (!SkipField(reader, tag)) return 0;
      continue;
    }
    uint64_t length;
    if (!reader.ReadVarint(length)) return 0;
    const size_t head_bytes = bytes.size() - reader.bytes_left();
    if (length == static_cast<uint64_t>(total_bytes) - head_bytes) {
      return head_bytes;
    }
    if (!reader.Skip(length)) return 0;
  }
  return 0;
}

}  // namespace distbench::payload
