#ifndef DISTBENCH_SECURITY_RECEIVED_TLS_FILES_H_
#define DISTBENCH_SECURITY_RECEIVED_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/file_descriptor.h"
#include "distbench/security/tls_files.h"

namespace distbench {

// What the files of TlsFiles contain. Empty: there is none.
struct TlsContents {
  std::string ca;
  std::string cert;
  std::string key;

  bool operator==(const TlsContents& other) const {
    return ca == other.ca && cert == other.cert && key == other.key;
  }
};

// Empty for files that are not named. The error names the file.
absl::StatusOr<TlsContents> ReadTlsContents(const TlsFiles& files);

// Certificates and a key that a process was sent rather than finds in files:
// they are in memory only, and have names for those who want files. Not
// thread-safe.
class ReceivedTlsFiles {
 public:
  // Replaces what there is. Whoever opens a file meanwhile has the old or the
  // new one, never a part.
  absl::Status Update(const TlsContents& contents);

  // Their names, valid as long as this lives, in this process only.
  TlsFiles files() const;

 private:
  FileDescriptor ca_;
  FileDescriptor cert_;
  FileDescriptor key_;
};

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_RECEIVED_TLS_FILES_H_
