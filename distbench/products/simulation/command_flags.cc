#include "distbench/products/simulation/command_flags.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/threads.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/products/simulation/calibration/calibrate.h"
#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {
namespace {

// More would wait for each other more often than they help.
constexpr int kMostDefaultThreads = 8;

constexpr int kMaxHosts = 1'000'000;
constexpr int kMaxThreads = 1024;

}  // namespace

std::vector<std::string> AddSimulationFlags(CLI::App& command,
                                            SimulationFlags& flags) {
  cli::AddTextFlag(
      command, "--fabric", flags.fabric, "FILE",
      "Hosts, network and costs (proto/simulation.proto as text);\n"
      "default: hosts of 8 CPUs at one switch");
  cli::AddTextFlag(command, "--calibrate_from", flags.calibrate_from, "RESULT",
                   "What RPCs cost, from a real run of\n"
                   "workloads/calibration.config, or a fabric kept from one;\n"
                   "default: the costs of distbench's reference machine");
  cli::AddTextFlag(command, "--keep_fabric", flags.keep_fabric, "FILE",
                   "Write the fabric here, with what --calibrate_from found,\n"
                   "for --fabric or --calibrate_from of other runs");
  cli::AddNumberFlag(
      command, "--hosts", flags.hosts, 1, kMaxHosts, "N",
      "Simulated hosts; default: as many as the test needs, one\n"
      "for each bundle and each other instance");
  cli::AddNumberFlag(command, "--threads", flags.threads, 1, kMaxThreads, "N",
                     "Threads that simulate, which do not change the results;\n"
                     "default: the CPUs of this machine, at most 8");
  return {"--fabric", "--calibrate_from", "--keep_fabric", "--hosts",
          "--threads"};
}

absl::StatusOr<ClusterRunOptions> ReadSimulationFlags(
    const SimulationFlags& flags) {
  ClusterRunOptions options;
  options.host_count = flags.hosts;
  options.threads = flags.threads > 0
                        ? flags.threads
                        : std::min(base::UsableCpuCount(), kMostDefaultThreads);
  if (!flags.fabric.empty()) {
    absl::StatusOr<SimulatedFabric> fabric = ReadFabric(flags.fabric);
    if (!fabric.ok()) return fabric.status();
    options.fabric = *std::move(fabric);
  }
  if (!flags.calibrate_from.empty()) {
    const absl::StatusOr<SimulatedFabric> calibration =
        ReadCalibration(flags.calibrate_from);
    if (!calibration.ok()) return calibration.status();
    AddCalibration(*calibration, options.fabric);
  }
  if (!flags.keep_fabric.empty() && flags.fabric.empty() &&
      flags.calibrate_from.empty()) {
    return absl::InvalidArgumentError(
        "--keep_fabric has nothing to keep; give --calibrate_from or --fabric");
  }
  if (!flags.keep_fabric.empty()) {
    std::string text;
    google::protobuf::TextFormat::PrintToString(options.fabric, &text);
    const absl::Status written = cli::WriteReport(flags.keep_fabric, text);
    if (!written.ok()) return written;
  }
  return options;
}

}  // namespace distbench::simulation
