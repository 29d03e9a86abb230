#include "distbench/sequencer/runs/run_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;

constexpr char kId[] = "20260131-235959-000";
constexpr char kLaterId[] = "20260201-000000-000";

RunDescription RunCalled(const std::string& id) {
  RunDescription run;
  run.set_id(id);
  run.set_state(RunDescription::DONE);
  run.set_label("a \"quoted\" label");
  return run;
}

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectoryTest() { std::filesystem::remove_all(path_); }

  std::unique_ptr<RunDirectory> Open() {
    auto directory = RunDirectory::Open(path_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return *std::move(directory);
  }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RunDirectoryTest, KeepsDescriptionsBeyondItsLife) {
  {
    const auto directory = Open();
    EXPECT_THAT(directory->List(), IsEmpty());
    RunDescription run = RunCalled(kLaterId);
    ASSERT_TRUE(directory->Save(run).ok());
    run.set_state(RunDescription::CANCELLED);
    ASSERT_TRUE(directory->Save(run).ok());
    ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  }
  const auto directory = Open();
  EXPECT_THAT(
      directory->List(),
      ElementsAre(
          Property(&RunDescription::id, kId),
          AllOf(Property(&RunDescription::id, kLaterId),
                Property(&RunDescription::label, "a \"quoted\" label"),
                Property(&RunDescription::state, RunDescription::CANCELLED))));
  EXPECT_EQ(directory->Load(kId)->id(), kId);
}

TEST_F(RunDirectoryTest, OneProcessAtATimeHasIt) {
  const auto directory = Open();
  const absl::Status status = RunDirectory::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("another test sequencer"), HasSubstr(path_)));
}

TEST_F(RunDirectoryTest, SaysWhyItCanNotBeOpened) {
  const absl::Status missing = RunDirectory::Open(path_ + "/a/b").status();
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr(path_ + "/a/b"), HasSubstr("No such file")));
  std::ofstream(path_) << "a file";
  EXPECT_THAT(std::string(RunDirectory::Open(path_).status().message()),
              HasSubstr("Not a directory"));
}

TEST_F(RunDirectoryTest, WhatIsNoIdIsNoName) {
  const auto directory = Open();
  std::ofstream(path_ + "/other.run") << "state: DONE";
  for (const std::string id : {"other", "../other", "", kLaterId}) {
    EXPECT_EQ(directory->Load(id).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_THAT(directory->List(), IsEmpty());
}

TEST_F(RunDirectoryTest, RunsWhoseFilesAreRemovedAreGone) {
  const auto directory = Open();
  ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  std::filesystem::remove(path_ + "/" + kId + ".run");
  EXPECT_THAT(directory->List(), IsEmpty());
}

TEST_F(RunDirectoryTest, ADescriptionThatCanNotBeReadIsListedNevertheless) {
  const auto directory = Open();
  std::ofstream(path_ + "/" + kId + ".run") << "state: \xff";
  EXPECT_THAT(
      directory->List(),
      ElementsAre(
          AllOf(Property(&RunDescription::id, kId),
                Property(&RunDescription::state, RunDescription::UNKNOWN),
                Property(&RunDescription::message, HasSubstr("description")))));
}

TEST_F(RunDirectoryTest, ADescriptionThatIsNestedDeeplyDoesNoHarm) {
  const auto directory = Open();
  {
    std::ofstream file(path_ + "/" + kId + ".run");
    for (int i = 0; i < 1'000'000; ++i) file << "a{";
  }
  EXPECT_THAT(directory->List(), ElementsAre(Property(&RunDescription::message,
                                                      HasSubstr("too deep"))));
}

TEST_F(RunDirectoryTest, RemovesWhatAKilledProcessBeganToWrite) {
  std::filesystem::create_directory(path_);
  const std::string begun = path_ + "/" + kId + ".run.4711.tmp";
  const std::string other = path_ + "/other.tmp";
  std::ofstream(begun) << "sta";
  std::ofstream(other) << "not ours";
  Open();
  EXPECT_FALSE(std::filesystem::exists(begun));
  EXPECT_TRUE(std::filesystem::exists(other));
}

}  // namespace
}  // namespace distbench::sequencer
