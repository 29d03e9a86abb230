#include "distbench/products/launching/job/leader_location.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

// "host:port", "file (port)", or the error.
std::string Leader(const LeaderFlags& flags, const Variables& variables) {
  const auto found = FindLeader(flags, LauncherEnvironment(variables));
  if (!found.ok()) return base::Message(found.status());
  if (!found->file.empty()) return absl::StrCat(found->file, " ", found->port);
  return absl::StrCat(found->host, ":", found->port);
}

const Variables kSlurm = {{"SLURM_STEP_NODELIST", "n[08-10],m1"},
                          {"SLURM_JOB_ID", "1234"},
                          {"SLURM_STEP_ID", "0"}};

TEST(LeaderLocationTest, FlagsNameTheLeader) {
  EXPECT_EQ(Leader({.leader = "a:1234"}, {}), "a:1234");
  EXPECT_EQ(Leader({.leader = "a"}, {}), "a:10000");
  EXPECT_EQ(Leader({.leader = "a", .port = 7}, {}), "a:7");
  EXPECT_EQ(Leader({.leader = "a:7", .port = 7}, {}), "a:7");
  EXPECT_EQ(Leader({.leader = "[::1]:7"}, {}), "::1:7");
  EXPECT_EQ(Leader({.leader = "[::1]"}, {}), "::1:10000");
  EXPECT_EQ(Leader({.leader = "fe80::2"}, {}), "fe80::2:10000");
  EXPECT_EQ(Leader({.rendezvous = "/shared"}, {}), "/shared/leader 0");
  EXPECT_EQ(Leader({.rendezvous = "/shared", .port = 7}, {}),
            "/shared/leader 7");
}

TEST(LeaderLocationTest, FlagsComeBeforeVariablesBeforeSlurm) {
  Variables all = kSlurm;
  all["DISTBENCH_LEADER"] = "b:2";
  all["DISTBENCH_RENDEZVOUS"] = "/other";
  EXPECT_EQ(Leader({.leader = "a:1"}, all), "a:1");
  EXPECT_EQ(Leader({.rendezvous = "/shared"}, all), "/shared/leader 0");
  EXPECT_EQ(Leader({}, all), "b:2");
  all["DISTBENCH_LEADER"] = "";
  EXPECT_EQ(Leader({}, all), "/other/leader 0");
  all.erase("DISTBENCH_RENDEZVOUS");
  EXPECT_THAT(Leader({}, all), HasSubstr("n08:"));
}

TEST(LeaderLocationTest, RequeuedJobsHaveFilesOfTheirOwn) {
  EXPECT_EQ(Leader({.rendezvous = "/d"}, {{"SLURM_RESTART_COUNT", "0"}}),
            "/d/leader 0");
  EXPECT_EQ(Leader({.rendezvous = "/d"}, {{"SLURM_RESTART_COUNT", "2"}}),
            "/d/leader.2 0");
}

TEST(LeaderLocationTest, PortsOfSlurmJobsDiffer) {
  std::set<std::string> leaders;
  for (int job = 1'000'000; job < 1'000'100; ++job) {
    for (const char* step : {"0", "1", "2"}) {
      Variables variables = kSlurm;
      variables["SLURM_JOB_ID"] = absl::StrCat(job);
      variables["SLURM_STEP_ID"] = step;
      leaders.insert(Leader({}, variables));
      // All ranks must find the same.
      EXPECT_EQ(leaders.count(Leader({}, variables)), 1);
    }
  }
  EXPECT_EQ(leaders.size(), 300);
  EXPECT_EQ(Leader({.port = 4711}, kSlurm), "n08:4711");
}

TEST(LeaderLocationTest, RefusesContradictions) {
  EXPECT_THAT(Leader({.leader = "a", .rendezvous = "/d"}, {}),
              HasSubstr("--leader and --rendezvous"));
  EXPECT_THAT(Leader({.leader = "a:1", .port = 2}, {}),
              AllOf(HasSubstr("--leader=a:1"), HasSubstr("--port=2")));
  EXPECT_THAT(Leader({.port = 2}, {{"DISTBENCH_LEADER", "a:1"}}),
              HasSubstr("DISTBENCH_LEADER=a:1 contradicts --port=2"));
  EXPECT_THAT(Leader({.leader = "a", .port = 0}, {}),
              HasSubstr("a port that nobody knows"));
  EXPECT_THAT(Leader({.port = 0}, kSlurm),
              HasSubstr("a port that nobody knows"));
}

TEST(LeaderLocationTest, RefusesWhatIsNoAddress) {
  for (const char* wrong : {":1", "a:", "a:x", "a:0", "a:65536", "a b:1",
                            "http://a:1", "a:-1", "[]:1"}) {
    EXPECT_THAT(Leader({.leader = wrong}, {}),
                HasSubstr("is not HOST or HOST:PORT"))
        << wrong;
  }
}

TEST(LeaderLocationTest, SaysWhatIsMissing) {
  EXPECT_THAT(Leader({}, {}),
              AllOf(HasSubstr("--leader=HOST"), HasSubstr("--rendezvous=DIR")));
  Variables variables = kSlurm;
  variables.erase("SLURM_JOB_ID");
  EXPECT_THAT(Leader({}, variables), HasSubstr("--port=PORT"));
  variables["SLURM_STEP_NODELIST"] = "n[1";
  EXPECT_THAT(Leader({}, variables),
              AllOf(HasSubstr("SLURM_STEP_NODELIST"), HasSubstr("\"n[1\"")));
}

}  // namespace
}  // namespace distbench::launching
