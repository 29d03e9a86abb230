#ifndef DISTBENCH_REPORT_JSON_JSON_RPC_H_
#define DISTBENCH_REPORT_JSON_JSON_RPC_H_

#include <cstdint>
#include <nlohmann/json.hpp>

#include "distbench/report/measurements/rpc_measurements.h"

namespace distbench {

// A value of Outcomes: nanoseconds, or "failed".
nlohmann::ordered_json OutcomeJson(int64_t value_ns);

// Describes one RPC for RenderJson().
nlohmann::ordered_json RpcJson(const RpcMeasurements& rpc);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_JSON_JSON_RPC_H_
