// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How fast requests would be if an instance were as fast as the others.

#ifndef DISTBENCH_PRODUCTS_BLAME_WHAT_IF_H_
#define DISTBENCH_PRODUCTS_BLAME_WHAT_IF_H_

#include <cstdint>

#include "absl/types/span.h"
#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/report.pb.h"
#include "distbench/products/blame/request_tree.h"

namespace distbench::blame {

// Plays a request again with new durations, given for each call: with
// everything that it waits for, or kSame. Returns the total time, lateness
// included.
//
// A handler's RPCs start as long after the last one that had ended before their
// iteration began as they did or, without such an RPC, as long after the start
// of the handler. The handler goes on for as long after its last RPC as it did.
// With its own durations, a request takes exactly as long as it did.
//
// Nothing else changes: queues do not get shorter because others are faster.
// The order in which a handler sends its RPCs is taken from the request, so one
// that only happened to start after another has ended is also after it here.
int64_t Replay(const RequestTree& tree, absl::Span<const int64_t> durations_ns);
inline constexpr int64_t kSame = -1;

// Returns what p99 would be if an instance answered an RPC as fast as the
// others: of the instances with most of the tail's time, those that save at
// least 1 %, the best first. Requires a window of p99 that is not empty.
//
// The instance's RPCs get durations of the same RPC at other instances in the
// same class of requests: of the RPCs that the same handlers sent for the same
// requests, of which each counts once. Where a handler asks a single instance,
// these are the RPCs of other handlers that did. Durations of equal ranks
// correspond, so that a request that is slow everywhere stays slow everywhere.
//
// Among equals, as many requests leave the window of p99 as enter it. An
// instance is named if requests leave it throughout the test (IsThroughout()):
// what a block adds is the difference that its absence makes, for the ranks,
// too. These tests share an error probability (kErrorOfWhatIfs) among all
// instances of RPCs that have others, tried or not (Bonferroni). Intervals of
// p99 are those of order statistics, in 95 % confidence.
ReportedBlame::WhatIfs TryRemedies(const TracedRequests& requests,
                                   const TailWindow& tail);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_WHAT_IF_H_
