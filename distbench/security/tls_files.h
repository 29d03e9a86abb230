// The files that TLS is made of, as the flags --tls_ca, --tls_cert and
// --tls_key name them.

#ifndef DISTBENCH_SECURITY_TLS_FILES_H_
#define DISTBENCH_SECURITY_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"

namespace distbench {

// PEM files. All empty: no TLS.
struct TlsFiles {
  // Certificates of the authorities that sign those of the peers.
  std::string ca;

  // This side's certificate, then those between it and its authority.
  std::string cert;

  // The private key of the first certificate of `cert`; not encrypted.
  std::string key;

  bool empty() const { return ca.empty() && cert.empty() && key.empty(); }
};

enum class TlsRole {
  // Talks to a sequencer: needs a CA; a certificate if the sequencer asks for
  // one.
  kClient,
  // A sequencer: needs a certificate; with a CA it asks its clients for theirs.
  kSequencer,
  // Both, towards the sequencer and towards other nodes: needs all three.
  kNode,
};

// Whether the files are those that the role needs, can be read, belong together
// and have not expired. The error names the flag and the file.
absl::Status CheckTlsFiles(const TlsFiles& files, TlsRole role);

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_TLS_FILES_H_
