// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/thread_binding.h"

#include <numaif.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/numa/topology.h"
#include "glog/logging.h"

namespace distbench::numa {
namespace {

// Introduced in Linux 5.15; libnuma's headers may be older.
constexpr int kPreferredMany = 5;

// The maxima for which a kernel may be built. The kernel rejects masks that are
// shorter than its own.
constexpr int kMaxCpus = 8192;
constexpr int kMaxNodes = 1024;
constexpr int kBitsPerWord = 8 * sizeof(unsigned long);

absl::Status ErrnoStatus(const std::string& what) {
  const int error = errno;
  return absl::FailedPreconditionError(
      absl::StrCat(what, ": the kernel says: ", std::strerror(error)));
}

// The seccomp profiles that container runtimes use by default forbid reading
// and setting where memory lies.
absl::Status MemoryErrnoStatus(const std::string& what) {
  const bool forbidden = errno == EPERM;
  absl::Status status = ErrnoStatus(what);
  if (!forbidden) return status;
  return absl::FailedPreconditionError(absl::StrCat(
      status.message(),
      "; a container's seccomp profile forbids binding to NUMA nodes or CPUs "
      "unless the container has the capability SYS_NICE; leave the binding "
      "out, or run outside of the container"));
}

absl::StatusOr<base::IndexSet> GetAffinity() {
  std::vector<cpu_set_t> sets(kMaxCpus / CPU_SETSIZE);
  const size_t size = CPU_ALLOC_SIZE(kMaxCpus);
  if (sched_getaffinity(0, size, sets.data()) != 0) {
    return ErrnoStatus("sched_getaffinity");
  }
  base::IndexSet cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, size, sets.data())) cpus.insert(cpu);
  }
  return cpus;
}

absl::Status SetAffinity(const base::IndexSet& cpus) {
  std::vector<cpu_set_t> sets(kMaxCpus / CPU_SETSIZE);
  const size_t size = CPU_ALLOC_SIZE(kMaxCpus);
  CPU_ZERO_S(size, sets.data());
  for (const int cpu : cpus) {
    if (cpu < kMaxCpus) CPU_SET_S(cpu, size, sets.data());
  }
  if (sched_setaffinity(0, size, sets.data()) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("CPUs ", base::FormatIndexList(cpus)));
}

absl::Status SetMemoryPolicy(int mode, const base::IndexSet& nodes) {
  std::vector<unsigned long> mask(kMaxNodes / kBitsPerWord);
  for (const int node : nodes) {
    if (node >= kMaxNodes) continue;
    mask[node / kBitsPerWord] |= 1ul << (node % kBitsPerWord);
  }
  const bool has_nodes = !nodes.empty();
  if (set_mempolicy(mode, has_nodes ? mask.data() : nullptr,
                    has_nodes ? kMaxNodes : 0) == 0) {
    return absl::OkStatus();
  }
  return MemoryErrnoStatus(
      absl::StrCat("memory of NUMA nodes ", base::FormatIndexList(nodes)));
}

absl::Status SetPlace(const ThreadPlace& place) {
  absl::Status status = SetAffinity(place.cpus);
  if (!status.ok()) return status;
  return SetMemoryPolicy(place.memory_mode, place.memory_nodes);
}

// Kernels report the policy "memory of the thread's own node" in several ways.
int PlainMode(const ThreadPlace& place) {
  const bool is_local =
      place.memory_mode == MPOL_DEFAULT ||
      (place.memory_mode == MPOL_PREFERRED && place.memory_nodes.empty());
  return is_local ? MPOL_LOCAL : place.memory_mode;
}

bool AreSame(const ThreadPlace& a, const ThreadPlace& b) {
  return a.cpus == b.cpus && PlainMode(a) == PlainMode(b) &&
         a.memory_nodes == b.memory_nodes;
}

ThreadPlace PlaceOf(const ResolvedBinding& binding) {
  ThreadPlace place{.cpus = binding.cpus, .memory_nodes = binding.memory_nodes};
  switch (binding.policy) {
    case NumaBinding::LOCAL:
      place.memory_mode = MPOL_LOCAL;
      break;
    case NumaBinding::BIND:
      place.memory_mode = MPOL_BIND;
      break;
    case NumaBinding::PREFERRED:
      place.memory_mode =
          place.memory_nodes.size() == 1 ? MPOL_PREFERRED : kPreferredMany;
      break;
    case NumaBinding::INTERLEAVE:
      place.memory_mode = MPOL_INTERLEAVE;
      break;
  }
  return place;
}

// Returns only on failure.
absl::Status ReplaceBySameProgram() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) {
    arguments.push_back(argument);
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  if (!arguments.empty()) execv("/proc/self/exe", pointers.data());
  return absl::FailedPreconditionError(
      absl::StrCat("cannot restart this program: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<ThreadPlace> PlaceOfThisThread() {
  ThreadPlace place;
  absl::StatusOr<base::IndexSet> cpus = GetAffinity();
  if (!cpus.ok()) return cpus.status();
  place.cpus = *std::move(cpus);
  std::vector<unsigned long> mask(kMaxNodes / kBitsPerWord);
  if (get_mempolicy(&place.memory_mode, mask.data(), kMaxNodes, nullptr, 0) !=
      0) {
    return MemoryErrnoStatus("get_mempolicy");
  }
  for (int node = 0; node < kMaxNodes; ++node) {
    if ((mask[node / kBitsPerWord] >> (node % kBitsPerWord)) & 1) {
      place.memory_nodes.insert(node);
    }
  }
  return place;
}

absl::Status BindThisThread(const ResolvedBinding& binding) {
  const absl::StatusOr<ThreadPlace> before = PlaceOfThisThread();
  if (!before.ok()) return before.status();
  absl::Status status = SetPlace(PlaceOf(binding));
  if (status.ok() && !IsThisThreadBound(binding)) {
    status = absl::FailedPreconditionError(absl::StrCat(
        DescribeBinding(binding.proto),
        ": the kernel accepted the request, but did something else"));
  }
  if (!status.ok()) {
    const absl::Status restored = SetPlace(*before);
    LOG_IF(WARNING, !restored.ok()) << "cannot undo a binding: " << restored;
  }
  return status;
}

bool IsThisThreadBound(const ResolvedBinding& binding) {
  const absl::StatusOr<ThreadPlace> place = PlaceOfThisThread();
  return place.ok() && AreSame(*place, PlaceOf(binding));
}

absl::StatusOr<std::unique_ptr<ScopedThreadBinding>> ScopedThreadBinding::Make(
    const ResolvedBinding& binding) {
  absl::StatusOr<ThreadPlace> before = PlaceOfThisThread();
  if (!before.ok()) return before.status();
  absl::Status status = BindThisThread(binding);
  if (!status.ok()) return status;
  return std::unique_ptr<ScopedThreadBinding>(
      new ScopedThreadBinding(*std::move(before)));
}

ScopedThreadBinding::ScopedThreadBinding(ThreadPlace before)
    : before_(std::move(before)) {}

ScopedThreadBinding::~ScopedThreadBinding() {
  const absl::Status status = SetPlace(before_);
  LOG_IF(WARNING, !status.ok()) << "cannot undo a binding: " << status;
}

absl::StatusOr<ResolvedBinding> BindProcess(const NumaBinding& asked) {
  absl::StatusOr<ResolvedBinding> binding =
      ResolveBinding(asked, /*instance=*/0, ReadHostTopology(""));
  if (!binding.ok()) return binding.status();
  if (IsThisThreadBound(*binding)) return binding;
  absl::Status status = BindThisThread(*binding);
  if (status.ok()) status = ReplaceBySameProgram();
  return status;
}

}  // namespace distbench::numa
