// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Frames of HTTP/2 (RFC 9113, section 4.1) as peers send them that are no
// library.

#ifndef DISTBENCH_PRODUCTS_HTTP2_TESTING_RAW_FRAMES_H_
#define DISTBENCH_PRODUCTS_HTTP2_TESTING_RAW_FRAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::http2 {

inline constexpr char kHeadersFrame = 1;
inline constexpr char kSettingsFrame = 4;
inline constexpr char kPushPromiseFrame = 5;

inline constexpr char kEndStream = 1;
inline constexpr char kEndHeaders = 4;

// ":path: /" of HPACK's static table.
inline constexpr char kRootPath[] = "\x84";

inline std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(number >> shift);
  }
  return bytes;
}

// With at most 255 bytes of payload.
inline std::string RawFrame(char type, char flags, uint32_t stream,
                            absl::string_view payload) {
  const std::string head = {'\0', '\0', static_cast<char>(payload.size()), type,
                            flags};
  return absl::StrCat(head, BigEndian(stream), payload);
}

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_TESTING_RAW_FRAMES_H_
