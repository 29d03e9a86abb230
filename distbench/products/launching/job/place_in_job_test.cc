// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/place_in_job.h"

#include <map>
#include <string>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

// "rank 1 of 3", or the error.
std::string Place(const PlaceFlags& flags, const Variables& variables) {
  const auto place = FindPlaceInJob(flags, LauncherEnvironment(variables));
  return place.ok() ? DescribePlace(*place) : base::Message(place.status());
}

Variables Slurm(const std::string& rank, const std::string& size) {
  return {
      {"SLURM_PROCID", rank}, {"SLURM_NTASKS", size}, {"SLURM_STEP_ID", "0"}};
}

TEST(PlaceInJobTest, FlagsAreEnough) {
  EXPECT_EQ(Place({.rank = "0", .size = "1"}, {}), "rank 0 of 1");
  EXPECT_EQ(Place({.rank = "2", .size = "3"}, {}), "rank 2 of 3");
}

TEST(PlaceInJobTest, TheOnlyProcessLeads) {
  EXPECT_EQ(Place({.size = "1"}, {}), "rank 0 of 1");
  EXPECT_THAT(Place({.size = "1"}, Slurm("1", "3")),
              HasSubstr("SLURM_PROCID=1 is not a rank"));
}

TEST(PlaceInJobTest, EachLauncherIsKnown) {
  EXPECT_EQ(Place({}, Slurm("1", "3")), "rank 1 of 3");
  EXPECT_EQ(Place({}, {{"JOB_COMPLETION_INDEX", "2"}, {"DISTBENCH_SIZE", "4"}}),
            "rank 2 of 4");
  EXPECT_EQ(Place({.size = "5"}, {{"JOB_COMPLETION_INDEX", "2"}}),
            "rank 2 of 5");
  EXPECT_EQ(
      Place({}, {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
      "rank 0 of 2");
  EXPECT_EQ(Place({}, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), "rank 1 of 2");
}

TEST(PlaceInJobTest, FlagsAreStrongerThanLaunchers) {
  EXPECT_EQ(Place({.rank = "2"}, Slurm("1", "3")), "rank 2 of 3");
  EXPECT_EQ(Place({.size = "2"}, Slurm("1", "3")), "rank 1 of 2");
  // Flags decide between launchers, too.
  Variables both = Slurm("1", "3");
  both.insert({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(Place({.rank = "0", .size = "2"}, both), "rank 0 of 2");
}

TEST(PlaceInJobTest, LaunchersMayAgree) {
  Variables both = Slurm("1", "3");
  both.insert({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}});
  EXPECT_EQ(Place({}, both), "rank 1 of 3");
}

TEST(PlaceInJobTest, LaunchersMustNotContradict) {
  Variables both = Slurm("1", "3");
  both.insert({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "6"}});
  EXPECT_THAT(Place({}, both),
              AllOf(HasSubstr("SLURM_PROCID=1"),
                    HasSubstr("OMPI_COMM_WORLD_RANK=4"), HasSubstr("--rank")));
  both["OMPI_COMM_WORLD_RANK"] = "1";
  EXPECT_THAT(Place({}, both), AllOf(HasSubstr("SLURM_NTASKS=3"),
                                     HasSubstr("OMPI_COMM_WORLD_SIZE=6")));
}

TEST(PlaceInJobTest, RankMustBeBelowTheSize) {
  EXPECT_THAT(Place({.rank = "3", .size = "3"}, {}),
              AllOf(HasSubstr("--rank=3 is not a rank"), HasSubstr("--size=3"),
                    HasSubstr("0 to 2")));
  EXPECT_THAT(Place({.size = "2"}, Slurm("2", "3")),
              HasSubstr("SLURM_PROCID=2 is not a rank of a job with --size=2"));
}

TEST(PlaceInJobTest, BatchScriptsAreNotTasks) {
  Variables batch = Slurm("0", "3");
  batch.erase("SLURM_STEP_ID");
  EXPECT_THAT(Place({}, batch),
              AllOf(HasSubstr("batch script"), HasSubstr("srun")));
  // Who says the rank may start it from anywhere.
  EXPECT_EQ(Place({.rank = "0"}, batch), "rank 0 of 3");
}

TEST(PlaceInJobTest, SaysWhatIsMissing) {
  EXPECT_THAT(Place({}, {}), AllOf(HasSubstr("--rank=R"), HasSubstr("srun")));
  EXPECT_THAT(Place({.rank = "1"}, {}),
              AllOf(HasSubstr("--rank=1"), HasSubstr("--size=N")));
  EXPECT_THAT(Place({.size = "3"}, {}), HasSubstr("--rank=R"));
  EXPECT_THAT(Place({}, {{"SLURM_NTASKS", "3"}}),
              HasSubstr("SLURM_NTASKS is set, but not SLURM_PROCID"));
  EXPECT_THAT(Place({}, {{"SLURM_PROCID", "1"}, {"SLURM_STEP_ID", "0"}}),
              AllOf(HasSubstr("SLURM_PROCID=1"), HasSubstr("--size=N")));
  EXPECT_THAT(Place({}, {{"JOB_COMPLETION_INDEX", "1"}}),
              AllOf(HasSubstr("--size=N"), HasSubstr("completions")));
}

TEST(PlaceInJobTest, EmptyVariablesAreAbsent) {
  EXPECT_EQ(Place({}, {{"SLURM_PROCID", ""},
                       {"SLURM_NTASKS", ""},
                       {"PMI_RANK", "1"},
                       {"PMI_SIZE", "2"}}),
            "rank 1 of 2");
}

TEST(PlaceInJobTest, RefusesWhatIsNoNumber) {
  for (const char* wrong : {"", "-1", "1.5", "one", "+1", " 1", "100000"}) {
    EXPECT_THAT(Place({.rank = wrong, .size = "3"}, {}),
                HasSubstr("is not a number from 0"))
        << wrong;
  }
  EXPECT_THAT(Place({.rank = "0", .size = "0"}, {}),
              HasSubstr("--size=0 is not a number from 1 to 100000"));
  EXPECT_THAT(Place({}, Slurm("x", "3")),
              HasSubstr("SLURM_PROCID=x is not a number"));
  EXPECT_THAT(Place({}, Slurm("0", "3(x2)")),
              HasSubstr("SLURM_NTASKS=3(x2) is not a number"));
}

}  // namespace
}  // namespace distbench::launching
