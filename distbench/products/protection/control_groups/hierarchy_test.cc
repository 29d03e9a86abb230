#include "distbench/products/protection/control_groups/hierarchy.h"

#include <sys/stat.h>

#include "distbench/base/testing/status_testing.h"
#include "distbench/base/testing/without_privileges.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Problem(FakeHierarchy& host) {
  const auto found = FindHierarchy(host.root(), host.files());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
  return base::Message(found.status());
}

TEST(HierarchyTest, FindsTheGroupOfThisProcess) {
  FakeHierarchy host("/system.slice/distbench");
  const auto found = FindHierarchy(host.root(), host.files());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->mount, host.mount());
  EXPECT_EQ(found->delegated_path, "/system.slice/distbench");
  EXPECT_EQ(found->DelegatedFolder(), host.mount() + "/system.slice/distbench");
  EXPECT_THAT(found->controllers, ElementsAre("cpu", "cpuset", "io", "memory"));
  EXPECT_FALSE(found->is_host_root);
}

TEST(HierarchyTest, TellsTheHostsRootFromThatOfAContainer) {
  FakeHierarchy host("/");
  EXPECT_TRUE(FindHierarchy(host.root(), host.files())->is_host_root);
  EXPECT_EQ(FindHierarchy(host.root(), host.files())->DelegatedFolder(),
            host.mount());
  host.Write("/sys/fs/cgroup/cgroup.type", "domain\n");
  EXPECT_FALSE(FindHierarchy(host.root(), host.files())->is_host_root);
}

TEST(HierarchyTest, TakesTheMountOfAPartIntoAccount) {
  FakeHierarchy host("/inner");
  host.Write("/proc/self/mountinfo",
             "1 1 0:1 / / rw - ext4 /dev/root rw\n"
             "25 1 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  host.Write("/proc/self/cgroup", "0::/docker/x/inner\n");
  EXPECT_EQ(FindHierarchy(host.root(), host.files())->delegated_path, "/inner");
}

TEST(HierarchyTest, IsNotTheGroupThatTheNodeManagerMovedInto) {
  FakeHierarchy host("/service");
  host.Write("/proc/self/cgroup", "0::/service/distbench.manager\n");
  EXPECT_EQ(FindHierarchy(host.root(), host.files())->delegated_path,
            "/service");
}

TEST(HierarchyTest, RefusesVersion1ByName) {
  FakeHierarchy host;
  host.Write("/proc/self/mountinfo",
             "25 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "26 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu,cpuacct\n"
             "27 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_THAT(Problem(host),
              AllOf(HasSubstr("version 1 of them (cpu, memory)"),
                    HasSubstr("systemd.unified_cgroup_hierarchy=1")));
  EXPECT_EQ(ReadControlGroupFacts(host.root(), host.files()).version(), 1);
}

TEST(HierarchyTest, SaysThatNoneIsMounted) {
  FakeHierarchy host;
  host.Write("/proc/self/mountinfo", "garbage\n1 - 2\n\n");
  EXPECT_THAT(Problem(host), HasSubstr("mount -t cgroup2"));
  EXPECT_EQ(ReadControlGroupFacts(host.root(), host.files()).version(), 0);
}

TEST(HierarchyTest, SaysThatItsGroupIsNotVisible) {
  FakeHierarchy host;
  host.Write("/proc/self/cgroup", "0::/../other\n");
  EXPECT_THAT(Problem(host), HasSubstr("not visible"));
  host.Write("/proc/self/cgroup", "0::/gone (deleted)\n");
  EXPECT_THAT(Problem(host), HasSubstr("not visible"));
  for (const std::string mounted : {"/..", "/other", "/servic"}) {
    host.Write("/proc/self/mountinfo", "25 1 0:26 " + mounted +
                                           " /sys/fs/cgroup rw - cgroup2 "
                                           "cgroup2 rw\n");
    host.Write("/proc/self/cgroup", "0::/service\n");
    EXPECT_THAT(Problem(host), HasSubstr("not visible")) << mounted;
  }
}

TEST(HierarchyTest, SaysThatTheGroupIsNotWritable) {
  FakeHierarchy host;
  ASSERT_EQ(chmod((host.mount() + "/service/cgroup.procs").c_str(), 0444), 0);
  base::WithoutPrivileges([&host] {
    EXPECT_THAT(Problem(host),
                AllOf(HasSubstr("/service/cgroup.procs is not writable"),
                      HasSubstr("Delegate=yes")));
  });
}

TEST(HierarchyTest, SaysThatNoControllersArePassedOn) {
  FakeHierarchy host;
  host.Write("/sys/fs/cgroup/service/cgroup.controllers", "\n");
  EXPECT_THAT(Problem(host), HasSubstr("no controllers are passed on"));
}

TEST(HierarchyTest, UsesAUnitOfSystemdOnlyIfItIsDelegated) {
  FakeHierarchy host("/system.slice/distbench.service");
  EXPECT_TRUE(FindHierarchy(host.root(), host.files()).ok());
  host.Write("/run/systemd/system/x", "");
  EXPECT_THAT(Problem(host),
              AllOf(HasSubstr("systemd manages the group of this process, "
                              "/system.slice/distbench.service"),
                    HasSubstr("Delegate=yes")));
  host.files().delegated = {host.mount() + "/system.slice/distbench.service"};
  EXPECT_TRUE(FindHierarchy(host.root(), host.files()).ok());
}

TEST(HierarchyTest, UsesAGroupBelowAUnitOfSystemd) {
  FakeHierarchy host("/docker.service/container");
  host.Write("/run/systemd/system/x", "");
  EXPECT_TRUE(FindHierarchy(host.root(), host.files()).ok());
}

TEST(HierarchyTest, TellsTheFactsOfTheHost) {
  FakeHierarchy host;
  host.Write("/sys/block/loop0/size", "0\n");
  host.Write("/sys/block/loop0/mq/0/cpu_list", "0\n");
  host.Write("/sys/block/dm-0/size", "1024\n");
  const auto facts = ReadControlGroupFacts(host.root(), host.files());
  EXPECT_EQ(facts.version(), 2);
  EXPECT_EQ(facts.delegated_path(), "/service");
  EXPECT_THAT(facts.controllers(),
              ElementsAre("cpu", "cpuset", "io", "memory"));
  EXPECT_THAT(facts.io_cost_devices(), ElementsAre("disk0"));
  EXPECT_THAT(facts.problem(), IsEmpty());
}

TEST(HierarchyTest, TellsTheProblemAsAFact) {
  FakeHierarchy host;
  host.Write("/sys/fs/cgroup/service/cgroup.controllers", "");
  const auto facts = ReadControlGroupFacts(host.root(), host.files());
  EXPECT_EQ(facts.version(), 2);
  EXPECT_FALSE(facts.has_delegated_path());
  EXPECT_THAT(facts.io_cost_devices(), IsEmpty());
  EXPECT_THAT(facts.problem(), HasSubstr("no controllers"));
}

}  // namespace
}  // namespace distbench::protection
