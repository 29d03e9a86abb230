// Queries on an index of a million results, in a file: 50 tests of 3 RPCs with
// 6 metrics. Lists and trends should take less than 200 ms.

#include <glog/logging.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "distbench/products/history/history_index.h"
#include "distbench/products/history/index_file.h"

namespace distbench::history {
namespace {

void CheckOk(const absl::Status& status) { CHECK(status.ok()) << status; }

constexpr int kTests = 50;
constexpr int kStored = 1000;  // by the index's own code
constexpr int kCopies = 1000;  // of each, by SQL
constexpr int64_t kIntervalMs = 60'000;
constexpr int64_t kFirstMs = 1'700'000'000'000;

MeasuredFile MakeFile(int number) {
  MeasuredTest test;
  test.name = absl::StrCat("test_", number % kTests);
  test.started_ms = kFirstMs + number * kIntervalMs;
  test.duration_seconds = 10;
  test.verdict = "ok";
  for (int host = 0; host < 4; ++host) {
    test.hosts.insert(absl::StrCat("machine-", (number + host) % 40));
  }
  test.attributes = {{"rack", absl::StrCat("r-", number % 20)},
                     {"owner", absl::StrCat("team_", number % 7)},
                     {"kind", number % 2 == 0 ? "even" : "odd"}};
  test.facts = {{"kernel", absl::StrCat("6.1.", number % 3)}};
  for (const char* rpc : {"query", "update", "remove"}) {
    for (const char* metric :
         {"p50 response time", "p99 response time", "p99.9 response time",
          "succeeded", "failed", "sent of offered"}) {
      test.metrics.push_back({.rpc = rpc,
                              .metric = metric,
                              .unit = "seconds",
                              .value = 0.001,
                              .low = 0.0009,
                              .high = 0.0011});
    }
    test.headline[absl::StrCat(rpc, " · p99 response time")] = 0.001;
  }
  const std::string name = absl::StrCat("results/", number, ".pb.gz");
  return {.entry = {.name = name, .size_bytes = 1000, .modified_ns = 1},
          .problem = "",
          .run_id = absl::StrCat("run", number),
          .label = number % 100 == 0 ? "weekly" : "nightly",
          .tests = {test}};
}

// Copies all results to later times, in the order of the tables. The values of
// the copies vary by 6 %, with a change by 10 % in the middle of the last 1000
// points of a series.
void CopyResults(Database& database) {
  const std::string later_ms = absl::StrCat("n * ", kStored * kIntervalMs);
  const std::string later = absl::StrCat(later_ms, " * ", kPositionsPerMs);
  const std::string numbers = absl::StrCat(
      "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n "
      "< ",
      kCopies - 1, ") SELECT n FROM c) CROSS JOIN ");
  const std::string value =
      absl::StrCat("value * (1 + 0.0006 * (abs(random()) % 100)) * (1 + (n > ",
                   kCopies - 25, ") * 0.1)");
  const std::string statements[] = {
      "PRAGMA cache_size=-1000000",  // kB
      absl::StrCat("INSERT INTO files SELECT id + n * ", kStored,
                   ", name || n, size, modified, problem FROM ", numbers,
                   "files"),
      absl::StrCat("INSERT INTO results SELECT position + ", later,
                   ", id || n, file + n * ", kStored,
                   ", run_id || n, test, label, started + ", later_ms,
                   ", duration, verdict, hosts, attributes, metrics, "
                   "environment FROM ",
                   numbers, "results"),
      absl::StrCat("INSERT INTO words(rowid, text, filters) SELECT w.rowid + ",
                   later, ", text || n, filters FROM ", numbers, "words w"),
      absl::StrCat("INSERT INTO points SELECT series, position + ", later, ", ",
                   value, ", low, high FROM series s CROSS JOIN ", numbers,
                   "points p WHERE p.series = s.id"),
      absl::StrCat("UPDATE series SET value_count = value_count * ", kCopies),
  };
  for (const std::string& statement : statements) {
    CheckOk(database.Execute(statement));
  }
}

// An index in a folder of its own, which is made once, and removed at the end.
class FilledIndex {
 public:
  FilledIndex() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "historyXXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    const std::string path = folder_ + "/index";
    {
      auto database = OpenIndexFile(path);
      CheckOk(database.status());
      for (int i = 0; i < kStored; ++i) {
        CheckOk(StoreFile(MakeFile(i), **database));
      }
      CopyResults(**database);
    }
    auto index = HistoryIndex::Open({.index_path = path, .notes_path = ""});
    CheckOk(index.status());
    index_ = *std::move(index);
  }

  ~FilledIndex() {
    index_.reset();
    std::filesystem::remove_all(folder_);
  }

  HistoryIndex& operator*() { return *index_; }

 private:
  std::string folder_;
  std::unique_ptr<HistoryIndex> index_;
};

HistoryIndex& Index() {
  static FilledIndex index;
  return *index;
}

void List(benchmark::State& state, const ResultQuery& query) {
  HistoryIndex& index = Index();
  int64_t total = 0;
  for (auto _ : state) {
    const absl::StatusOr<ResultPage> page = index.List(query);
    CheckOk(page.status());
    total = page->total;
  }
  state.counters["total"] = static_cast<double>(total);
}

ResultQuery Filtered() {
  ResultQuery query;
  query.test = "test_0";
  query.label = "weekly";
  query.attributes = {{"rack", "r-0"}};
  return query;
}

// Each filter alone selects many results, all together none.
ResultQuery Contradiction() {
  ResultQuery query;
  query.label = "weekly";
  query.attributes = {{"kind", "odd"}};
  return query;
}

ResultQuery LastPage() {
  ResultQuery query;
  query.cursor = absl::StrCat(FirstPosition(kFirstMs + 20 * kIntervalMs));
  return query;
}

ResultQuery Time() {
  ResultQuery query;
  query.search = "nightly";
  query.after_ms = kFirstMs;
  query.before_ms = kFirstMs + 1000 * kIntervalMs;
  return query;
}

BENCHMARK_CAPTURE(List, all, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, common_word, {.search = "night"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, rare_word, {.search = "run7123"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, words, {.search = "weekly r-0"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, one_letter, {.search = "r"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, two_letters, {.search = "ru"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, three_letters, {.search = "run"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, word_and_time, Time())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, filters, Filtered())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, contradiction, Contradiction())
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(List, last_page, LastPage())->Unit(benchmark::kMillisecond);

void BM_Filters(benchmark::State& state) {
  HistoryIndex& index = Index();
  for (auto _ : state) CheckOk(index.Filters().status());
}
BENCHMARK(BM_Filters)->Unit(benchmark::kMillisecond);

// Of all tests, or of one.
void ListSeries(benchmark::State& state, const std::string& test) {
  HistoryIndex& index = Index();
  for (auto _ : state) CheckOk(index.ListSeries(test, "").status());
}
BENCHMARK_CAPTURE(ListSeries, all, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ListSeries, of_a_test, "test_0")
    ->Unit(benchmark::kMillisecond);

// Each iteration has another series.
void BM_FirstTrend(benchmark::State& state) {
  HistoryIndex& index = Index();
  int64_t series = 0;
  for (auto _ : state) CheckOk(index.TrendOf(++series).status());
}
BENCHMARK(BM_FirstTrend)->Iterations(5)->Unit(benchmark::kMillisecond);

void BM_JudgedTrend(benchmark::State& state) {
  HistoryIndex& index = Index();
  CheckOk(index.TrendOf(1).status());
  for (auto _ : state) CheckOk(index.TrendOf(1).status());
}
BENCHMARK(BM_JudgedTrend)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace distbench::history

BENCHMARK_MAIN();
