#include "distbench/cli/legacy_flags.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<TranslatedFlags> Translate(
    const std::vector<std::string>& arguments) {
  return TranslateLegacyFlags(
      arguments, [](const std::string& name) { return name == "port"; },
      [](const std::string& device) -> absl::StatusOr<std::string> {
        if (device == "eth0") return "10.0.0.7";
        return absl::NotFoundError("no address");
      });
}

std::vector<std::string> ArgumentsOf(
    const std::vector<std::string>& arguments) {
  const auto translated = Translate(arguments);
  EXPECT_TRUE(translated.ok()) << translated.status();
  EXPECT_THAT(translated->notes, IsEmpty());
  return translated->arguments;
}

TEST(LegacyFlagsTest, OneDashIsTwoForFlagsThatThereAre) {
  EXPECT_THAT(
      ArgumentsOf({"bake", "-port=1", "-port", "-p", "-o=x", "-other"}),
      ElementsAre("bake", "--port=1", "--port", "-p", "-o=x", "-other"));
}

TEST(LegacyFlagsTest, HelpfullIsHelp) {
  EXPECT_THAT(ArgumentsOf({"bake", "--helpfull"}),
              ElementsAre("bake", "--help"));
}

TEST(LegacyFlagsTest, OtherCommandLinesStay) {
  EXPECT_THAT(ArgumentsOf({"join", "--", "-port=1", "--helpfull"}),
              ElementsAre("join", "--", "-port=1", "--helpfull"));
}

TEST(LegacyFlagsTest, DevicesBecomeTheirAddresses) {
  const auto sequencer =
      Translate({"test_sequencer", "--control_plane_device=eth0"});
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  EXPECT_THAT(sequencer->arguments,
              ElementsAre("test_sequencer", "--listen=10.0.0.7"));
  EXPECT_THAT(sequencer->notes,
              ElementsAre("--control_plane_device is taken for "
                          "--listen=10.0.0.7"));
  const auto node = Translate({"node_manager", "--control_plane_device=eth0",
                               "--default_data_plane_device", "eth0", "node1"});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_THAT(
      node->arguments,
      ElementsAre("node_manager", "--service_address=10.0.0.7", "node1"));
  EXPECT_THAT(node->notes, ElementsAre(HasSubstr("is left out"),
                                       HasSubstr("--service_address")));
}

TEST(LegacyFlagsTest, DevicesWithoutAnAddressAreErrors) {
  EXPECT_FALSE(Translate({"test_sequencer", "--control_plane_device=x"}).ok());
  EXPECT_THAT(Translate({"test_sequencer", "--control_plane_device="})
                  .status()
                  .message(),
              HasSubstr("no value"));
}

}  // namespace
}  // namespace distbench::cli
