// Results as programs expect them that know only the fields below 1000.

#ifndef DISTBENCH_RESULTS_LEGACY_RESULTS_H_
#define DISTBENCH_RESULTS_LEGACY_RESULTS_H_

#include "proto/results.pb.h"

namespace distbench::results {

// Removes the logs of instances that neither sent an RPC nor did anything that
// is logged. Such programs take every log for that of an active instance.
void DropSilentInstances(ServiceLogs& logs);

// Removes distbench's own fields, at any depth, and the logs of silent
// instances. Parsers of text refuse fields that they do not know.
void DropExtensions(TestSequenceResults& results);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_LEGACY_RESULTS_H_
