// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the decoding of messages from peers. scripts/fuzz.sh builds it with
// clang.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The first byte determines how the message is cut into slices.
  if (size == 0) return 0;
  const size_t slice_size = 1 + data[0];
  const absl::string_view message(reinterpret_cast<const char*>(data + 1),
                                  size - 1);
  std::vector<absl::string_view> slices;
  for (size_t i = 0; i < message.size(); i += slice_size) {
    slices.push_back(message.substr(i, slice_size));
  }
  std::string scratch;
  distbench::payload::RequestHeader request;
  if (distbench::payload::DecodeMessage(slices, request, scratch)) {
    // Whatever was decoded can be encoded.
    distbench::payload::LayOutMessage(request, static_cast<int64_t>(size));
  }
  distbench::payload::ResponseHeader response;
  if (distbench::payload::DecodeMessage(slices, response, scratch)) {
    distbench::payload::LayOutMessage(response, static_cast<int64_t>(size));
  }
  return 0;
}
