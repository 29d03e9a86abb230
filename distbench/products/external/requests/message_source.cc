// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/requests/message_source.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/external/requests/descriptors.h"

namespace distbench::external {
namespace {

// Of the texts of one request and its metadata together, before encoding. Files
// are much smaller; this keeps templates from multiplying them.
constexpr int64_t kMaxTextBytes = int64_t{64} << 20;

absl::Status In(absl::string_view member, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(member, ": ", status.message()));
}

bool IsNameCharacter(char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' ||
         c == '_' || c == '.';
}

// gRPC's rules of values. Names that end in "-bin" have values of any bytes.
absl::Status CheckMetadataValue(const std::string& name,
                                const std::string& value) {
  const auto is_allowed = [](char c) { return c >= ' ' && c <= '~'; };
  if (absl::EndsWith(name, "-bin") || absl::c_all_of(value, is_allowed)) {
    return absl::OkStatus();
  }
  // The value may be a secret.
  return absl::InvalidArgumentError(
      absl::StrCat("the value of ", config::Quoted(name),
                   " has a character that is not printable ASCII; a name that "
                   "ends in \"-bin\" may have any value"));
}

absl::Status CheckRows(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return absl::OkStatus();
  if (rows.size() == 1) {
    return absl::InvalidArgumentError(
        "there are no rows below the names of the columns");
  }
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].size() == rows[0].size()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("row ", i, " has ", rows[i].size(), " columns; it needs ",
                     rows[0].size(), ", as the first line"));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(const CallTemplates& templates,
                       const std::vector<std::vector<std::string>>& rows) {
  int64_t most = templates.request.MostBytes(rows);
  for (const auto& [name, value] : templates.metadata) {
    most += value.MostBytes(rows);
  }
  if (most <= kMaxTextBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "its variables can make it ", most, " bytes long, with its metadata; ",
      kMaxTextBytes, " is the limit"));
}

}  // namespace

absl::Status CheckMetadataName(const std::string& name) {
  if (!name.empty() && absl::c_all_of(name, IsNameCharacter) &&
      !absl::StartsWith(name, "grpc-")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      config::Quoted(name),
      " is not a name of metadata; use lower-case letters, digits, \"-\", "
      "\"_\" and \".\", and no \"grpc-\" at the beginning"));
}

absl::StatusOr<CallTemplates> ParseTemplates(const ExternalCall& call) {
  if (absl::Status rows = CheckRows(call.rows); !rows.ok()) {
    return In("rows", rows);
  }
  const std::vector<std::string> columns =
      call.rows.empty() ? std::vector<std::string>() : call.rows[0];
  CallTemplates templates;
  absl::StatusOr<Template> request = Template::Parse(
      call.request,
      call.is_json ? TemplateSyntax::kJson : TemplateSyntax::kTextFormat,
      columns);
  if (!request.ok()) return In("request", request.status());
  templates.request = *std::move(request);
  for (const auto& [name, value] : call.metadata) {
    if (absl::Status named = CheckMetadataName(name); !named.ok()) {
      return In("metadata", named);
    }
    absl::StatusOr<Template> parsed =
        Template::Parse(value, TemplateSyntax::kPlain, columns);
    if (!parsed.ok()) {
      return In(absl::StrCat("metadata: ", name), parsed.status());
    }
    templates.metadata.emplace_back(name, *std::move(parsed));
  }
  absl::Status small = CheckSize(templates, call.rows);
  if (!small.ok()) return In("request", small);
  return templates;
}

bool NeedsDescriptors(const ExternalCall& call) {
  return !call.binary_request.has_value();
}

bool HasFiller(const ExternalCall& call) {
  const auto templates = ParseTemplates(call);
  return templates.ok() && templates->request.has_filler();
}

absl::StatusOr<std::shared_ptr<const Descriptors>> ParseDescriptors(
    const ExternalCall& call) {
  auto descriptors = Descriptors::Parse(call.descriptors);
  if (!descriptors.ok()) return In("descriptors", descriptors.status());
  return *std::move(descriptors);
}

MessageSource::MessageSource(const ExternalCall& call,
                             const RequestSeries& series,
                             std::shared_ptr<const Descriptors> descriptors,
                             const google::protobuf::MethodDescriptor* method,
                             CallTemplates templates)
    : call_(call),
      series_(series),
      descriptors_(std::move(descriptors)),
      method_(method),
      templates_(std::move(templates)) {
  if (method == nullptr) return;
  encoder_.emplace(*method->input_type(), call.is_json);
  if (call.binary_request.has_value()) return;
  patched_ = PatchedMessage::Make(*encoder_, templates_.request);
}

namespace {

// Whether the method streams as the RPC wants to.
absl::Status CheckStream(const ExternalCall& call,
                         const google::protobuf::MethodDescriptor& method) {
  if (!call.stream.has_value()) return absl::OkStatus();
  const auto error = [&method](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(method.full_name()), what));
  };
  const bool takes_several = method.client_streaming();
  const bool sends_several = method.server_streaming();
  if (!takes_several && !sends_several) {
    return error(" does not stream; remove `stream` of the RPC");
  }
  if (call.stream->is_echo && !(takes_several && sends_several)) {
    return error(
        " does not stream both ways, as an echo does; remove response_starts");
  }
  if (call.stream->sends_several && !takes_several) {
    return error(" takes one request message; remove client_messages");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<MessageSource>> MessageSource::Make(
    const ExternalCall& call, std::shared_ptr<const Descriptors> descriptors,
    const RequestSeries& series) {
  absl::StatusOr<CallTemplates> templates = ParseTemplates(call);
  if (!templates.ok()) return templates.status();
  const google::protobuf::MethodDescriptor* method = nullptr;
  if (descriptors != nullptr) {
    const auto found = descriptors->FindMethod(call.method);
    if (!found.ok()) return In("method", found.status());
    method = *found;
    if (absl::Status fits = CheckStream(call, *method); !fits.ok()) {
      return In("method", fits);
    }
  }
  auto source = absl::WrapUnique(new MessageSource(
      call, series, std::move(descriptors), method, *std::move(templates)));
  if (absl::Status first = source->CheckFirst(); !first.ok()) {
    return In("request", first);
  }
  return source;
}

// The first request shows most mistakes before there is traffic.
absl::Status MessageSource::CheckFirst() const {
  if (method_ == nullptr) return absl::OkStatus();
  if (call_.binary_request.has_value()) {
    return encoder_->CheckBytes(*call_.binary_request);
  }
  std::string text;
  templates_.request.AppendTo(RequestOf(0), text);
  return WithoutRow(encoder_->Parse(text).status());
}

bool MessageSource::is_constant() const {
  return templates_.request.variable_count() == 0 &&
         absl::c_all_of(templates_.metadata, [](const auto& entry) {
           return entry.second.variable_count() == 0;
         });
}

absl::Status MessageSource::Next(EncodedRequest& encoded,
                                 const RequestWish& wish) {
  const TemplateRequest request =
      RequestOf(series_.next_number->fetch_add(1, std::memory_order_relaxed));
  const absl::Status done =
      templates_.request.has_filler()
          ? EncodeFilled(request, wish.message_bytes, encoded.message)
          : Encode(request, encoded.message);
  if (!done.ok()) {
    return In(absl::StrCat("request ", request.number), WithoutRow(done));
  }
  if (wish.has_metadata) return FillMetadata(request, encoded);
  encoded.metadata.clear();
  return absl::OkStatus();
}

// Returns the status, or one that says less if the row may be secret.
absl::Status MessageSource::WithoutRow(absl::Status status) const {
  if (status.ok() || series_.errors_show_rows ||
      !templates_.request.uses_rows()) {
    return status;
  }
  return absl::Status(
      status.code(),
      absl::StrCat("with its row it is no ", method_->input_type()->full_name(),
                   "; why is not said here, because rows may be secret; give "
                   "the call a descriptor_set_file, and distbench check_test "
                   "will tell"));
}

TemplateRequest MessageSource::RequestOf(int64_t number) const {
  TemplateRequest request = {
      .seed = series_.seed, .number = number, .instance = series_.instance};
  if (!call_.rows.empty()) {
    const auto count = static_cast<int64_t>(call_.rows.size()) - 1;
    request.row = &call_.rows[1 + (series_.first_row + number) % count];
  }
  return request;
}

absl::Status MessageSource::Encode(const TemplateRequest& request,
                                   std::string& message) {
  if (call_.binary_request.has_value()) {
    message = *call_.binary_request;
    return absl::OkStatus();
  }
  if (patched_ != nullptr && patched_->Encode(request, message)) {
    return absl::OkStatus();
  }
  text_.clear();
  templates_.request.AppendTo(request, text_);
  return encoder_->Encode(text_, message);
}

// A longer text may need more bytes for its length, and for those of the
// messages around it; so some sizes cannot be had.
absl::Status MessageSource::EncodeFilled(TemplateRequest request,
                                         int64_t message_bytes,
                                         std::string& message) {
  if (message_bytes > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a {{filler}} that makes it ", message_bytes,
                     " bytes long; ", kMaxTextBytes, " is the limit"));
  }
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    request.filler_bytes =
        std::max<int64_t>(0, message_bytes - bytes_beside_filler_);
    absl::Status encoded = Encode(request, message);
    if (!encoded.ok()) return encoded;
    const auto size = static_cast<int64_t>(message.size());
    bytes_beside_filler_ = size - request.filler_bytes;
    const bool has_least = request.filler_bytes == 0 && size > message_bytes;
    if (size == message_bytes || has_least) break;
  }
  return absl::OkStatus();
}

absl::Status MessageSource::FillMetadata(const TemplateRequest& request,
                                         EncodedRequest& encoded) const {
  encoded.metadata.resize(templates_.metadata.size());
  for (size_t i = 0; i < templates_.metadata.size(); ++i) {
    auto& [name, value] = encoded.metadata[i];
    name = templates_.metadata[i].first;
    value.clear();
    templates_.metadata[i].second.AppendTo(request, value);
    if (absl::Status good = CheckMetadataValue(name, value); !good.ok()) {
      return In("metadata", good);
    }
  }
  return absl::OkStatus();
}

namespace {

// Requests that are tried, and their text together: enough for most files of
// rows, in milliseconds.
constexpr int64_t kMaxTried = 1000;
constexpr int64_t kMaxTriedBytes = int64_t{16} << 20;

// Returns how many requests to try, at least one.
int64_t CountToTry(const ExternalCall& call, const CallTemplates& templates) {
  const auto rows = static_cast<int64_t>(call.rows.size());
  const int64_t bytes = templates.request.MostBytes(call.rows) + 1;
  return std::clamp<int64_t>(kMaxTriedBytes / bytes, 1,
                             std::min(rows + 1, kMaxTried));
}

}  // namespace

absl::Status CheckExternalCall(const ExternalCall& call) {
  if (const auto path = ParseMethodPath(call.method); !path.ok()) {
    return absl::Status(path.status().code(),
                        absl::StrCat("method: ", path.status().message()));
  }
  const auto templates = ParseTemplates(call);
  if (!templates.ok() || call.descriptors.empty()) return templates.status();
  auto descriptors = ParseDescriptors(call);
  if (!descriptors.ok()) return descriptors.status();
  std::atomic<int64_t> number = 0;
  const auto source =
      MessageSource::Make(call, *std::move(descriptors),
                          {.next_number = &number, .errors_show_rows = true});
  if (!source.ok()) return source.status();
  EncodedRequest request;
  const int64_t count =
      (*source)->is_constant() ? 1 : CountToTry(call, *templates);
  for (int64_t i = 0; i < count; ++i) {
    absl::Status made = (*source)->Next(request);
    if (!made.ok()) return made;
  }
  return absl::OkStatus();
}

}  // namespace distbench::external
