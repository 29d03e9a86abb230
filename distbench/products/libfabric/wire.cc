// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/wire.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace distbench::libfabric {

std::string EncodeIntroduction(const Introduction& introduction) {
  const auto address_bytes = static_cast<uint32_t>(introduction.address.size());
  std::string bytes(kIntroductionBytes, '\0');
  std::memcpy(bytes.data(), &introduction.link, 8);
  std::memcpy(bytes.data() + 8, &introduction.receive_bytes, 4);
  std::memcpy(bytes.data() + 12, &address_bytes, 4);
  bytes.append(introduction.address.data(), introduction.address.size());
  bytes.append(introduction.greeting.data(), introduction.greeting.size());
  return bytes;
}

bool DecodeIntroduction(absl::string_view bytes, Introduction& introduction) {
  if (bytes.size() < kIntroductionBytes) return false;
  uint32_t address_bytes;
  std::memcpy(&introduction.link, bytes.data(), 8);
  std::memcpy(&introduction.receive_bytes, bytes.data() + 8, 4);
  std::memcpy(&address_bytes, bytes.data() + 12, 4);
  bytes.remove_prefix(kIntroductionBytes);
  if (address_bytes > bytes.size() || address_bytes > kMaxFabricAddressBytes ||
      introduction.link >> 56 != 0 ||
      introduction.receive_bytes < kMinReceiveBufferBytes) {
    return false;
  }
  introduction.address = bytes.substr(0, address_bytes);
  introduction.greeting = bytes.substr(address_bytes);
  return true;
}

namespace {

constexpr absl::string_view kScheme = "libfabric:";

absl::Status Malformed(absl::string_view address) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", address,
      "\" is no address of the libfabric driver; a service and its clients "
      "must have the same protocol driver"));
}

bool IsHexadecimal(absl::string_view digits) {
  return !digits.empty() && digits.size() % 2 == 0 &&
         std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit);
}

}  // namespace

std::string FormatAddress(const LibfabricAddress& address) {
  const auto append = [](std::string* out, const std::string& endpoint) {
    absl::StrAppend(out, absl::BytesToHexString(endpoint));
  };
  return absl::StrCat(kScheme, address.carrier, ":",
                      absl::StrJoin(address.endpoints, ",", append));
}

absl::StatusOr<LibfabricAddress> ParseAddress(absl::string_view address) {
  absl::string_view rest = address;
  if (!absl::ConsumePrefix(&rest, kScheme)) return Malformed(address);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(rest, absl::MaxSplits(':', 1));
  if (parts.second.empty()) return Malformed(address);
  LibfabricAddress parsed = {.carrier = std::string(parts.first)};
  for (const absl::string_view digits : absl::StrSplit(parts.second, ',')) {
    if (!IsHexadecimal(digits)) return Malformed(address);
    parsed.endpoints.push_back(absl::HexStringToBytes(digits));
  }
  return parsed;
}

}  // namespace distbench::libfabric
