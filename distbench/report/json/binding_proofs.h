// Where instances ran: the CPUs and the memory that they asked for and used.

#ifndef DISTBENCH_REPORT_JSON_BINDING_PROOFS_H_
#define DISTBENCH_REPORT_JSON_BINDING_PROOFS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "proto/results.pb.h"

namespace distbench::report {

nlohmann::ordered_json BindingProofJson(const std::string& instance,
                                        const BindingProof& proof);

// What was asked for, for example "CPUs 0-3, memory bind 0"; "none" if nothing.
std::string BindingText(const BindingProof& proof);

// Resident memory by node, for example "0: 12.0 MiB, 1: 3.0 MiB".
std::string ResidentText(const BindingProof& proof);

// CPU time by CPU, for example "2: 55 %, 3: 45 %".
std::string CpusText(const BindingProof& proof);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_BINDING_PROOFS_H_
