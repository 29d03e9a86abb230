// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The laws that the numbers of any run keep: what was offered was sent or not,
// parts add up to their totals, and a figure is the same wherever it is shown.
// A report that breaks one is wrong, whatever the run was.
//
//   for (const std::string& broken : BrokenLaws(DeriveTest(run))) ...

#ifndef DISTBENCH_REPORT_DERIVED_CONSERVATION_H_
#define DISTBENCH_REPORT_DERIVED_CONSERVATION_H_

#include <string>
#include <vector>

#include "proto/report.pb.h"

namespace distbench::report {

// Returns a line for each law that the report breaks: where, and the numbers
// that contradict each other. Laws on the parts of something hold only if the
// report has all of them, so rows that were left out, and series that could not
// be added up, suspend theirs.
//
// What is checked:
// - of counts: the failures of an RPC by cause, its pairs of instances, its
//   edges, its clients and its seconds add up to the RPC, and RPCs to the test;
//   RPCs that were offered succeeded, failed or were never sent, unless the
//   test lost an instance; requests with a policy are at least those that
//   ended; attempts are first ones, retries and hedges, and each succeeded,
//   failed or was given up
// - of rates: a rate is a count over its time; those of an RPC's pairs, edges
// and
//   clients add up to that of the RPC
// - of objectives: what they measured is what the rest of the report says
// - of numbers: they are finite
// - of seconds: they lie within the run, unless the clocks of its hosts differ
// - of times: percentiles rise, lie within minimum and maximum and within their
//   intervals, and fail from some percentage on; the distribution ends with all
//   that succeeded
// - of shares: they lie within 0 and 1
// - of requests in flight (J. D. C. Little, A Proof for the Queuing Formula L =
//   lambda W, Operations Research 9 (1961) 383-387): their mean number, from
//   what was sent and what ended in each second, is the rate times the mean
//   service time, within five standard errors. For RPCs without warm-up or
//   failures, whose times are not in that mean.
std::vector<std::string> BrokenLaws(const Report::Test& test);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_DERIVED_CONSERVATION_H_
