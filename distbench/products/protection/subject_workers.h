// The threads of the subject's instances.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_WORKERS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_WORKERS_H_

#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// The fewest workers that the sequencer would give any instance of the test on
// its own: the CPUs of a host divided by the instances there, at least 1.
//
// By default, the sequencer divides CPUs by all instances of a host, so that an
// antagonist would cost the subject workers even if it did nothing, and the
// division of its traffic among workers, which draws the arrivals, would differ
// from cell to cell. `test` must be valid; constraints are not taken into
// account.
int WorkersOfSubject(const DistributedSystemDescription& test,
                     const GetStatusResponse& status);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_WORKERS_H_
