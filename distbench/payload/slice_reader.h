// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reads protobuf's wire format from a sequence of byte strings as if they were
// one. All bounds are checked, so any input is safe.

#ifndef DISTBENCH_PAYLOAD_SLICE_READER_H_
#define DISTBENCH_PAYLOAD_SLICE_READER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::payload {

// Methods that return bool return false if the input is malformed or too short.
// The reader must not be used after that.
class SliceReader {
 public:
  explicit SliceReader(absl::Span<const absl::string_view> slices);

  bool at_end() const { return left_ == 0; }

  // Reads a field's number and wire type. Also returns false at the end of the
  // input.
  [[nodiscard]] bool ReadTag(uint32_t& tag) {
    if (!NextIsOneByteVarint()) return ReadLongTag(tag);
    tag = TakeByte();
    return tag >> 3 != 0;  // there is no field 0
  }

  // Accepts up to ten bytes. Bits beyond the 64th are dropped, as in protobuf.
  [[nodiscard]] bool ReadVarint(uint64_t& value) {
    if (!NextIsOneByteVarint()) return ReadLongVarint(value);
    value = TakeByte();
    return true;
  }

  // `bytes` points into a slice, or into `scratch` if it spans several slices.
  [[nodiscard]] bool ReadBytes(uint64_t count, absl::string_view& bytes,
                               std::string& scratch);

  [[nodiscard]] bool Skip(uint64_t count);

 private:
  // Most varints have one byte. One at the end of a slice may be treated as
  // longer.
  bool NextIsOneByteVarint() const {
    return !current_.empty() &&
           static_cast<unsigned char>(current_.front()) < 0x80;
  }

  unsigned char TakeByte() {
    const auto byte = static_cast<unsigned char>(current_.front());
    Advance(1);
    return byte;
  }

  bool ReadLongTag(uint32_t& tag);
  bool ReadLongVarint(uint64_t& value);

  // Requires that bytes are left. Moves current_ to the slice of the next byte.
  void FindNextByte() {
    while (current_.empty()) current_ = *++slice_;
  }

  void Advance(uint64_t count) {
    current_.remove_prefix(count);
    left_ -= count;
  }

  const absl::string_view* slice_;
  absl::string_view current_;  // the rest of *slice_
  uint64_t left_ = 0;          // in all slices
};

}  // namespace distbench::payload

#endif  // DISTBENCH_PAYLOAD_SLICE_READER_H_
