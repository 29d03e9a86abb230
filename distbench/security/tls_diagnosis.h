// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_SECURITY_TLS_DIAGNOSIS_H_
#define DISTBENCH_SECURITY_TLS_DIAGNOSIS_H_

#include <string>

#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

namespace distbench::security {

// Whether the server's certificate must match the host, or the name that the
// files ask for.
enum class ServerName { kChecked, kAny };

// Explains why gRPC could not connect to "HOST:PORT". gRPC's own errors say
// little, so this function makes another attempt. The text says which side
// refuses the other, why, and what to do: in terms of flags or, if the files
// ask for kJobName, of a job's secret. Empty if TLS does not seem to be the
// problem. Blocks for at most the timeout.
std::string DiagnoseTls(const std::string& address, const TlsFiles& files,
                        ServerName server_name, absl::Duration timeout);

// Whether a server that is contacted without TLS expects TLS: it closes the
// connection unless it receives a handshake, which it answers.
bool WantsTls(const std::string& address, absl::Duration timeout);

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_TLS_DIAGNOSIS_H_
