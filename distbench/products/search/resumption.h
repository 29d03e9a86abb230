// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Going on from what was kept; the same for searches, sizings, experiments and
// jobs.
//
// What was asked is kept beside what came of it. Another question is refused,
// and the difference named; more probes or time are not another question. What
// is recorded is asked for again, so that nothing is answered with what was
// measured for another question. What failed is tried again, and what ended
// without an answer begins again, as a further attempt. Nothing that was
// measured is dropped.

#ifndef DISTBENCH_PRODUCTS_SEARCH_RESUMPTION_H_
#define DISTBENCH_PRODUCTS_SEARCH_RESUMPTION_H_

#include <optional>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/search/strategy/probe_history.h"
#include "google/protobuf/message.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::search {

// FAILED_PRECONDITION if the messages are not equal: `what`, such as "it comes
// from another search", and each difference.
absl::Status CheckSame(absl::string_view what,
                       const google::protobuf::Message& recorded,
                       const google::protobuf::Message& asked);

// The names of the hosts on which the sequencer has nodes.
std::set<std::string> HostsOf(const GetStatusResponse& status);

// Those on which the runs of the results are known to have been.
std::set<std::string> HostsOf(const TestSequenceResults& results);

// FAILED_PRECONDITION if something was measured on a host where no node is now:
// half of an answer of each of two systems is one of none. Further hosts are no
// difference, as beside any test. `remedy`: what to do, for the end of the
// sentence.
absl::Status CheckHosts(const std::set<std::string>& measured,
                        const std::set<std::string>& present,
                        absl::string_view remedy);

// The same for runs, whose file could be another one.
absl::Status CheckHosts(const TestSequenceResults& results,
                        const GetStatusResponse& status);

// Adds the recorded probes that did not fail, each of which must be what `next`
// asks for. FAILED_PRECONDITION otherwise.
absl::Status ReplayProbes(const SearchReport& report,
                          absl::FunctionRef<std::optional<ProbeRequest>()> next,
                          absl::FunctionRef<void(const Probe& probe)> add);

// The part of the report that says what was asked.
SearchReport WithoutAnswer(const SearchReport& report);

// Removes what was concluded from the probes.
void ClearConclusion(SearchReport& report);

// Files the probes and the conclusion under the earlier attempts.
void BeginAnotherAttempt(SearchReport& report);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_RESUMPTION_H_
