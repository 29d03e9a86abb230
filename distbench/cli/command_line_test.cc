// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/flags.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/report/findings/findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr int kRan = 42;

struct BakeFlags {
  int port = 10'000;
  std::string outfile = "unset";
  bool binary_output = false;
  absl::Duration duration = absl::Seconds(1);
};

// The flags of the last run of "bake".
BakeFlags& LastBake() {
  static BakeFlags* const flags = new BakeFlags();
  return *flags;
}

void AddBakeCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand("bake", "Bakes bread.");
  auto flags = std::make_shared<BakeFlags>();
  AddPortFlag(*command, flags->port, "Where the oven is");
  command->add_option("--outfile", flags->outfile, "Where the bread goes");
  command->add_flag("--binary_output", flags->binary_output, "In halves");
  AddDurationFlag(*command, "--duration", flags->duration, "How long");
  command->footer("Example:\n  distbench bake --port=1");
  command->callback([flags, &chosen] {
    chosen = [flags] {
      LastBake() = *flags;
      return kRan;
    };
  });
}

// The address of the last run of "sell".
std::string& LastSequencer() {
  static auto* const address = new std::string();
  return *address;
}

void AddSellCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand("sell", "Sells bread.");
  auto sequencer = std::make_shared<std::string>();
  AddTestSequencerFlag(*command, *sequencer);
  command->callback([sequencer, &chosen] {
    chosen = [sequencer] {
      LastSequencer() = *sequencer;
      return kRan;
    };
  });
}

// The file of the last run of "read".
std::string& LastInfile() {
  static auto* const infile = new std::string();
  return *infile;
}

void AddReadCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand("read", "Reads it.");
  auto infile = std::make_shared<std::string>("-");
  AddInfileFlag(*command, *infile);
  AddInfileArgument(*command, *infile);
  auto topics = std::make_shared<std::vector<std::string>>();
  AddRepeatedFlag(*command, "--topic", *topics, "TOPIC", "What it is about");
  command->callback([infile, topics, &chosen] {
    chosen = [infile, topics] {
      LastInfile() = *infile;
      return kRan + static_cast<int>(topics->size());
    };
  });
}

// A subcommand that takes another command line.
std::vector<std::string>& LastOrder() {
  static auto* const words = new std::vector<std::string>();
  return *words;
}

void AddOrderCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand("order", "Orders bread.");
  auto words = std::make_shared<std::vector<std::string>>();
  auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("NAMES", *names, "Who orders");
  AddTrailingCommand(*command, *words);
  command->callback([words, names, &chosen] {
    chosen = [words, names] {
      LastOrder() = *words;
      return kRan + static_cast<int>(names->size());
    };
  });
}

// A subcommand with nested subcommands.
void AddOvenCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* oven = app.add_subcommand("oven", "Looks after the oven.");
  oven->require_subcommand(0, 1);
  CLI::App* heat = oven->add_subcommand("heat", "Heats it.");
  auto degrees = std::make_shared<int>(0);
  heat->add_option("--degrees", *degrees, "How hot");
  heat->callback([degrees, &chosen] { chosen = [] { return kRan; }; });
  CLI::App* clean = oven->add_subcommand("clean", "Cleans it.");
  clean->callback([&chosen] {
    chosen = [] { return absl::FailedPreconditionError("the oven is hot"); };
  });
}

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

Outcome Invoke(std::vector<std::string> arguments,
               const flags::Environment& environment = flags::NoEnvironment()) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code =
      RunCommandLine({{HelpSection::kOutcomes, AddReadCommand},
                      {HelpSection::kProcesses, AddBakeCommand},
                      {HelpSection::kRuns, AddSellCommand},
                      {HelpSection::kRuns, AddOvenCommand},
                      {HelpSection::kRuns, AddOrderCommand}},
                     std::move(arguments), environment);
  return {exit_code, testing::internal::GetCapturedStdout(),
          testing::internal::GetCapturedStderr()};
}

void ExpectRefusal(std::vector<std::string> arguments,
                   const std::string& message) {
  const Outcome outcome = Invoke(std::move(arguments));
  EXPECT_EQ(outcome.exit_code, report::kExitUsage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, message);
}

TEST(CommandLineTest, RunsTheSubcommand) {
  EXPECT_EQ(Invoke({"bake", "--port=7", "--outfile", "a b", "--binary_output",
                    "--duration=1m30s"})
                .exit_code,
            kRan);
  EXPECT_EQ(LastBake().port, 7);
  EXPECT_EQ(LastBake().outfile, "a b");
  EXPECT_TRUE(LastBake().binary_output);
  EXPECT_EQ(LastBake().duration, absl::Seconds(90));
}

TEST(CommandLineTest, FlagMayBeSetToNothing) {
  EXPECT_EQ(Invoke({"bake", "--outfile=", "--binary_output"}).exit_code, kRan);
  EXPECT_EQ(LastBake().outfile, "");
  EXPECT_TRUE(LastBake().binary_output);
}

TEST(CommandLineTest, HelpIsOfferedEverywhere) {
  const std::vector<std::vector<std::string>> general = {
      {}, {"--help"}, {"-h"}, {"help"}};
  for (const std::vector<std::string>& arguments : general) {
    const Outcome outcome = Invoke(arguments);
    EXPECT_EQ(outcome.exit_code, report::kExitOk);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("bake"), HasSubstr("sell"),
                                   HasSubstr("Example")));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
  const std::vector<std::vector<std::string>> of_bake = {
      {"bake", "--help"}, {"bake", "-h"}, {"help", "bake"}};
  for (const std::vector<std::string>& arguments : of_bake) {
    const Outcome outcome = Invoke(arguments);
    EXPECT_EQ(outcome.exit_code, report::kExitOk);
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("Bakes bread."), HasSubstr("--port"),
                      HasSubstr("distbench bake [OPTIONS]"),
                      HasSubstr("distbench bake --port=1")));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST(CommandLineTest, HelpExplainsItself) {
  EXPECT_THAT(Invoke({"help", "help"}).out,
              HasSubstr("distbench help run_tests"));
}

TEST(CommandLineTest, TellsItsVersion) {
  const Outcome outcome = Invoke({"--version"});
  EXPECT_EQ(outcome.exit_code, report::kExitOk);
  EXPECT_THAT(outcome.out,
              MatchesRegex("distbench [0-9.]+ \\(revision .+\\)\n"));
}

TEST(CommandLineTest, MisspeltSubcommandIsExplained) {
  ExpectRefusal({"bale"},
                "distbench: unknown subcommand \"bale\"; did you mean "
                "\"bake\"?\nSee: distbench help\n");
  ExpectRefusal({"bale", "--help"},
                "distbench: unknown subcommand \"bale\"; did you mean "
                "\"bake\"?\nSee: distbench help\n");
  ExpectRefusal({"help", "bale"},
                "distbench help: there is no subcommand \"bale\"; did you mean "
                "\"bake\"?\nSee: distbench help help\n");
}

TEST(CommandLineTest, MisspeltFlagIsExplained) {
  ExpectRefusal({"bake", "--prot=7"},
                "distbench bake: unknown flag --prot; did you mean --port?\n"
                "See: distbench help bake\n");
  ExpectRefusal({"bake", "--colour=blue"},
                "distbench bake: unknown flag --colour\n"
                "See: distbench help bake\n");
  ExpectRefusal({"bake", "-p", "7"},
                "distbench bake: unknown flag -p\n"
                "See: distbench help bake\n");
}

TEST(CommandLineTest, FlagOfAnotherSubcommandIsRefused) {
  ExpectRefusal({"sell", "--test_sequencer=a:1", "--port=7"},
                "distbench sell: --port is not a flag of sell, but of bake\n"
                "See: distbench help sell\n");
}

TEST(CommandLineTest, AFlagCanBeNegatedWhereItIs) {
  EXPECT_EQ(Invoke({"bake", "--port=7", "--nobinary_output"}).exit_code, kRan);
  EXPECT_FALSE(LastBake().binary_output);
  EXPECT_THAT(Invoke({"sell", "--nobinary_output"}).err,
              HasSubstr("unknown flag --nobinary_output"));
}

TEST(CommandLineTest, FlagBeforeTheSubcommandIsExplained) {
  const std::string message =
      "--port is a flag of bake, and comes after the subcommand's name\n";
  ExpectRefusal({"--port=7"},
                "distbench: " + message + "See: distbench help\n");
  ExpectRefusal({"--port=7", "bake"},
                "distbench bake: " + message + "See: distbench help bake\n");
}

TEST(CommandLineTest, FlagIsNotTakenForTheValueOfAnother) {
  ExpectRefusal({"sell", "--test_sequencer", "--port=7"},
                "distbench sell: --test_sequencer: its HOST:PORT is missing\n"
                "See: distbench help sell\n");
}

TEST(CommandLineTest, ArgumentTooManyIsRefused) {
  ExpectRefusal({"bake", "rye"},
                "distbench bake: unexpected argument \"rye\"\n"
                "See: distbench help bake\n");
}

TEST(CommandLineTest, MissingFlagIsNamed) {
  ExpectRefusal({"sell"},
                "distbench sell: --test_sequencer is required; "
                "DISTBENCH_TEST_SEQUENCER can set it\n"
                "See: distbench help sell\n");
}

TEST(CommandLineTest, AMisspeltRequiredFlagIsNamed) {
  ExpectRefusal({"sell", "--test-sequencer=a:1"},
                "distbench sell: unknown flag --test-sequencer; did you mean "
                "--test_sequencer?\n"
                "See: distbench help sell\n");
}

TEST(CommandLineTest, TheEnvironmentGivesWhatIsMissing) {
  std::string address = "a:1";
  const flags::Environment environment =
      [&](const std::string& name) -> std::optional<std::string> {
    if (name != "DISTBENCH_TEST_SEQUENCER") return std::nullopt;
    return address;
  };
  EXPECT_EQ(Invoke({"sell"}, environment).exit_code, kRan);
  EXPECT_EQ(LastSequencer(), "a:1");
  EXPECT_EQ(Invoke({"sell", "--test_sequencer=b:2"}, environment).exit_code,
            kRan);
  EXPECT_EQ(LastSequencer(), "b:2");
  address = "a";
  const Outcome outcome = Invoke({"sell"}, environment);
  EXPECT_EQ(outcome.exit_code, report::kExitUsage);
  EXPECT_THAT(outcome.err, HasSubstr("sell: DISTBENCH_TEST_SEQUENCER: \"a\" is "
                                     "not HOST:PORT"));
  // Where there is nothing to connect to, nothing is read.
  EXPECT_EQ(Invoke({"bake"}, environment).exit_code, kRan);
}

TEST(CommandLineTest, AFileIsAnArgumentOrAFlag) {
  EXPECT_EQ(Invoke({"read", "a.config"}).exit_code, kRan);
  EXPECT_EQ(LastInfile(), "a.config");
  EXPECT_EQ(Invoke({"read", "--infile=b.config"}).exit_code, kRan);
  EXPECT_EQ(LastInfile(), "b.config");
  const Outcome outcome = Invoke({"read", "a.config", "--infile=b.config"});
  EXPECT_EQ(outcome.exit_code, report::kExitUsage);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("FILE"), HasSubstr("--infile")));
}

TEST(CommandLineTest, ARepeatedFlagLeavesTheFileAlone) {
  EXPECT_EQ(Invoke({"read", "--topic=a", "--topic", "b", "c.config"}).exit_code,
            kRan + 2);
  EXPECT_EQ(LastInfile(), "c.config");
}

TEST(CommandLineTest, APlainNumberIsSeconds) {
  EXPECT_EQ(Invoke({"bake", "--duration=130"}).exit_code, kRan);
  EXPECT_EQ(LastBake().duration, absl::Seconds(130));
  EXPECT_EQ(Invoke({"bake", "--duration=0.5"}).exit_code, kRan);
  EXPECT_EQ(LastBake().duration, absl::Milliseconds(500));
}

TEST(CommandLineTest, ValuesAreChecked) {
  for (const char* address : {"host", "host:", ":1", "host:0", "host:65536"}) {
    const Outcome outcome =
        Invoke({"sell", std::string("--test_sequencer=") + address});
    EXPECT_EQ(outcome.exit_code, report::kExitUsage);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--test_sequencer"),
                                   HasSubstr(std::string("\"") + address)));
  }
  for (const char* port : {"-1", "65536", "http", "80x"}) {
    const Outcome outcome = Invoke({"bake", std::string("--port=") + port});
    EXPECT_EQ(outcome.exit_code, report::kExitUsage);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--port"), HasSubstr(port)));
  }
  for (const char* duration : {"1x", "-1s", "soon"}) {
    const Outcome outcome =
        Invoke({"bake", std::string("--duration=") + duration});
    EXPECT_EQ(outcome.exit_code, report::kExitUsage);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--duration"), HasSubstr(duration),
                                   HasSubstr("such as 500ms")));
  }
  const Outcome outcome = Invoke({"bake", "--duration=0s"});
  EXPECT_EQ(outcome.exit_code, report::kExitUsage);
  EXPECT_THAT(outcome.err, HasSubstr("a duration must be above 0"));
}

TEST(CommandLineTest, DashesWithoutANameAreExplained) {
  ExpectRefusal({"bake", "---"},
                "distbench bake: unknown flag ---\nSee: distbench help bake\n");
  ExpectRefusal({"bake", "--=7"},
                "distbench bake: unknown flag --\nSee: distbench help bake\n");
  ExpectRefusal({"---"}, "distbench: unknown flag ---\nSee: distbench help\n");
}

TEST(CommandLineTest, SubcommandsMayHaveSubcommands) {
  EXPECT_EQ(Invoke({"oven", "heat", "--degrees=200"}).exit_code, kRan);
  ExpectRefusal({"oven", "heal"},
                "distbench oven: unknown subcommand \"heal\"; did you mean "
                "\"heat\"?\nSee: distbench help oven\n");
  ExpectRefusal({"oven", "clean", "--degrees=200"},
                "distbench oven clean: --degrees is not a flag of oven clean, "
                "but of oven heat\nSee: distbench help oven clean\n");
  ExpectRefusal({"oven", "heat", "--degree=200"},
                "distbench oven heat: unknown flag --degree; did you mean "
                "--degrees?\nSee: distbench help oven heat\n");
  ExpectRefusal({"help", "oven", "heal"},
                "distbench help: oven has no subcommand \"heal\"; did you mean "
                "\"heat\"?\nSee: distbench help help\n");
}

TEST(CommandLineTest, AnErrorOfABodyCameBeforeAnyTraffic) {
  ExpectRefusal({"oven", "clean"}, "distbench: the oven is hot\n");
}

TEST(CommandLineTest, AnotherCommandFollowsDashes) {
  EXPECT_EQ(Invoke({"order", "ann", "bob", "--", "bake", "--port=7", "--",
                    "--outfile=", "", "[a,b]", "-x"})
                .exit_code,
            kRan + 2);
  EXPECT_THAT(LastOrder(), ElementsAre("bake", "--port=7", "--",
                                       "--outfile=", "", "[a,b]", "-x"));
  EXPECT_EQ(Invoke({"order", "ann", "--", "--help"}).exit_code, kRan + 1);
  EXPECT_THAT(LastOrder(), ElementsAre("--help"));
  for (const auto& none :
       {std::vector<std::string>{"order", "ann"}, {"order", "ann", "--"}}) {
    EXPECT_EQ(Invoke(none).exit_code, kRan + 1);
    EXPECT_THAT(LastOrder(), IsEmpty());
  }
}

TEST(CommandLineTest, FlagsBeforeDashesAreTheCommandsOwn) {
  ExpectRefusal({"order", "--porridge=7", "--", "bake"},
                "distbench order: unknown flag --porridge\n"
                "See: distbench help order\n");
  const std::string help = Invoke({"order", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("Usage: distbench order [OPTIONS] [NAMES...] "
                              "[-- COMMAND...]\n"));
  EXPECT_EQ(help.find("trailing"), std::string::npos);
}

TEST(CommandLineTest, HelpOfSubcommandsOfSubcommands) {
  const Outcome oven = Invoke({"help", "oven"});
  EXPECT_THAT(oven.out, AllOf(HasSubstr("distbench oven"), HasSubstr("heat"),
                              HasSubstr("clean")));
  EXPECT_EQ(Invoke({"oven", "--help"}).out, oven.out);
  EXPECT_EQ(Invoke({"oven"}).out, oven.out);
  const Outcome heat = Invoke({"help", "oven", "heat"});
  EXPECT_THAT(heat.out,
              AllOf(HasSubstr("distbench oven heat"), HasSubstr("--degrees")));
  EXPECT_EQ(Invoke({"oven", "heat", "--help"}).out, heat.out);
}

absl::StatusOr<TranslatedFlags> Translate(
    const std::vector<std::string>& arguments) {
  const auto has_flag = [](const std::string& name) {
    return name == "port" || name == "fast" || name == "note";
  };
  const auto is_switch = [](const std::string& name) { return name == "fast"; };
  const auto address_of =
      [](const std::string& device) -> absl::StatusOr<std::string> {
    if (device == "eth0") return "10.0.0.7";
    return absl::NotFoundError("no address");
  };
  return TranslateLegacyFlags(arguments, {has_flag, is_switch, address_of});
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

TEST(LegacyFlagsTest, FlagsWithoutAValueCanBeNegated) {
  EXPECT_THAT(
      ArgumentsOf({"bake", "--nofast", "--noport", "--note=x", "--no", "-no"}),
      ElementsAre("bake", "--fast=false", "--noport", "--note=x", "--no",
                  "-no"));
  EXPECT_THAT(ArgumentsOf({"bake", "--", "--nofast"}),
              ElementsAre("bake", "--", "--nofast"));
}

TEST(LegacyFlagsTest, ThePreferenceForIpv4IsLeftOut) {
  EXPECT_THAT(ArgumentsOf({"bake", "--noprefer_ipv4", "--prefer_ipv4=false"}),
              ElementsAre("bake"));
  const auto preferred = Translate({"bake", "--prefer_ipv4", "--port=1"});
  ASSERT_TRUE(preferred.ok()) << preferred.status();
  EXPECT_THAT(preferred->arguments, ElementsAre("bake", "--port=1"));
  EXPECT_THAT(preferred->notes,
              ElementsAre(AllOf(HasSubstr("--prefer_ipv4 is left out"),
                                HasSubstr("ip_version"))));
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

TEST(LegacyFlagsTest, OnlyNodesHaveADeviceForTraffic) {
  const auto sequencer =
      Translate({"test_sequencer", "--default_data_plane_device=eth0"});
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  EXPECT_THAT(sequencer->arguments, ElementsAre("test_sequencer"));
  EXPECT_THAT(sequencer->notes,
              ElementsAre(HasSubstr("--default_data_plane_device is left out: "
                                    "it is for node managers")));
}

TEST(LegacyFlagsTest, DevicesWithoutAnAddressAreErrors) {
  EXPECT_THAT(Translate({"node_manager", "--control_plane_device=x"})
                  .status()
                  .message(),
              HasSubstr("--control_plane_device: no address"));
  EXPECT_FALSE(Translate({"test_sequencer", "--control_plane_device=x"}).ok());
  EXPECT_THAT(Translate({"test_sequencer", "--control_plane_device="})
                  .status()
                  .message(),
              HasSubstr("no value"));
}

}  // namespace

}  // namespace distbench::cli
