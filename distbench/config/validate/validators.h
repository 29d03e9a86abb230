// The checks that make up Validate(), one subject each. A check reports what it
// finds to the TestValidation, leaves what others report alone, and never fails
// on input that others complain about. Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_VALIDATORS_H_
#define DISTBENCH_CONFIG_VALIDATE_VALIDATORS_H_

#include <string>
#include <vector>

#include "distbench/config/validate/test_validation.h"

namespace distbench {

// Names of services, RPCs, actions and so on: present, legible and unique.
void ValidateNames(const TestValidation& validation);

// That every string is text: reports and exports could not hold it otherwise.
void ValidateEncoding(const TestValidation& validation);

// That there is something to run, the test's timeout, limits and workers.
void ValidateTestSettings(const TestValidation& validation);

// Sizes and counts of services.
void ValidateServices(const TestValidation& validation);

// Bindings of services to CPUs and memory.
void ValidateBindings(const TestValidation& validation);

// Multi-server channels of services.
void ValidateChannels(const TestValidation& validation);

// Bundles and constraints: which instances go where.
void ValidatePlacement(const TestValidation& validation);

// One list of constraints. Unless `attributes` is empty, those of instances
// must be among them; others may be attributes of nodes.
void ValidateConstraints(const Path& path, const ConstraintList& constraints,
                         const std::vector<std::string>& attributes,
                         Problems& problems);

// Which drivers services use, and the settings of those.
void ValidateDrivers(const TestValidation& validation);

// Payloads, and the distributions of sizes and delays.
void ValidatePayloads(const TestValidation& validation);
void ValidateDistributions(const TestValidation& validation);

// RPCs: who may call whom, how many, and with what.
void ValidateRpcs(const TestValidation& validation);

// Actions on their own: what they run, how often, when.
void ValidateActions(const TestValidation& validation);

// Action lists: their actions, and how these depend on one another.
void ValidateActionLists(const TestValidation& validation);

// What runs what: that only clients of an RPC send it, and that nothing runs
// itself for ever.
void ValidateFlow(const TestValidation& validation);

void ValidateActivities(const TestValidation& validation);
void ValidateReplayTraces(const TestValidation& validation);

// How a load search is to go.
void ValidateObjectives(const TestValidation& validation);
void ValidateSearch(const TestValidation& validation);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_VALIDATORS_H_
