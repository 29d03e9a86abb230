// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/tests_of_job.h"

#include <climits>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/searching_jobs.h"
#include "distbench/products/bench/kinds/values.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BenchJob IoCostParams() {
  BenchJob job;
  job.set_kind("iocost-params");
  job.set_state(BenchJob::DONE);
  job.add_systems()->set_hostname("host1");
  job.mutable_systems(0)->add_devices()->set_name("nvme0n1");
  IoCostSettings settings;
  settings.set_device("259:0");
  settings.mutable_model()->set_rbps(7);
  settings.mutable_qos()->set_rlat(9);
  AddIoCost(settings, *job.mutable_outcome());
  return job;
}

DistributedSystemDescription TestWith(const std::string& controls) {
  DistributedSystemDescription test;
  *test.mutable_experiment()->add_controls() =
      base::FromText<ControlSet>(controls);
  return test;
}

using Hosts = std::set<std::string>;

// What UseIoCost() returns after the job of a sequence that found parameters on
// "host1", if tests run on `hosts`.
absl::Status Used(const Hosts& hosts, DistributedSystemDescription& test,
                  BenchJob& job) {
  const BenchJob found = IoCostParams();
  const std::vector<const BenchJob*> earlier = {&found};
  return UseIoCost(
      earlier, [&] { return absl::StatusOr<Hosts>(hosts); }, test, job);
}

// The control set after that, on the disk's host.
ControlSet After(const std::string& controls, BenchJob& job) {
  DistributedSystemDescription test = TestWith(controls);
  EXPECT_EQ(Used({"host1"}, test, job), absl::OkStatus());
  return test.experiment().controls(0);
}

TEST(UseIoCostTest, ParametersOfADiskAreNotThoseOfAnotherHosts) {
  for (const Hosts& hosts :
       {Hosts{}, Hosts{"host2"}, Hosts{"host1", "host2"}}) {
    BenchJob job;
    DistributedSystemDescription test =
        TestWith(R"pb(groups { services: "a" io_weight: 500 })pb");
    EXPECT_THAT(base::Message(Used(hosts, test, job)),
                AllOf(HasSubstr("measured disk 259:0 of host \"host1\""),
                      HasSubstr(hosts.empty() ? "no host" : "\"host2\""),
                      HasSubstr("passive=io")));
    // What needs no parameters runs anywhere.
    test = TestWith(R"pb(groups { services: "a" cpu_weight: 5 })pb");
    EXPECT_EQ(Used(hosts, test, job), absl::OkStatus());
  }
}

TEST(UseIoCostTest, CompletesEntriesOfTheDevice) {
  BenchJob job;
  const ControlSet controls = After(
      R"pb(io_cost { device: "259:0" enable: true }
           io_cost { device: "8:0" enable: true })pb",
      job);
  EXPECT_EQ(controls.io_cost(0).model().rbps(), 7);
  EXPECT_EQ(controls.io_cost(0).qos().rlat(), 9);
  EXPECT_FALSE(controls.io_cost(1).has_model());
  ASSERT_EQ(job.parameters_size(), 1);
  EXPECT_EQ(job.parameters(0).source(), "iocost-params");
}

TEST(UseIoCostTest, TestsMayNameTheDevice) {
  BenchJob job;
  const ControlSet controls = After(
      R"pb(io_cost { device: "nvme0n1" enable: true }
           io_cost { device: "sda" enable: true })pb",
      job);
  EXPECT_EQ(controls.io_cost(0).device(), "nvme0n1");
  EXPECT_EQ(controls.io_cost(0).model().rbps(), 7);
  EXPECT_FALSE(controls.io_cost(1).has_model());
  EXPECT_EQ(job.parameters_size(), 1);
}

TEST(UseIoCostTest, KeepsWhatTheTestSays) {
  BenchJob job;
  const ControlSet controls = After(
      R"pb(io_cost {
             device: "259:0"
             enable: true
             model { rbps: 1 }
             qos { rlat: 2 }
           })pb",
      job);
  EXPECT_EQ(controls.io_cost(0).model().rbps(), 1);
  EXPECT_EQ(controls.io_cost(0).qos().rlat(), 2);
  EXPECT_THAT(job.parameters(), IsEmpty());
}

TEST(UseIoCostTest, AWeightOfIoTurnsItOn) {
  BenchJob job;
  const ControlSet controls =
      After(R"pb(groups { services: "a" io_weight: 500 })pb", job);
  ASSERT_EQ(controls.io_cost_size(), 1);
  EXPECT_EQ(controls.io_cost(0).device(), "259:0");
  EXPECT_TRUE(controls.io_cost(0).enable());
}

TEST(UseIoCostTest, ControlsOfOtherThingsStay) {
  BenchJob job;
  EXPECT_EQ(After(R"pb(groups { services: "a" cpu_weight: 500 })pb", job)
                .io_cost_size(),
            0);
  EXPECT_EQ(After(R"pb(io_cost { device: "259:0" enable: false })pb", job)
                .io_cost(0)
                .has_model(),
            false);
}

TEST(UseIoCostTest, PassiveIoLeavesTheDeviceAlone) {
  BenchJob job;
  job.add_passive("io");
  EXPECT_EQ(After(R"pb(groups { services: "a" io_weight: 500 })pb", job)
                .io_cost_size(),
            0);
}

TEST(UseCalibrationTest, SizesActivitiesOfTheSameFile) {
  BenchJob found;
  found.set_kind("calibrate");
  found.set_state(BenchJob::DONE);
  (*found.mutable_properties())["infile"] = "a.config";
  AddNumber("rank.array_size", 4711, *found.mutable_outcome());
  const std::vector<const BenchJob*> earlier = {&found};
  DistributedSystemDescription test =
      base::FromText<DistributedSystemDescription>(
          R"pb(activity_configs {
                 name: "rank"
                 activity_settings { name: "array_size" int64_value: 1 }
               }
               activity_configs { name: "other" })pb");
  *found.mutable_tests()->add_tests() = test;
  BenchJob job;
  (*job.mutable_properties())["infile"] = "b.config";
  UseCalibration(earlier, test, job);
  EXPECT_EQ(test.activity_configs(0).activity_settings(0).int64_value(), 1);
  (*job.mutable_properties())["infile"] = "a.config";
  UseCalibration(earlier, test, job);
  EXPECT_EQ(test.activity_configs(0).activity_settings(0).int64_value(), 4711);
  EXPECT_THAT(test.activity_configs(1).activity_settings(), IsEmpty());
  ASSERT_EQ(job.parameters_size(), 1);
  EXPECT_EQ(job.parameters(0).source(), "calibrate");
  // The activity is another one now.
  UseCalibration(earlier, test, job);
  EXPECT_EQ(job.parameters_size(), 1);
}

TestSequence TestsNamed(const std::string& name) {
  TestSequence tests;
  tests.add_tests()->set_name(name);
  return tests;
}

TEST(TieRecordsToTest, RecordsOfOtherTestsAreRefusedAndKept) {
  BenchJob job;
  const auto tie = [&](const std::string& test) {
    return base::Message(TieRecordsTo(TestsNamed(test), {"host1"}, job));
  };
  AddNumber("size", 7, *job.mutable_parameters());
  EXPECT_EQ(tie("a"), "");
  EXPECT_EQ(tie("b"), "") << "nothing was measured";
  job.mutable_results()->add_searches()->set_load(300);
  EXPECT_EQ(tie("b"), "");
  EXPECT_THAT(tie("a"),
              AllOf(HasSubstr("another test \"a\""), HasSubstr("another id=")));
  EXPECT_EQ(job.results().searches_size(), 1);
  EXPECT_EQ(tie("b"), "");
  EXPECT_EQ(job.parameters_size(), 3);
  EXPECT_EQ(FindNumber(job.parameters(), "size"), 7);
}

// As when a search that was cut short on this host is started again with
// --test_sequencer.
TEST(TieRecordsToTest, RecordsOfOtherHostsAreRefusedAndKept) {
  BenchJob job;
  const auto tie = [&](const Hosts& hosts) {
    return base::Message(TieRecordsTo(TestsNamed("a"), hosts, job));
  };
  EXPECT_EQ(tie({"host1"}), "");
  EXPECT_EQ(tie({"host2", "host3"}), "") << "nothing was measured";
  job.mutable_results()->add_searches()->set_load(300);
  EXPECT_EQ(tie({"host3", "host2"}), "");
  EXPECT_THAT(tie({"host1"}),
              AllOf(HasSubstr("has measured on host2, host3"),
                    HasSubstr("nodes are on host1"), HasSubstr("another id=")));
  EXPECT_THAT(tie({"host2"}), HasSubstr("has measured on host3,"));
  EXPECT_THAT(tie({}), HasSubstr("there is none at all"));
  EXPECT_EQ(job.results().searches_size(), 1);
  EXPECT_EQ(tie({"host2", "host3"}), "");
  EXPECT_EQ(tie({"host2", "host3", "host4"}), "") << "as of a search";
  EXPECT_THAT(tie({"host2", "host3"}), HasSubstr("has measured on host4,"))
      << "it may have used that, too, since";
}

// Which noted no hosts: those that are described were used, perhaps not alone.
TEST(TieRecordsToTest, HostsOfAnEarlierVersionAreThoseThatItDescribed) {
  BenchJob job;
  const auto tie = [&](const Hosts& hosts) {
    RemoveValue("hosts", *job.mutable_parameters());
    return base::Message(TieRecordsTo(TestsNamed("a"), hosts, job));
  };
  job.mutable_results()->add_searches()->set_load(300);
  EXPECT_EQ(tie({"host1"}), "") << "nothing is known";
  job.add_systems()->set_hostname("host2");
  EXPECT_EQ(tie({"host2", "host3"}), "");
  EXPECT_THAT(tie({"host1"}), HasSubstr("has measured on host2,"));
  job.clear_results();
  EXPECT_EQ(tie({"host1"}), "");
}

// Records without their parameters say nothing: they could never be continued.
TEST(AdaptedTestsTest, AFailureLeavesTheParameters) {
  BenchJob job;
  AddNumber("size", 7, *job.mutable_parameters());
  const JobSpec spec;
  const JobDeclaration declaration;
  const PropertyValues values(declaration, {});
  const JobEnvironment environment;
  const JobRun run = {spec, values, environment, {}, job, {}};
  TestSequence wrong = TestsNamed("a");
  wrong.mutable_tests(0)->add_objectives("?");
  EXPECT_FALSE(AdaptedTests(wrong, run).ok());
  EXPECT_EQ(FindNumber(job.parameters(), "size"), 7);
}

// As when the third of four tests was cut short, after the first had failed.
TEST(UnmeasuredTestsTest, AreRunAgainAndHaveTheirPlaces) {
  TestSequence tests;
  for (int i = 0; i < 4; ++i) tests.add_tests();
  TestSequenceResults results;
  results.add_test_results()->mutable_run_info()->set_failure("lost");
  results.add_test_results()->mutable_run_info()->set_random_seed(1);
  results.add_test_results()->mutable_run_info()->set_failure("cut");
  const std::vector<int> places = UnmeasuredTests(tests, results);
  EXPECT_THAT(places, ElementsAre(0, 2, 3));
  for (const int place : places) {
    TestResult result;
    result.mutable_run_info()->set_random_seed(place);
    PutResult(place, result, results);
  }
  EXPECT_THAT(UnmeasuredTests(tests, results), IsEmpty());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(results.test_results(i).run_info().random_seed(), i);
  }
}

TEST(SearchOfTest, IsOfTheSameFileWithTheSameTests) {
  BenchJob found;
  found.set_kind("search");
  found.set_state(BenchJob::DONE);
  (*found.mutable_properties())["infile"] = "a.config";
  found.mutable_tests()->add_tests()->set_name("t");
  BenchJob job;
  (*job.mutable_properties())["infile"] = "a.config";
  *job.mutable_tests() = found.tests();
  const std::vector<const BenchJob*> earlier = {&found};
  EXPECT_EQ(SearchOf(earlier, job), nullptr);  // of no rate
  AddNumber(kRateFactor, 2, *found.mutable_outcome());
  EXPECT_EQ(SearchOf(earlier, job), &found);
  job.mutable_tests()->mutable_tests(0)->set_name("changed");
  EXPECT_EQ(SearchOf(earlier, job), nullptr);
  *job.mutable_tests() = found.tests();
  (*job.mutable_properties())["infile"] = "b.config";
  EXPECT_EQ(SearchOf(earlier, job), nullptr);
}

TEST(DescribeSystemsTest, AControlThatDidNotHoldIsAMissedRequirement) {
  JobEnvironment environment;
  environment.test_sequencer = "elsewhere:1";
  BenchJob job;
  *job.mutable_results() = base::FromText<TestSequenceResults>(
      R"pb(test_results {
             resource_usage_logs {
               node_resources {
                 key: "node0"
                 value {
                   host {
                     hostname: "host1"
                     kernel: "6.1"
                     online_cpu_count: 2
                     memory_bytes: 1024
                   }
                   controls { group: "a/0" file: "cpu.weight" held: true }
                   controls {
                     group: "a/0"
                     file: "io.weight"
                     held: false
                     problem: "no such file"
                   }
                 }
               }
             }
           })pb");
  DescribeSystems(environment, job);
  DescribeSystems(environment, job);
  ASSERT_EQ(job.systems_size(), 1);
  EXPECT_EQ(job.systems(0).kernel(), "6.1");
  EXPECT_FALSE(job.systems(0).has_swap_bytes());
  EXPECT_THAT(job.missed_requirements(),
              ElementsAre("host1: io.weight of a/0 did not hold: no such "
                          "file"));
}

// A host below a folder, with a disk 259:0.
std::string MakeHost() {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / "tests_of_job_test";
  std::filesystem::remove_all(root);
  const std::filesystem::path disk = root / "sys/devices/nvme0n1";
  std::filesystem::create_directories(disk);
  std::filesystem::create_directories(root / "sys/dev/block");
  std::filesystem::create_directories(root / "sys/block");
  std::ofstream(disk / "dev") << "259:0\n";
  std::filesystem::create_symlink(disk, root / "sys/dev/block/259:0");
  std::filesystem::create_symlink(disk, root / "sys/block/nvme0n1");
  return root.string();
}

BenchJob JobWithIoCost(bool held) {
  BenchJob job;
  TestResult& result = *job.mutable_results()->add_test_results();
  IoCostSettings& settings =
      *result.mutable_traffic_config()->mutable_controls()->add_io_cost();
  settings.set_device("259:0");
  settings.set_enable(true);
  ControlProof& proof = *(*result.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node0"]
                             .add_controls();
  proof.set_file("io.cost.qos");
  proof.set_held(held);
  return job;
}

TEST(DescribeSystemsTest, ADiskIsDescribedAsItWasDuringTheTests) {
  JobEnvironment environment;
  environment.host_root = MakeHost();
  BenchJob job = JobWithIoCost(/*held=*/true);
  DescribeSystems(environment, job);
  ASSERT_EQ(job.systems(0).devices_size(), 1);
  EXPECT_EQ(job.systems(0).devices(0).name(), "nvme0n1");
  EXPECT_TRUE(job.systems(0).devices(0).io_cost().enable());

  job = JobWithIoCost(/*held=*/false);
  DescribeSystems(environment, job);
  EXPECT_THAT(job.systems(0).devices(), IsEmpty());
  EXPECT_EQ(job.missed_requirements_size(), 1);
}

TEST(DescribeDiskTest, MeasurementsOfAnotherDiskAreRefusedAndKept) {
  const std::string root = MakeHost();
  BenchJob job;
  job.add_io_phases();  // of what, nobody knows
  ASSERT_EQ(base::Message(DescribeDisk("nvme0n1", root, job)), "");
  EXPECT_EQ(job.io_phases_size(), 0);
  EXPECT_EQ(job.systems(0).devices(0).number(), "259:0");
  job.add_io_phases();
  ASSERT_EQ(base::Message(DescribeDisk("nvme0n1", root, job)), "");
  EXPECT_EQ(job.io_phases_size(), 1);
  job.mutable_systems(0)->mutable_devices(0)->set_scheduler("bfq");
  EXPECT_THAT(base::Message(DescribeDisk("nvme0n1", root, job)),
              AllOf(HasSubstr("scheduler"), HasSubstr("\"bfq\""),
                    HasSubstr("another id=")));
  EXPECT_EQ(job.io_phases_size(), 1);
  EXPECT_EQ(job.systems(0).devices(0).scheduler(), "bfq");
}

TEST(DescribeDiskTest, MeasurementsOfAnotherHostAreRefusedAndKept) {
  const std::string root = MakeHost();
  BenchJob job;
  ASSERT_EQ(base::Message(DescribeDisk("nvme0n1", root, job)), "");
  job.add_io_phases();
  job.mutable_systems(0)->set_hostname("elsewhere");
  EXPECT_THAT(base::Message(DescribeDisk("nvme0n1", root, job)),
              HasSubstr("has measured on elsewhere"));
  EXPECT_EQ(job.io_phases_size(), 1);
  EXPECT_EQ(job.systems(0).hostname(), "elsewhere");
  job.clear_io_phases();
  EXPECT_EQ(base::Message(DescribeDisk("nvme0n1", root, job)), "");
}

TEST(NodesNeededTest, CountsBundlesAndInstancesOutside) {
  DistributedSystemDescription test =
      base::FromText<DistributedSystemDescription>(
          R"pb(services { name: "client" count: 2 x_size: 2 }
               services { name: "server" count: 3 x_size: 3 })pb");
  EXPECT_EQ(NodesNeeded(test), 5);
  ServiceBundle& bundle = (*test.mutable_node_service_bundles())["node0"];
  bundle.add_services("client/0");
  bundle.add_services("server/0");
  EXPECT_EQ(NodesNeeded(test), 4);
  (*test.mutable_node_service_bundles())["node7"].add_services("server/1");
  EXPECT_EQ(NodesNeeded(test), 8);
}

TEST(NodesNeededTest, DoesNotOverflow) {
  DistributedSystemDescription test;
  for (int i = 0; i < 3; ++i) test.add_services()->set_count(INT_MAX);
  EXPECT_EQ(NodesNeeded(test), INT_MAX);
  for (const char* node : {"node2147483647", "node9223372036854775807"}) {
    test.clear_services();
    test.clear_node_service_bundles();
    (*test.mutable_node_service_bundles())[node].add_services("server/0");
    EXPECT_EQ(NodesNeeded(test), INT_MAX);
  }
}

TEST(NodesNeededTest, SharedTestsNeedOneNode) {
  DistributedSystemDescription test =
      base::FromText<DistributedSystemDescription>(
          R"pb(services { name: "client" count: 2 x_size: 2 }
               services { name: "server" count: 1 x_size: 1 })pb");
  ShareNode(test);
  EXPECT_EQ(NodesNeeded(test), 1);
  EXPECT_THAT(test.node_service_bundles().at("node0").services(),
              ElementsAre("client/0", "client/1", "server/0"));
}

TEST(CancellationTest, CallsTheHandlerOfTheMoment) {
  Cancellation cancellation;
  int first = 0;
  int second = 0;
  {
    const Cancellation::Scope scope(cancellation, [&] { ++first; });
  }
  const Cancellation::Scope scope(cancellation, [&] { ++second; });
  EXPECT_FALSE(cancellation.is_cancelled());
  cancellation.Cancel();
  cancellation.Cancel();
  EXPECT_TRUE(cancellation.is_cancelled());
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(CancellationTest, ALateHandlerRunsAtOnce) {
  Cancellation cancellation;
  cancellation.Cancel();
  bool is_called = false;
  const Cancellation::Scope scope(cancellation, [&] { is_called = true; });
  EXPECT_TRUE(is_called);
}

}  // namespace
}  // namespace distbench::bench
