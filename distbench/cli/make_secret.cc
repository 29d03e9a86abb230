// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/flags/flags.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/job_secret.h"

namespace distbench::cli {

namespace {

constexpr absl::Duration kDay = absl::Hours(24);

struct SecretFlags {
  std::string directory;
  std::string valid_for = "7d";
};

// Days are for people; the other units are those of all durations.
absl::StatusOr<absl::Duration> ParseValidity(absl::string_view text) {
  absl::string_view number = text;
  double days = 0;
  if (absl::ConsumeSuffix(&number, "d") && absl::SimpleAtod(number, &days) &&
      std::isfinite(days)) {
    return days * kDay;
  }
  return flags::ParseDurationOrSeconds(text);
}

absl::StatusOr<int> RunMakeSecret(const SecretFlags& flags) {
  const absl::StatusOr<absl::Duration> valid_for =
      ParseValidity(flags.valid_for);
  if (!valid_for.ok()) return valid_for.status();
  const absl::Status status =
      security::MakeJobSecret(flags.directory, *valid_for, absl::Now());
  if (!status.ok()) return status;
  return report::kExitOk;
}

}  // namespace

void AddMakeSecretCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "make_secret", "Makes the secret that the processes of a job share");
  auto flags = std::make_shared<SecretFlags>();
  AddArgument(command, "DIR", flags->directory, "DIR",
              "Where to; made if it is missing, with mode 0700");
  Require(command, "DIR");
  AddTextFlag(command, "--valid_for", flags->valid_for, "DURATION",
              "How long it can be used, such as 12h; default: 7d");
  SetFooter(
      command,
      "Writes the files of a kubernetes.io/tls Secret: ca.crt, the "
      "certificate\n"
      "of an authority for this job alone, and tls.crt with tls.key, the only\n"
      "certificate that it signs. Whoever has these files is a part of the\n"
      "job. Remove them when it has ended.\n\n"
      "Example:\n"
      "  distbench make_secret job_secret --valid_for=12h\n"
      "  srun distbench join --secret=job_secret --rendezvous=job_secret \\\n"
      "      -- run_tests --infile=my_test.config");
  SetBody(command, chosen, [flags] { return RunMakeSecret(*flags); });
}

}  // namespace distbench::cli
