// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/testing/example_experiment.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "gtest/gtest.h"

namespace distbench::protection {

DistributedSystemDescription ExampleTest(const std::string& experiment) {
  TestSequence sequence;
  *sequence.add_tests() = base::FromText<DistributedSystemDescription>(
      absl::StrCat(R"(
        name: "t"
        services { name: "client" count: 1 }
        services { name: "server" count: 2 }
        rpc_descriptions {
          name: "query" client: "client" server: "server"
          fanout_filter: "random"
        }
        activity_configs {
          name: "burn"
          activity_settings {
            name: "activity_func" string_value: "ConsumeCpu"
          }
        }
        action_lists { name: "client" action_names: "ask" }
        action_lists { name: "query" }
        actions {
          name: "ask" rpc_name: "query"
          iterations { rate: "100/s" max_duration: "1s" warmup: "1s" }
        }
        objectives: "query p99<=1s"
        experiment {)",
                   experiment, "}"));
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked.ok() ? checked->tests(0) : DistributedSystemDescription();
}

std::string ExampleExperiment(const std::string& more) {
  return absl::StrCat(R"(
    antagonists { name: "hog" activity: "burn" threads: 2 ramp: "4s" }
    controls { name: "off" }
    controls {
      name: "on"
      groups { services: "server" cpu_weight: 500 }
      groups { services: "antagonist_*" cpu_weight: 10 }
    }
    phases {
      stabilise: "20s" flat_over: "5s"
      baseline: "10s" interfere: "20s" recover: "5s"
    }
  )",
                      more);
}

ExperimentPlan ExamplePlan(const std::string& more) {
  absl::StatusOr<ExperimentPlan> plan =
      PlanExperiment(ExampleTest(ExampleExperiment(more)),
                     {.seed = 7, .workers_per_instance = 2});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : ExperimentPlan();
}

}  // namespace distbench::protection
