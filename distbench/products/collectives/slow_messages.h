// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_COLLECTIVES_SLOW_MESSAGES_H_
#define DISTBENCH_PRODUCTS_COLLECTIVES_SLOW_MESSAGES_H_

#include "distbench/products/collectives/collectives.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"

namespace distbench::collectives {

// Finds messages of a group's operation that take much longer than the others
// of the same step, by as much as makes iterations longer by a tenth; and the
// rank that all of them have in common, whose link or host is slow. Where all
// wait for one another, the rank that is last says nothing about it. For groups
// that have done enough iterations to tell.
void JudgeSlowMessages(const TestResult& result,
                       const MeasuredCollective& collective,
                       report::FindingList& findings);

}  // namespace distbench::collectives

#endif  // DISTBENCH_PRODUCTS_COLLECTIVES_SLOW_MESSAGES_H_
