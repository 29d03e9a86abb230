// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/validation_cases.h"

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;

// Tests can insert text before its last line.
constexpr char kBase[] = R"(tests {
  services { name: 'client' count: 2 }
  services { name: 'server' count: 3 }
  services { name: 'grid' x_size: 4 y_size: 3 }
  payload_descriptions { name: 'small' size: 100 }
  payload_descriptions { name: 'varied' size_distribution_name: 'sizes' }
  size_distribution_configs {
    name: 'sizes'
    pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }
  }
  delay_distribution_configs {
    name: 'delays'
    pmf_points { pmf: 1 data_points { exact: 1000 } }
  }
  distribution_config {
    name: 'joint'
    field_names: 'payload_size'
    cdf_points { cdf: 1 value: 16 }
  }
  rpc_descriptions {
    name: 'query' client: 'client' server: 'server' fanout_filter: 'random'
  }
  rpc_descriptions {
    name: 'talk' client: 'grid' server: 'grid' fanout_filter: 'ring_y'
  }
  action_lists {
    name: 'client'
    action_names: ['run', 'then']
    predicate_probabilities { key: 'lucky' value: 0.5 }
  }
  action_lists { name: 'query' }
  action_lists { name: 'talk' }
  action_lists { name: 'grid' action_names: 'speak' }
  actions { name: 'run' rpc_name: 'query' iterations { max_duration_us: 9 } }
  actions { name: 'then' dependencies: 'run' predicates: 'lucky' }
  actions { name: 'speak' rpc_name: 'talk' }
  protocol_driver_options { name: 'fast' protocol_name: 'grpc' }
}
)";

}  // namespace

const std::string& BaseConfig() {
  static const auto* const config = new std::string(kBase);
  return *config;
}

std::vector<Problem> ProblemsAfter(const std::string& old_text,
                                   const std::string& new_text) {
  std::string config = BaseConfig();
  const size_t position =
      old_text.empty() ? config.rfind('}') : config.find(old_text);
  EXPECT_NE(position, std::string::npos) << old_text;
  if (!old_text.empty()) {
    EXPECT_EQ(config.find(old_text, position + 1), std::string::npos)
        << "not unique: " << old_text;
  }
  config.replace(position, old_text.size(), new_text);
  auto sequence = ParseTestSequence(config, "case");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  if (!sequence.ok()) return {};
  Canonicalize(*sequence);
  return Validate(*sequence);
}

void ExpectOneProblem(const ValidationCase& broken) {
  const std::vector<Problem> problems =
      ProblemsAfter(broken.old_text, broken.new_text);
  ASSERT_EQ(problems.size(), 1) << ToStatus(problems);
  std::string path = "tests[0]";
  if (*broken.path != '\0') absl::StrAppend(&path, ".", broken.path);
  EXPECT_EQ(problems[0].path, path);
  EXPECT_THAT(problems[0].message, HasSubstr(broken.message));
}

std::ostream& operator<<(std::ostream& out, const ValidationCase& broken) {
  return out << broken.rule;
}

}  // namespace distbench::config
