// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What `distbench launch` and the hosts say to each other over an ssh session.
//
// A host's program says on stdout that it is ready, and then gets on stdin what
// must not be in arguments, environments or logs. Its stdin stays open until it
// is to end. The host of rank 0 then says on which port the job's sequencer
// listens.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_START_MESSAGE_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_START_MESSAGE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/security/tls_files.h"

namespace distbench::launching {

// The line by which a host says that it is ready, without its line feed.
inline constexpr absl::string_view kReadyLine = "distbench launch: ready";

// The line by which rank 0's host tells the port, and its parser.
std::string PortLine(int port);
std::optional<int> ParsePortLine(absl::string_view line);

// What a host gets when all hosts are ready.
struct StartMessage {
  // HOST:PORT of the job's sequencer; empty for rank 0, which starts it.
  std::string leader;

  // The job's secret; empty if the job is to be without TLS.
  security::TlsContents secret;
};

// Lines: "leader HOST:PORT", if there is one; the certificate of the authority,
// the certificate and the key of the job, as PEM, if there are any; "start".
std::string EncodeStartMessage(const StartMessage& message);

// Reads a message from a file or pipe, and nothing behind it. UNAVAILABLE if
// the input ends before the message does. INVALID_ARGUMENT if it is none.
absl::StatusOr<StartMessage> ReadStartMessage(int input);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_START_MESSAGE_H_
