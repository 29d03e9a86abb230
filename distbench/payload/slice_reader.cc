// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/payload/slice_reader.h"

#include <algorithm>

namespace distbench::payload {
namespace {

constexpr int kMaxTagBytes = 5;
constexpr int kMaxVarintBytes = 10;

}  // namespace

SliceReader::SliceReader(absl::Span<const absl::string_view> slices)
    : slice_(slices.data()) {
  if (slices.empty()) return;
  current_ = slices.front();
  for (absl::string_view slice : slices) left_ += slice.size();
}

bool SliceReader::ReadLongTag(uint32_t& tag) {
  const uint64_t left_before = left_;
  uint64_t value;
  if (!ReadLongVarint(value) || left_before - left_ > kMaxTagBytes)
    return false;
  tag = static_cast<uint32_t>(value);
  return tag >> 3 != 0;
}

bool SliceReader::ReadLongVarint(uint64_t& value) {
  value = 0;
  for (int i = 0; i < kMaxVarintBytes && left_ > 0; ++i) {
    FindNextByte();
    const unsigned char byte = TakeByte();
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return true;
  }
  return false;
}

bool SliceReader::ReadBytes(uint64_t count, absl::string_view& bytes,
                            std::string& scratch) {
  if (count > left_) return false;
  if (count == 0) {
    bytes = {};
    return true;
  }
  FindNextByte();
  if (count <= current_.size()) {
    bytes = current_.substr(0, count);
    Advance(count);
    return true;
  }
  scratch.clear();
  while (count > 0) {
    FindNextByte();
    const uint64_t piece = std::min<uint64_t>(count, current_.size());
    scratch.append(current_.data(), piece);
    Advance(piece);
    count -= piece;
  }
  bytes = scratch;
  return true;
}

bool SliceReader::Skip(uint64_t count) {
  if (count > left_) return false;
  while (count > 0) {
    FindNextByte();
    const uint64_t piece = std::min<uint64_t>(count, current_.size());
    Advance(piece);
    count -= piece;
  }
  return true;
}

}  // namespace distbench::payload
