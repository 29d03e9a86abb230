// The subject of an experiment: the parts of a test that the experiment is
// about. All functions require a canonical test, which need not be valid:
// undefined names are harmless.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SUBJECT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SUBJECT_H_

#include <map>
#include <string>
#include <vector>

#include "google/protobuf/repeated_ptr_field.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

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

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SUBJECT_H_
