#include "distbench/products/protection/control_groups/group_statistics.h"

#include <map>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

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
