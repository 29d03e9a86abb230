// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/printable_line.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "distbench/base/json.h"

namespace distbench::base {
namespace {

// U+0080 to U+009F, of which some terminals take U+009B for ESC [. In UTF-8,
// all of them begin with the same byte.
constexpr char kFirstOfC1 = '\xc2';
constexpr char kEndOfC1 = '\xa0';  // the second byte of U+00A0

bool IsC1(char first, char second) {
  return first == kFirstOfC1 && static_cast<unsigned char>(second) <
                                    static_cast<unsigned char>(kEndOfC1);
}

}  // namespace

std::string PrintableLine(absl::string_view text) {
  const std::string valid = IsUtf8(text) ? std::string(text) : ValidUtf8(text);
  std::string line;
  line.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(valid[i]))) {
      line += ' ';
    } else if (i + 1 < valid.size() && IsC1(valid[i], valid[i + 1])) {
      line += ' ';
      ++i;
    } else {
      line += valid[i];
    }
  }
  return line;
}

}  // namespace distbench::base
