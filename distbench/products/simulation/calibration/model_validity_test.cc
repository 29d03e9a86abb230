// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/calibration/model_validity.h"

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kHosts = 2;

// Within the validation in every respect.
struct Inside {
  DistributedSystemDescription test =
      base::FromText<DistributedSystemDescription>(R"(
        workers_per_instance: 1
        services { name: "client" count: 1 }
        services { name: "server" count: 7 }
        protocol_driver_options {
          name: "default_protocol_driver_options" protocol_name: "tcp"
          client_settings { name: "spin_us" int64_value: 0 } }
        payload_descriptions { name: "p" size: 1024 })");
  SimulatedFabric fabric = base::FromText<SimulatedFabric>(R"(
    host { cpus: 2 }
    stacks { driver: "tcp" client_send { fixed_ns: 1 fixed_error_ns: 1 }
             source: "measured here" })");
  TestResult result = base::FromText<TestResult>(R"(
    run_info { start_timestamp_ns: 1000000000 end_timestamp_ns: 3000000000 }
    resource_usage_logs { node_resources { key: "node0" value {
      engine_usages { key: "a/0" value { user_cpu_time_seconds: 1.7 } }
      engine_usages { key: "a/1" value { user_cpu_time_seconds: 1.8 } } } } }
    )");

  std::vector<std::string> Sentences(int hosts = kHosts) const {
    TestResult simulated = result;
    *simulated.mutable_traffic_config() = test;
    *simulated.mutable_simulation()->mutable_fabric() = fabric;
    simulated.mutable_simulation()->set_host_count(hosts);
    return OutsideOfValidation(simulated);
  }
};

TEST(OutsideOfValidationTest, InsideNothingIsSaid) {
  EXPECT_THAT(Inside().Sentences(), IsEmpty());
}

TEST(OutsideOfValidationTest, CostsMustBeMeasuredHere) {
  Inside inside;
  inside.fabric.mutable_stacks(0)->set_source("the reference machine: fast");
  EXPECT_THAT(inside.Sentences(),
              ElementsAre(HasSubstr("those of another machine")));
  inside.fabric.mutable_stacks(0)->set_source("placeholder: not measured");
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("are not measured")));
  inside.fabric.mutable_stacks(0)->clear_source();
  inside.fabric.mutable_stacks(0)
      ->mutable_client_send()
      ->clear_fixed_error_ns();
  EXPECT_THAT(inside.Sentences(),
              ElementsAre(HasSubstr("given, not measured")));
}

TEST(OutsideOfValidationTest, DriversMustHaveBeenCompared) {
  Inside inside;
  inside.fabric.mutable_stacks(0)->set_driver("thrift");
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("driver thrift")));
}

TEST(OutsideOfValidationTest, MoreIsOutside) {
  Inside inside;
  inside.test.mutable_services(1)->set_count(8);
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("9 instances")));
  EXPECT_THAT(inside.Sentences(1000), Contains(HasSubstr("1000 hosts")));
  Inside large;
  large.test.mutable_payload_descriptions(0)->set_size(1025);
  EXPECT_THAT(large.Sentences(), ElementsAre(HasSubstr("payload p")));
}

// In bench/simulation/VALIDATION.md, medians of cliques of 10 are up to 51 %
// too short, and rates of messages of 256 KiB up to 67 % too high.
TEST(OutsideOfValidationTest, WhatWasComparedAndFarOffIsOutside) {
  Inside clique;
  clique.test.clear_services();
  clique.test.add_services()->set_count(10);
  EXPECT_THAT(clique.Sentences(),
              ElementsAre(HasSubstr("10 instances; with more than 8")));
  Inside large;
  large.test.mutable_payload_descriptions(0)->set_size(262144);
  EXPECT_THAT(large.Sentences(),
              ElementsAre(HasSubstr("rates were up to 67 % higher")));
}

TEST(OutsideOfValidationTest, LargeSizesOfDistributionsAreOutside) {
  Inside inside;
  inside.test.MergeFrom(base::FromText<DistributedSystemDescription>(R"(
    size_distribution_configs { name: "sizes"
      cdf_points { cdf: 0.5 value: 1024 }
      cdf_points { cdf: 1 value: 1025 } }
    distribution_config { name: "pairs"
      pmf_points { pmf: 1 data_points { exact: 1 }
                   data_points { lower: 1 upper: 262144 } } })"));
  EXPECT_THAT(inside.Sentences(),
              ElementsAre(HasSubstr("distribution sizes has 1025"),
                          HasSubstr("distribution pairs has 262144")));
}

TEST(OutsideOfValidationTest, CostsOfOneHostDoNotHoldForSeveral) {
  Inside inside;
  inside.fabric.mutable_stacks(0)->set_source(
      "measured between processes of one host by distbench");
  EXPECT_THAT(inside.Sentences(),
              ElementsAre(HasSubstr("measure them between two hosts")));
  EXPECT_THAT(inside.Sentences(1), IsEmpty());
}

TEST(OutsideOfValidationTest, WorkersThatPollAreOutside) {
  Inside inside;
  NamedSetting& spin =
      *inside.test.mutable_protocol_driver_options(0)->mutable_client_settings(
          0);
  spin.set_int64_value(50);
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("would poll")));
  // If the CPUs decide: only instances with spare ones poll. Two share two.
  spin.set_int64_value(-1);
  EXPECT_THAT(inside.Sentences(), IsEmpty());
  inside.fabric.mutable_host()->set_cpus(4);
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("would poll")));
}

TEST(OutsideOfValidationTest, SeveralWorkersAreOutside) {
  Inside inside;
  inside.test.set_workers_per_instance(3);
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("have 3 workers")));
  inside.test.clear_workers_per_instance();
  EXPECT_THAT(inside.Sentences(), IsEmpty());
  inside.fabric.mutable_host()->set_cpus(4);
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("have 2 workers")));
}

TEST(OutsideOfValidationTest, SettingsOfDriversAreOutside) {
  Inside inside;
  NamedSetting& setting =
      *inside.test.mutable_protocol_driver_options(0)->add_client_settings();
  setting.set_name("calls_per_connection");
  setting.set_int64_value(1);
  EXPECT_THAT(inside.Sentences(),
              ElementsAre(HasSubstr("(calls_per_connection)")));
}

TEST(OutsideOfValidationTest, OtherModelsAreOutside) {
  Inside inside;
  inside.test.add_activity_configs();
  inside.test.add_server_faults();
  EXPECT_THAT(inside.Sentences(),
              ElementsAre(HasSubstr("activities"), HasSubstr("faults")));
}

TEST(OutsideOfValidationTest, BusyHostsAreOutside) {
  Inside inside;
  (*inside.result.mutable_resource_usage_logs()
        ->mutable_node_resources()
        ->at("node0")
        .mutable_engine_usages())["a/2"]
      .set_user_cpu_time_seconds(0.2);
  EXPECT_THAT(inside.Sentences(), ElementsAre(HasSubstr("92 % busy")));
}

}  // namespace
}  // namespace distbench::simulation
