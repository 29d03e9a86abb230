// Names of what an experiment adds to its test for an antagonist.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_ANTAGONIST_NAMES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_ANTAGONIST_NAMES_H_

#include <string>
#include <vector>

#include "proto/experiment.pb.h"

namespace distbench::protection {

// The activity of an antagonist that sends RPCs from other nodes.
inline constexpr char kIncastActivity[] = "incast";

// All names that an experiment adds begin with this; a test must not use it.
inline constexpr char kAntagonistPrefix[] = "antagonist_";

// A rate grows in this many equal steps; the number of threads grows by one at
// a time.
inline constexpr int kRateRampSteps = 10;

bool IsIncast(const Antagonist& antagonist);

// The service whose instances run beside the subject: "antagonist_NAME".
std::string AntagonistService(const Antagonist& antagonist);

// The service that sends to it; only of an incast: "antagonist_NAME_sender".
std::string SenderService(const Antagonist& antagonist);

// The services of an antagonist: one or both of these.
std::vector<std::string> AntagonistServices(const Antagonist& antagonist);

// The control set of an experiment that has none.
inline constexpr char kNoControls[] = "none";

// ExperimentCell.purpose of a cell in which an antagonist runs without the
// subject's traffic and without controls.
inline constexpr char kAntagonistAlone[] = "antagonist_alone";

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_ANTAGONIST_NAMES_H_
