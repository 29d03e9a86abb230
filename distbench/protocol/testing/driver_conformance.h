// What the engine relies on, of every driver. A driver's test runs the suite by
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
  // Makes a driver of the test with this nonce, which listens on the loopback
  // interface, if anywhere.
  std::function<std::unique_ptr<ProtocolDriver>(const std::string& test_nonce)>
      make_for_test;

  // Of one test.
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

  // A client of servers that are a peer each.
  std::unique_ptr<TestClient> ConnectTo(
      const std::vector<std::string>& addresses) {
    return std::make_unique<TestClient>(MakeDriver(),
                                        SingleServers(addresses));
  }
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TESTING_DRIVER_CONFORMANCE_H_
