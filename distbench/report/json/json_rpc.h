#ifndef DISTBENCH_REPORT_JSON_JSON_RPC_H_
#define DISTBENCH_REPORT_JSON_JSON_RPC_H_

#include <nlohmann/json.hpp>

#include "distbench/report/measurements/rpc_measurements.h"

namespace distbench {

// Describes one RPC for RenderJson().
nlohmann::ordered_json RpcJson(const RpcMeasurements& rpc);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_JSON_JSON_RPC_H_
