// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The secret of a job: what all of its processes have, and nobody else.
//
// It is a directory with the files of a kubernetes.io/tls Secret: `ca.crt`, the
// certificate of an authority that was made for this job; `tls.crt` and
// `tls.key`, the only certificate that this authority ever signed, and its key.
// The authority's own key is thrown away as soon as it has signed, so a valid
// signature says that the peer has this secret. Host names do not matter:
// whoever checks a name checks for kJobName.

#ifndef DISTBENCH_SECURITY_JOB_SECRET_H_
#define DISTBENCH_SECURITY_JOB_SECRET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

namespace distbench::security {

// The certificates of a job's secret (job_secret.h).

// Makes an authority, lets it sign one certificate with the DNS name `name` for
// servers and clients, and throws the authority's key away. Both certificates
// are valid from `begin` to `end`, in whole seconds. Returns PEM texts.
absl::StatusOr<TlsContents> IssueJobCertificate(const std::string& name,
                                                absl::Time begin,
                                                absl::Time end);

// Checks that the certificate of the files, which are readable, is signed by
// their authority and has the DNS name. The error names the file.
absl::Status CheckIssuedFor(const std::string& name, const TlsFiles& files);

// The DNS name in the certificate of every job.
inline constexpr char kJobName[] = "distbench-job";

// How far the clocks of a job's hosts may be behind that of the host on which
// its secret was made.
inline constexpr absl::Duration kJobSecretClockTolerance = absl::Hours(1);

// The longest time for which a secret can be valid: it is for one job.
inline constexpr absl::Duration kLongestJobSecret = absl::Hours(24 * 3650);

// Writes a new secret, valid from `now` (and kJobSecretClockTolerance before)
// for `valid_for`, into `directory`. The directory is made if it is missing,
// with mode 0700; its parent must exist. Refuses a directory that others may
// read or change, or that has a secret already, because processes may be using
// that one. The error names the directory; no part of the secret is left then.
absl::Status MakeJobSecret(const std::string& directory,
                           absl::Duration valid_for, absl::Time now);

// Writes a secret into `directory`, which exists, is private and has none. The
// error names the file; no part is left then.
absl::Status WriteJobSecret(const std::string& directory,
                            const TlsContents& contents);

// Makes `directory`, which exists, is private and has no secret, a directory
// for a secret of which `files` are the files. The error names the file.
absl::Status LinkJobSecret(const std::string& directory, const TlsFiles& files);

// Returns the files of the secret in `directory`, with the name that peers are
// checked against. Errors, which name the directory or the file: a file is
// missing, others may read the key, the files do not belong together, or they
// have expired.
//
// On a file system that can be written to, nobody but the owner (this user or
// root) may use the directory or read the key. On a read-only one, such as the
// mount of a Kubernetes Secret, whose directory is open and whose files belong
// to root and a group of the Pod, the key must only be unreadable for others.
absl::StatusOr<TlsFiles> FindJobSecret(const std::string& directory);

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_JOB_SECRET_H_
