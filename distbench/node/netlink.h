// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Lists what the kernel knows, over netlink(7).

#ifndef DISTBENCH_NODE_NETLINK_H_
#define DISTBENCH_NODE_NETLINK_H_

#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench::node {

// Sends a request of the given type to a netlink family, such as
// NETLINK_SOCK_DIAG, and passes on the payload of each message of the answer,
// which is valid only during the call. Fails with the kernel's error, for
// example if a module is missing or a sandbox forbids the family. Takes no
// longer than the kernel does, and at most a second for each part of it.
absl::Status DumpNetlink(
    int family, uint16_t type, absl::string_view request,
    absl::FunctionRef<void(absl::string_view payload)> on_message);

// Passes on the type and the value of each attribute, up to the first one that
// is malformed. The bytes must be aligned to four, as those of messages are.
void ForEachAttribute(
    absl::string_view attributes,
    absl::FunctionRef<void(uint16_t type, absl::string_view value)> on_value);

// Returns a structure as the kernel reads it.
template <typename T>
absl::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// Takes a structure off the beginning; nothing if there are too few bytes.
template <typename T>
std::optional<T> ConsumeStruct(absl::string_view& bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_NETLINK_H_
