// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/hierarchy.h"

#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/base/testing/without_privileges.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
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

std::vector<std::string> Neighbours(FakeHierarchy& host) {
  const auto found = FindHierarchy(host.root(), host.files());
  EXPECT_TRUE(found.ok()) << found.status();
  const auto paths = NeighbourPaths(*found, host.files());
  EXPECT_TRUE(paths.ok()) << paths.status();
  return *paths;
}

TEST(NeighboursTest, AreOnAllLevels) {
  FakeHierarchy host("/a/b/us");
  for (const char* path : {"/z", "/z/below", "/a/y", "/a/b/x", "/a/b/us/own"}) {
    host.MakeGroup(path);
  }
  EXPECT_THAT(Neighbours(host), ElementsAre("/a/b/x", "/a/y", "/z"));
}

TEST(NeighboursTest, OfTheRootAreThoseOfOthers) {
  FakeHierarchy host("/");
  host.MakeGroup("/others");
  host.MakeGroup("/distbench.group-0");
  EXPECT_THAT(Neighbours(host), ElementsAre("/others"));
}

using google::protobuf::util::MessageDifferencer;

// Counts how often files are read.
class CountedFiles final : public GroupFiles {
 public:
  explicit CountedFiles(GroupFiles& files) : files_(files) {}

  absl::StatusOr<std::string> Read(const std::string& file) const override {
    ++reads[file];
    return files_.Read(file);
  }
  absl::Status Write(const std::string& file,
                     absl::string_view value) override {
    return files_.Write(file, value);
  }
  absl::Status MakeGroup(const std::string& folder) override {
    return files_.MakeGroup(folder);
  }
  absl::Status RemoveGroup(const std::string& folder) override {
    return files_.RemoveGroup(folder);
  }
  absl::StatusOr<std::vector<std::string>> Children(
      const std::string& folder) const override {
    return files_.Children(folder);
  }
  bool IsMarkedDelegated(const std::string& folder) const override {
    return files_.IsMarkedDelegated(folder);
  }

  mutable std::map<std::string, int> reads;

 private:
  GroupFiles& files_;
};

class GroupStatisticsTest : public testing::Test {
 protected:
  void Put(const std::string& file, const std::string& text) {
    host_.Write("/group/" + file, text);
  }

  void ExpectUse(const std::string& text) {
    const GroupUse use = ReadGroupUse(host_.root() + "/group", host_.files());
    EXPECT_TRUE(MessageDifferencer::Equals(use, base::FromText<GroupUse>(text)))
        << use.DebugString();
  }

  FakeHierarchy host_;
};

TEST_F(GroupStatisticsTest, ReadsEachFileOnce) {
  Put("io.stat", "8:0 rbytes=10 wbytes=20 rios=3 wios=4\n");
  CountedFiles files(host_.files());
  EXPECT_EQ(ReadGroupUse(host_.root() + "/group", files).read_bytes(), 10);
  EXPECT_THAT(files.reads, testing::SizeIs(7));
  for (const auto& [file, count] : files.reads) EXPECT_EQ(count, 1) << file;
}

TEST_F(GroupStatisticsTest, ReadsAll) {
  Put("cpu.stat",
      "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_throttled 9\n"
      "throttled_usec 7\n");
  Put("memory.current", "4096\n");
  Put("memory.swap.current", "8192\n");
  Put("io.stat",
      "8:0 rbytes=10 wbytes=20 rios=3 wios=4 dbytes=99 dios=99\n"
      "8:16 rbytes=1 wbytes=2 rios=1 wios=1 dbytes=0 dios=0\n");
  Put("cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\n");
  Put("memory.pressure",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=13\n");
  Put("io.pressure",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=14\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=15\n");
  ExpectUse(R"(cpu_ns: 5000 system_cpu_ns: 2000 throttled_ns: 7000
               memory_bytes: 4096 swap_bytes: 8192
               read_bytes: 11 written_bytes: 22
               read_operations: 4 write_operations: 5
               some_cpu_pressure_ns: 11000
               some_memory_pressure_ns: 12000 full_memory_pressure_ns: 13000
               some_io_pressure_ns: 14000 full_io_pressure_ns: 15000)");
}

TEST_F(GroupStatisticsTest, LeavesOutWhatTheKernelDoesNotHave) {
  ExpectUse("");
  Put("cpu.stat", "usage_usec 5\nsystem_usec 2\n");
  ExpectUse("cpu_ns: 5000 system_cpu_ns: 2000");
}

TEST_F(GroupStatisticsTest, AGroupWithoutIoHasUsedNone) {
  Put("io.stat", "");
  ExpectUse(
      "read_bytes: 0 written_bytes: 0 read_operations: 0 write_operations: 0");
  // A device that the group has not used may have a line without keys.
  Put("io.stat", "8:0 \n8:16 rbytes=1 wbytes=0 rios=1 wios=0\n");
  ExpectUse(
      "read_bytes: 1 written_bytes: 0 read_operations: 1 write_operations: 0");
}

TEST_F(GroupStatisticsTest, SurvivesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "\n \n", "garbage", "max\n", "a b c=d\n = =\n"}) {
    for (const char* file :
         {"cpu.stat", "memory.current", "io.stat", "cpu.pressure"}) {
      Put(file, text);
    }
    ExpectUse(
        "read_bytes: 0 written_bytes: 0 read_operations: 0 "
        "write_operations: 0");
  }
}

}  // namespace
}  // namespace distbench::protection
