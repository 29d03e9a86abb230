#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// How many iterations may run at once depends on the kind of loop.
void CheckParallelism(const TestValidation& validation, const Path& path,
                      const Action& action) {
  validation.CheckRange(path.Field("max_parallel_iterations"),
                        action.iterations().max_parallel_iterations(), 1,
                        IsOpenLoop(action) ? std::numeric_limits<int64_t>::max()
                                           : kMaxClosedLoopParallelism);
}

void CheckComposedArrivals(const TestValidation& validation, const Path& path,
                           const Iterations& iterations) {
  if (!iterations.has_arrivals()) return;
  const Path place = path.Field("arrivals");
  CheckArrivalsBetweenFields(iterations.arrivals(), place,
                             validation.problems());
  if (iterations.arrivals().process() != "recorded" &&
      !iterations.has_open_loop_interval_ns() && !iterations.has_rate()) {
    validation.Add(place, "needs a rate; add one, such as rate: \"200/s\"");
  }
}

// Checks that names are well-formed. Whether they are defined depends on the
// list.
void CheckPredicates(const TestValidation& validation, const Path& path,
                     const Action& action) {
  for (int i = 0; i < action.predicates_size(); ++i) {
    const std::string& predicate = action.predicates(i);
    if (predicate.empty() || predicate == "!") {
      validation.Add(path.At(i), "is empty; name a predicate");
    } else if (absl::StartsWith(predicate, "!!")) {
      validation.Add(path.At(i), absl::StrCat(Quoted(predicate),
                                              " negates twice; use one '!'"));
    }
  }
}

}  // namespace

void ValidateActions(const TestValidation& validation) {
  for (int i = 0; i < validation.test().actions_size(); ++i) {
    const Action& action = validation.test().actions(i);
    const Path path = validation.Action(i);
    if (action.has_iterations()) {
      const Path iterations = path.Field("iterations");
      CheckParallelism(validation, iterations, action);
      CheckComposedArrivals(validation, iterations, action.iterations());
    }
    CheckPredicates(validation, path.Field("predicates"), action);
  }
}

}  // namespace distbench::config
