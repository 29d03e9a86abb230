// External services: those of the user's own, which tests call but do not run.

#ifndef DISTBENCH_CONFIG_SYNTAX_EXTERNAL_SERVICES_H_
#define DISTBENCH_CONFIG_SYNTAX_EXTERNAL_SERVICES_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/external/calls/external_calls.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Stands for contents that results do not keep; see RedactSecrets().
inline constexpr char kRedacted[] = "(redacted)";

// Checks "HOST:PORT": a name, an IPv4 address or an IPv6 address in brackets,
// and a port from 1 to 65535, as allowed targets and addresses are written. The
// error does not repeat the address.
absl::Status CheckHostPort(absl::string_view address);

// The call of an RPC, as its driver needs it. Rows that ParseCsvRows() refuses
// are left out: validation reports them.
external::ExternalCall ToExternalCall(const ExternalCallSpec& spec);

// By address: RPCs per second.
using TargetRates = std::map<std::string, double>;

// What an instance of `service` calls outside of a valid test, except for the
// fields about the instance itself. A server without a rate has none to hold.
external::ExternalCalls ExternalCallsOf(
    const DistributedSystemDescription& test, absl::string_view service,
    const TargetRates& rates);

// The services of a valid test that call each address.
std::map<std::string, std::set<std::string>> ClientsByTarget(
    const DistributedSystemDescription& test);

// Replaces what may be secret, which is metadata's values and rows, by
// kRedacted; names remain. Everything that is kept or hashed goes through this.
void RedactSecrets(DistributedSystemDescription& test);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_EXTERNAL_SERVICES_H_
