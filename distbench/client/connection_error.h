#ifndef DISTBENCH_CLIENT_CONNECTION_ERROR_H_
#define DISTBENCH_CLIENT_CONNECTION_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace distbench::client {

// Turns gRPC's error about an unreachable sequencer into a message for people:
// what was tried, what happened and what to check. Keeps the code.
absl::Status ExplainConnectionError(const absl::Status& error,
                                    const std::string& address,
                                    absl::Duration timeout);

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_CONNECTION_ERROR_H_
