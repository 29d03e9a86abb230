#include "distbench/cli/binding_flags.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/cli/flags.h"

namespace distbench::cli {
namespace {

absl::Status CheckList(const char* flag, const std::string& list) {
  const absl::StatusOr<base::IndexSet> indices = base::ParseIndexList(list);
  if (indices.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", indices.status().message()));
}

absl::Status ParsePolicy(const BindingFlags& flags, NumaBinding& binding) {
  if (flags.mem_policy.empty()) return absl::OkStatus();
  NumaBinding::MemoryPolicy policy;
  if (flags.mem_policy != absl::AsciiStrToLower(flags.mem_policy) ||
      !NumaBinding::MemoryPolicy_Parse(absl::AsciiStrToUpper(flags.mem_policy),
                                       &policy)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mem_policy: \"", flags.mem_policy,
                     "\" is not a policy; use bind, preferred, interleave or "
                     "local"));
  }
  if (policy == NumaBinding::LOCAL && !flags.mem_nodes.empty()) {
    return absl::InvalidArgumentError(
        "--mem_nodes has no effect with --mem_policy=local, which uses the "
        "memory of the CPU's node; remove one of them");
  }
  binding.set_memory_policy(policy);
  return absl::OkStatus();
}

}  // namespace

void AddBindingFlags(CLI::App& command, BindingFlags& flags) {
  AddTextFlag(command, "--numa_node", flags.numa_node, "LIST",
              "Run on the CPUs of these NUMA nodes and use their\n"
              "memory, such as 1 or 0,2");
  AddTextFlag(command, "--cpus", flags.cpus, "LIST",
              "Run on these CPUs, such as 0-7,16-23; excludes --numa_node");
  AddTextFlag(command, "--mem_policy", flags.mem_policy,
              "bind|preferred|interleave|local",
              "bind: use only the nodes' memory; preferred: use other\n"
              "memory once the nodes' memory is full; interleave: take\n"
              "pages from the nodes in turn; local: use the memory of\n"
              "the CPU's node. Default: bind with --numa_node, else local");
  AddTextFlag(command, "--mem_nodes", flags.mem_nodes, "LIST",
              "Use the memory of these NUMA nodes, such as 0-1;\n"
              "default: the nodes of the CPUs");
}

absl::StatusOr<std::optional<NumaBinding>> ParseBindingFlags(
    const BindingFlags& flags) {
  NumaBinding binding;
  absl::Status status = ParsePolicy(flags, binding);
  status.Update(CheckList("--numa_node", flags.numa_node));
  status.Update(CheckList("--cpus", flags.cpus));
  status.Update(CheckList("--mem_nodes", flags.mem_nodes));
  if (!status.ok()) return status;
  if (!flags.numa_node.empty() && !flags.cpus.empty()) {
    return absl::InvalidArgumentError(
        "--cpus excludes --numa_node; remove one of them (--mem_nodes selects "
        "the memory)");
  }
  if (!flags.numa_node.empty()) binding.set_nodes(flags.numa_node);
  if (!flags.cpus.empty()) binding.set_cpus(flags.cpus);
  if (!flags.mem_nodes.empty()) binding.set_memory_nodes(flags.mem_nodes);
  if (binding.ByteSizeLong() == 0) return std::nullopt;
  return binding;
}

}  // namespace distbench::cli
