// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/authorization.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/grpc_calls.h"

namespace distbench::security {
namespace {

constexpr absl::string_view kSequencer = "/distbench.DistBenchTestSequencer/";

bool IsAnyOf(const std::vector<std::string>& allowed,
             const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const auto& name) {
    return std::find(allowed.begin(), allowed.end(), name) != allowed.end();
  });
}

bool ChangesNothing(absl::string_view method) {
  if (!absl::StartsWith(method, kSequencer)) return true;  // health, reflection
  for (absl::string_view name :
       {"GetStatus", "ListRuns", "GetRun", "RegisterNode"}) {
    if (method == absl::StrCat(kSequencer, name)) return true;
  }
  return false;
}

class AccessControl final : public grpc::AuthMetadataProcessor {
 public:
  explicit AccessControl(AccessRules rules) : rules_(std::move(rules)) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata,
                       grpc::AuthContext* context, OutputMetadata* /*consumed*/,
                       OutputMetadata* /*response*/) override {
    const auto path = metadata.find(":path");
    const absl::string_view method =
        path == metadata.end()
            ? absl::string_view(kSequencer)  // needs the right to submit
            : absl::string_view(path->second.data(), path->second.size());
    return base::ToGrpcStatus(CheckAccess(rules_, method, NamesOf(*context)));
  }

 private:
  const AccessRules rules_;
};

}  // namespace

std::vector<std::string> NamesOf(const grpc::AuthContext& context) {
  std::vector<std::string> names;
  for (const char* property :
       {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const grpc::string_ref& value : context.FindPropertyValues(property)) {
      names.emplace_back(value.data(), value.size());
    }
  }
  return names;
}

absl::Status CheckAccess(const AccessRules& rules, absl::string_view method,
                         const std::vector<std::string>& caller_names) {
  const bool is_node = method == absl::StrCat(kSequencer, "NodeSession");
  if (!is_node && ChangesNothing(method)) return absl::OkStatus();
  const std::vector<std::string>& allowed = is_node ? rules.node : rules.submit;
  if (allowed.empty() || IsAnyOf(allowed, caller_names)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the sequencer's ", is_node ? "--allow_node" : "--allow_submit",
      " does not list any name of this certificate (",
      caller_names.empty() ? "which has none"
                           : absl::StrJoin(caller_names, ", "),
      ")"));
}

std::shared_ptr<grpc::AuthMetadataProcessor> MakeAccessControl(
    AccessRules rules) {
  return std::make_shared<AccessControl>(std::move(rules));
}

}  // namespace distbench::security
