#ifndef DISTBENCH_FUZZING_KEPT_CORPUS_H_
#define DISTBENCH_FUZZING_KEPT_CORPUS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench {

// The inputs that scripts/fuzz.sh has kept for a target, such as "config"; in
// the order of their names. For tests, which need //tests/corpus:NAME as data.
// None is a failure of the test.
std::vector<std::string> KeptCorpus(absl::string_view name);

}  // namespace distbench

#endif  // DISTBENCH_FUZZING_KEPT_CORPUS_H_
