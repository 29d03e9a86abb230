// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/flags.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "distbench/base/host_port.h"
#include "distbench/base/plugins.h"

namespace distbench::cli {

namespace {

// Returns an empty string if the text is "HOST:PORT", else the error.
std::string CheckHostAndPort(const std::string& text) {
  const auto [host, number] = base::SplitHostPort(text);
  int port = 0;
  if (!host.empty() && absl::SimpleAtoi(number, &port) && port > 0 &&
      port <= base::kMaxPort) {
    return "";
  }
  return '"' + text +
         "\" is not HOST:PORT, such as localhost:10000 or [::1]:10000";
}

}  // namespace

void AddPortFlag(CLI::App& command, int& port, absl::string_view description) {
  AddNumberFlag(command, "--port", port, 0, base::kMaxPort, "PORT",
                std::string(description));
}

void AddTestSequencerFlag(CLI::App& command, std::string& address) {
  AddTextFlag(command, "--test_sequencer", address, "HOST:PORT",
              "Address of the test sequencer");
  Require(command, "--test_sequencer");
  flags::Check(command, "--test_sequencer", CheckHostAndPort);
}

void AddTlsFlags(CLI::App& command, security::TlsFiles& files) {
  AddTextFlag(command, "--tls_ca", files.ca, "FILE",
              "CA that must have signed the peers' certificates (PEM),\n"
              "such as /etc/distbench/ca.crt");
  AddTextFlag(command, "--tls_cert", files.cert, "FILE",
              "Own certificate (PEM), such as host1.crt");
  AddTextFlag(command, "--tls_key", files.key, "FILE",
              "Private key of that certificate (PEM), such as host1.key");
  AddTextFlag(command, "--tls_name", files.name, "NAME",
              "Name that the sequencer's certificate must have; default: that\n"
              "of its host");
}

void AddGuardFlags(CLI::App& command, security::GuardFlagValues& values) {
  for (const auto& [name, guard] : base::Plugins<security::GuardFlag>::All()) {
    flags::AddListFlag(command, guard->flag(), values[guard->flag()],
                       guard->type(), guard->description());
  }
}

void AddListenFlag(CLI::App& command, std::string& address,
                   absl::string_view description) {
  AddTextFlag(command, "--listen", address, "ADDRESS", description);
}

void AddMetricsPortFlag(CLI::App& command, std::optional<int>& port) {
  AddNumberFlag(command, "--metrics_port", port, 0, base::kMaxPort, "PORT",
                "Serve metrics to Prometheus on this port, without TLS;\n"
                "0 picks a free port and prints it; default: no metrics");
}

void AddInfileFlag(CLI::App& command, std::string& infile) {
  AddTextFlag(command, "--infile", infile, "FILE",
              "The tests, as text or binary; - reads standard input");
  flags::ShowDefault(command, "--infile");
}

void AddInfileArgument(CLI::App& command, std::string& infile) {
  AddArgument(command, "FILE", infile, "FILE", "The same as --infile=FILE");
  Exclude(command, "FILE", "--infile");
  flags::Check(command, "FILE", [](const std::string& value) {
    return absl::StartsWith(value, "--") ? "its FILE is missing" : "";
  });
}

void AddQuietFlag(CLI::App& command, bool& quiet) {
  AddSwitch(command, "--quiet", quiet,
            "Show no progress, only results, warnings and errors");
}

}  // namespace distbench::cli
