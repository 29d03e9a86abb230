// The certificates of a job's secret (job_secret.h).

#ifndef DISTBENCH_SECURITY_JOB_AUTHORITY_H_
#define DISTBENCH_SECURITY_JOB_AUTHORITY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

namespace distbench::security {

// Makes an authority, lets it sign one certificate with the DNS name `name` for
// servers and clients, and throws the authority's key away. Both certificates
// are valid from `begin` to `end`, in whole seconds. Returns PEM texts.
absl::StatusOr<TlsContents> IssueJobCertificate(const std::string& name,
                                                absl::Time begin,
                                                absl::Time end);

// Checks that the certificate of the files, which are readable, is signed by
// their authority and has the DNS name. The error names the file.
absl::Status CheckIssuedFor(const std::string& name, const TlsFiles& files);

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_JOB_AUTHORITY_H_
