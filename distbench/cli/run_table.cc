// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/run_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/json.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/text_table.h"

namespace distbench::cli {
namespace {

constexpr int kShownTests = 2;

std::string FormatUtc(const char* format, int64_t unix_ns) {
  return absl::FormatTime(format, absl::FromUnixNanos(unix_ns),
                          absl::UTCTimeZone());
}

std::string StateName(const RunDescription& run) {
  return absl::AsciiStrToLower(RunDescription::State_Name(run.state()));
}

std::string State(const RunDescription& run) {
  if (run.state() == RunDescription::WAITING && run.has_queue_position()) {
    return absl::StrCat("waiting, ", run.queue_position(), " ahead");
  }
  if (run.state() == RunDescription::RUNNING && run.test_names_size() > 1) {
    return absl::StrCat("running ", run.current_test_index() + 1, "/",
                        run.test_names_size());
  }
  // The word of everything else that shows the result.
  return run.is_invalid() ? "invalid" : StateName(run);
}

std::string Took(const RunDescription& run) {
  if (!run.has_start_timestamp_ns() || !run.has_end_timestamp_ns()) return "-";
  const absl::Duration took =
      absl::Nanoseconds(run.end_timestamp_ns() - run.start_timestamp_ns());
  const absl::Duration unit =
      took < absl::Seconds(10) ? absl::Milliseconds(100) : absl::Seconds(1);
  return absl::FormatDuration(absl::Floor(took + unit / 2, unit));
}

std::string Size(const RunDescription& run) {
  if (!run.has_result_bytes()) return "-";
  constexpr int kKiB = 1024;
  if (run.result_bytes() < kKiB) return absl::StrCat(run.result_bytes(), " B");
  auto size = static_cast<double>(run.result_bytes()) / kKiB;
  for (const char* unit : {"KiB", "MiB"}) {
    if (size < kKiB) return absl::StrFormat("%.1f %s", size, unit);
    size /= kKiB;
  }
  return absl::StrFormat("%.1f GiB", size);
}

base::TextRow RunRow(const RunDescription& run) {
  return {run.id(),
          State(run),
          run.has_start_timestamp_ns()
              ? FormatUtc("%Y-%m-%d %H:%M:%S", run.start_timestamp_ns())
              : "-",
          Took(run),
          Size(run),
          run.client().empty() ? "-" : base::PrintableLine(run.client()),
          run.label().empty() ? "-" : base::PrintableLine(run.label()),
          DescribeTests(run)};
}

base::Json ToJson(const RunDescription& run) {
  base::Json json;
  json["id"] = run.id();
  json["state"] = StateName(run);
  if (run.has_queue_position()) json["queue_position"] = run.queue_position();
  json["label"] = run.label();
  json["client"] = run.client();
  json["test_names"] = run.test_names();
  if (run.has_current_test_index()) {
    json["current_test_index"] = run.current_test_index();
  }
  const auto add_time = [&json](const char* name, bool is_known, int64_t ns) {
    if (is_known) json[name] = FormatUtc("%Y-%m-%dT%H:%M:%E9SZ", ns);
  };
  add_time("submit_time", run.has_submit_timestamp_ns(),
           run.submit_timestamp_ns());
  add_time("start_time", run.has_start_timestamp_ns(),
           run.start_timestamp_ns());
  add_time("end_time", run.has_end_timestamp_ns(), run.end_timestamp_ns());
  if (run.has_message()) json["message"] = run.message();
  if (run.has_result_bytes()) json["result_bytes"] = run.result_bytes();
  if (run.is_step()) json["is_step"] = true;
  if (run.is_invalid()) json["is_invalid"] = true;
  return json;
}

}  // namespace

std::string RunTable(const std::vector<RunDescription>& runs) {
  std::vector<base::TextRow> rows = {{"RUN", "STATE", "STARTED (UTC)", "TOOK",
                                      "RESULT", "CLIENT", "LABEL", "TESTS"}};
  for (const RunDescription& run : runs) rows.push_back(RunRow(run));
  const std::vector<std::string> lines = base::AlignedLines(rows, "llllllll");
  std::string table = absl::StrCat(lines.front(), "\n");
  for (size_t i = 0; i < runs.size(); ++i) {
    absl::StrAppend(&table, lines[i + 1], "\n");
    if (runs[i].message().empty()) continue;
    absl::StrAppend(&table, "  ", base::PrintableLine(runs[i].message()), "\n");
  }
  return table;
}

std::string RunsJson(const std::vector<RunDescription>& runs) {
  base::Json json;
  json["runs"] = base::Json::array();
  for (const RunDescription& run : runs) json["runs"].push_back(ToJson(run));
  return base::DumpJson(json, 2) + "\n";
}

std::string DescribeTests(const RunDescription& run) {
  std::string text;
  const int shown = std::min(run.test_names_size(), kShownTests);
  for (int i = 0; i < shown; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ",
                    base::PrintableLine(run.test_names(i)));
  }
  if (run.test_names_size() > shown) {
    absl::StrAppend(&text, " and ", run.test_names_size() - shown, " more");
  }
  return text;
}

}  // namespace distbench::cli
