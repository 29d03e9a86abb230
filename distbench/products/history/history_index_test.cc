// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/history_index.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/plugins.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/base/time_units.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/testing/daily_result.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/testing/fake_run_metrics.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/results/result_file.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"

namespace distbench::history {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

constexpr int64_t kMaxBytes = 1 << 20;

const auto kNeverStop = [] { return false; };

// Has enough requests for a p99.
TestResult MakeLargeResult(double slowness = 1) {
  report::ExampleOptions options;
  options.clients = options.servers = options.rpcs = 1;
  options.count = 1000;
  options.slowness = slowness;
  return report::MakeExampleResult(options);
}

// Stands for the product of searches: a question, and its load if there is one.
report::CapacityComparisons FindLoads(
    absl::Span<const report::SourcedResults> results,
    absl::Span<const report::SourcedResults> /*next*/,
    bool /*allow_different_traffic*/) {
  report::CapacityComparisons found;
  for (const SearchReport& search : results[0].results.searches()) {
    report::CapacityComparison& question = found.questions.emplace_back();
    question.question =
        absl::StrCat("highest rate with ", search.search().objectives(0));
    if (!search.has_load()) continue;
    question.ratios.push_back(
        {.name = "load", .base_values = {search.load()}, .next_values = {}});
  }
  return found;
}

bool HasSearches(const TestSequenceResults& results) {
  return results.searches_size() > 0;
}

std::string AnswerOf(const TestSequenceResults& results) {
  return HasSearches(results) ? results.searches(0).verdict() : "";
}

const base::Plugin<report::CapacitySource> kSearches(
    "searches", new report::CapacitySource{HasSearches, FindLoads, AnswerOf});

// Counts the files that are read, of which none may be large.
class CountingSource final : public ResultSource {
 public:
  explicit CountingSource(const ResultSource& source) : source_(source) {}

  int reads() const { return reads_; }

  // ResultSource:
  absl::StatusOr<std::vector<ResultEntry>> List() const override {
    return source_.List();
  }
  absl::StatusOr<KeptResults> Read(const std::string& name,
                                   int64_t max_bytes) const override {
    ++reads_;
    return source_.Read(name, std::min(max_bytes, kMaxBytes));
  }
  bool IsUnchanged(const ResultEntry& entry) const override {
    return source_.IsUnchanged(entry);
  }
  absl::StatusOr<base::FileDescriptor> Open(
      const std::string& name) const override {
    return source_.Open(name);
  }
  std::string IdOf(const std::string& name) const override {
    return source_.IdOf(name);
  }

 private:
  const ResultSource& source_;
  mutable int reads_ = 0;
};

// A folder of results, one for each day.
class HistoryIndexTest : public testing::Test {
 protected:
  HistoryIndexTest() { Reopen(""); }
  ~HistoryIndexTest() override { fs::remove_all(folder_); }

  void Reopen(const std::string& index_path) {
    index_.reset();
    absl::StatusOr<std::unique_ptr<HistoryIndex>> index = HistoryIndex::Open(
        {.index_path = index_path, .notes_paths = {{"", folder_ + "/notes"}}});
    ASSERT_TRUE(index.ok()) << index.status();
    index_ = *std::move(index);
  }

  void Write(const std::string& name, const TestResult& result,
             TestSequenceResults results = {}) {
    *results.add_test_results() = result;
    const std::string path = absl::StrCat(folder_, "/", name);
    fs::create_directories(fs::path(path).parent_path());
    const absl::Status status =
        results::WriteResults(results, path, results::ResultEncoding::kBinary);
    ASSERT_TRUE(status.ok()) << status;
  }

  // As a sequencer keeps it with --results_dir: with a result that has one
  // event, and is followed by what another start of the sequencer dropped.
  void WriteRun(RunDescription run, const TestResult& result) {
    RunTestsEvent event;
    event.set_test_index(0);
    *event.mutable_finished() = result;
    const std::string record = event.SerializeAsString();
    const std::string path = absl::StrCat(folder_, "/", run.id());
    const auto file = sequencer::NewResultFile(absl::StrCat(path, ".result"));
    ASSERT_TRUE(file->Append(record).ok());
    ASSERT_TRUE(file->Append("no event").ok());
    run.add_test_names(result.traffic_config().name());
    run.set_result_bytes(sequencer::ResultFile::kBegin +
                         sequencer::ResultFile::SizeOf(record));
    std::ofstream(absl::StrCat(path, ".run")) << run.DebugString();
  }

  // Returns the number of files that were read.
  int Synchronise(absl::FunctionRef<bool()> should_stop = kNeverStop) {
    const auto folder = *OpenResultFolders({folder_});
    const CountingSource source(*folder);
    const absl::Status status =
        index_->Synchronise(source, *source.List(), should_stop);
    EXPECT_TRUE(status.ok()) << status;
    return source.reads();
  }

  std::vector<std::string> Files(const ResultQuery& query = {}) {
    std::vector<std::string> files;
    const absl::StatusOr<ResultPage> page = index_->List(query);
    EXPECT_TRUE(page.ok()) << page.status();
    for (const IndexedResult& result : page->results()) {
      files.push_back(result.file());
    }
    return files;
  }

  ResultQuery Search(const std::string& words) {
    ResultQuery query;
    query.search = words;
    return query;
  }

  SeriesSummary SeriesOf(const std::string& metric) {
    const SeriesList list = index_->ListSeries("", "");
    for (const SeriesSummary& one : list.series()) {
      if (one.metric() == metric) return one;
    }
    ADD_FAILURE() << "there is no series " << metric;
    return {};
  }

  const std::string folder_ = [] {
    std::string pattern = absl::StrCat(testing::TempDir(), "/historyXXXXXX");
    return std::string(mkdtemp(pattern.data()));
  }();
  std::unique_ptr<HistoryIndex> index_;
};

TEST_F(HistoryIndexTest, FollowsTheFolder) {
  Write("a.pb", MakeDailyResult(1));
  Write("sub/b.pb.gz", MakeDailyResult(2));
  EXPECT_EQ(Synchronise(), 2);
  EXPECT_THAT(Files(), ElementsAre("sub/b.pb.gz", "a.pb"));
  EXPECT_EQ(Synchronise(), 0);

  Write("a.pb", MakeDailyResult(3));
  EXPECT_EQ(Synchronise(), 1);
  EXPECT_THAT(Files(), ElementsAre("a.pb", "sub/b.pb.gz"));

  fs::remove(absl::StrCat(folder_, "/a.pb"));
  EXPECT_EQ(Synchronise(), 0);
  EXPECT_THAT(Files(), ElementsAre("sub/b.pb.gz"));
}

TEST_F(HistoryIndexTest, ListsHeadlineFiguresWithTheirUnits) {
  Write("a.pb", MakeLargeResult());
  Synchronise();
  const IndexedResult result = index_->List({})->results(0);
  EXPECT_EQ(result.units().at("rpc_0 · p99 response time"), "seconds");
  EXPECT_EQ(result.units().at("rpc_0 · succeeded"), "per_second");
  EXPECT_EQ(result.units_size(), result.metrics_size());
}

// The load is theirs, and often causes the other RPCs.
TEST_F(HistoryIndexTest, HeadlinesBeginWithOpenLoops) {
  report::ExampleOptions options;
  options.clients = options.servers = 1;
  options.rpcs = 3;
  options.count = 1000;
  TestResult result = report::MakeExampleResult(options);
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  client.mutable_offered_loads()->erase(0);
  client.mutable_offered_loads()->erase(1);
  Write("a.pb", result);
  Synchronise();
  const IndexedResult listed = index_->List({})->results(0);
  ASSERT_EQ(listed.headlines_size(), listed.metrics_size());
  EXPECT_THAT(listed.headlines(0), HasSubstr("rpc_2 · "));
  EXPECT_THAT(*listed.headlines().rbegin(), HasSubstr("rpc_0 · "));
}

// As comparisons take it: names, labels and objectives are not part of it.
TEST_F(HistoryIndexTest, MarksWhereTheTrafficChanged) {
  TestResult result = MakeDailyResult(1);
  Write("a.pb", result);
  result = MakeDailyResult(2);
  result.mutable_traffic_config()->add_objectives("rpc_0 p50<=1s");
  (*result.mutable_traffic_config()->mutable_attributes())["rack"] = "r-12";
  Write("judged.pb", result);
  for (const int day : {3, 4}) {
    result = MakeDailyResult(day);
    result.mutable_traffic_config()->add_services()->set_name("another");
    Write(absl::StrCat("other", day, ".pb"), result);
  }
  result = MakeDailyResult(5);
  result.mutable_traffic_config()->set_name("other test");
  Write("test.pb", result);
  Synchronise();
  const absl::StatusOr<ResultPage> page = index_->List({});
  ASSERT_TRUE(page.ok()) << page.status();
  std::vector<std::string> marked;
  for (const IndexedResult& listed : page->results()) {
    if (listed.traffic_changed()) marked.push_back(listed.file());
  }
  EXPECT_THAT(marked, ElementsAre("other3.pb"));
  EXPECT_THAT(ResultsText(*page), HasSubstr("-0 traffic changed\n"));

  // The result before need not be on the page.
  ResultQuery query;
  query.search = "other3";
  EXPECT_TRUE(index_->List(query)->results(0).traffic_changed());

  const auto trend = index_->TrendOf(SeriesOf("p50 response time").id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  EXPECT_EQ(trend->traffic_kinds(), 2);
  EXPECT_THAT(TrendText(*trend), HasSubstr("4 results, 2 kinds of traffic\n"));
  EXPECT_THAT(TrendText(*trend), HasSubstr("2 results, traffic changed: mean"));
}

// Half of the requests failed: p99 has no value, and the run is no point.
TEST_F(HistoryIndexTest, ListsFailuresAlsoOfRunsThatAreNoPoints) {
  TestResult run = MakeDailyResult(1);
  for (auto& [client, log] :
       *run.mutable_service_logs()->mutable_instance_logs()) {
    for (auto& [server, peer] : *log.mutable_peer_logs()) {
      for (auto& [rpc, rpc_log] : *peer.mutable_rpc_logs()) {
        RpcStatistics& statistics = *rpc_log.mutable_statistics();
        statistics.set_failed_count(statistics.succeeded_count());
      }
    }
    for (auto& [rpc, load] : *log.mutable_offered_loads()) {
      load.set_offered_count(2 * load.offered_count());
    }
  }
  Finding& finding = *run.mutable_run_info()->add_findings();
  finding.set_severity(Finding::INVALID);
  finding.set_code("failed_rpcs");
  Write("a.pb", run);
  Synchronise();
  const IndexedResult result = index_->List({})->results(0);
  EXPECT_GT(result.metrics().at("rpc_0 · failed"), 0.1);
  EXPECT_EQ(result.units().at("rpc_0 · failed"), "share");
  EXPECT_TRUE(std::isinf(result.metrics().at("rpc_0 · p99 response time")));
  EXPECT_EQ(result.units_size(), result.metrics_size());
  EXPECT_FALSE(result.metrics().contains("rpc_0 · succeeded"));
}

TEST_F(HistoryIndexTest, VerdictsAreThoseOfReports) {
  TestResult missed = MakeDailyResult(1);
  missed.mutable_traffic_config()->add_objectives("rpc_0 rate>=1000000");
  Write("missed.pb", missed);
  Write("plain.pb", MakeDailyResult(2));
  Synchronise();
  const ResultPage page = *index_->List({});
  ASSERT_EQ(page.results_size(), 2);
  EXPECT_EQ(page.results(0).headline(), "ok");
  EXPECT_EQ(page.results(0).doubts(), "");
  EXPECT_EQ(page.results(1).headline(), "missed");
  EXPECT_EQ(page.results(1).doubts(), "1 missed of 1 objective");
  EXPECT_EQ(page.results(1).verdict(), "ok");
  EXPECT_THAT(ResultsText(page), testing::ContainsRegex("missed +example"));
}

// Their loads are the search's steps, not the test's: the load that was found
// is the search's figure.
TEST_F(HistoryIndexTest, SearchesHaveOneSeriesOfTheLoadFound) {
  TestSequenceResults searched;
  SearchReport& search = *searched.add_searches();
  search.mutable_search()->add_objectives("query p95<=30ms");
  search.mutable_search()->add_objectives("cpu<=50%");
  search.set_load(1200);
  search.set_verdict("converged");
  TestResult named = MakeDailyResult(3);
  named.mutable_traffic_config()->set_name("example (search)");
  Write("plain.pb", MakeDailyResult(1));
  Write("searched.pb", MakeDailyResult(2), searched);
  search.clear_load();
  Write("unstable.pb", MakeDailyResult(4), searched);
  Write("named.pb", named);
  Synchronise();
  EXPECT_THAT(index_->Filters().tests,
              ElementsAre("example", "example (search)",
                          "example (search) (no search)"));
  ResultQuery query;
  query.attributes["search"] = "query p95<=30ms and cpu<=50%";
  EXPECT_THAT(Files(query), ElementsAre("unstable.pb", "searched.pb"));
  const auto page = index_->List({});
  ASSERT_TRUE(page.ok()) << page.status();
  for (const IndexedResult& result : page->results()) {
    EXPECT_EQ(result.answer(),
              result.attributes().contains("search") ? "converged" : "")
        << result.file();
  }
  EXPECT_EQ(SeriesOf("p50 response time").points(), 1);

  const SeriesList list = index_->ListSeries("example (search)", "");
  ASSERT_THAT(list.series(), SizeIs(1));
  EXPECT_EQ(list.series(0).metric(), "load found");
  EXPECT_THAT(list.series(0).rpc(), HasSubstr("query p95<=30ms"));
  EXPECT_EQ(list.series(0).better(), "higher");
  const auto trend = index_->TrendOf(list.series(0).id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  ASSERT_THAT(trend->points(), SizeIs(1));
  EXPECT_EQ(trend->points(0).value(), 1200);
  EXPECT_EQ(trend->left_out(), 1) << "the search that found none";
}

TEST_F(HistoryIndexTest, SimulatedResultsHaveSeriesOfTheirOwn) {
  TestResult simulated = MakeDailyResult(2, /*slowness=*/3);
  simulated.mutable_simulation();
  TestResult named = MakeDailyResult(3);
  named.mutable_traffic_config()->set_name("example (simulated)");
  Write("real.pb", MakeDailyResult(1));
  Write("simulated.pb", simulated);
  Write("named.pb", named);
  Synchronise();
  EXPECT_THAT(index_->Filters().tests,
              ElementsAre("example", "example (simulated)",
                          "example (simulated) (real)"));
  ResultQuery query;
  query.attributes["simulated"] = "true";
  EXPECT_THAT(Files(query), ElementsAre("simulated.pb"));
  const SeriesList list = index_->ListSeries("", "");
  for (const SeriesSummary& series : list.series()) {
    EXPECT_EQ(series.points(), 1) << series.ShortDebugString();
  }
  EXPECT_THAT(ResultsText(*index_->List({})),
              HasSubstr("example (simulated) "));
}

// Reading all that is new may take minutes.
TEST_F(HistoryIndexTest, ForgetsBeforeItReads) {
  Write("gone.pb", MakeDailyResult(1));
  Synchronise();
  fs::remove(absl::StrCat(folder_, "/gone.pb"));
  Write("new.pb", MakeDailyResult(2));
  Synchronise([&] {
    EXPECT_THAT(Files(), IsEmpty());
    return false;
  });
  EXPECT_THAT(Files(), ElementsAre("new.pb"));
}

// As when another copy is written over a file, or in its place.
TEST_F(HistoryIndexTest, LeavesFilesThatChangeWhileTheyAreRead) {
  const std::string path = absl::StrCat(folder_, "/a.pb");
  Write("a.pb", MakeDailyResult(1));
  Synchronise();
  TestResult other = MakeDailyResult(2);
  other.mutable_traffic_config()->set_name("other");
  Write("a.pb", other);
  const auto folder = *OpenResultFolders({folder_});
  const CountingSource source(*folder);
  const std::vector<ResultEntry> listed = *source.List();
  const auto synchronise = [&] {
    EXPECT_TRUE(index_->Synchronise(source, listed, kNeverStop).ok());
    EXPECT_THAT(index_->Problems().files(), IsEmpty());
    EXPECT_THAT(index_->Filters().tests, ElementsAre("example"));
  };
  fs::resize_file(path, fs::file_size(path) / 2);
  synchronise();
  fs::remove(path);
  synchronise();
  EXPECT_EQ(source.reads(), 2);
}

// What some errors of file systems have in common with files that are left for
// later is their code.
TEST_F(HistoryIndexTest, KeepsWhyTheSystemCannotReadAFile) {
  Write("a.pb", MakeDailyResult(1));
  const base::FileDescriptor leased(
      open(absl::StrCat(folder_, "/a.pb").c_str(), O_RDWR | O_CLOEXEC));
  signal(SIGIO, SIG_IGN);  // tells of others that open the file
  if (fcntl(leased.get(), F_SETLEASE, F_WRLCK) != 0) {
    GTEST_SKIP() << "the file system has no leases";
  }
  Synchronise();
  ASSERT_THAT(index_->Problems().files(), SizeIs(1));
  EXPECT_THAT(index_->Problems().files(0).problem(),
              HasSubstr("cannot read a.pb: Resource temporarily unavailable"));
}

TEST_F(HistoryIndexTest, KeepsWhyAFileCannotBeRead) {
  std::ofstream(absl::StrCat(folder_, "/bad.pb")) << "\x01\x02 no result";
  EXPECT_EQ(Synchronise(), 1);
  const FileProblems problems = index_->Problems();
  ASSERT_THAT(problems.files(), SizeIs(1));
  EXPECT_EQ(problems.files(0).file(), "bad.pb");
  EXPECT_THAT(problems.files(0).problem(), HasSubstr("bad.pb"));
  Write("bad.pb", MakeDailyResult(1));
  EXPECT_EQ(Synchronise(), 1);
  EXPECT_THAT(index_->Problems().files(), IsEmpty());
}

TEST_F(HistoryIndexTest, NamesFilesThatAreTooLarge) {
  TestResult large = MakeDailyResult(1);
  large.add_log_summary(std::string(2 * kMaxBytes, ' '));
  Write("large.pb", large);
  Write("bomb.pb.gz", large);
  ASSERT_LT(fs::file_size(absl::StrCat(folder_, "/bomb.pb.gz")), kMaxBytes / 8);
  RunDescription run;
  run.set_id("large_run");
  run.set_state(RunDescription::DONE);
  WriteRun(run, large);
  Write("small.pb", MakeDailyResult(2));
  Synchronise();
  EXPECT_THAT(Files(), ElementsAre("small.pb"));
  const FileProblems problems = index_->Problems();
  EXPECT_THAT(problems.files(), SizeIs(3));
  for (const FileProblem& problem : problems.files()) {
    EXPECT_THAT(problem.problem(), HasSubstr(problem.file()));
    EXPECT_THAT(problem.problem(), HasSubstr("1 MiB"));
    EXPECT_THAT(problem.problem(), HasSubstr("; distbench r")) << "the remedy";
  }
  EXPECT_EQ(Synchronise(), 0) << "they are read again";
}

TEST_F(HistoryIndexTest, DoesNotFollowLinksOutOfTheFolder) {
  Write("kept/a.pb", MakeDailyResult(1));
  const std::string inner = absl::StrCat(folder_, "/results");
  fs::create_directory(inner);
  fs::create_symlink("../kept/a.pb", absl::StrCat(inner, "/a.pb"));
  fs::create_directory_symlink("../kept", absl::StrCat(inner, "/kept"));
  const auto source = OpenResultFolders({inner});
  ASSERT_TRUE(source.ok());
  EXPECT_THAT(*(*source)->List(), IsEmpty());
  for (const char* name : {"a.pb", "kept/a.pb", "../kept/a.pb"}) {
    EXPECT_FALSE((*source)->Open(name).ok()) << name;
    EXPECT_FALSE((*source)->Read(name, kMaxBytes).ok()) << name;
  }
}

TEST_F(HistoryIndexTest, NotesAreNotWrittenToWhereALinkLeads) {
  Write("a.pb", MakeDailyResult(1));
  Synchronise();
  const std::string id = index_->List({})->results(0).id();
  const std::string target = absl::StrCat(folder_, "/target");
  std::ofstream(target) << "kept\n";
  fs::create_symlink(target, absl::StrCat(folder_, "/notes"));
  EXPECT_FALSE(index_->SetNote(id, "a note").ok());
  EXPECT_EQ(fs::file_size(target), 5u);
}

TEST_F(HistoryIndexTest, ReadsRunsOfASequencerOnceTheyHaveEnded) {
  RunDescription run;
  run.set_id("run-1");
  run.set_label("nightly");
  run.set_state(RunDescription::RUNNING);
  WriteRun(run, MakeDailyResult(1));
  Synchronise();
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_THAT(index_->Problems().files(), IsEmpty());

  run.set_state(RunDescription::DONE);
  fs::remove(absl::StrCat(folder_, "/run-1.result"));
  WriteRun(run, MakeDailyResult(1));
  EXPECT_EQ(Synchronise(), 1);
  ResultQuery query;
  query.label = "nightly";
  const absl::StatusOr<ResultPage> page = index_->List(query);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->results(), SizeIs(1));
  EXPECT_EQ(page->results(0).run_id(), "run-1");
  EXPECT_EQ(page->results(0).file(), "run-1.result");
  EXPECT_EQ(page->results(0).verdict(), "ok");

  // Half of the result is missing.
  fs::resize_file(absl::StrCat(folder_, "/run-1.result"), 50);
  std::ofstream(absl::StrCat(folder_, "/run-1.run"), std::ios::app)
      << "message: 'damaged'";
  EXPECT_EQ(Synchronise(), 1);
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_THAT(index_->Problems().files(), SizeIs(1));
}

// It was tried, and stands among the newest.
TEST_F(HistoryIndexTest,
       ATestThatFailedBeforeItsTrafficHasTheTimeWhenItWasTried) {
  TestResult unstarted = MakeDailyResult(3);
  unstarted.mutable_run_info()->clear_start_timestamp_ns();
  unstarted.mutable_run_info()->clear_end_timestamp_ns();
  unstarted.mutable_run_info()->set_failure("the server does not answer");

  const TestResult before = MakeDailyResult(1);
  TestSequenceResults after_another;
  *after_another.add_test_results() = before;
  Write("sequence.pb", unstarted, after_another);

  RunDescription run;
  run.set_id("run-1");
  run.set_state(RunDescription::FAILED);
  run.set_start_timestamp_ns(
      MakeDailyResult(2).run_info().start_timestamp_ns());
  WriteRun(run, unstarted);

  Write("alone.pb", unstarted);
  const std::string alone = absl::StrCat(folder_, "/alone.pb");
  const auto written = fs::last_write_time(alone) - std::chrono::hours(24);
  fs::last_write_time(alone, written);
  const int64_t written_ms =
      std::chrono::floor<std::chrono::milliseconds>(
          std::chrono::file_clock::to_sys(written).time_since_epoch())
          .count();

  Synchronise();
  const absl::StatusOr<ResultPage> page = index_->List({});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->results(), SizeIs(4));
  EXPECT_EQ(page->results(0).file(), "alone.pb");
  EXPECT_EQ(page->results(0).started(), written_ms);
  EXPECT_EQ(page->results(1).file(), "run-1.result");
  EXPECT_EQ(page->results(1).started(),
            run.start_timestamp_ns() / base::kNsPerMs);
  EXPECT_EQ(page->results(2).file(), "sequence.pb");
  EXPECT_EQ(page->results(2).verdict(), "failed");
  EXPECT_EQ(page->results(2).started(),
            before.run_info().end_timestamp_ns() / base::kNsPerMs);
  EXPECT_EQ(page->results(2).duration_seconds(), 0);
}

TEST_F(HistoryIndexTest, StepsOfSearchesAreInNoSeries) {
  RunDescription run;
  run.set_id("run-1");
  run.set_state(RunDescription::DONE);
  run.set_is_step(true);
  WriteRun(run, MakeDailyResult(1));
  EXPECT_EQ(Synchronise(), 1);
  const absl::StatusOr<ResultPage> page = index_->List({});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->results(), SizeIs(1));
  EXPECT_EQ(page->results(0).test(), "example (step)");
  EXPECT_THAT(index_->ListSeries("", "").series(), IsEmpty());
}

TEST_F(HistoryIndexTest, IsSharedByProcesses) {
  const std::string path = absl::StrCat(folder_, "/index.db");
  Reopen(path);
  index_.reset();
  constexpr int kFiles = 10;
  for (int day = 0; day < kFiles; ++day) {
    Write(absl::StrCat(day, ".pb"), MakeDailyResult(day));
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  Reopen(path);
  Synchronise();
  if (child == 0) _exit(HasFailure() ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Synchronise(), 0);
  EXPECT_THAT(Files(), SizeIs(kFiles));
  EXPECT_EQ(index_->List(Search("example"))->total(), kFiles);
}

TEST_F(HistoryIndexTest, FiltersGoWithTheirLastResult) {
  Write("a.pb", MakeDailyResult(1));
  Write("b.pb", MakeDailyResult(2));
  Synchronise();
  fs::remove(absl::StrCat(folder_, "/a.pb"));
  Synchronise();
  EXPECT_THAT(index_->Filters().tests, ElementsAre("example"));
  EXPECT_EQ(index_->ListSeries("example", "").series(0).points(), 1);
  fs::remove(absl::StrCat(folder_, "/b.pb"));
  Synchronise();
  EXPECT_THAT(index_->Filters().tests, IsEmpty());
  EXPECT_THAT(index_->Filters().hosts, IsEmpty());
  EXPECT_THAT(index_->ListSeries("example", "").series(), IsEmpty());
}

TEST_F(HistoryIndexTest, CanBeStoppedBetweenFiles) {
  Write("a.pb", MakeDailyResult(1));
  Write("b.pb", MakeDailyResult(2));
  int asked = 0;
  EXPECT_EQ(Synchronise([&] { return ++asked > 1; }), 1);
  EXPECT_THAT(Files(), SizeIs(1));
  Synchronise();
  EXPECT_THAT(Files(), SizeIs(2));
}

TEST_F(HistoryIndexTest, FindsByWordsAndFilters) {
  TestResult result = MakeDailyResult(1);
  (*result.mutable_traffic_config()->mutable_attributes())["rack"] = "r-12";
  Write("nightly_a.pb", result);
  Write("b.pb", MakeDailyResult(2));
  Synchronise();
  EXPECT_THAT(Files(Search("nightly")), ElementsAre("nightly_a.pb"));
  EXPECT_THAT(Files(Search("Exam ightl")), ElementsAre("nightly_a.pb"));
  EXPECT_THAT(Files(Search("r-12")), ElementsAre("nightly_a.pb"));
  EXPECT_THAT(Files(Search("\"OR NOT( *")), IsEmpty());
  EXPECT_THAT(Files(Search(" \t")), SizeIs(2));
  ResultQuery query;
  query.attributes["rack"] = "r-12";
  query.test = "example";
  EXPECT_THAT(Files(query), ElementsAre("nightly_a.pb"));
  query.test = "another";
  EXPECT_THAT(Files(query), IsEmpty());
  const FilterValues filters = index_->Filters();
  EXPECT_THAT(filters.tests, ElementsAre("example"));
  EXPECT_THAT(filters.attributes.at("rack"), ElementsAre("r-12"));
}

// A list of them would be as long as that of the results.
TEST_F(HistoryIndexTest, FiltersLeaveOutAttributesOfSingleResults) {
  for (int day = 0; day < 20; ++day) {
    TestResult result = MakeDailyResult(day);
    auto& attributes = *result.mutable_traffic_config()->mutable_attributes();
    attributes["test_timeout"] = absl::StrCat(60 + day / 2);
    attributes["rack"] = absl::StrCat(day % 5);
    if (day < 4) attributes["driver"] = absl::StrCat(day);
    Write(absl::StrCat(day, ".pb"), result);
  }
  Synchronise();
  const FilterValues filters = index_->Filters();
  EXPECT_FALSE(filters.attributes.contains("test_timeout"));
  EXPECT_THAT(filters.attributes.at("rack"), SizeIs(5));
  EXPECT_THAT(filters.attributes.at("driver"), SizeIs(4));
}

TEST(ResultQueryTest, AttributesAreNamesAndValues) {
  ResultQuery query;
  for (const char* text : {"rack=a", "rack=b=c", "empty="}) {
    EXPECT_TRUE(AddAttribute(text, query).ok()) << text;
  }
  EXPECT_THAT(query.attributes,
              ElementsAre(Pair("empty", ""), Pair("rack", "b=c")));
  for (const char* text : {"", "rack", "=a"}) {
    EXPECT_THAT(base::Message(AddAttribute(text, query)),
                HasSubstr("must be NAME=VALUE"))
        << text;
  }
}

TEST_F(HistoryIndexTest, LimitsWordsAndAttributes) {
  std::string words;
  for (size_t i = 0; i < kMaxSearchTerms; ++i) absl::StrAppend(&words, " a");
  EXPECT_TRUE(index_->List(Search(words)).ok());
  EXPECT_FALSE(index_->List(Search(words + " a")).ok());
  ResultQuery query;
  for (size_t i = 0; i < kMaxSearchTerms; ++i) {
    query.attributes[absl::StrCat(i)] = "a";
  }
  EXPECT_TRUE(index_->List(query).ok());
  query.attributes["one more"] = "a";
  EXPECT_FALSE(index_->List(query).ok());
}

TEST_F(HistoryIndexTest, PagesDoNotOverlap) {
  for (int day = 0; day < 5; ++day) {
    // Two of them started at the same time.
    Write(absl::StrCat(day, ".pb"), MakeDailyResult(day / 2));
  }
  Synchronise();
  ResultQuery query;
  query.limit = 2;
  std::vector<std::string> all;
  do {
    const absl::StatusOr<ResultPage> page = index_->List(query);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->total(), 5);
    for (const IndexedResult& result : page->results()) {
      EXPECT_THAT(all, Not(Contains(result.id())));
      all.push_back(result.id());
    }
    query.cursor = page->next();
  } while (!query.cursor.empty());
  EXPECT_THAT(all, SizeIs(5));
  query.cursor = "x";
  EXPECT_TRUE(absl::IsInvalidArgument(index_->List(query).status()));
}

TEST_F(HistoryIndexTest, NamesTheFactThatChanged) {
  for (int day = 0; day < 30; ++day) {
    TestResult result = MakeDailyResult(day, day < 15 ? 1 : 1.5);
    for (auto& [name, node] :
         *result.mutable_resource_usage_logs()->mutable_node_resources()) {
      node.mutable_host()->set_kernel(day < 15 ? "6.1.0-18" : "6.1.0-20");
    }
    Write(absl::StrCat("d", day, ".pb"), result);
  }
  TestResult failed = MakeDailyResult(31);
  failed.mutable_run_info()->set_failure("a node was lost");
  Write("failed.pb", failed);
  Synchronise();
  index_->Judge(kNeverStop);
  const SeriesSummary p50 = SeriesOf("p50 response time");
  EXPECT_EQ(p50.points(), 30);
  EXPECT_EQ(p50.changes(), 1);
  const auto trend = index_->TrendOf(p50.id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  EXPECT_EQ(trend->left_out(), 1);
  ASSERT_THAT(trend->changes(), SizeIs(1));
  const TrendChange& change = trend->changes(0);
  EXPECT_EQ(change.index(), 15);
  EXPECT_NEAR(change.relative(), 0.5, 0.1);
  ASSERT_THAT(change.facts(), SizeIs(1));
  EXPECT_EQ(change.facts(0).name(), "kernel");
  EXPECT_EQ(change.facts(0).before(), "6.1.0-18");
  EXPECT_EQ(change.facts(0).after(), "6.1.0-20");
  EXPECT_EQ(change.facts(0).distance(), 0);
  EXPECT_THAT(TrendText(*trend), HasSubstr("kernel: 6.1.0-18 to 6.1.0-20"));
  const auto json = nlohmann::json::parse(ToJson(*trend));
  EXPECT_EQ(json["changes"][0]["index"], 15);
  EXPECT_EQ(json["series"]["better"], "lower");
  EXPECT_EQ(json["points"].size(), 30u);

  // An accepted change is no longer counted.
  ASSERT_TRUE(index_->SetAccepted(trend->points(16).result(), true).ok());
  EXPECT_TRUE(index_->TrendOf(p50.id())->changes(0).accepted());
  EXPECT_EQ(index_->TrendOf(p50.id())->series().changes(), 0);
  EXPECT_EQ(SeriesOf("p50 response time").changes(), 0);
}

// A series is of what was measured alike: another definition begins a new one.
TEST_F(HistoryIndexTest, FollowsMetricsOfWholeRuns) {
  report::FakeRunMetric queue = {.name = "queue", .definition = "the query"};
  const auto write = [&](const std::string& name, int day) {
    TestResult result = MakeDailyResult(day);
    report::AddRunMetric(queue, result);
    Write(name, result);
  };
  for (int day = 0; day < 30; ++day) {
    queue.value = (day < 15 ? 10 : 20) + day % 3;
    write(absl::StrCat("d", day, ".pb"), day);
  }
  queue.problem = "no node has read it";
  write("unread.pb", 31);
  queue = {.name = "queue", .value = 7, .definition = "another query"};
  write("other.pb", 32);
  TestResult simulated = MakeDailyResult(33);
  simulated.mutable_simulation();
  report::AddRunMetric(queue, simulated);
  Write("simulated.pb", simulated);
  Synchronise();
  index_->Judge(kNeverStop);

  EXPECT_THAT(index_->ListSeries("", "another query").series(), SizeIs(1));
  const SeriesList list = index_->ListSeries("example", "the query");
  ASSERT_THAT(list.series(), SizeIs(1));
  const SeriesSummary& series = list.series(0);
  EXPECT_EQ(series.metric(), "metric:queue");
  EXPECT_EQ(series.unit(), "number");
  EXPECT_EQ(series.better(), "neither");
  EXPECT_EQ(series.points(), 30);
  EXPECT_EQ(series.changes(), 1);
  const auto trend = index_->TrendOf(series.id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  EXPECT_EQ(trend->left_out(), 1);
  EXPECT_THAT(
      TrendText(*trend),
      HasSubstr("example, the query, metric:queue: 30 results, without 1 that "
                "failed, are invalid or were not measured\n"));
  EXPECT_THAT(TrendText(*trend), HasSubstr("level 11 to 21 (+90.9 %)"));
}

// What the repeats of a night have in common would look like changes.
TEST_F(HistoryIndexTest, RepeatsInAFileAreOnePoint) {
  TestSequenceResults night;
  for (const double slowness : {1.0, 3.0}) {
    *night.add_test_results() = MakeDailyResult(1, slowness);
  }
  TestResult failed = MakeDailyResult(1);
  failed.mutable_run_info()->set_failure("a node was lost");
  *night.add_test_results() = failed;
  Write("night.pb", MakeDailyResult(1, /*slowness=*/2), night);
  Write("single.pb", MakeDailyResult(1, /*slowness=*/2));
  Synchronise();
  const auto trend = index_->TrendOf(SeriesOf("p50 response time").id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  ASSERT_THAT(trend->points(), SizeIs(2));
  const TrendPoint& point = trend->points(0);
  EXPECT_THAT(point.runs(), SizeIs(4));
  EXPECT_EQ(point.result(), point.runs(0));
  EXPECT_EQ(point.value(), trend->points(1).value()) << "the median";
  EXPECT_NEAR(point.low() / point.value(), 0.5, 0.1);
  EXPECT_NEAR(point.high() / point.value(), 1.5, 0.1);
  EXPECT_EQ(trend->left_out(), 1);

  // Each of them stands for the point.
  ASSERT_TRUE(index_->SetAccepted(point.runs(3), true).ok());
  EXPECT_TRUE(index_->TrendOf(trend->series().id())->points(0).accepted());
}

// The lower bound of a run whose percentile falls among failures may be finite,
// but bounds nothing that is shown.
TEST_F(HistoryIndexTest, IntervalsAreOfRunsWithAValue) {
  const TestResult good = MakeLargeResult(/*slowness=*/1);
  TestResult failing = MakeLargeResult(/*slowness=*/5);
  // Somewhat more than one of a hundred was never sent.
  OfferedLoad& offered =
      (*(*failing.mutable_service_logs()->mutable_instance_logs())["client/0"]
            .mutable_offered_loads())[0];
  offered.set_unsent_count(offered.offered_count() * 106 / 10000);
  offered.set_offered_count(offered.offered_count() + offered.unsent_count());
  TestSequenceResults runs;
  *runs.add_test_results() = good;
  Write("runs.pb", failing, runs);
  Write("good.pb", good);
  Synchronise();
  const auto trend = index_->TrendOf(SeriesOf("p99 response time").id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  EXPECT_EQ(trend->left_out(), 1);
  ASSERT_THAT(trend->points(), SizeIs(2));
  for (const TrendPoint& point : trend->points()) {
    EXPECT_EQ(point.value(), trend->points(0).value());
    EXPECT_EQ(point.low(), trend->points(0).low());
    EXPECT_LT(point.low(), point.value());
    EXPECT_GT(point.high(), point.value());
  }
}

TEST_F(HistoryIndexTest, NotesOutliveTheIndex) {
  const std::string path = absl::StrCat(folder_, "/index.db");
  Reopen(path);
  Write("a.pb", MakeDailyResult(1));
  Synchronise();
  const std::string id = index_->List({})->results(0).id();
  ASSERT_TRUE(index_->SetNote(id, "new switch").ok());
  ASSERT_TRUE(index_->SetAccepted(id, true).ok());
  EXPECT_TRUE(absl::IsNotFound(index_->SetNote("none-0", "x")));
  index_.reset();
  fs::remove(path);
  // A crash has cut off a line.
  std::ofstream(absl::StrCat(folder_, "/notes"), std::ios::app)
      << "{\"result\":\"" << id << "\",\"note\":\"cut";
  Reopen(path);
  Synchronise();
  const IndexedResult result = *index_->Find(id);
  EXPECT_EQ(result.note(), "new switch");
  EXPECT_TRUE(result.accepted());
  ASSERT_TRUE(index_->SetNote(id, "").ok());
  Reopen(path);
  EXPECT_EQ(index_->Find(id)->note(), "");
}

TEST_F(HistoryIndexTest, FollowsTheNotesOfOthers) {
  const std::string path = absl::StrCat(folder_, "/notes");
  const auto write = [&](std::ios::openmode mode, const std::string& text) {
    std::ofstream(path, mode) << text;
    Synchronise();
  };
  Write("a.pb", MakeDailyResult(1));
  Synchronise();
  const std::string id = index_->List({})->results(0).id();
  const auto line = [&](const std::string& note) {
    return absl::StrCat(R"({"result":")", id, R"(","note":")", note, "\"}\n");
  };
  const std::string second = line("second");
  write(std::ios::out, line("first") + second.substr(0, 9));
  EXPECT_EQ(index_->Find(id)->note(), "first") << "a line is not yet complete";
  write(std::ios::app, second.substr(9));
  EXPECT_EQ(index_->Find(id)->note(), "second");
  write(std::ios::app, R"({"result":"another","note":"x"})"
                       "\n");
  EXPECT_EQ(index_->Find(id)->note(), "second");
  // Somebody has edited the file.
  write(std::ios::out, absl::StrCat(line("edited"), std::string(500, '\n')));
  EXPECT_EQ(index_->Find(id)->note(), "edited");
  write(std::ios::out, "\n");
  EXPECT_EQ(index_->Find(id)->note(), "");
}

TEST_F(HistoryIndexTest, ReplacesOnlyItsOwnFiles) {
  const std::string path = absl::StrCat(folder_, "/index.db");
  Reopen(path);
  Write("a.pb", MakeDailyResult(1));
  Synchronise();
  index_.reset();
  {
    // Damage the schema, behind the header.
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(3000, '\xff');
  }
  for (const char* suffix : {"-wal", "-shm"}) {
    fs::remove(absl::StrCat(path, suffix));
  }
  Reopen(path);
  EXPECT_EQ(Synchronise(), 1);

  const std::string other = absl::StrCat(folder_, "/letter.txt");
  for (const char* text :
       {"D", "Dear all, this is not an index of any kind."}) {
    std::ofstream(other) << text;
    const auto refused = HistoryIndex::Open({.index_path = other});
    EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
    EXPECT_TRUE(*base::ReadFile(other) == text);
  }
}

TEST_F(HistoryIndexTest, DoesNotTouchOtherDatabases) {
  const std::string path = absl::StrCat(folder_, "/other.db");
  const std::string kept = absl::StrCat(folder_, "/kept.db");
  const auto make = [&](const std::string& sql) {
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), /*callback=*/nullptr,
                           /*arg=*/nullptr, /*errmsg=*/nullptr),
              SQLITE_OK);
    // Before it is closed, so that a log remains.
    for (const char* suffix : {"", "-wal"}) {
      if (!fs::exists(path + suffix)) continue;
      fs::copy_file(path + suffix, kept + suffix);
    }
    sqlite3_close(database);
    fs::remove(path);
  };
  const auto expect_untouched = [&] {
    const std::string before = *base::ReadFile(kept);
    const auto refused = HistoryIndex::Open({.index_path = kept});
    EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
    ASSERT_TRUE(fs::exists(kept));
    // Not shown: they are binary.
    EXPECT_TRUE(*base::ReadFile(kept) == before);
  };
  make("PRAGMA user_version=7");
  {
    SCOPED_TRACE("without tables");
    expect_untouched();
  }
  fs::remove(kept);
  make("CREATE TABLE a(b); CREATE TABLE c(d); CREATE TABLE e(f)");
  fs::resize_file(kept, 4096);
  {
    SCOPED_TRACE("damaged");
    expect_untouched();
  }
  fs::remove(kept);
  make("PRAGMA journal_mode=WAL; CREATE TABLE a(b)");
  {
    SCOPED_TRACE("with a log");
    expect_untouched();
    EXPECT_TRUE(fs::exists(kept + "-wal"));
  }
}

// Others say in the head of the same format what they are.
TEST_F(HistoryIndexTest, KnowsAnIndexByTheHeadOfItsFile) {
  const std::string path = absl::StrCat(folder_, "/index.db");
  const auto write = [&](int offset) {
    index_.reset();
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << '\x7f';
  };
  Reopen(path);
  Write("a.pb", MakeDailyResult(1));
  EXPECT_EQ(Synchronise(), 1);
  Reopen(path);
  EXPECT_EQ(Synchronise(), 0) << "it was kept";
  write(/*offset=*/63);  // its version
  Reopen(path);
  EXPECT_EQ(Synchronise(), 1);
  write(/*offset=*/16);  // its pages' size
  Reopen(path);
  EXPECT_EQ(Synchronise(), 1);
  write(/*offset=*/68);  // its application
  const auto refused = HistoryIndex::Open({.index_path = path});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
}

// ---- Several folders

class FoldersTest : public HistoryIndexTest {
 protected:
  FoldersTest() {
    for (const char* name : {"a", "b"}) fs::create_directory(Path(name));
  }

  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }

  // Opens an index of these folders, and reads what is new. Returns the number
  // of files that were read.
  int Open(const std::vector<std::string>& folders,
           const std::string& index_path = "") {
    std::vector<std::string> paths;
    for (const std::string& folder : folders) paths.push_back(Path(folder));
    source_ = *OpenResultFolders(paths);
    index_.reset();
    index_ = *HistoryIndex::Open(
        {.index_path = index_path, .notes_paths = source_->Notes()});
    const CountingSource counting(*source_);
    EXPECT_TRUE(
        index_->Synchronise(counting, *counting.List(), kNeverStop).ok());
    return counting.reads();
  }

  // Of the only result in this file.
  std::string IdIn(const std::string& file) {
    const absl::StatusOr<ResultPage> page = index_->List({});
    for (const IndexedResult& result : page->results()) {
      if (result.file() == file) return result.id();
    }
    ADD_FAILURE() << "there is no result in " << file;
    return "";
  }

  std::unique_ptr<ResultFolders> source_;
};

TEST_F(FoldersTest, FilesOfTheSameNameStayApart) {
  Write("a/x.pb", MakeDailyResult(1));
  Write("b/x.pb", MakeDailyResult(2));
  EXPECT_EQ(Open({"a", "b"}), 2);
  EXPECT_THAT(Files(), ElementsAre(Path("b/x.pb"), Path("a/x.pb")));
  EXPECT_THAT(Files(Search("/b/x")), ElementsAre(Path("b/x.pb")));
  EXPECT_NE(IdIn(Path("a/x.pb")), IdIn(Path("b/x.pb")));
  EXPECT_TRUE(source_->Open(Path("b/x.pb")).ok());
  EXPECT_FALSE(source_->Open(Path("b/y.pb")).ok());
}

TEST_F(FoldersTest, ATestHasOneSeriesByTime) {
  for (int day = 0; day < 4; ++day) {
    Write(absl::StrCat(day % 2 == 0 ? "a/" : "b/", "x", day / 2, ".pb"),
          MakeDailyResult(day));
  }
  Open({"a", "b"});
  const auto trend = index_->TrendOf(SeriesOf("p50 response time").id());
  ASSERT_TRUE(trend.ok()) << trend.status();
  ASSERT_THAT(trend->points(), SizeIs(4));
  for (int i = 1; i < 4; ++i) {
    EXPECT_LT(trend->points(i - 1).started(), trend->points(i).started());
  }
}

TEST_F(FoldersTest, AFileCountsOnce) {
  Write("a/x.pb", MakeDailyResult(1));
  Write("a/inner/y.pb", MakeDailyResult(2));
  fs::create_directory_symlink("a", Path("link"));
  const auto inside = ElementsAre("inner/y.pb", "x.pb");
  for (const auto& folders :
       std::vector<std::vector<std::string>>{{"a"},
                                             {"a", "a/"},
                                             {"a", "link"},
                                             {"a/inner", "a"},
                                             {"a", "a/inner"}}) {
    Open(folders);
    EXPECT_THAT(Files(), inside) << folders.back();
  }
  fs::create_hard_link(Path("a/x.pb"), Path("a/z.pb"));
  Open({"a"});
  EXPECT_THAT(Files(), inside);
  fs::create_hard_link(Path("a/x.pb"), Path("b/z.pb"));
  Open({"a", "b"});
  EXPECT_THAT(Files(), ElementsAre(Path("a/inner/y.pb"), Path("a/x.pb")));
}

// A folder whose path begins like another one's is not in it.
TEST_F(FoldersTest, LinksLeadToFoldersOfTheirOwn) {
  Write("a/x.pb", MakeDailyResult(1));
  Write("b/x.pb", MakeDailyResult(2));
  fs::create_directory(Path("ab"));
  Write("ab/x.pb", MakeDailyResult(3));
  fs::create_directory_symlink("../b", Path("a/link"));
  EXPECT_EQ(Open({"a", "a/link", "ab"}), 3);
  EXPECT_THAT(Files(), ElementsAre(Path("ab/x.pb"), Path("a/link/x.pb"),
                                   Path("a/x.pb")));
}

TEST_F(FoldersTest, NotesStayWithTheirFolder) {
  Write("a/x.pb", MakeDailyResult(1));
  Write("b/x.pb", MakeDailyResult(2));
  Open({"b"});
  const std::string alone = IdIn("x.pb");
  ASSERT_TRUE(index_->SetNote(alone, "alone").ok());
  Open({"a", "b"});
  const std::string in_a = IdIn(Path("a/x.pb"));
  const std::string in_b = IdIn(Path("b/x.pb"));
  EXPECT_EQ(index_->Find(in_a)->note(), "");
  EXPECT_EQ(index_->Find(in_b)->note(), "alone");
  ASSERT_TRUE(index_->SetNote(in_b, "together").ok());
  ASSERT_TRUE(index_->SetAccepted(in_a, true).ok());
  Open({"b"});
  EXPECT_EQ(index_->Find(alone)->note(), "together");
  EXPECT_FALSE(index_->Find(alone)->accepted());
}

TEST_F(FoldersTest, IdsOfASingleFolderAreTakenIfTheyAreClear) {
  Write("a/x.pb", MakeDailyResult(1));
  Write("b/y.pb", MakeDailyResult(2));
  Open({"b"});
  const std::string alone = IdIn("y.pb");
  Open({"a", "b"});
  const auto found = index_->Find(alone);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->file(), Path("b/y.pb"));
  ASSERT_TRUE(index_->SetAccepted(alone, true).ok());
  EXPECT_TRUE(index_->Find(found->id())->accepted());

  Write("a/y.pb", MakeDailyResult(3));
  Open({"a", "b"});
  const absl::Status unclear = index_->Find(alone).status();
  EXPECT_TRUE(absl::IsInvalidArgument(unclear)) << unclear;
  for (const char* file : {"a/y.pb", "b/y.pb"}) {
    EXPECT_THAT(std::string(unclear.message()),
                HasSubstr(absl::StrCat(IdIn(Path(file)), " (", Path(file))));
  }

  Open({"a"});
  const absl::Status away = index_->Find(found->id()).status();
  EXPECT_TRUE(absl::IsNotFound(away)) << away;
  EXPECT_THAT(std::string(away.message()), HasSubstr("among those given"));
}

TEST_F(FoldersTest, ShareAnIndexFile) {
  const std::string index = Path("index.db");
  Write("a/x.pb", MakeDailyResult(1));
  Write("b/x.pb", MakeDailyResult(2));
  EXPECT_EQ(Open({"a", "b"}, index), 2);
  const std::string id = IdIn(Path("b/x.pb"));
  EXPECT_EQ(Open({"a", "b"}, index), 0);
  EXPECT_EQ(IdIn(Path("b/x.pb")), id);
  EXPECT_EQ(Open({"a"}, index), 1);
  EXPECT_THAT(Files(), ElementsAre("x.pb"));
}

// As when a link is set to the folder of another week: names, sizes and times
// of files may be the same there.
TEST_F(FoldersTest, IdsFollowAFolderThatMoves) {
  const std::string index = Path("index.db");
  Write("a/x.pb", MakeDailyResult(1));
  Write("b/x.pb", MakeDailyResult(2));
  fs::create_directory_symlink("b", Path("link"));
  Open({"a", "link"}, index);
  const std::string before = IdIn(Path("link/x.pb"));
  fs::rename(Path("b"), Path("moved"));
  fs::remove(Path("link"));
  fs::create_directory_symlink("moved", Path("link"));
  EXPECT_EQ(Open({"a", "link"}, index), 1);
  const std::string after = IdIn(Path("link/x.pb"));
  EXPECT_NE(after, before);
  EXPECT_TRUE(index_->SetNote(after, "moved").ok());
}

TEST_F(FoldersTest, OthersHaveAnotherIdentity) {
  const auto identity = [&](const std::vector<std::string>& folders) {
    Open(folders);
    return source_->Identity();
  };
  fs::create_directory_symlink("b", Path("link"));
  const std::string together = identity({"a", "b"});
  EXPECT_EQ(identity({"a", "b"}), together);
  EXPECT_NE(identity({"a", "link"}), together) << "files have other names";
  EXPECT_EQ(identity({"a", "a"}), fs::canonical(Path("a")).string());
}

TEST_F(FoldersTest, SaysWhatIsNoFolder) {
  Write("a/x.pb", MakeDailyResult(1));
  const auto error_of = [&](const std::string& name) {
    const auto source = OpenResultFolders({Path("a"), Path(name)});
    EXPECT_FALSE(source.ok());
    return std::string(source.status().message());
  };
  EXPECT_THAT(error_of("none"),
              AllOf(HasSubstr(Path("none")), HasSubstr("No such file"),
                    HasSubstr("--results_dir")));
  EXPECT_THAT(error_of("a/x.pb"),
              AllOf(HasSubstr(Path("a/x.pb")), HasSubstr("is a file"),
                    HasSubstr(absl::StrCat(
                        "in, ", fs::canonical(Path("a")).string()))));
}

}  // namespace
}  // namespace distbench::history
