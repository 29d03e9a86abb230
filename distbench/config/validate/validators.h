// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The checks that make up Validate(), beside the rules of single fields
// (proto/rules.proto): what holds between fields, one subject each. A check
// reports its findings to the TestValidation, ignores what other checks report,
// and never fails on input that other checks reject. Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_VALIDATORS_H_
#define DISTBENCH_CONFIG_VALIDATE_VALIDATORS_H_

#include <string>
#include <vector>

#include "distbench/config/validate/test_validation.h"

namespace distbench::config {

// Sizes and counts of services, and how many requests they take.
void ValidateServices(const TestValidation& validation);

// Multi-server channels of services.
void ValidateChannels(const TestValidation& validation);

// Bundles and constraints, which place instances on nodes.
void ValidatePlacement(const TestValidation& validation);

// Checks one list of constraints, beyond the rules of its messages. Unless
// `attributes` is empty, it must contain the instance attributes that are used;
// other names may be attributes of nodes.
void ValidateConstraints(const Path& path, const ConstraintList& constraints,
                         const std::vector<std::string>& attributes,
                         Problems& problems);

// The drivers of services, and their settings.
void ValidateDrivers(const TestValidation& validation);

// The distributions of sizes and delays.
void ValidateDistributions(const TestValidation& validation);

// RPCs: their clients, servers, fanouts, payloads, quorums and streams.
void ValidateRpcs(const TestValidation& validation);

// Which instance a call reaches must be known when its size is chosen by that:
// reports at `path` that a payload of sizes_by_instance does not go with the
// RPC. Unknown names are reported elsewhere.
void CheckSizesByInstance(const TestValidation& validation, const Path& path,
                          const std::string& payload, const RpcSpec& rpc);

// Single actions: what they run, how often, and when.
void ValidateActions(const TestValidation& validation);

// Action lists: their actions, and the dependencies among them.
void ValidateActionLists(const TestValidation& validation);

// The flow of control: only clients of an RPC send it, and nothing runs itself
// for ever.
void ValidateFlow(const TestValidation& validation);

// The faults that servers have on purpose: who has them, when, and what the
// drivers can do.
void ValidateServerFaults(const TestValidation& validation);

void ValidateActivities(const TestValidation& validation);
void ValidateReplayTraces(const TestValidation& validation);

// Whether drivers can take time stamps of the wire, if the test wants them.
void ValidateWireTime(const TestValidation& validation);

// Objectives of runs.
void ValidateObjectives(const TestValidation& validation);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_VALIDATORS_H_
