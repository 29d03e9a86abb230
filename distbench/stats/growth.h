// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether values that follow each other grow.

#ifndef DISTBENCH_STATS_GROWTH_H_
#define DISTBENCH_STATS_GROWTH_H_

#include "absl/types/span.h"

namespace distbench::stats {

// Whether at least four values grew by more than chance explains: those of the
// second half are above those of the first, or a line through all of them
// rises, each with the certainty of three standard errors, for which Student's
// t distribution takes more with few values.
bool HasRisen(absl::Span<const double> values);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_GROWTH_H_
