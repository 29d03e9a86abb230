// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// External services: those of the user's own, which tests call but do not run.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_SERVICES_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_SERVICES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/external/external_calls.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/security/test_guards.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::external {

// The finding that says what names stood for.
inline constexpr char kAddressesFinding[] = "external_addresses";

// Stands for contents that results do not keep; see RedactSecrets().
inline constexpr char kRedacted[] = "(redacted)";

// Checks "HOST:PORT": a name, an IPv4 address or an IPv6 address in brackets,
// and a port from 1 to 65535, as allowed targets and addresses are written. The
// error does not repeat the address.
absl::Status CheckHostPort(absl::string_view address);

// Checks "HOST:PORT", or that behind kNameScheme.
absl::Status CheckTarget(absl::string_view target);

// What a name stands for travels from the sequencer to the engines among the
// limits of instances: the key of one address of it, and all addresses of it
// with the limits of each.
std::string PinnedKey(absl::string_view name, absl::string_view address);
std::map<std::string, double> PinnedAddresses(
    absl::string_view name, const security::InstanceLimits& limits);

// The call of an RPC that has an external_call, as its driver needs it. Rows
// that ParseCsvRows() refuses are left out: validation reports them.
ExternalCall ToExternalCall(const RpcSpec& rpc);

// What an instance of `service` calls outside of a valid test, except for the
// fields about the instance itself. `rates` are RPCs per second by address or
// PinnedKey(); a server without a rate has none to hold.
ExternalCalls ExternalCallsOf(const DistributedSystemDescription& test,
                              absl::string_view service,
                              const security::InstanceLimits& rates);

// The services of a valid test that call each address.
std::map<std::string, std::set<std::string>> ClientsByTarget(
    const DistributedSystemDescription& test);

// Replaces what may be secret, which is metadata's values, rows, and what
// clients show of themselves by TLS, by kRedacted; names remain.
void RedactSecrets(DistributedSystemDescription& test);

using CsvRows = std::vector<std::vector<std::string>>;

// Parses CSV as RFC 4180 has it: cells between commas, rows between line ends;
// a cell in double quotes may contain both, and quotes that are doubled. The
// first row names the columns, which are distinct and not empty, and every row
// has a cell for each. There is at least one further row. INVALID_ARGUMENT
// names the line, but does not quote it: cells may be secrets.
absl::StatusOr<CsvRows> ParseCsvRows(absl::string_view text);

// A report::FindingRule: what a result says less of because servers are
// external, and what their settings did to it.
void JudgeExternalCalls(const TestResult& result,
                        report::FindingList& findings);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_SERVICES_H_
