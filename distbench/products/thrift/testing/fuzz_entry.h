// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_PRODUCTS_THRIFT_TESTING_FUZZ_ENTRY_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::thrift {

// The outcome of decoding some bytes.
struct DecodedThrift {
  std::string messages;  // all parts of all messages, as text
  int count = 0;
  protocol::StreamError error = protocol::StreamError::kNone;
};

// Decodes bytes as a connection does, in reads of piece_bytes, and reads the
// messages in the frames as servers and clients do.
DecodedThrift DecodeThrift(absl::string_view bytes, size_t piece_bytes);

// The body of LLVMFuzzerTestOneInput(): decodes the bytes in one piece and in
// small pieces, and aborts if the results differ. Also passes them to the
// greeting, and aborts if that is content.
void DecodeThriftInPieces(absl::string_view bytes);

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_TESTING_FUZZ_ENTRY_H_
