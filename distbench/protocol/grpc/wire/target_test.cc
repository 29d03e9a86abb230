#include "distbench/protocol/grpc/wire/target.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(TargetOf, NamesAddressesAsSuch) {
  EXPECT_EQ(TargetOf("10.1.2.3", 5), "ipv4:10.1.2.3:5");
  EXPECT_EQ(TargetOf("fd00::1", 5), "ipv6:[fd00::1]:5");
  EXPECT_EQ(TargetOf("host.example", 5), "dns:///host.example:5");
}

TEST(JoinTargets, ListsAddressesOfOneFamily) {
  EXPECT_EQ(JoinTargets({"ipv4:10.1.2.3:5"}).value(), "ipv4:10.1.2.3:5");
  EXPECT_EQ(JoinTargets({"ipv4:10.1.2.3:5", "ipv4:10.1.2.4:6"}).value(),
            "ipv4:10.1.2.3:5,10.1.2.4:6");
  EXPECT_EQ(JoinTargets({"ipv6:[fd00::1]:5", "ipv6:[fd00::2]:6"}).value(),
            "ipv6:[fd00::1]:5,[fd00::2]:6");
}

TEST(JoinTargets, MapsIpv4AddressesWhereThereAreOthers) {
  EXPECT_EQ(JoinTargets({"ipv4:10.1.2.3:5", "ipv6:[fd00::2]:6"}).value(),
            "ipv6:[::ffff:10.1.2.3]:5,[fd00::2]:6");
}

TEST(JoinTargets, LooksNamesUp) {
  EXPECT_THAT(JoinTargets({"dns:///localhost:5"}).value(),
              AnyOf("ipv4:127.0.0.1:5", "ipv6:[::1]:5"));
  EXPECT_THAT(
      std::string(JoinTargets({"ipv4:10.1.2.3:5", "dns:///no-such.invalid:6"})
                      .status()
                      .message()),
      HasSubstr("no-such.invalid"));
  EXPECT_FALSE(JoinTargets({"nonsense"}).ok());
}

}  // namespace
}  // namespace distbench::protocol
