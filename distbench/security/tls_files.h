// The files for TLS, as named by the flags --tls_ca, --tls_cert and --tls_key.

#ifndef DISTBENCH_SECURITY_TLS_FILES_H_
#define DISTBENCH_SECURITY_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"

namespace distbench {

// PEM files. TLS is off if all are empty.
struct TlsFiles {
  // Certificates of the authorities that sign the peers' certificates.
  std::string ca;

  // This side's certificate, followed by any intermediate certificates.
  std::string cert;

  // The unencrypted private key of the first certificate of `cert`.
  std::string key;

  bool empty() const { return ca.empty() && cert.empty() && key.empty(); }
};

enum class TlsRole {
  // Connects to a sequencer. Needs a CA, and a certificate if the sequencer
  // requires one.
  kClient,
  // Needs a certificate. With a CA, requires certificates from its clients.
  kSequencer,
  // Connects to the sequencer and to other nodes, and accepts connections.
  // Needs all three files.
  kNode,
};

// Checks that the files are complete for the role, readable, consistent and not
// expired. The error names the flag and the file.
absl::Status CheckTlsFiles(const TlsFiles& files, TlsRole role);

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_TLS_FILES_H_
