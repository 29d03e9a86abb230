// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/connection_defaults.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "distbench/base/testing/test_folder.h"
#include "distbench/flags/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// The flags of a command with a connection.
struct Flags {
  std::string test_sequencer;
  std::string tls_ca;
  std::string label = "none";
};

std::string CheckAddress(const std::string& text) {
  return absl::StrContains(text, ':') ? "" : text + " is not HOST:PORT";
}

class ConnectionDefaultsTest : public testing::Test {
 protected:
  ConnectionDefaultsTest() {
    fs::create_directories(folder_.path() / "distbench");
    variables_["XDG_CONFIG_HOME"] = folder_.path();
  }

  void WriteConfig(const std::string& text) { std::ofstream(Config()) << text; }

  fs::path Config() const { return folder_.path() / "distbench" / "config"; }

  Environment Variables() {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
  }

  // Parses the arguments as those of "run", and returns the status of Fill().
  absl::Status Parse(const std::string& arguments) {
    defaults_ = std::make_unique<ConnectionDefaults>(Variables());
    flags_ = Flags();
    CLI::App app("", "program");
    CLI::App* run = app.add_subcommand("run", "");
    run->add_option("--test_sequencer", flags_.test_sequencer, "Where")
        ->required()
        ->check(CheckAddress);
    run->add_option("--tls_ca", flags_.tls_ca, "Whom to trust");
    run->add_option("--label", flags_.label, "What for");
    app.add_subcommand("report", "Needs no connection");
    CLI::App* check = app.add_subcommand("check_test", "May have one");
    check->add_option("--test_sequencer", flags_.test_sequencer, "Where");
    check->add_option("--tls_ca", flags_.tls_ca, "Whom to trust");
    TakeOnlyFromCommandLine(*check, "--test_sequencer");
    defaults_->Announce(app);
    app.parse(arguments);
    return defaults_->Fill(*app.get_subcommands().front());
  }

  // The message of an error.
  std::string Problem(const std::string& arguments) {
    const absl::Status status = Parse(arguments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  const base::TestFolder folder_;
  std::map<std::string, std::string> variables_;
  std::unique_ptr<ConnectionDefaults> defaults_;
  Flags flags_;
};

TEST_F(ConnectionDefaultsTest, WithoutDefaultsNothingChanges) {
  ASSERT_TRUE(Parse("run --test_sequencer=a:1").ok());
  EXPECT_EQ(flags_.test_sequencer, "a:1");
  EXPECT_EQ(flags_.tls_ca, "");
  EXPECT_THAT(defaults_->Explain("a:1 does not answer"), IsEmpty());
  EXPECT_THROW(Parse("run").IgnoreError(), CLI::RequiredError);
}

TEST_F(ConnectionDefaultsTest, VariablesFillWhatIsLeftOut) {
  variables_["DISTBENCH_TEST_SEQUENCER"] = "[::1]:10000";
  variables_["DISTBENCH_TLS_CA"] = "ca.crt";
  ASSERT_TRUE(Parse("run").ok());
  EXPECT_EQ(flags_.test_sequencer, "[::1]:10000");
  EXPECT_EQ(flags_.tls_ca, "ca.crt");
  EXPECT_THAT(
      defaults_->Explain("cannot read ca.crt"),
      ElementsAre(
          "--test_sequencer=[::1]:10000 is from DISTBENCH_TEST_SEQUENCER",
          "--tls_ca=ca.crt is from DISTBENCH_TLS_CA"));
}

TEST_F(ConnectionDefaultsTest, OneCommandHasAConnectionOnlyIfAsked) {
  variables_["DISTBENCH_TEST_SEQUENCER"] = "a:1";
  variables_["DISTBENCH_TLS_CA"] = "ca.crt";
  ASSERT_TRUE(Parse("check_test").ok());
  EXPECT_EQ(flags_.test_sequencer, "");
  EXPECT_EQ(flags_.tls_ca, "");
  ASSERT_TRUE(Parse("check_test --test_sequencer=b:2").ok());
  EXPECT_EQ(flags_.test_sequencer, "b:2");
  EXPECT_EQ(flags_.tls_ca, "ca.crt");
  WriteConfig("nonsense\n");
  EXPECT_TRUE(Parse("check_test").ok()) << "it needs no file";
}

TEST_F(ConnectionDefaultsTest, VariablesOfAJobAreNotTheUsers) {
  variables_["DISTBENCH_IN_JOB"] = "1";
  variables_["DISTBENCH_TEST_SEQUENCER"] = "a:1";
  ASSERT_TRUE(Parse("run").ok());
  EXPECT_EQ(flags_.test_sequencer, "a:1");
  EXPECT_THAT(defaults_->Explain("a:1 does not answer"), IsEmpty());
}

TEST_F(ConnectionDefaultsTest, FlagsAreStrongerThanVariables) {
  variables_["DISTBENCH_TEST_SEQUENCER"] = "a:1";
  ASSERT_TRUE(Parse("run --test_sequencer=b:2").ok());
  EXPECT_EQ(flags_.test_sequencer, "b:2");
  EXPECT_THAT(defaults_->Explain("b:2 does not answer"), IsEmpty());
}

TEST_F(ConnectionDefaultsTest, ErrorsAboutSomethingElseNeedNoExplanation) {
  variables_["DISTBENCH_TEST_SEQUENCER"] = "a:1";
  ASSERT_TRUE(Parse("run").ok());
  EXPECT_THAT(defaults_->Explain("my.config:3:1: count: is missing"),
              IsEmpty());
  EXPECT_THAT(defaults_->Explain(""), IsEmpty());
}

TEST_F(ConnectionDefaultsTest, WhoTypedTheAddressMayWonderAboutTheRest) {
  variables_["DISTBENCH_TLS_CA"] = "ca.crt";
  ASSERT_TRUE(Parse("run --test_sequencer=b:2").ok());
  EXPECT_THAT(defaults_->Explain("b:2: the handshake failed"),
              ElementsAre("--tls_ca=ca.crt is from DISTBENCH_TLS_CA"));
}

TEST_F(ConnectionDefaultsTest, TheFileFillsWhatNoVariableDoes) {
  WriteConfig("# mine\n\n test_sequencer=a:1\n  tls_ca =  ca.crt  \n");
  ASSERT_TRUE(Parse("run").ok());
  EXPECT_EQ(flags_.test_sequencer, "a:1");
  EXPECT_EQ(flags_.tls_ca, folder_.path() / "distbench" / "ca.crt");
  variables_["DISTBENCH_TEST_SEQUENCER"] = "b:2";
  ASSERT_TRUE(Parse("run").ok());
  EXPECT_EQ(flags_.test_sequencer, "b:2");
}

TEST_F(ConnectionDefaultsTest, AnEmptyVariableHidesTheFile) {
  WriteConfig("tls_ca = /x/ca.crt\n");
  variables_["DISTBENCH_TLS_CA"] = "";
  ASSERT_TRUE(Parse("run --test_sequencer=a:1").ok());
  EXPECT_EQ(flags_.tls_ca, "");
}

TEST_F(ConnectionDefaultsTest, NoConnectionDefaultsHidesAll) {
  WriteConfig("test_sequencer = a:1\ntls_ca = /x/ca.crt\n");
  for (const std::string& variable : NoConnectionDefaults()) {
    variables_[variable.substr(0, variable.find('='))] = "";
  }
  EXPECT_THROW(Parse("run").IgnoreError(), CLI::RequiredError);
  ASSERT_TRUE(Parse("run --test_sequencer=b:2").ok());
  EXPECT_EQ(flags_.tls_ca, "");
}

TEST_F(ConnectionDefaultsTest, TheHomeHasTheFileWithoutAnXdgFolder) {
  variables_.erase("XDG_CONFIG_HOME");
  variables_["HOME"] = "/home/someone";
  EXPECT_EQ(ConnectionDefaults(Variables()).path(),
            "/home/someone/.config/distbench/config");
  variables_["XDG_CONFIG_HOME"] = "relative";
  EXPECT_EQ(ConnectionDefaults(Variables()).path(),
            "/home/someone/.config/distbench/config");
  EXPECT_EQ(ConnectionDefaults(NoEnvironment()).path(), "");
}

TEST_F(ConnectionDefaultsTest, AWrongValueNamesItsOrigin) {
  variables_["DISTBENCH_TEST_SEQUENCER"] = "nowhere";
  EXPECT_EQ(Problem("run"),
            "DISTBENCH_TEST_SEQUENCER: nowhere is not HOST:PORT");
  variables_.erase("DISTBENCH_TEST_SEQUENCER");
  WriteConfig("\ntest_sequencer = nowhere\n");
  EXPECT_EQ(Problem("run"), Config().string() + ":2: nowhere is not HOST:PORT");
}

TEST_F(ConnectionDefaultsTest, AWrongFileNamesTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"\ntest_sequencr = a:1\n",
       ":2: there is no setting \"test_sequencr\"; "
       "did you mean \"test_sequencer\"?"},
      {"[connection]\n", ":1: \"[connection]\" is not NAME = VALUE"},
      {"tls_ca =\n", ":1: tls_ca has no value"},
      {"tls_ca = a\ntls_ca = b\n", ":2: tls_ca is set twice"},
      {"port = 1\n", ":1: there is no setting \"port\""},
  };
  for (const auto& [text, problem] : cases) {
    WriteConfig(text);
    EXPECT_THAT(Problem("run --test_sequencer=a:1"),
                HasSubstr(Config().string() + problem));
    // Rather than about the flag that the file was to give.
    EXPECT_THAT(Problem("run"), HasSubstr(Config().string() + problem));
    EXPECT_TRUE(Parse("report").ok()) << "which needs no connection";
  }
}

TEST_F(ConnectionDefaultsTest, AFileThatCannotBeReadIsAnError) {
  fs::create_directories(Config());
  EXPECT_THAT(Problem("run"),
              AllOf(HasSubstr(Config().string()), HasSubstr("cannot be read")));
}

TEST_F(ConnectionDefaultsTest, HelpNamesTheVariables) {
  variables_["DISTBENCH_TEST_SEQUENCER"] = "a:1";
  ConnectionDefaults defaults(Variables());
  CLI::App app("", "program");
  CLI::App* run = app.add_subcommand("run", "");
  std::string value;
  CLI::Option* option =
      run->add_option("--test_sequencer", value, "Where")->required();
  defaults.Announce(app);
  EXPECT_EQ(option->get_description(),
            "Where\nEnvironment: DISTBENCH_TEST_SEQUENCER");
  EXPECT_TRUE(option->get_required()) << "where nothing is parsed";
}

}  // namespace
}  // namespace distbench::flags
