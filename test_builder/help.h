// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Help texts and completion, from the declarations of patterns and protocols.

#ifndef DISTBENCH_TEST_BUILDER_HELP_H_
#define DISTBENCH_TEST_BUILDER_HELP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/flags/completion.h"

namespace distbench::test_builder {

// Usage, syntax, patterns and protocols.
std::string GeneralHelp();

// Help on a pattern or a protocol. The error lists the available topics.
absl::StatusOr<std::string> TopicHelp(absl::string_view topic);

// The manual page of test_builder, with all patterns and protocols and their
// parameters. `version` is such as "1.2.3".
std::string TestBuilderManPage(absl::string_view version);

// ---- What may come next on a command line -----------------------------------

// `words` as for Complete().
flags::Completion CompleteTestBuilder(std::vector<std::string> words);

// What a CONFIG such as "clique:grpc:node_c" may become: patterns, then
// protocols and parameters after its last ':', or the choices of a parameter
// after its '='. The candidates are whole CONFIGs.
std::vector<flags::Candidate> ConfigCandidates(const std::string& typed);

// All patterns, and all protocols, with their summaries. `before` precedes the
// names.
std::vector<flags::Candidate> PatternCandidates();
std::vector<flags::Candidate> ProtocolCandidates(
    const std::string& before = "");

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_HELP_H_
