// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// distbench_engine: what node managers start for the instances of a test, and
// nothing else, so that it is quickly built over other versions of the
// libraries that carry traffic (node_manager --engine=NAME=PATH).

#include <cstdlib>
#include <iostream>

#include "distbench/base/process_setup.h"
#include "distbench/base/version.h"
#include "distbench/cli/engine_command.h"
#include "distbench/flags/flags.h"

namespace distbench::cli {
namespace {

constexpr char kUsage[] =
    "Node managers start this program themselves, if they have been given it:\n"
    "  distbench node_manager --engine=NAME=PATH\n"
    "`distbench_engine engine --describe` prints what it is.\n";

int Main(int argc, char** argv) {
  base::SetUpProcess(argv[0]);
  flags::Program program("Runs instances of tests", "distbench_engine");
  EngineFlags engine;
  bool is_engine = false;
  flags::AfterParsing(AddEngineSubcommand(program.app(), engine),
                      [&is_engine] { is_engine = true; });
  const flags::Parsed parsed =
      flags::Parse(program.app(), {argv + 1, argv + argc});
  if (parsed.outcome != flags::Parsed::Outcome::kOk || !is_engine) {
    std::cerr << base::VersionText() << '\n' << kUsage;
    return EXIT_FAILURE;
  }
  const absl::Status status = RunEngine(engine);
  if (!status.ok())
    std::cerr << "distbench_engine: " << status.message() << '\n';
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace distbench::cli

int main(int argc, char** argv) { return distbench::cli::Main(argc, argv); }
