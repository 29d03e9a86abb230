// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The services of an experiment's test: those of its subject, and those added
// for antagonists.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SERVICES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SERVICES_H_

#include <map>
#include <string>
#include <vector>

#include "google/protobuf/repeated_ptr_field.h"
#include "proto/experiment.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// The subject of an experiment: the parts of a test that the experiment is
// about. All functions require a canonical test, which need not be valid:
// undefined names are harmless.

// The RPCs that main lists send, themselves or in lists nested in them, each
// once, in the order of the test.
std::vector<std::string> RootRpcs(const DistributedSystemDescription& test);

// The RPC whose protection is measured: the experiment's, or the only root RPC.
// Empty if there is no such RPC.
std::string SubjectRpc(const DistributedSystemDescription& test);

// Whether a main list sends the RPC in a closed loop that lasts: its requests
// have no response times. What ends after a count is set-up.
bool HasClosedLoop(const DistributedSystemDescription& test,
                   const std::string& rpc);

// Iterations per second of the open loops of all instances' main lists that
// send the RPC themselves; 0 if there are none.
double OpenLoopRate(const DistributedSystemDescription& test,
                    const std::string& rpc);

// Names of the services that any of the names or globs matches, in the order of
// the test.
std::vector<std::string> ServicesMatching(
    const DistributedSystemDescription& test,
    const google::protobuf::RepeatedPtrField<std::string>& globs);

// The services beside which the antagonist runs: those that it names, or the
// subject's, or the server of the subject's RPC.
std::vector<std::string> ServicesBeside(
    const DistributedSystemDescription& test, const Antagonist& antagonist);

// The node of each instance, as the sequencer places the instances of a test
// without constraints: where their bundle says or, one by one, on the first
// node that has none. Nodes are called "node0", "node1" and so on.
std::map<std::string, std::string> NodesOfInstances(
    const DistributedSystemDescription& test);

// Names of what an experiment adds to its test for an antagonist.

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

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SERVICES_H_
