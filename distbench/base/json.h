// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// JSON as the program writes it, and text that can be part of it.

#ifndef DISTBENCH_BASE_JSON_H_
#define DISTBENCH_BASE_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace distbench::base {

// Documents keep their keys in the order in which they were added.
using Json = nlohmann::ordered_json;

// Null stands for what is not known.
template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json OrNull(bool is_present, Json value) {
  return is_present ? std::move(value) : Json(nullptr);
}

inline Json TextOrNull(const std::string& text) {
  return OrNull(!text.empty(), text);
}

// Names may contain arbitrary bytes; what is not valid UTF-8 is replaced, where
// dump() alone would throw. On one line if `indent` is negative.
template <typename AnyJson = Json>
std::string DumpJson(const AnyJson& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false,
                   AnyJson::error_handler_t::replace);
}

// The length of the text's longest beginning that is UTF-8: without sequences
// that are cut off, longer than need be, surrogates, or beyond U+10FFFF.
size_t Utf8PrefixLength(absl::string_view text);

inline bool IsUtf8(absl::string_view text) {
  return Utf8PrefixLength(text) == text.size();
}

// The text, in which what is not valid UTF-8 is replaced.
std::string ValidUtf8(absl::string_view text);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_JSON_H_
