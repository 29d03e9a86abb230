// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Random tests that use the whole traffic language.

#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_GENERATOR_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_GENERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// Parts of the language that configs may use only once engines implement them.
struct OptionalFeatures {
  bool replay = false;
  bool multi_server_channels = false;
};

struct GeneratedTest {
  DistributedSystemDescription test;

  // Whether its own limits end it after a bounded amount of work. Otherwise
  // chance, an overload or the test's timeout ends it.
  bool ends_by_itself = true;
};

// Makes one test from a seed. There are few services and RPCs, and the work
// that they cause is bounded, so that a test takes little time. Almost all
// tests are valid; the others are invalid because of combinations that only
// validation can detect.
//
// How recursion is bounded: the handler of an RPC freely runs RPCs with larger
// numbers ("forwards"), but others only by chance ("backwards") or along the
// axis of a grid. Nested lists have the level of the list that they are nested
// in.
class TrafficGenerator {
 public:
  TrafficGenerator(uint64_t seed, OptionalFeatures features)
      : random_(seed), features_(features) {}

  // Call this once per generator.
  GeneratedTest Generate();

 private:
  // A list that actions may run.
  struct NestedList {
    std::string name;
    int service;
    int level;
    double work;
  };
  static constexpr int kMainLevel = -1;
  static constexpr int kMaxNesting = 4;

  // traffic_generator.cc
  void AddSettings();
  void AddServices();
  void AddPlacement();
  void AddDistributions();
  void AddPayloads();
  void AddActivities();
  std::string AnyPool();
  void AddRpcs();
  void ChooseServices(RpcSpec& rpc);
  void ChooseSizes(RpcSpec& rpc);
  bool MayStream() const;
  void AddStream(RpcSpec& rpc);
  void AddStreamDistributions();
  void AddPolicy(RpcSpec& rpc);
  bool Streams(const ServiceSpec& service) const;
  void ChooseFault(ServerFault& fault, bool streams);
  void AddFaults();
  void AddAdmission();
  std::string AnyFanoutFilter(const RpcSpec& rpc);
  void AddChannels();
  void AddReplayTraces();

  int InstanceCount(int service) const;
  int ServiceNumber(const std::string& name) const;
  std::string AnyInstance();
  std::string PayloadOrNone();

  // traffic_generator_lists.cc: each returns the work that one execution
  // causes, in iterations and RPCs.
  void AddLists();
  double AddList(const std::string& name, int service, int level, int nesting,
                 double budget);
  double AddAction(ActionList& list, int service, int level, int nesting,
                   double budget);
  double ChooseTarget(Action& action, ActionList& list, int service, int level,
                      int nesting, double budget);
  double ChooseRpc(Action& action, ActionList& list, int service, int level);
  double ChooseNestedList(Action& action, int service, int level, int nesting,
                          double budget);
  double ChooseActivity(Action& action);
  void ChooseReplay(Action& action, int service);
  int64_t ChooseIterations(Action& action, int level, double work,
                           double budget);
  int64_t ChooseOpenLoop(Iterations& iterations, int64_t count);
  int64_t ChooseClosedLoop(Action& action, Iterations& iterations,
                           int64_t count);
  void ChooseWarmup(Iterations& iterations);
  void ChooseOrder(Action& action, const ActionList& list);
  void ChooseEffects(Action& action, int level);
  int MaxTargets(const RpcSpec& rpc) const;

  fuzzing::RandomSource random_;
  const OptionalFeatures features_;
  GeneratedTest generated_;
  DistributedSystemDescription& test_ = generated_.test;
  bool may_be_endless_ = false;
  std::vector<double> handler_work_;  // by RPC
  std::vector<NestedList> nested_lists_;
  int list_count_ = 0;
  int action_count_ = 0;
  bool repeats_ = true;  // whether the action under construction may
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_GENERATOR_H_
