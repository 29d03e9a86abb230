// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The files for TLS: those that the flags --tls_ca, --tls_cert and --tls_key
// name, and those that a process received or made.

#ifndef DISTBENCH_SECURITY_TLS_FILES_H_
#define DISTBENCH_SECURITY_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"

namespace distbench::security {

// PEM files. TLS is off if all are empty.
struct TlsFiles {
  // Certificates of the authorities that sign the peers' certificates.
  std::string ca;

  // This side's certificate, followed by any intermediate certificates.
  std::string cert;

  // The unencrypted private key of the first certificate of `cert`.
  std::string key;

  // Not a file: the name that the sequencer's certificate must have; empty: the
  // name of the host that was connected to.
  std::string name = {};

  // Whether there are no files.
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

// How errors name a file: by the flag that named it, unless the files were not
// given by flags.
struct TlsLabels {
  absl::string_view ca = "--tls_ca=";
  absl::string_view cert = "--tls_cert=";
  absl::string_view key = "--tls_key=";
};

// Checks that the files are complete for the role, readable, consistent and not
// expired. The error names the flag and the file.
absl::Status CheckTlsFiles(const TlsFiles& files, TlsRole role,
                           const TlsLabels& labels = {});

// The contents of the files of TlsFiles. Empty if there is no such file.
struct TlsContents {
  std::string ca;
  std::string cert;
  std::string key;

  bool operator==(const TlsContents& other) const {
    return ca == other.ca && cert == other.cert && key == other.key;
  }
};

// Files that are not named are empty. The error names the file.
absl::StatusOr<TlsContents> ReadTlsContents(const TlsFiles& files);

// Certificates and a key that are kept in memory only, but have file names for
// code that needs files. However this process ends, they end with it. Not
// thread-safe.
class TlsFilesInMemory {
 public:
  // Replaces the contents. A concurrent reader sees the old or the new file,
  // never a mixture.
  absl::Status Update(const TlsContents& contents);

  // The file names. They are valid in this process during this object's
  // lifetime.
  TlsFiles files() const;

  // The same for other processes of this user, such as those that this one
  // starts.
  TlsFiles FilesForOthers() const;

 private:
  TlsFiles FilesOf(absl::string_view process) const;

  base::FileDescriptor ca_;
  base::FileDescriptor cert_;
  base::FileDescriptor key_;
};

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_TLS_FILES_H_
