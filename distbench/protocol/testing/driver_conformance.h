// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests of what the engine expects of every driver. A driver runs the suite by
//
//   INSTANTIATE_TEST_SUITE_P(Tcp, DriverConformanceTest,
//                            testing::Values(DriverUnderTest{...}));
//
// and, if its connections can be limited to a number of calls, likewise
// CallsPerConnectionTest.

#ifndef DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_
#define DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/testing/driver_testing.h"
#include "gtest/gtest.h"

namespace distbench::protocol {

struct DriverUnderTest {
  // Makes a driver that belongs to the test with this nonce. It listens on
  // loopback only, if at all.
  std::function<std::unique_ptr<ProtocolDriver>(const std::string& test_nonce)>
      make_for_test;

  // Whether a peer may consist of several servers.
  bool has_channels = true;

  // Of letters and digits; needed for NameOfDriver().
  std::string name = {};

  // Whether the driver ends calls at their deadline; otherwise its library
  // does.
  bool judges_deadlines = true;

  // Makes a driver; all of these belong to the same test.
  std::unique_ptr<ProtocolDriver> make() const { return make_for_test(""); }
};

// Names test cases.
inline std::string NameOfDriver(
    const testing::TestParamInfo<DriverUnderTest>& info) {
  return info.param.name;
}

// A server that answers no request until one of the warm-up arrives, and then
// answers all of them, because every request needs a reply in the end.
class LateServer {
 public:
  TestEvents::Handler handler() {
    return [this](Transport& transport, ServerCall* call) {
      kept_.push_back(call);
      ++arrived_;
      if (!call->warmup) return;
      for (ServerCall* kept : kept_) TestEvents::ReplyAsAsked(transport, kept);
      kept_.clear();
    };
  }

  // Any thread may call it.
  int arrived() const { return arrived_; }

  static void AnswerAll(TestClient& client) {
    ClientCall last{.warmup = true, .request_bytes = 16};
    EXPECT_EQ(client.Call(last), "");
  }

 private:
  std::vector<ServerCall*> kept_;
  std::atomic<int> arrived_ = 0;
};

class DriverConformanceTest : public testing::TestWithParam<DriverUnderTest> {
 protected:
  std::unique_ptr<ProtocolDriver> MakeDriver() { return GetParam().make(); }

  std::unique_ptr<TestServer> Serve(
      TestEvents::Handler handler = TestEvents::ReplyAsAsked, int workers = 1) {
    return std::make_unique<TestServer>([this] { return MakeDriver(); },
                                        std::move(handler), workers);
  }

  // Makes a client of servers that are one peer each.
  std::unique_ptr<TestClient> ConnectTo(
      const std::vector<std::string>& addresses) {
    return std::make_unique<TestClient>(MakeDriver(), SingleServers(addresses));
  }
};

// The same drivers with a client setting calls_per_connection of 1.
class CallsPerConnectionTest : public DriverConformanceTest {};

// Tests of drivers that measure time parts. A driver runs the suite by
//
//   INSTANTIATE_TEST_SUITE_P(Tcp, TimePartsConformanceTest,
//                            testing::Values(DriverUnderTest{...}));
//
// where the drivers that DriverUnderTest makes measure time parts.

class TimePartsConformanceTest : public DriverConformanceTest {};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_
