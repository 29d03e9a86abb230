#ifndef DISTBENCH_SECURITY_RECEIVED_TLS_FILES_H_
#define DISTBENCH_SECURITY_RECEIVED_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/file_descriptor.h"
#include "distbench/security/tls_files.h"

namespace distbench {

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

// Certificates and a key that a process received over a connection. They are
// kept in memory only, but have file names for code that needs files. Not
// thread-safe.
class ReceivedTlsFiles {
 public:
  // Replaces the contents. A concurrent reader sees the old or the new file,
  // never a mixture.
  absl::Status Update(const TlsContents& contents);

  // The file names. They are valid in this process during this object's
  // lifetime.
  TlsFiles files() const;

 private:
  FileDescriptor ca_;
  FileDescriptor cert_;
  FileDescriptor key_;
};

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_RECEIVED_TLS_FILES_H_
