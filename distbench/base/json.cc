// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/json.h"

#include "absl/strings/ascii.h"

namespace distbench::base {

namespace {

// Well-formed sequences of more than one byte, by their first byte, from lower
// ones to higher ones (The Unicode Standard, table 3-7). Bytes after the second
// are from 0x80 to 0xbf.
struct Utf8Sequence {
  unsigned char last_first;  // the greatest first byte
  unsigned char least_second;
  unsigned char greatest_second;
  size_t length;
};
constexpr unsigned char kLeastFirst = 0xc2;
constexpr Utf8Sequence kUtf8Sequences[] = {
    {0xdf, 0x80, 0xbf, 2}, {0xe0, 0xa0, 0xbf, 3}, {0xec, 0x80, 0xbf, 3},
    {0xed, 0x80, 0x9f, 3}, {0xef, 0x80, 0xbf, 3}, {0xf0, 0x90, 0xbf, 4},
    {0xf3, 0x80, 0xbf, 4}, {0xf4, 0x80, 0x8f, 4},
};

bool IsBetween(unsigned char byte, unsigned char least,
               unsigned char greatest) {
  return byte >= least && byte <= greatest;
}

// The length of the character that the text begins with; 0 if that is not
// UTF-8.
size_t CharacterLength(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  if (byte(0) < kLeastFirst) return 0;
  for (const Utf8Sequence& sequence : kUtf8Sequences) {
    if (byte(0) > sequence.last_first) continue;
    if (text.size() < sequence.length ||
        !IsBetween(byte(1), sequence.least_second, sequence.greatest_second)) {
      return 0;
    }
    for (size_t i = 2; i < sequence.length; ++i) {
      if (!IsBetween(byte(i), 0x80, 0xbf)) return 0;
    }
    return sequence.length;
  }
  return 0;
}

}  // namespace

size_t Utf8PrefixLength(absl::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    const size_t more = absl::ascii_isascii(text[length])
                            ? 1
                            : CharacterLength(text.substr(length));
    if (more == 0) break;
    length += more;
  }
  return length;
}

std::string ValidUtf8(absl::string_view text) {
  return Json::parse(DumpJson(Json(std::string(text)))).get<std::string>();
}

}  // namespace distbench::base
