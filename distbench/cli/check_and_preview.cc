// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/version.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/host_check.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/client/test_client.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/check.h"
#include "distbench/node/node_manager.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/test_guards.h"
#include "distbench/security/tls_files.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {
// ---- check_test -------------------------------------------------------------

namespace {

struct CheckCommandFlags {
  std::string infile = "-";
  std::vector<std::string> files;  // instead of it
  std::string print;               // a config::ConfigFormat, or nothing
  bool this_host = false;
  std::string test_sequencer;  // empty: its nodes are not checked
  security::TlsFiles tls;
};

// Hosts that the tests are checked against, as the flags say.
struct CheckedHosts {
  std::string name;  // such as "this host"
  std::function<HostCheck(const DistributedSystemDescription& test)> check;
};

absl::StatusOr<std::vector<CheckedHosts>> HostsToCheck(
    const CheckCommandFlags& flags) {
  std::vector<CheckedHosts> all;
  if (flags.this_host) {
    all.push_back({"this host", [host = DescribeThisHost()](const auto& test) {
                     return CheckHost(test, host);
                   }});
  }
  if (flags.test_sequencer.empty()) return all;
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return client.status();
  absl::StatusOr<GetStatusResponse> status = (*client)->GetStatusWithHosts();
  if (!status.ok()) return status.status();
  all.push_back({absl::StrCat("the nodes of ", flags.test_sequencer),
                 [status = *std::move(status)](const auto& test) {
                   return CheckNodes(test, status);
                 }});
  return all;
}

int CheckOnHosts(const TestSequence& tests, const std::string& infile,
                 const CheckedHosts& hosts) {
  bool is_possible = true;
  bool is_complete = true;
  for (const DistributedSystemDescription& test : tests.tests()) {
    const std::string where = absl::StrCat(
        infile, test.name().empty() ? "" : absl::StrCat(", ", test.name()));
    const HostCheck found = hosts.check(test);
    for (const std::string& warning : found.warnings) {
      is_complete = false;
      std::cout << "warning: " << where << ": " << warning << '\n';
    }
    for (const std::string& problem : found.problems) {
      is_possible = false;
      Fail(absl::StrCat(where, " cannot run on ", hosts.name, ": ", problem),
           report::kExitUsage);
    }
  }
  if (!is_possible) return report::kExitUsage;
  std::cout << "Result: " << hosts.name
            << (is_complete
                    ? ": nothing is missing for "
                    : ": nothing but what the warnings name is missing for ")
            << infile << "." << std::endl;
  return report::kExitOk;
}

void PrintWarnings(const TestSequence& tests, const config::ConfigText& text,
                   std::ostream& stream) {
  for (const std::string& warning :
       config::PlacedLines(config::FindWarnings(tests), text)) {
    stream << "warning: " << warning << '\n';
  }
}

int CheckTest(const std::string& infile,
              const std::vector<CheckedHosts>& all_hosts) {
  config::ConfigText text;
  const absl::StatusOr<TestSequence> tests = LoadAndCheckTests(infile, &text);
  if (!tests.ok()) return Fail(tests.status(), report::kExitUsage);
  PrintWarnings(*tests, text, std::cout);
  std::cout << "Result: " << infile << " parsed successfully." << std::endl;
  int exit_code = report::kExitOk;
  for (const CheckedHosts& hosts : all_hosts) {
    exit_code = std::max(exit_code, CheckOnHosts(*tests, infile, hosts));
  }
  return exit_code;
}

// Prints the tests as they are written, and nothing else, to stdout.
int PrintTest(const std::string& infile, const std::string& format) {
  config::ConfigText text;
  const absl::StatusOr<TestSequence> tests = LoadAndCheckTests(infile, &text);
  if (!tests.ok()) return Fail(tests.status(), report::kExitUsage);
  PrintWarnings(*tests, text, std::cerr);
  const absl::StatusOr<TestSequence> written =
      config::ParseTestSequence(text.contents, text.source);
  if (!written.ok()) return Fail(written.status(), report::kExitUsage);
  std::cout << config::ToFormat(*written, *config::FindConfigFormat(format))
            << std::flush;
  return report::kExitOk;
}

// Checks all of them, whatever is wrong with the first.
int CheckTests(const CheckCommandFlags& flags) {
  if (!flags.print.empty()) {
    if (flags.files.size() > 1) {
      return Fail(absl::InvalidArgumentError(
                      "--print prints one config; name a single FILE"),
                  report::kExitUsage);
    }
    return PrintTest(flags.files.empty() ? flags.infile : flags.files[0],
                     flags.print);
  }
  std::vector<std::string> files = flags.files;
  if (files.empty()) files.push_back(flags.infile);
  const absl::StatusOr<std::vector<CheckedHosts>> hosts = HostsToCheck(flags);
  const std::vector<CheckedHosts> known =
      hosts.ok() ? *hosts : std::vector<CheckedHosts>();
  int exit_code = report::kExitOk;
  for (const std::string& file : files) {
    exit_code = std::max(exit_code, CheckTest(file, known));
  }
  if (hosts.ok()) return exit_code;
  Fail(hosts.status(), report::kExitRunFailed);
  return exit_code == report::kExitOk ? report::kExitRunFailed : exit_code;
}

}  // namespace

void AddCheckTestCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, "check_test",
                    "Lists all problems of a test config without running it");
  auto flags = std::make_shared<CheckCommandFlags>();
  AddInfileFlag(command, flags->infile);
  AddArguments(command, "FILE", flags->files, "FILE",
               "The same as --infile=FILE, of each");
  Exclude(command, "FILE", "--infile");
  AddChoiceFlag(command, "--print", flags->print, config::ConfigFormatNames(),
                absl::StrJoin(config::ConfigFormatNames(), "|"),
                "Print a config without problems in this format");
  AddSwitch(command, "--this_host", flags->this_host,
            "Also check whether this host has what the tests need, if\n"
            "all of their instances run here");
  AddTestSequencerFlag(command, flags->test_sequencer);
  Require(command, "--test_sequencer", false);
  // What a user has set for other commands must not change what this one does.
  TakeOnlyFromCommandLine(command, "--test_sequencer");
  // Which prints nothing else.
  Exclude(command, "--print", "--this_host");
  Exclude(command, "--print", "--test_sequencer");
  AddTlsFlags(command, flags->tls);
  SetFooter(
      command,
      "With --test_sequencer, also checks whether its nodes have what the\n"
      "tests need, before any of them is run: enough nodes, control\n"
      "groups, NUMA nodes, drivers, engines, network devices, and what\n"
      "the tests require of hosts. See docs/command_line.md.\n\n"
      "Examples:\n"
      "  distbench check_test my_test.config\n"
      "  distbench check_test --this_host workloads/*.config\n"
      "  distbench check_test my_test.config --test_sequencer=host1:10000\n"
      "  distbench check_test --print=yaml my_test.config");
  SetBody(command, chosen, [flags] { return CheckTests(*flags); });
}

// ---- test_preview -----------------------------------------------------------

namespace {

struct PreviewFlags {
  std::string infile = "-";
  TestOutputFlags output;
  bool quiet = false;
  security::GuardFlagValues guards;
};

// Places everything on node0, whatever the test says about hosts.
void PlaceOnOneNode(DistributedSystemDescription& test) {
  test.clear_service_constraints();
  test.clear_node_service_bundles();
  ServiceBundle& bundle = (*test.mutable_node_service_bundles())["node0"];
  for (const ServiceSpec& service : test.services()) {
    for (std::string& instance : config::InstanceNames(service)) {
      bundle.add_services(std::move(instance));
    }
  }
}

absl::StatusOr<int> PreviewTests(const PreviewFlags& flags,
                                 base::StopSignals& stop) {
  const auto guards = security::TestGuards::Make(flags.guards);
  if (!guards.ok()) return guards.status();
  absl::StatusOr<TestSequence> tests = LoadAndCheckTests(flags.infile);
  if (!tests.ok()) return tests.status();
  for (DistributedSystemDescription& test : *tests->mutable_tests()) {
    PlaceOnOneNode(test);
  }
  const absl::Status writable = CheckOutput(flags.output);
  if (!writable.ok()) return writable;

  sequencer::SequencerOptions sequencer_options;
  sequencer_options.listen_address = "127.0.0.1";
  sequencer_options.port = 0;
  sequencer_options.revision = std::string(base::SourceRevision());
  sequencer_options.guards = *guards;
  const absl::StatusOr<std::unique_ptr<sequencer::SequencerServer>> sequencer =
      sequencer::SequencerServer::Start(std::move(sequencer_options));
  if (!sequencer.ok()) return Fail(sequencer.status(), report::kExitRunFailed);

  node::NodeManagerOptions node_options;
  node_options.channel = (*sequencer)->InProcessChannel();
  node_options.preassigned_id = 0;
  node_options.guards = *guards;
  const absl::StatusOr<std::unique_ptr<node::NodeManager>> node =
      node::NodeManager::Start(std::move(node_options));
  if (!node.ok()) return Fail(node.status(), report::kExitRunFailed);

  client::TestClient client((*sequencer)->InProcessChannel());
  RunTestsRequest request;
  *request.mutable_test_sequence() = *std::move(tests);
  const client::RunProgress progress =
      flags.quiet ? client::RunProgress::kNone : client::RunProgress::kShown;
  return FinishRun(client::RunOnConsole(client, request, progress,
                                        PrinterOf(flags.output), stop),
                   flags.output);
}

}  // namespace

void AddTestPreviewCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, "test_preview", "Runs tests within this process");
  auto flags = std::make_shared<PreviewFlags>();
  AddInfileFlag(command, flags->infile);
  AddInfileArgument(command, flags->infile);
  AddResultFlags(command, flags->output);
  AddQuietFlag(command, flags->quiet);
  AddGuardFlags(command, flags->guards);
  SetFooter(
      command,
      "Runs all services on one node, wherever the test places them, to show\n"
      "what a test does before a cluster runs it.\n\n"
      "Example:\n  distbench test_preview my_test.config");
  SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return PreviewTests(*flags, stop);
  });
}

}  // namespace distbench::cli
