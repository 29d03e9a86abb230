// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/json/json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/placement.h"

namespace distbench::report {
namespace {

using ::distbench::base::Json;

// Returns the object with the keys of products between its own.
template <typename Key, typename Input>
Json WithParts(Json own, const Input& input, const JsonLimits& limits) {
  std::vector<std::string> names;
  for (const auto& [name, value] : own.items()) names.push_back(name);
  Json all = Json::object();
  for (const Placed<Key>& placed : InOrder<Key>(names)) {
    all[placed.name] = placed.part == nullptr
                           ? std::move(own[placed.name])
                           : placed.part->value_of(input, limits);
  }
  return all;
}

}  // namespace

std::string RenderJson(const ReportInput& input, const JsonLimits& limits) {
  Json document = base::MessageJson(ReportWithoutTests());
  Json& tests = document["tests"];
  for (const TestRun& run : input.runs) {
    tests.push_back(WithParts<TestKey>(
        base::MessageJson(DeriveTest(run, limits)), *run.result, limits));
  }
  document = WithParts<DocumentKey>(std::move(document), input, limits);
  return base::DumpJson(document) + '\n';
}

}  // namespace distbench::report
