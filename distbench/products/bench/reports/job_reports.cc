// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/reports/job_reports.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/human_units.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/bench/block_devices/io_cost.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/values.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/text_format.h"

namespace distbench::bench {
namespace {

struct Selector {
  int number = 0;  // 0: by name
  std::string kind;
  std::optional<std::string> id;

  bool Selects(const BenchJob& job, int job_number) const {
    if (number > 0) return number == job_number;
    return job.kind() == kind && (!id.has_value() || job.id() == *id);
  }
};

absl::StatusOr<Selector> Parse(const std::string& text) {
  Selector selector;
  if (absl::SimpleAtoi(text, &selector.number)) return selector;
  selector.number = 0;
  const size_t colon = text.find(':');
  selector.kind = text.substr(0, colon);
  if (colon == std::string::npos) return selector;
  absl::string_view options = absl::string_view(text).substr(colon + 1);
  if (!absl::ConsumePrefix(&options, "id=")) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " selects no job; write a number of list, KIND, or "
                     "KIND:id=ID"));
  }
  selector.id = std::string(options);
  return selector;
}

absl::Status NothingSelected(const std::string& text, const BenchFile& file) {
  std::vector<std::string> names;
  for (const BenchJob& job : file.jobs()) {
    names.push_back(job.id().empty()
                        ? job.kind()
                        : absl::StrCat(job.kind(), ":id=", job.id()));
  }
  return absl::NotFoundError(absl::StrCat("the file has no job ",
                                          config::Quoted(text), "; ",
                                          config::Suggestion(text, names)));
}

}  // namespace

absl::StatusOr<std::vector<const BenchJob*>> SelectJobs(
    const BenchFile& file, absl::Span<const std::string> selectors) {
  std::vector<bool> is_selected(file.jobs_size(), selectors.empty());
  for (const std::string& text : selectors) {
    const absl::StatusOr<Selector> selector = Parse(text);
    if (!selector.ok()) return selector.status();
    bool is_any = false;
    for (int i = 0; i < file.jobs_size(); ++i) {
      if (!selector->Selects(file.jobs(i), i + 1)) continue;
      is_selected[i] = true;
      is_any = true;
    }
    if (!is_any) return NothingSelected(text, file);
  }
  std::vector<const BenchJob*> jobs;
  for (int i = 0; i < file.jobs_size(); ++i) {
    if (is_selected[i]) jobs.push_back(&file.jobs(i));
  }
  return jobs;
}

namespace {

constexpr absl::string_view kSystem = "System info: ";
constexpr absl::string_view kDevice = "IO info: ";
constexpr absl::string_view kMissed = "Missed requirements: ";

std::string Indent(absl::string_view title) {
  return std::string(title.size(), ' ');
}

std::string TimeText(absl::string_view format, int64_t unix_ns,
                     absl::TimeZone zone) {
  return absl::FormatTime(format, absl::FromUnixNanos(unix_ns), zone);
}

// "2021-06-22 19:13:37 - 19:30:25"; the end has a date if it is another one.
std::string PeriodText(const BenchJob& job, absl::TimeZone zone) {
  if (!job.has_start_timestamp_ns()) return "not started";
  constexpr absl::string_view kDate = "%Y-%m-%d";
  const std::string start =
      TimeText("%Y-%m-%d %H:%M:%S", job.start_timestamp_ns(), zone);
  if (!job.has_end_timestamp_ns()) return absl::StrCat(start, " - ?");
  const bool is_same_day = TimeText(kDate, job.start_timestamp_ns(), zone) ==
                           TimeText(kDate, job.end_timestamp_ns(), zone);
  return absl::StrCat(start, " - ",
                      TimeText(is_same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S",
                               job.end_timestamp_ns(), zone));
}

std::string MemoryLine(const BenchSystem& system) {
  std::vector<std::string> words;
  words.push_back(absl::StrCat("nr_cpus=", system.cpu_count()));
  words.push_back(
      absl::StrCat("memory=", base::ShortBytes(system.memory_bytes())));
  if (system.has_swap_bytes()) {
    words.push_back(
        absl::StrCat("swap=", base::ShortBytes(system.swap_bytes())));
  }
  if (system.has_swappiness()) {
    words.push_back(absl::StrCat("swappiness=", system.swappiness()));
  }
  if (system.is_zswap_enabled()) words.push_back("zswap");
  return absl::StrJoin(words, " ");
}

std::string PassiveText(const BenchJob& job) {
  return absl::StrCat("passive=", job.passive_size() == 3
                                      ? "all"
                                      : absl::StrJoin(job.passive(), "+"));
}

std::string SystemText(const BenchJob& job, const BenchSystem& system) {
  const std::string indent = Indent(kSystem);
  std::string text = absl::StrCat(kSystem, "kernel=\"", system.kernel(), "\"");
  // One host needs no name.
  if (job.systems_size() > 1) {
    absl::StrAppend(&text, " host=", system.hostname());
  }
  absl::StrAppend(&text, "\n", indent, MemoryLine(system), "\n");
  if (!job.passive().empty()) {
    absl::StrAppend(&text, indent, PassiveText(job), "\n");
  }
  return text;
}

std::string OnOff(bool is_on) { return is_on ? "on" : "off"; }

std::string ControllerLine(const BlockDeviceFacts& device) {
  std::vector<std::string> words;
  words.push_back(absl::StrCat("iosched=", device.scheduler()));
  if (device.has_write_back_throttling_us()) {
    words.push_back(
        absl::StrCat("wbt=", OnOff(device.write_back_throttling_us() > 0)));
  }
  words.push_back(absl::StrCat("iocost=", OnOff(device.io_cost().enable())));
  words.push_back(absl::StrCat(
      "other=", device.other_controllers().empty()
                    ? "off"
                    : absl::StrJoin(device.other_controllers(), "+")));
  return absl::StrJoin(words, " ");
}

std::string DeviceText(const BlockDeviceFacts& device) {
  const std::string indent = Indent(kDevice);
  std::string text = absl::StrCat(
      kDevice, "dev=", device.name(), "(", device.number(), ") model=\"",
      device.model(), "\" firmware=\"", device.firmware(),
      "\" size=", base::ShortBytes(device.size_bytes()), "\n", indent,
      ControllerLine(device), "\n");
  if (device.io_cost().enable()) {
    absl::StrAppend(&text, IoCostText(device.io_cost().model(),
                                      device.io_cost().qos(), indent));
  }
  return text;
}

// "log_bps=1.0M rps_max=1029 (hashd-params)".
std::string ParameterText(const BenchValues& parameters) {
  std::vector<std::string> texts;
  for (const BenchValue& value : parameters) {
    BenchValues one;
    *one.Add() = value;
    texts.push_back(
        value.source().empty()
            ? ValuesText(one)
            : absl::StrCat(ValuesText(one), " (from ", value.source(), ")"));
  }
  return absl::StrJoin(texts, " ");
}

std::string StateName(BenchJob::State state) {
  switch (state) {
    case BenchJob::DONE:
      return "done";
    case BenchJob::FAILED:
      return "failed";
    case BenchJob::CUT_SHORT:
      return "cut short";
  }
  return "unknown";
}

std::string ResultOf(const BenchJob& job) {
  const absl::StatusOr<const JobKind*> kind = FindJobKind(job.kind());
  return kind.ok() ? (*kind)->ResultText(job)
                   : absl::StrCat(kind.status().message(), "\n");
}

std::string SummaryOf(const BenchJob& job) {
  const absl::StatusOr<const JobKind*> kind = FindJobKind(job.kind());
  return kind.ok() ? (*kind)->Summary(job)
                   : std::string(kind.status().message());
}

std::string NumberedTitle(const BenchJob& job) {
  std::string title = JobTitle(job.kind(), job.id());
  if (job.repetition() > 0) {
    absl::StrAppend(&title, " #", job.repetition() + 1);
  }
  if (job.has_origin()) absl::StrAppend(&title, " from ", job.origin());
  return title;
}

}  // namespace

std::string JobHeader(const BenchJob& job, absl::TimeZone zone) {
  std::string text = absl::StrCat("[", job.kind(), " result] ");
  if (!job.id().empty()) absl::StrAppend(&text, "\"", job.id(), "\" ");
  absl::StrAppend(&text, PeriodText(job, zone), "\n");
  for (const BenchSystem& system : job.systems()) {
    absl::StrAppend(&text, "\n", SystemText(job, system));
    for (const BlockDeviceFacts& device : system.devices()) {
      absl::StrAppend(&text, "\n", DeviceText(device));
    }
  }
  if (!job.missed_requirements().empty()) {
    absl::StrAppend(&text, "\n", kMissed,
                    absl::StrJoin(job.missed_requirements(),
                                  absl::StrCat("\n", Indent(kMissed))),
                    "\n");
  }
  return text;
}

std::string JobText(const BenchJob& job, absl::TimeZone zone) {
  std::string text = JobHeader(job, zone);
  if (!job.parameters().empty()) {
    absl::StrAppend(&text, "\nParams: ", ParameterText(job.parameters()), "\n");
  }
  if (job.state() != BenchJob::DONE) {
    absl::StrAppend(
        &text, "\nNo result: the job ",
        job.error().empty() ? "was cut short" : StateName(job.state()),
        job.error().empty() ? "" : ": ", job.error(), "\n");
  }
  if (job.has_results() || job.state() == BenchJob::DONE) {
    absl::StrAppend(&text, "\n", ResultOf(job));
  }
  return text;
}

std::string ListText(const BenchFile& file, absl::TimeZone zone) {
  std::string text;
  for (int i = 0; i < file.jobs_size(); ++i) {
    const BenchJob& job = file.jobs(i);
    absl::StrAppendFormat(&text, "%3d  %-9s  %s  %s\n", i + 1,
                          StateName(job.state()), PeriodText(job, zone),
                          NumberedTitle(job));
  }
  return text;
}

std::string SummaryText(const BenchFile& file) {
  std::vector<std::string> order;
  std::map<std::string, std::string> texts;
  for (const BenchJob& job : file.jobs()) {
    const std::string key = GroupKeyOf(job);
    if (texts.count(key) == 0) order.push_back(key);
    absl::StrAppend(
        &texts[key], NumberedTitle(job), "\n  ",
        job.state() == BenchJob::DONE
            ? absl::StrReplaceAll(SummaryOf(job), {{"\n", "\n  "}})
            : absl::StrCat(StateName(job.state()),
                           job.error().empty() ? "" : ": ", job.error()),
        "\n");
  }
  std::string text;
  for (const std::string& key : order) absl::StrAppend(&text, texts[key]);
  return text;
}

namespace {

class Pack {
 public:
  explicit Pack(std::string folder) : folder_(std::move(folder)) {}

  void AddText(const std::string& name, std::string text) {
    files_.push_back({absl::StrCat(folder_, "/", name), std::move(text)});
  }

  void AddMessage(const std::string& name,
                  const google::protobuf::MessageLite& message) {
    std::string bytes;
    if (!message.SerializeToString(&bytes)) too_large_ = name;
    AddText(name, std::move(bytes));
  }

  absl::StatusOr<std::vector<PackedFile>> Take() && {
    if (too_large_.empty()) return std::move(files_);
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot pack ", too_large_,
                     ": it is larger than the 2 GiB that a message may have"));
  }

 private:
  const std::string folder_;
  std::vector<PackedFile> files_;
  std::string too_large_;
};

// "03_protection_iocost-on": kinds and ids have no characters that a file name
// cannot have.
std::string FolderOf(const BenchJob& job, int number) {
  std::string name = absl::StrFormat("%02d_%s", number, job.kind());
  if (!job.id().empty()) absl::StrAppend(&name, "_", job.id());
  return name;
}

std::string SystemsText(const BenchJob& job) {
  std::string text;
  for (const BenchSystem& system : job.systems()) {
    std::string one;
    google::protobuf::TextFormat::PrintToString(system, &one);
    absl::StrAppend(&text, one);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<PackedFile>> PackedJobs(const BenchFile& file,
                                                   const std::string& name,
                                                   absl::TimeZone zone) {
  Pack pack(name);
  pack.AddMessage("bench.pb", file);
  std::string report;
  for (int i = 0; i < file.jobs_size(); ++i) {
    const BenchJob& job = file.jobs(i);
    const std::string folder = FolderOf(job, i + 1) + "/";
    const std::string text = JobText(job, zone);
    absl::StrAppend(&report, i > 0 ? "\n" : "", text);
    pack.AddText(folder + "report.txt", text);
    pack.AddText(folder + "systems.txt", SystemsText(job));
    if (!job.tests().tests().empty()) {
      pack.AddText(folder + "tests.config", config::ToText(job.tests()));
    }
    if (job.has_results())
      pack.AddMessage(folder + "results.pb", job.results());
  }
  pack.AddText("report.txt", report);
  return std::move(pack).Take();
}

}  // namespace distbench::bench
