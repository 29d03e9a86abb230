#ifndef DISTBENCH_SECURITY_TLS_DIAGNOSIS_H_
#define DISTBENCH_SECURITY_TLS_DIAGNOSIS_H_

#include <string>

#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

namespace distbench {

// Whether the server's certificate must be for the host that was asked for.
enum class ServerName { kChecked, kAny };

// Why gRPC could not connect to "HOST:PORT", found out by another attempt: gRPC
// itself tells little. Says which side refuses the other, why, and what to do.
// Empty: TLS is not what is wrong, as far as can be seen. Blocks for as long as
// the timeout allows.
std::string DiagnoseTls(const std::string& address, const TlsFiles& files,
                        ServerName server_name, absl::Duration timeout);

// Whether a server that was taken for one without TLS wants it: it hangs up on
// what is no handshake, and answers one.
bool WantsTls(const std::string& address, absl::Duration timeout);

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_TLS_DIAGNOSIS_H_
