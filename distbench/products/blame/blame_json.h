#ifndef DISTBENCH_PRODUCTS_BLAME_BLAME_JSON_H_
#define DISTBENCH_PRODUCTS_BLAME_BLAME_JSON_H_

#include <nlohmann/json.hpp>

#include "proto/results.pb.h"

namespace distbench::blame {

// Says who is to blame for the tail. Null if no requests were traced.
nlohmann::ordered_json BlameJson(const TestResult& result);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_BLAME_JSON_H_
