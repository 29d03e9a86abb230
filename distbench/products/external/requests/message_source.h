// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_SOURCE_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_SOURCE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/external/external_calls.h"
#include "distbench/products/external/requests/descriptors.h"
#include "distbench/products/external/requests/message_encoder.h"
#include "distbench/products/external/requests/template.h"

namespace distbench::external {

// The templates of an external call.
struct CallTemplates {
  Template request;
  std::vector<std::pair<std::string, Template>> metadata;
};

// Checks gRPC's rules of names of metadata.
absl::Status CheckMetadataName(const std::string& name);

// Reads the templates. Checks them, the rows, and the names of metadata. The
// error begins with the name of the call's member that is wrong, such as
// "request: ".
absl::StatusOr<CallTemplates> ParseTemplates(const ExternalCall& call);

// Parses the call's descriptors. Calls of the same descriptors may share them.
// The error begins with "descriptors: ".
absl::StatusOr<std::shared_ptr<const Descriptors>> ParseDescriptors(
    const ExternalCall& call);

// What the requests of one instance's RPC have in common.
struct RequestSeries {
  uint64_t seed = 0;
  std::string instance = {};  // its name

  // The row of the first request; any number that is not negative.
  int64_t first_row = 0;

  // The number of the next request, from 0. Shared by the instance's workers.
  std::atomic<int64_t>* next_number = nullptr;

  // Whether errors may quote values of rows. Results must not have them.
  bool errors_show_rows = false;
};

struct EncodedRequest {
  std::string message;  // in the wire format
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Which of its requests a call wants.
struct RequestWish {
  // What a {{filler}} makes the message, as nearly as its encoding allows.
  int64_t message_bytes = 0;

  // Of a stream, only the first message has metadata.
  bool has_metadata = true;
};

// Makes the requests of an external call, one after the other. Not thread-safe:
// every worker has its own.
class MessageSource {
 public:
  // `descriptors` are those of the call, or null if it needs and has none. The
  // call and the series' number must outlive the result. Errors are as those of
  // ParseTemplates().
  static absl::StatusOr<std::unique_ptr<MessageSource>> Make(
      const ExternalCall& call, std::shared_ptr<const Descriptors> descriptors,
      const RequestSeries& series);

  // Whether the server may send a stream of messages.
  bool server_streams() const {
    return method_ == nullptr || method_->server_streaming();
  }

  // Whether all requests are the same.
  bool is_constant() const;

  // Makes the next request. The error says which value does not fit; there will
  // be no request of that number.
  absl::Status Next(EncodedRequest& request, const RequestWish& wish = {});

 private:
  MessageSource(const ExternalCall& call, const RequestSeries& series,
                std::shared_ptr<const Descriptors> descriptors,
                const google::protobuf::MethodDescriptor* method,
                CallTemplates templates);

  absl::Status CheckFirst() const;
  TemplateRequest RequestOf(int64_t number) const;
  absl::Status WithoutRow(absl::Status status) const;
  absl::Status Encode(const TemplateRequest& request, std::string& message);
  absl::Status EncodeFilled(TemplateRequest request, int64_t message_bytes,
                            std::string& message);
  absl::Status FillMetadata(const TemplateRequest& request,
                            EncodedRequest& encoded) const;

  const ExternalCall& call_;
  const RequestSeries series_;
  const std::shared_ptr<const Descriptors> descriptors_;
  // Null if the call has no descriptors; then there is no encoder either.
  const google::protobuf::MethodDescriptor* const method_;
  const CallTemplates templates_;
  std::optional<const MessageEncoder> encoder_;
  std::unique_ptr<PatchedMessage> patched_;  // null: parse every text
  std::string text_;                         // kept to reuse its memory
  int64_t bytes_beside_filler_ = 0;          // of the last message
};

// Whether the types of the call's method must be known.
bool NeedsDescriptors(const ExternalCall& call);

// Whether the sizes of requests are those of the RPC's payloads.
bool HasFiller(const ExternalCall& call);

// Checks all of a call that can be checked without its server: the method's
// name, the rows, the templates and, if there are descriptors, that they have
// the method and that the request is one of its requests. The error starts with
// the name of the member that is wrong, such as `request: `.
absl::Status CheckExternalCall(const ExternalCall& call);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_SOURCE_H_
