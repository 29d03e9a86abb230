// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests what the instances of a test send to servers outside of it.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/products/external/calls/testing/foreign_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kTwoServicesOfClients[] = R"pb(
  tests {
    services { name: "web" count: 1 }
    services { name: "batch" count: 1 }
    services {
      name: "cache"
      external { addresses: "$0" }
    }
    rpc_descriptions {
      name: "get"
      client: "web"
      client: "batch"
      server: "cache"
      external_call {
        method: "$1"
        request_json: '{"text": "{{row:v}}-{{uuid}}"}'
        rows: "v\na\nb\n"
      }
    }
    actions { name: "run" rpc_name: "get" }
    action_lists { name: "web" action_names: "run" }
    action_lists { name: "batch" action_names: "run" }
  })pb";

// Runs an instance of a test whose only server is external.
void RunClient(const DistributedSystemDescription& test, int instance) {
  absl::Notification finished;
  engine::EngineOptions options;
  options.plan = std::make_shared<const config::Plan>(config::Compile(test));
  options.instance = instance;
  options.on_traffic_finished = [&] { finished.Notify(); };
  const auto client = hosting::InProcessEngines().Make(
      {.test = test,
       .options = std::move(options),
       .environment = {.service_address = "127.0.0.1"}});
  ASSERT_TRUE(client.ok()) << client.status();
  // The addresses of external servers are in the test.
  const absl::Status connected =
      (*client)->Connect(std::vector<std::string>((*client)->peers().size()),
                         absl::Now() + absl::Seconds(20));
  ASSERT_TRUE(connected.ok()) << connected;
  (*client)->Start(base::RealClock().MonotonicNs());
  EXPECT_TRUE(finished.WaitForNotificationWithTimeout(absl::Seconds(20)));
  (*client)->Shutdown();
}

// Both are number 0 of their service.
TEST(InstancesTest, ClientsOfDifferentServicesSendDifferentValues) {
  absl::Mutex mutex;
  std::vector<std::string> requests;
  ForeignServer server([&](const std::string&, const std::string& request,
                           grpc::GenericCallbackServerContext&) {
    const absl::MutexLock lock(&mutex);
    requests.push_back(request.substr(2));  // without the field's number
    return ForeignAnswer{.responses = {""}};
  });
  auto sequence = base::FromText<TestSequence>(absl::Substitute(
      kTwoServicesOfClients, server.host_port(), std::string(kEcho)));
  sequence.mutable_tests(0)
      ->mutable_rpc_descriptions(0)
      ->mutable_external_call()
      ->set_descriptors(ForeignFiles().SerializeAsString());
  const auto checked = config::CheckTestSequence(sequence);
  ASSERT_TRUE(checked.ok()) << checked.status();
  for (const int instance : {0, 1}) RunClient(checked->tests(0), instance);
  const absl::MutexLock lock(&mutex);
  ASSERT_THAT(requests, SizeIs(2));
  std::map<std::string, std::string> uuids;  // by row
  for (const std::string& text : requests) {
    uuids[text.substr(0, 1)] = text.substr(2);
  }
  EXPECT_THAT(uuids, UnorderedElementsAre(Pair("a", testing::_),
                                          Pair("b", testing::_)));
  EXPECT_NE(uuids["a"], uuids["b"]);
}

}  // namespace
}  // namespace distbench::external
