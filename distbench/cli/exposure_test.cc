#include "distbench/cli/exposure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExposureTest, LoopbackIsForThisMachine) {
  for (const char* listen : {"localhost", "127.0.0.1", "::1", "127.0.0.9"}) {
    EXPECT_THAT(SequencerExposure(listen, {}, {}),
                AllOf(HasSubstr("Every user of this machine"),
                      HasSubstr("no TLS"), Not(HasSubstr("--listen"))));
    EXPECT_THAT(NodeExposure("", listen, {}),
                HasSubstr("every user of this machine"));
  }
}

TEST(ExposureTest, OtherAddressesAreForEverybody) {
  for (const char* listen : {"10.1.2.3", "host1"}) {
    EXPECT_THAT(SequencerExposure(listen, {}, {}),
                AllOf(HasSubstr("Anybody who can reach "), HasSubstr(listen),
                      HasSubstr("--listen"), HasSubstr("--tls_")));
    EXPECT_THAT(NodeExposure(listen, "", {}), HasSubstr(listen));
  }
  EXPECT_THAT(SequencerExposure("", {}, {}), HasSubstr("Anybody"));
  EXPECT_THAT(NodeExposure("", "", {}), HasSubstr("anybody"));
}

TEST(ExposureTest, TlsWithoutCaProtectsFromListenersOnly) {
  EXPECT_THAT(SequencerExposure("10.1.2.3", {.cert = "c", .key = "k"}, {}),
              AllOf(HasSubstr("Anybody"), HasSubstr("no certificate")));
}

TEST(ExposureTest, TlsNamesWhoMayDoWhat) {
  const security::TlsFiles tls = {.ca = "/ca.crt", .cert = "c", .key = "k"};
  EXPECT_THAT(SequencerExposure("", tls, {}),
              AllOf(HasSubstr("/ca.crt"), HasSubstr("any name to be a node")));
  EXPECT_THAT(SequencerExposure("", tls, {.submit = {"al", "bo"}}),
              HasSubstr("the name al or bo to submit tests"));
  EXPECT_THAT(NodeExposure("", "", tls), HasSubstr("/ca.crt"));
}

}  // namespace
}  // namespace distbench::cli
