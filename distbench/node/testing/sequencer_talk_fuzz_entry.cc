// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/testing/sequencer_talk_fuzz_entry.h"

#include <cstddef>
#include <cstdint>

#include "distbench/base/testing/fake_clock.h"
#include "distbench/hosting/testing/fake_engine.h"
#include "distbench/node/test_part.h"

namespace distbench::node {
namespace {

// Prepares and connects the test. Returns whether that succeeded.
bool PrepareAndConnect(const SequencerTalk& talk, TestPart& test) {
  return test.Prepare().status().code() == 0 &&
         test.Connect(talk.connect()).code() == 0;
}

}  // namespace

void ObeySequencer(const SequencerTalk& talk,
                   absl::FunctionRef<void(NodeEnvironment&)> change) {
  base::FakeClock clock;
  hosting::FakeEngineFactory engines;
  // No input may change this host.
  NodeEnvironment environment{.engines = engines,
                              .clock = clock,
                              .hostname = "alpha",
                              .extensions = {}};
  change(environment);
  TestPart test(talk.prepare(), environment,
                [](const absl::Status&, const TrafficProgress&) {});
  if (PrepareAndConnect(talk, test)) {
    test.Start(talk.start());
    test.TakeProgress();
    test.StopIfOverdue();
    if (talk.has_stop()) test.Stop(talk.stop().reason());
    test.Collect([](ResultChunk) {});
  }
  test.End();
}

SequencerTalk ExampleSequencerTalk() {
  SequencerTalk talk;
  NodeServiceConfig& config = *talk.mutable_prepare()->mutable_config();
  DistributedSystemDescription& test = *config.mutable_traffic_config();
  test.add_services()->set_name("client");
  test.add_services()->set_name("server");
  test.mutable_services(0)->set_count(1);
  test.mutable_services(1)->set_count(1);
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name("query");
  rpc.add_client("client");
  rpc.set_server("server");
  Action& action = *test.add_actions();
  action.set_name("run");
  action.set_rpc_name("query");
  action.mutable_iterations()->set_max_iteration_count(10);
  ActionList& main = *test.add_action_lists();
  main.set_name("client");
  main.add_action_names("run");
  test.add_action_lists()->set_name("query");
  config.add_services("client/0");
  (*talk.mutable_connect()
        ->mutable_endpoints()
        ->mutable_service_endpoints())["server/0"]
      .set_endpoint_address("fake:server/0");
  talk.mutable_connect()->set_timeout_ns(1'000'000'000);
  talk.mutable_start()->set_timeout_ns(1'000'000'000);
  return talk;
}

}  // namespace distbench::node

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::SequencerTalk talk;
  if (talk.ParsePartialFromArray(data, static_cast<int>(size))) {
    distbench::node::ObeySequencer(talk);
  }
  return 0;
}
