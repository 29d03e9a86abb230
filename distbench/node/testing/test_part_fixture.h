// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The common parts of the tests of TestPart.

#ifndef DISTBENCH_NODE_TESTING_TEST_PART_FIXTURE_H_
#define DISTBENCH_NODE_TESTING_TEST_PART_FIXTURE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/testing/fake_engine.h"
#include "distbench/node/test_part.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

inline constexpr char kTestOfParts[] = R"(
  tests {
    services { name: "client" count: 2 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    actions {
      name: "run" rpc_name: "query" iterations { max_iteration_count: 10 }
    }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" }
  })";

// Tests a node that hosts both clients.
class TestPartFixture : public testing::Test {
 protected:
  TestPartFixture() {
    TestSequence sequence;
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kTestOfParts, &sequence));
    auto checked = config::CheckTestSequence(sequence);
    EXPECT_TRUE(checked.ok()) << checked.status();
    *request_.mutable_config()->mutable_traffic_config() = checked->tests(0);
    request_.mutable_config()->add_services("client/0");
    request_.mutable_config()->add_services("client/1");
  }

  // Makes the test from request_ and environment_.
  TestPart& Make() {
    test_ = std::make_unique<TestPart>(
        request_, environment_,
        [this](const absl::Status& status, const TrafficProgress& totals) {
          finish_status_ = status;
          totals_ = totals;
          if (!finished_.HasBeenNotified()) finished_.Notify();
        });
    return *test_;
  }

  void PrepareAndConnect() {
    ASSERT_EQ(Make().Prepare().status().code(), 0);
    ASSERT_EQ(test_->Connect(Peers()).code(), 0);
  }

  ConnectPeers Peers() {
    ConnectPeers peers;
    (*peers.mutable_endpoints()->mutable_service_endpoints())["server/0"]
        .set_endpoint_address("fake:server/0");
    return peers;
  }

  StartTraffic StartIn(int64_t lead_ns) {
    StartTraffic start;
    start.set_start_timestamp_ns(clock_.UnixNs() + lead_ns);
    start.set_timeout_ns(1'000'000'000);
    return start;
  }

  base::FakeClock clock_;
  hosting::FakeEngineFactory engines_;
  NodeEnvironment environment_{
      .engines = engines_, .clock = clock_, .hostname = "alpha"};
  PrepareTest request_;
  absl::Notification finished_;
  absl::Status finish_status_;
  TrafficProgress totals_;
  std::unique_ptr<TestPart> test_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TESTING_TEST_PART_FIXTURE_H_
