// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Authorises calls to a sequencer by the names in client certificates.

#ifndef DISTBENCH_SECURITY_AUTHORIZATION_H_
#define DISTBENCH_SECURITY_AUTHORIZATION_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench::security {

// The names in a client's certificate: its subject's common name and all
// alternative names. Empty without TLS or without a certificate.
std::vector<std::string> NamesOf(const grpc::AuthContext& context);

// Names as written in certificates. An empty list allows everyone whose
// certificate is signed by the CA.
struct AccessRules {
  // May submit and cancel tests.
  std::vector<std::string> submit;
  // May register as a node.
  std::vector<std::string> node;

  bool empty() const { return submit.empty() && node.empty(); }
};

// Checks whether a caller with these names may call a method of the sequencer,
// such as "/distbench.DistBenchTestSequencer/RunTests". Methods that are not
// known to be read-only require the right to submit. The error is
// PERMISSION_DENIED and names the flag.
absl::Status CheckAccess(const AccessRules& rules, absl::string_view method,
                         const std::vector<std::string>& caller_names);

// Applies the rules to every call that arrives over TLS.
std::shared_ptr<grpc::AuthMetadataProcessor> MakeAccessControl(
    AccessRules rules);

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_AUTHORIZATION_H_
