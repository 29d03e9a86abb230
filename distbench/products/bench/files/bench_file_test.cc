// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/files/bench_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "distbench/base/testing/status_testing.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/results/result_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BenchFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) {
    const std::string folder = ::testing::TempDir() + "/bench_file_test";
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/" + name;
    std::filesystem::remove(path);
    return path;
  }

  BenchFile Example() {
    BenchFile file;
    file.set_format_version(1);
    BenchJob& job = *file.add_jobs();
    job.set_kind("run");
    job.set_error(std::string(10'000, 'x'));
    return file;
  }

  std::string BytesOf(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path) << bytes;
  }
};

TEST_F(BenchFileTest, IsReadAsItWasWritten) {
  for (const char* name : {"a.pb", "a.pb.gz"}) {
    const std::string path = Path(name);
    ASSERT_TRUE(WriteBenchFile(Example(), path).ok());
    const auto file = ReadBenchFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->jobs(0).error().size(), 10'000u);
    EXPECT_EQ(BytesOf(path).size() < 10'000, std::string(name) == "a.pb.gz");
  }
}

TEST_F(BenchFileTest, ACutOffFileIsAnError) {
  for (const char* name : {"a.pb", "a.pb.gz"}) {
    const std::string path = Path(name);
    ASSERT_TRUE(WriteBenchFile(Example(), path).ok());
    const std::string bytes = BytesOf(path);
    // Each end of a short file, and some of a long one.
    const size_t step = bytes.size() / 100 + 1;
    for (size_t size = 3; size < bytes.size(); size += step) {
      Write(path, bytes.substr(0, size));
      EXPECT_FALSE(ReadBenchFile(path).ok()) << name << " " << size;
    }
  }
}

TEST_F(BenchFileTest, OtherFilesAreRefused) {
  const std::string path = Path("a.pb");
  TestSequenceResults results;
  results.add_test_results()->mutable_traffic_config()->set_name("t");
  ASSERT_TRUE(
      results::WriteResults(results, path, results::ResultEncoding::kBinary)
          .ok());
  EXPECT_THAT(base::Message(ReadBenchFile(path).status()),
              HasSubstr("distbench report"));

  BenchFile later = Example();
  later.set_format_version(2);
  ASSERT_TRUE(WriteBenchFile(later, path).ok());
  EXPECT_THAT(base::Message(ReadBenchFile(path).status()),
              HasSubstr("format version 2"));

  EXPECT_THAT(base::Message(ReadBenchFile(Path("absent.pb")).status()),
              HasSubstr("absent.pb"));
}

TEST_F(BenchFileTest, InvalidStatisticsAreRefusedWithTheirPlace) {
  BenchFile file = Example();
  TestResult& result =
      *file.mutable_jobs(0)->mutable_results()->add_test_results();
  RpcStatistics& statistics =
      *(*(*(*result.mutable_service_logs()->mutable_instance_logs())["a/0"]
               .mutable_peer_logs())["b/0"]
             .mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.mutable_service_time_ns()->set_sub_bucket_bits(63);
  const std::string path = Path("a.pb");
  ASSERT_TRUE(WriteBenchFile(file, path).ok());
  EXPECT_THAT(base::Message(ReadBenchFile(path).status()),
              HasSubstr("jobs[0]: test_results[0]"));
}

// Names of jobs become names of files.
TEST_F(BenchFileTest, NamesThatLeadElsewhereAreRefused) {
  BenchFile file = Example();
  file.mutable_jobs(0)->set_id("../x");
  const std::string path = Path("a.pb");
  ASSERT_TRUE(WriteBenchFile(file, path).ok());
  EXPECT_THAT(base::Message(ReadBenchFile(path).status()),
              HasSubstr("jobs[0]"));
}

TEST_F(BenchFileTest, OneProcessAtATime) {
  const std::string path = Path("a.pb");
  {
    const auto first = OpenBenchFile::Open(path);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_THAT(base::Message(OpenBenchFile::Open(path).status()),
                HasSubstr("another distbench works on"));
  }
  EXPECT_TRUE(OpenBenchFile::Open(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
}

TEST_F(BenchFileTest, ALinkIsTheSameFile) {
  const std::string path = Path("a.pb");
  const std::string link = Path("link.pb");
  ASSERT_TRUE(WriteBenchFile(Example(), path).ok());
  std::filesystem::create_symlink(path, link);
  const auto first = OpenBenchFile::Open(path);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(base::Message(OpenBenchFile::Open(link).status()),
              HasSubstr("another distbench works on"));
}

TEST_F(BenchFileTest, IsSavedOnlyWhenAsked) {
  const std::string path = Path("a.pb");
  {
    const auto file = OpenBenchFile::Open(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_FALSE(std::filesystem::exists(path));
    (*file)->content().add_jobs()->set_kind("run");
    ASSERT_TRUE((*file)->Save().ok());
  }
  const auto again = OpenBenchFile::Open(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->content().jobs_size(), 1);
}

TEST_F(BenchFileTest, ADamagedFileIsNotOverwritten) {
  const std::string path = Path("a.pb");
  Write(path, "not a result");
  EXPECT_FALSE(OpenBenchFile::Open(path).ok());
  EXPECT_EQ(BytesOf(path), "not a result");
}

// Damage never crashes a reader.
TEST_F(BenchFileTest, AnyBytesAreReadOrRefused) {
  const std::string path = Path("a.pb");
  ASSERT_TRUE(WriteBenchFile(Example(), path).ok());
  const std::string bytes = BytesOf(path);
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = bytes.substr(0, 200);
    for (int i = 0; i < 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    Write(path, damaged);
    (void)ReadBenchFile(path);
  }
}

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
