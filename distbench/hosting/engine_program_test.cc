// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_program.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/base/testing/test_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

class FindEnginesTest : public testing::Test {
 protected:
  // A program that prints `text` and exits with `status`.
  std::string Program(const std::string& text, int status = 0) {
    const std::string path = folder_.PathOf("engine");
    std::ofstream(path) << "#!/bin/sh\ncat <<'END'\n"
                        << text << "\nEND\nexit " << status << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  static std::string Error(const std::string& flag) {
    return base::Message(FindEngines({flag}).status());
  }

  base::TestFolder folder_;
};

TEST_F(FindEnginesTest, KeepsWhatProgramsSayOfThemselves) {
  const std::string path = Program(absl::StrCat(
      "versions { key: \"grpc\" value: \"1.71.0\" } engine_protocol: ",
      base::kEngineProtocol, " drivers: \"grpc\" of_later_versions: 3"));
  const auto engines = FindEngines({absl::StrCat("new-1.71=", path)});
  ASSERT_EQ(engines.status(), absl::OkStatus());
  const NamedEngine& engine = engines->at("new-1.71");
  EXPECT_EQ(engine.path, path);
  EXPECT_EQ(engine.description.name(), "new-1.71");
  EXPECT_EQ(engine.description.versions().at("grpc"), "1.71.0");
}

TEST_F(FindEnginesTest, UnderstandsWhatThisProgramSays) {
  const std::string path = Program(DescribeThisProgram().DebugString());
  const auto engines = FindEngines({absl::StrCat("self=", path)});
  ASSERT_EQ(engines.status(), absl::OkStatus());
  const EngineProgram& program = engines->at("self").description;
  EXPECT_THAT(program.versions(),
              AllOf(Contains(Key("distbench")), Contains(Key("grpc"))));
  EXPECT_THAT(program.drivers(), Contains("grpc"));
}

TEST_F(FindEnginesTest, RefusesOtherForms) {
  for (const char* flag : {"new", "=/bin/true", "new=", "a b=/bin/true"}) {
    EXPECT_THAT(Error(flag), AllOf(HasSubstr(absl::StrCat("--engine=", flag)),
                                   HasSubstr("must be NAME=PATH")));
  }
}

TEST_F(FindEnginesTest, RefusesANameThatIsThereTwice) {
  const std::string path = Program(DescribeThisProgram().DebugString());
  EXPECT_THAT(base::Message(FindEngines({absl::StrCat("new=", path),
                                         absl::StrCat("new=", path)})
                                .status()),
              HasSubstr("two engines \"new\""));
}

TEST_F(FindEnginesTest, RefusesWhatIsNoEngine) {
  EXPECT_THAT(Error("new=/does/not/exist"),
              HasSubstr("cannot run /does/not/exist"));
  EXPECT_THAT(Error("new=/bin/true"),
              HasSubstr("did not describe itself as an engine does"));
  EXPECT_THAT(
      Error(absl::StrCat("new=", Program("no such command", 2))),
      AllOf(HasSubstr("exited with status 2"), HasSubstr("no such command"),
            HasSubstr("must be a program of distbench")));
}

TEST_F(FindEnginesTest, RefusesAProtocolThatIsTooFarAway) {
  const int far = base::kEngineProtocol + 2;
  EXPECT_THAT(
      Error(absl::StrCat("new=",
                         Program(absl::StrCat("engine_protocol: ", far)))),
      AllOf(HasSubstr(absl::StrCat("speaks version ", far)),
            HasSubstr(absl::StrCat("version ", base::kEngineProtocol))));
}

}  // namespace
}  // namespace distbench::hosting
