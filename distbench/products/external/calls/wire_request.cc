#include "distbench/products/external/calls/wire_request.h"

#include "absl/status/status.h"

namespace distbench::external {
namespace {

grpc_slice CopyOf(const std::string& text) {
  return grpc_slice_from_copied_buffer(text.data(), text.size());
}

}  // namespace

void WireRequest::Fill(const EncodedRequest& request) {
  Clear();
  message_ = CopyOf(request.message);
  for (const auto& [name, value] : request.metadata) {
    grpc_metadata& entry = metadata_.emplace_back();
    entry.key = CopyOf(name);
    entry.value = CopyOf(value);
  }
}

void WireRequest::Clear() {
  grpc_slice_unref(message_);
  message_ = grpc_empty_slice();
  for (grpc_metadata& entry : metadata_) {
    grpc_slice_unref(entry.key);
    grpc_slice_unref(entry.value);
  }
  metadata_.clear();
}

absl::StatusOr<WireRequest*> RequestMaker::Next(WireRequest& storage) {
  if (has_shared_) return &shared_;
  if (absl::Status made = source_->Next(encoded_); !made.ok()) return made;
  has_shared_ = source_->is_constant();
  WireRequest& request = has_shared_ ? shared_ : storage;
  request.Fill(encoded_);
  return &request;
}

}  // namespace distbench::external
