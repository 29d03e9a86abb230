// Tests of what the engine expects of every driver. A driver runs the suite by
//
//   INSTANTIATE_TEST_SUITE_P(Tcp, DriverConformanceTest,
//                            testing::Values(DriverUnderTest{...}));

#ifndef DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_
#define DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/testing/driver_testing.h"
#include "gtest/gtest.h"

namespace distbench {

struct DriverUnderTest {
  // Makes a driver that belongs to the test with this nonce. It listens on
  // loopback only, if at all.
  std::function<std::unique_ptr<ProtocolDriver>(const std::string& test_nonce)>
      make_for_test;

  // Whether a peer may consist of several servers.
  bool has_channels = true;

  // Makes a driver; all of these belong to the same test.
  std::unique_ptr<ProtocolDriver> make() const { return make_for_test(""); }
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

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_
