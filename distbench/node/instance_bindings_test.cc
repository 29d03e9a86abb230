// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/instance_bindings.h"

#include <unistd.h>

#include <string>

#include "distbench/base/index_list.h"
#include "distbench/numa/testing/fake_host.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/numa/topology.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const config::InstancePlan kServer0 = {
    .name = "server/0", .service = 0, .number = 0};
const config::InstancePlan kServer1 = {
    .name = "server/1", .service = 0, .number = 1};
const config::InstancePlan kClient = {
    .name = "client/0", .service = 1, .number = 0};

// A host with two NUMA nodes. The CPU of node 0 is a real one, so that threads
// can be bound to it although the files describe a bigger host.
class InstanceBindingsTest : public ::testing::Test {
 protected:
  InstanceBindingsTest()
      : cpu_(*numa::IndicesOf(numa::ReadHostTopology("").allowed_cpus())
                  .begin()) {
    host_.AddNodes(
        {{.id = 0, .cpus = std::to_string(cpu_)}, {.id = 1, .cpus = "900"}});
    host_.Allow(std::to_string(cpu_) + ",900", "0-1");
    PutPages(0, 0);
  }

  void PutPages(int64_t on_node_0, int64_t on_node_1) {
    host_.PutNumaMaps({"7f00 default anon=9 N0=" + std::to_string(on_node_0) +
                       " N1=" + std::to_string(on_node_1) +
                       " kernelpagesize_kB=4"});
  }

  void Bind(const std::string& text) {
    test_.add_services()->set_name("server");
    test_.add_services()->set_name("client");
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        text, test_.mutable_services(0)->mutable_numa_binding()));
  }

  InstanceBindings Make() {
    return InstanceBindings(test_, host_.root(), process_binding_);
  }

  // Runs a step during which a thread appears that may run on `allowed`.
  void GiveBirth(InstanceBindings& bindings, const std::string& name, int id,
                 const std::string& allowed) {
    EXPECT_EQ(bindings.RunBound(name,
                                [&] {
                                  host_.PutThread({.id = id,
                                                   .last_cpu = cpu_,
                                                   .allowed_cpus = allowed});
                                  return absl::OkStatus();
                                }),
              absl::OkStatus());
  }

  const int cpu_;
  numa::FakeHost host_;
  DistributedSystemDescription test_;
  std::optional<NumaBinding> process_binding_;
};

TEST_F(InstanceBindingsTest, BindsTheThreadForTheStepOnly) {
  Bind("nodes: '0' memory_policy: LOCAL");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kServer0), absl::OkStatus());
  EXPECT_EQ(bindings.CpuCount(kServer0), 1);
  const base::IndexSet before = numa::PlaceOfThisThread()->cpus;
  EXPECT_EQ(bindings.RunBound("server/0",
                              [&] {
                                EXPECT_THAT(numa::PlaceOfThisThread()->cpus,
                                            ElementsAre(cpu_));
                                return absl::OkStatus();
                              }),
            absl::OkStatus());
  EXPECT_EQ(numa::PlaceOfThisThread()->cpus, before);
}

TEST_F(InstanceBindingsTest, ProvesWhereThreadsAndMemoryWere) {
  Bind("nodes: '0' memory_policy: LOCAL");
  host_.PutThread({.id = 5, .allowed_cpus = "900"});
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kServer0), absl::OkStatus());
  const std::string cpu = std::to_string(cpu_);
  GiveBirth(bindings, "server/0", 6, cpu);
  bindings.Start();
  host_.PutThread(
      {.id = 6, .cpu_ns = 500, .last_cpu = cpu_, .allowed_cpus = cpu});
  PutPages(100, 0);
  NodeResources resources;
  bindings.Finish(resources);
  const BindingProof& proof = resources.binding_proofs().at("server/0");
  EXPECT_EQ(proof.binding().cpus(), cpu);
  EXPECT_EQ(proof.cpu_time_ns_by_cpu().at(cpu_), 500);
  EXPECT_EQ(proof.resident_bytes_by_node().at(0), 100 * 4096);
  EXPECT_THAT(proof.violations(), IsEmpty());
}

TEST_F(InstanceBindingsTest, TellsOfThreadsThatRanElsewhere) {
  Bind("nodes: '0' memory_policy: LOCAL");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kServer0), absl::OkStatus());
  GiveBirth(bindings, "server/0", 6, "900");
  bindings.Start();
  host_.PutThread(
      {.id = 6, .cpu_ns = 5000, .last_cpu = 900, .allowed_cpus = "900"});
  NodeResources resources;
  bindings.Finish(resources);
  EXPECT_THAT(resources.binding_proofs().at("server/0").violations(),
              ElementsAre(HasSubstr("spent 5 us on CPUs 900"),
                          HasSubstr("could run on CPUs 900")));
}

TEST_F(InstanceBindingsTest, StrictBindingsThatAreImpossibleAreErrors) {
  Bind("nodes: '3'");
  InstanceBindings bindings = Make();
  EXPECT_THAT(std::string(bindings.Resolve(kServer0).message()),
              HasSubstr("its numa_binding cannot be made: nodes: the host has "
                        "no NUMA node 3"));
}

// The files have a CPU 900, but the kernel does not.
TEST_F(InstanceBindingsTest, WhatTheKernelRefusesIsAnErrorToo) {
  Bind("nodes: '1' memory_policy: LOCAL");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kServer0), absl::OkStatus());
  const absl::Status status =
      bindings.RunBound("server/0", [] { return absl::OkStatus(); });
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("CPUs 900: the kernel says: Invalid argument"));
}

TEST_F(InstanceBindingsTest, BestEffortGoesOnAndTells) {
  Bind("nodes: '1' memory_policy: LOCAL strict: false");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kServer0), absl::OkStatus());
  GiveBirth(bindings, "server/0", 6, std::to_string(cpu_));
  EXPECT_EQ(bindings.CpuCount(kServer0), 0);
  bindings.Start();
  NodeResources resources;
  bindings.Finish(resources);
  const BindingProof& proof = resources.binding_proofs().at("server/0");
  EXPECT_FALSE(proof.binding().strict());
  EXPECT_THAT(proof.violations(),
              ElementsAre(HasSubstr("the kernel says: Invalid argument")));
}

TEST_F(InstanceBindingsTest, TheNodeManagersBindingHoldsForTheOthers) {
  Bind("nodes: '0' memory_policy: LOCAL");
  process_binding_.emplace();
  process_binding_->set_nodes("1");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kClient), absl::OkStatus());
  // The process is already bound, so the kernel is not asked for anything.
  GiveBirth(bindings, "client/0", 6, "900");
  bindings.Start();
  PutPages(20'000, 80'000);
  NodeResources resources;
  bindings.Finish(resources);
  const BindingProof& proof = resources.binding_proofs().at("client/0");
  EXPECT_EQ(proof.binding().nodes(), "1");
  EXPECT_THAT(proof.violations(),
              ElementsAre(HasSubstr("80000 of 400000 KiB of the process's "
                                    "memory are on NUMA nodes 0")));
}

TEST_F(InstanceBindingsTest, UnboundInstancesAreLookedAtOnly) {
  Bind("nodes: '0'");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kClient), absl::OkStatus());
  GiveBirth(bindings, "client/0", 6, "0-900");
  bindings.Start();
  NodeResources resources;
  bindings.Finish(resources);
  const BindingProof& proof = resources.binding_proofs().at("client/0");
  EXPECT_FALSE(proof.has_binding());
  EXPECT_TRUE(proof.has_voluntary_context_switches());
  EXPECT_THAT(proof.violations(), IsEmpty());
}

TEST_F(InstanceBindingsTest, MemoryOfSeveralBindingsIsJudgedTogether) {
  Bind("spread: true");
  InstanceBindings bindings = Make();
  ASSERT_EQ(bindings.Resolve(kServer0), absl::OkStatus());
  ASSERT_EQ(bindings.Resolve(kServer1), absl::OkStatus());
  bindings.Start();
  PutPages(50'000, 50'000);
  NodeResources resources;
  bindings.Finish(resources);
  for (const auto& [name, proof] : resources.binding_proofs()) {
    EXPECT_THAT(proof.violations(), IsEmpty()) << name;
  }
  EXPECT_EQ(resources.binding_proofs().at("server/1").binding().nodes(), "1");
}

TEST_F(InstanceBindingsTest, InstancesThatWereNotResolvedAreAnError) {
  Bind("nodes: '0'");
  InstanceBindings bindings = Make();
  bool was_run = false;
  const absl::Status status = bindings.RunBound("nobody/0", [&] {
    was_run = true;
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("nobody/0"));
  EXPECT_FALSE(was_run);
  EXPECT_EQ(bindings.CpuCount(kServer0), 0);
  EXPECT_FALSE(bindings.OwnBinding("nobody/0").has_value());
  bindings.LivesIn("nobody/0", getpid());
  NodeResources resources;
  bindings.Finish(resources);
  EXPECT_TRUE(resources.binding_proofs().empty());
}

}  // namespace
}  // namespace distbench::node
