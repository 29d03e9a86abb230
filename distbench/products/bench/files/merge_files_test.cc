#include "distbench/products/bench/files/merge_files.h"

#include "distbench/base/testing/status_testing.h"
#include "distbench/products/bench/files/job_identity.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchJob Job(const std::string& kind, const std::string& id, int64_t start_ns,
             const std::string& model = "disk") {
  BenchJob job;
  job.set_kind(kind);
  job.set_id(id);
  job.set_state(BenchJob::DONE);
  job.set_start_timestamp_ns(start_ns);
  job.add_systems()->add_devices()->set_model(model);
  return job;
}

SourcedBenchFile File(const std::string& source, std::vector<BenchJob> jobs) {
  SourcedBenchFile file{source, {}};
  file.file.set_format_version(1);
  for (BenchJob& job : jobs) *file.file.add_jobs() = std::move(job);
  return file;
}

std::vector<std::string> Placed(const BenchFile& file) {
  std::vector<std::string> texts;
  for (const BenchJob& job : file.jobs()) {
    texts.push_back(job.kind() + "/" + job.id() + "/" +
                    job.systems(0).devices(0).model() + "/" +
                    std::to_string(job.repetition()) + "<" + job.origin());
  }
  return texts;
}

TEST(MergeFilesTest, GroupsByRequestAndModelAndKeepsTheOrigin) {
  const auto merged = MergeBenchFiles(
      {File("a", {Job("run", "x", 1), Job("run", "y", 2)}),
       File("b", {Job("run", "x", 3), Job("run", "x", 4, "other")})},
      false);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(Placed(merged->file),
              ElementsAre("run/x/disk/0<a", "run/x/disk/1<b", "run/y/disk/0<a",
                          "run/x/other/0<b"));
  EXPECT_EQ(merged->file.format_version(), 1);
}

TEST(MergeFilesTest, OtherPropertiesMakeAnotherGroup) {
  BenchJob changed = Job("run", "x", 3);
  (*changed.mutable_properties())["infile"] = "b";
  const auto merged = MergeBenchFiles(
      {File("a", {Job("run", "x", 1)}), File("b", {changed})}, false);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->file.jobs(1).repetition(), 0);
}

// A config of the same name may differ between hosts.
TEST(MergeFilesTest, OtherTestsMakeAnotherGroup) {
  BenchJob first = Job("run", "x", 1);
  first.mutable_tests()->add_tests()->set_name("t");
  BenchJob same = first;
  same.set_start_timestamp_ns(2);
  BenchJob changed = first;
  changed.set_start_timestamp_ns(3);
  changed.mutable_tests()->mutable_tests(0)->set_name("u");
  const auto merged = MergeBenchFiles(
      {File("a", {first}), File("b", {changed}), File("c", {same})}, false);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(
      Placed(merged->file),
      ElementsAre("run/x/disk/0<a", "run/x/disk/1<c", "run/x/disk/0<b"));
}

TEST(MergeFilesTest, AMergedFileKeepsItsOrigins) {
  BenchJob job = Job("run", "x", 1);
  job.set_origin("first");
  const auto merged = MergeBenchFiles({File("a", {job})}, false);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->file.jobs(0).origin(), "first");
}

TEST(MergeFilesTest, MissedRequirementsAreRefusedUnlessForced) {
  BenchJob job = Job("run", "x", 1);
  job.add_missed_requirements("zswap is on");
  const std::vector<SourcedBenchFile> files = {File("a", {job})};
  EXPECT_THAT(base::Message(MergeBenchFiles(files, false).status()),
              HasSubstr("zswap is on"));
  EXPECT_TRUE(MergeBenchFiles(files, true).ok());
}

TEST(MergeFilesTest, TheSameJobTwiceIsAnError) {
  EXPECT_THAT(base::Message(MergeBenchFiles({File("a", {Job("run", "x", 1)}),
                                             File("b", {Job("run", "x", 1)})},
                                            false)
                                .status()),
              HasSubstr("is in a and in b"));
}

TEST(MergeFilesTest, JobsThatAreNotDoneAreLeftOutAndNamed) {
  BenchJob failed = Job("run", "x", 1);
  failed.set_state(BenchJob::FAILED);
  const auto merged =
      MergeBenchFiles({File("a", {failed, Job("run", "y", 2)})}, false);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(merged->left_out, ElementsAre("a: run \"x\" is not done"));
  EXPECT_EQ(merged->file.jobs_size(), 1);
  EXPECT_FALSE(MergeBenchFiles({File("a", {failed})}, false).ok());
}

TEST(JobIdentityTest, ARequestHasNoRepetitions) {
  JobSpec spec;
  spec.kind = "run";
  spec.id = "x";
  spec.properties = {{"infile", "a,b"}};
  spec.passive = {"io"};
  spec.repeat = 3;
  spec.keep_going = true;
  BenchJob job;
  SetIdentity(spec, 2, job);
  EXPECT_EQ(job.repetition(), 2);
  EXPECT_EQ(RequestOf(job), RequestOf(spec));
  EXPECT_EQ(RequestOf(job), "run:id=x,passive=io,infile=\"a,b\"");
}

}  // namespace
}  // namespace distbench::bench
