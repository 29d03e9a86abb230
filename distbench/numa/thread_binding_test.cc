// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs on the real host, and adapts to its CPUs and nodes.

#include "distbench/numa/thread_binding.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "distbench/numa/topology.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The last CPU that this process may use.
ResolvedBinding OneCpu() {
  const HostTopology topology = ReadHostTopology("");
  NumaBinding asked;
  asked.set_cpus(std::to_string(*IndicesOf(topology.allowed_cpus()).rbegin()));
  return *ResolveBinding(asked, 0, topology);
}

// Runs the body in a new thread, whose binding ends with it.
template <typename Body>
void OnThread(Body body) {
  std::thread(body).join();
}

TEST(ThreadBindingTest, BindsAndIsInherited) {
  OnThread([] {
    const ResolvedBinding binding = OneCpu();
    EXPECT_EQ(BindThisThread(binding), absl::OkStatus());
    EXPECT_TRUE(IsThisThreadBound(binding));
    OnThread([&] { EXPECT_TRUE(IsThisThreadBound(binding)); });
  });
}

TEST(ThreadBindingTest, ScopeEnds) {
  OnThread([] {
    const ThreadPlace before = *PlaceOfThisThread();
    {
      const auto scope = ScopedThreadBinding::Make(OneCpu());
      ASSERT_TRUE(scope.ok()) << scope.status();
      EXPECT_EQ(PlaceOfThisThread()->cpus, OneCpu().cpus);
    }
    EXPECT_EQ(PlaceOfThisThread()->cpus, before.cpus);
    EXPECT_EQ(PlaceOfThisThread()->memory_mode, before.memory_mode);
  });
}

TEST(ThreadBindingTest, MemoryPolicies) {
  const HostTopology topology = ReadHostTopology("");
  if (topology.numa_nodes().empty()) GTEST_SKIP() << "a kernel without NUMA";
  OnThread([&] {
    const int node = topology.numa_nodes(0).id();
    for (const NumaBinding::MemoryPolicy policy :
         {NumaBinding::BIND, NumaBinding::PREFERRED, NumaBinding::INTERLEAVE,
          NumaBinding::LOCAL}) {
      NumaBinding asked;
      asked.set_nodes(std::to_string(node));
      asked.set_memory_policy(policy);
      const auto binding = ResolveBinding(asked, 0, topology);
      ASSERT_TRUE(binding.ok()) << binding.status();
      EXPECT_EQ(BindThisThread(*binding), absl::OkStatus());
      EXPECT_TRUE(IsThisThreadBound(*binding));
    }
  });
}

TEST(ThreadBindingTest, SaysWhatTheKernelSaysAndChangesNothing) {
  OnThread([] {
    const ThreadPlace before = *PlaceOfThisThread();
    ResolvedBinding binding = OneCpu();
    binding.cpus = {8000};
    const absl::Status no_cpu = BindThisThread(binding);
    EXPECT_TRUE(absl::IsFailedPrecondition(no_cpu)) << no_cpu;
    EXPECT_THAT(std::string(no_cpu.message()),
                HasSubstr("CPUs 8000: the kernel says: Invalid argument"));
    binding = OneCpu();
    binding.policy = NumaBinding::BIND;
    binding.memory_nodes = {1000};
    const absl::Status no_memory = BindThisThread(binding);
    EXPECT_THAT(std::string(no_memory.message()),
                HasSubstr("memory of NUMA nodes 1000: the kernel says:"));
    EXPECT_EQ(PlaceOfThisThread()->cpus, before.cpus);
  });
}

// Makes a call fail for this thread as a container's seccomp profile does.
// Returns whether the kernel can do that.
bool ForbidCall(unsigned call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(ThreadBindingTest, NamesTheSeccompProfileThatForbidsIt) {
  for (const unsigned call : {SYS_get_mempolicy, SYS_set_mempolicy}) {
    OnThread([&] {
      if (!ForbidCall(call)) GTEST_SKIP() << "a kernel without seccomp";
      const absl::Status status = BindThisThread(OneCpu());
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("Operation not permitted; a container's seccomp "
                            "profile forbids binding"));
    });
  }
}

}  // namespace
}  // namespace distbench::numa
