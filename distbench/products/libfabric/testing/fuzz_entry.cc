// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/testing/fuzz_entry.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "distbench/products/libfabric/wire.h"

namespace distbench::libfabric {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void DecodeHeader(absl::string_view bytes) {
  const MessageHeader header = DecodeMessageHeader(bytes.data());
  Require(header.link >> 56 == 0);
  std::string again(kMessageHeaderBytes, '\0');
  EncodeMessageHeader(header, again.data());
  // The last bytes have no meaning.
  Require(bytes.substr(0, 12) == absl::string_view(again).substr(0, 12));
}

void DecodeContent(absl::string_view content) {
  // With memory of its own, so that sanitizers notice reads beyond it.
  const std::string copy(content);
  Introduction introduction;
  if (!DecodeIntroduction(copy, introduction)) return;
  Require(introduction.link >> 56 == 0);
  Require(introduction.receive_bytes >= kMinReceiveBufferBytes);
  Require(introduction.address.size() <= kMaxFabricAddressBytes);
  Require(EncodeIntroduction(introduction) == copy);
}

void DecodeAddress(absl::string_view text) {
  const absl::StatusOr<LibfabricAddress> address = ParseAddress(text);
  if (!address.ok()) return;
  Require(!address->endpoints.empty());
  Require(FormatAddress(*address) ==
          "libfabric:" + address->carrier +
              absl::AsciiStrToLower(
                  text.substr(text.find(':', sizeof("libfabric:") - 1))));
}

}  // namespace

void DecodeLibfabricBytes(absl::string_view bytes) {
  DecodeAddress(bytes);
  if (bytes.size() < kMessageHeaderBytes) return;
  DecodeHeader(bytes);
  DecodeContent(bytes.substr(kMessageHeaderBytes));
}

}  // namespace distbench::libfabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::libfabric::DecodeLibfabricBytes(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
