// What may come next on a command line of test_builder.

#ifndef DISTBENCH_TEST_BUILDER_COMPLETION_H_
#define DISTBENCH_TEST_BUILDER_COMPLETION_H_

#include <string>
#include <vector>

#include "distbench/flags/completion.h"

namespace distbench::test_builder {

// `words` as for Complete().
flags::Completion CompleteTestBuilder(std::vector<std::string> words);

// What a CONFIG such as "clique:grpc:node_c" may become: patterns, then
// protocols and parameters after its last ':', or the choices of a parameter
// after its '='. The candidates are whole CONFIGs.
std::vector<flags::Candidate> ConfigCandidates(const std::string& typed);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_COMPLETION_H_
