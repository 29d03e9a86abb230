#include "distbench/products/dashboard/dashboard_handler.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
#include "distbench/base/version.h"
#include "distbench/products/dashboard/report_pages.h"
#include "distbench/products/history/history_answers.h"

namespace distbench::dashboard {
namespace {

using SortedJson = nlohmann::json;

constexpr char kPolicyHeader[] = "Content-Security-Policy";
constexpr char kHtml[] = "text/html; charset=utf-8";

// How soon a page that has lost its stream tries again.
constexpr char kStreamBegin[] = "retry: 2000\n\n";

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 413;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

HttpResponse ToResponse(const absl::Status& error) {
  return ErrorResponse(HttpStatusOf(error), std::string(error.message()));
}

HttpResponse JsonResponse(absl::StatusOr<std::string> body) {
  if (!body.ok()) return ToResponse(body.status());
  HttpResponse response;
  response.body = *std::move(body);
  return response;
}

// A self-contained page.
HttpResponse PageResponse(absl::StatusOr<std::string> page,
                          const std::string& policy) {
  if (!page.ok()) return ToResponse(page.status());
  HttpResponse response;
  response.content_type = kHtml;
  response.headers.emplace_back(kPolicyHeader, policy);
  response.body = *std::move(page);
  return response;
}

// Names of files may contain anything.
std::string SafeFileName(absl::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  for (char& letter : name) {
    if (!absl::ascii_isalnum(letter) && !absl::StrContains("._-", letter)) {
      letter = '_';
    }
  }
  return name;
}

HttpResponse FileResponse(const std::string& file,
                          absl::StatusOr<std::string> bytes) {
  if (!bytes.ok()) return ToResponse(bytes.status());
  HttpResponse response;
  response.content_type = "application/octet-stream";
  response.headers.emplace_back(
      "Content-Disposition",
      absl::StrCat("attachment; filename=\"", SafeFileName(file), "\""));
  response.body = *std::move(bytes);
  return response;
}

HttpResponse NoSuchPage() {
  return ErrorResponse(404, "there is no such page; begin at /");
}

HttpResponse NotLive() {
  return ErrorResponse(404,
                       "this dashboard shows a folder of results, nothing "
                       "live; distbench test_sequencer --dashboard_port does");
}

// A member of a request's object; INVALID_ARGUMENT if it is missing or of
// another type.
template <typename Value>
absl::StatusOr<Value> Member(const SortedJson& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  const bool is_right =
      object.is_object() && found != object.end() &&
      (std::is_same_v<Value, bool> ? found->is_boolean() : found->is_string());
  if (is_right) return found->get<Value>();
  return absl::InvalidArgumentError(absl::StrCat(
      "the request must be a JSON object with \"", name, "\", which is ",
      std::is_same_v<Value, bool> ? "true or false" : "a text"));
}

}  // namespace

// What does not need the index must not wait for its queries.
HttpLane DashboardHandler::LaneOf(const HttpRequest& request) const {
  const auto begins = [&](const char* path) {
    return absl::StartsWith(request.target, path);
  };
  if (begins("/results/") || begins("/compare") || begins("/api/trend")) {
    return HttpLane::kSlow;
  }
  const bool is_live = begins("/api/status") || begins("/api/live") ||
                       begins("/api/session") || begins("/api/cancel");
  return is_live || !begins("/api/") ? HttpLane::kInstant : HttpLane::kOrdinary;
}

HttpResponse DashboardHandler::Answer(const HttpRequest& request) {
  if (std::optional<HttpResponse> refusal = guard_.Refuse(request)) {
    return *std::move(refusal);
  }
  const absl::StatusOr<Target> target = SplitTarget(request.target);
  if (!target.ok()) return ToResponse(target.status());
  if (contents_.keeper != nullptr) contents_.keeper->OnRequest();
  return request.method == "POST" ? AnswerPost(request, *target)
                                  : AnswerGet(request, *target);
}

// ---- Reading ----------------------------------------------------------------

HttpResponse DashboardHandler::AnswerGet(const HttpRequest& request,
                                         const Target& target) {
  const std::string& path = target.path;
  if (path == "/") return AnswerAsset("index.html");
  if (absl::StartsWith(path, "/assets/")) {
    return AnswerAsset(std::string(absl::StripPrefix(path, "/assets/")));
  }
  if (absl::StartsWith(path, "/results/")) return AnswerResult(target);
  if (path == "/compare") {
    return PageResponse(Compare(target), ComparisonPolicy());
  }
  if (path == "/api/session") return JsonResponse(Session(request));
  if (path == "/api/status" || path == "/api/live") {
    if (contents_.live == nullptr) return NotLive();
    if (path == "/api/status") return JsonResponse(contents_.feed->Json());
    return request.method == "GET" ? AnswerLive() : HttpResponse();
  }
  if (absl::StartsWith(path, "/api/")) return JsonResponse(History(target));
  return NoSuchPage();
}

HttpResponse DashboardHandler::AnswerAsset(const std::string& name) const {
  for (const Asset& asset : contents_.assets) {
    if (asset.name != name) continue;
    HttpResponse response;
    response.content_type = std::string(asset.content_type);
    response.headers.emplace_back(kPolicyHeader, kOwnFilesPolicy);
    response.body = std::string(asset.bytes);
    return response;
  }
  return NoSuchPage();
}

HttpResponse DashboardHandler::AnswerLive() {
  contents_.feed->OnFollower();
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.body = kStreamBegin;
  response.is_event_stream = true;
  return response;
}

std::string DashboardHandler::Session(const HttpRequest& request) const {
  const std::string why_not = guard_.WhyNotWrite(request);
  const SortedJson session = {
      {"version", std::string(base::ProgramVersion())},
      {"source", contents_.live == nullptr ? "directory" : "sequencer"},
      {"name", contents_.name},
      {"live", contents_.live != nullptr},
      {"may_write", why_not.empty()},
      {"why_not_write", why_not},
      {"history", contents_.index != nullptr},
      {"why_no_history", contents_.why_no_history},
  };
  return base::DumpJson(session);
}

DashboardHandler::Body DashboardHandler::Problems() {
  history::FileProblems all;
  if (contents_.keeper != nullptr) {
    const std::string problem = contents_.keeper->Problem();
    if (!problem.empty()) {
      history::FileProblem& folder = *all.add_files();
      folder.set_file(".");
      folder.set_problem(problem);
    }
  }
  if (contents_.index != nullptr) all.MergeFrom(contents_.index->Problems());
  return history::ToJson(all);
}

DashboardHandler::Body DashboardHandler::History(const Target& target) {
  history::HistoryIndex* const index = contents_.index;
  absl::Status status;
  if (target.path == "/api/results") {
    const absl::StatusOr<history::ResultQuery> query = ReadResultQuery(target);
    if (!query.ok()) return query.status();
    if (index == nullptr) return history::ToJson(history::ResultPage());
    const absl::StatusOr<history::ResultPage> page = index->List(*query);
    return page.ok() ? Body(history::ToJson(*page)) : page.status();
  }
  if (target.path == "/api/filters") {
    if (!(status = CheckParameters(target, {})).ok()) return status;
    if (index == nullptr) return history::ToJson(history::FilterValues());
    return history::ToJson(index->Filters());
  }
  if (target.path == "/api/problems") {
    status = CheckParameters(target, {});
    return status.ok() ? Problems() : Body(status);
  }
  if (target.path == "/api/series") {
    if (!(status = CheckParameters(target, {"test", "rpc"})).ok())
      return status;
    if (index == nullptr) return history::ToJson(history::SeriesList());
    return history::ToJson(index->ListSeries(ParameterOf(target, "test"),
                                             ParameterOf(target, "rpc")));
  }
  if (target.path == "/api/trend") {
    if (!(status = CheckParameters(target, {"series"})).ok()) return status;
    int64_t id = 0;
    if (index == nullptr ||
        !absl::SimpleAtoi(ParameterOf(target, "series"), &id)) {
      return absl::InvalidArgumentError(
          "series must be the id of one of /api/series");
    }
    const absl::StatusOr<history::Trend> trend = index->TrendOf(id);
    return trend.ok() ? Body(history::ToJson(*trend)) : trend.status();
  }
  return absl::NotFoundError(
      "there is no such request; docs/products/dashboard.md lists them");
}

absl::StatusOr<history::IndexedResult> DashboardHandler::FindResult(
    const std::string& id) const {
  if (contents_.index == nullptr) {
    return absl::NotFoundError(contents_.why_no_history);
  }
  return contents_.index->Find(id);
}

// The id is looked up in the index, which knows the file: nothing of a request
// becomes a path.
HttpResponse DashboardHandler::AnswerResult(const Target& target) const {
  absl::string_view id = target.path;
  absl::ConsumePrefix(&id, "/results/");
  const bool wants_file = absl::ConsumeSuffix(&id, "/file");
  const bool wants_json = !wants_file && absl::ConsumeSuffix(&id, ".json");
  const absl::StatusOr<history::IndexedResult> result =
      FindResult(std::string(id));
  if (!result.ok()) return ToResponse(result.status());
  const history::ResultSource& source = *contents_.results;
  if (wants_file) {
    return FileResponse(result->file(), ReportFile(*result, source));
  }
  return wants_json ? JsonResponse(ReportJson(*result, source))
                    : PageResponse(ReportPage(*result, source), ReportPolicy());
}

DashboardHandler::Body DashboardHandler::Compare(const Target& target) const {
  const absl::Status status = CheckParameters(target, {"base", "new"});
  if (!status.ok()) return status;
  const auto base = FindResult(ParameterOf(target, "base"));
  if (!base.ok()) return base.status();
  const auto next = FindResult(ParameterOf(target, "new"));
  if (!next.ok()) return next.status();
  return ComparisonPage(*base, *next, *contents_.results);
}

// ---- Changing ---------------------------------------------------------------

HttpResponse DashboardHandler::AnswerPost(const HttpRequest& request,
                                          const Target& target) {
  const SortedJson object = SortedJson::parse(request.body, /*cb=*/nullptr,
                                              /*allow_exceptions=*/false);
  absl::Status status;
  if (target.path == "/api/cancel") {
    if (contents_.live == nullptr) return NotLive();
    const auto run = Member<std::string>(object, "run");
    status = run.ok() ? contents_.live->Cancel(
                            *run, request.caller_names.empty()
                                      ? "a user of the dashboard"
                                      : request.caller_names.front())
                      : run.status();
  } else if (target.path == "/api/notes" || target.path == "/api/accepted") {
    if (contents_.index == nullptr) {
      return ErrorResponse(409, contents_.why_no_history);
    }
    const auto result = Member<std::string>(object, "result");
    if (!result.ok()) return ToResponse(result.status());
    if (target.path == "/api/notes") {
      const auto note = Member<std::string>(object, "note");
      status =
          note.ok() ? contents_.index->SetNote(*result, *note) : note.status();
    } else {
      const auto accepted = Member<bool>(object, "accepted");
      status = accepted.ok() ? contents_.index->SetAccepted(*result, *accepted)
                             : accepted.status();
    }
  } else {
    return ErrorResponse(404, "nothing can be changed here");
  }
  if (status.ok()) return JsonResponse(std::string("{\"ok\":true}\n"));
  // What could not be stored is no fault of the request.
  return absl::IsResourceExhausted(status)
             ? ErrorResponse(507, std::string(status.message()))
             : ToResponse(status);
}

namespace {

constexpr char kAttribute[] = "attribute";

absl::Status ReadTime(const Target& target, const std::string& name,
                      std::optional<int64_t>& time_ms) {
  const std::string text = ParameterOf(target, name);
  if (text.empty()) return absl::OkStatus();
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is \"", text, "\"; it must be a time in Unix milliseconds"));
  }
  time_ms = value;
  return absl::OkStatus();
}

absl::Status ReadLimit(const Target& target, int& limit) {
  const std::string text = ParameterOf(target, "limit");
  if (text.empty() || (absl::SimpleAtoi(text, &limit) && limit > 0 &&
                       limit <= history::kMaxPageSize)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "limit is \"", text, "\"; it must be 1 to ", history::kMaxPageSize));
}

absl::Status ReadAttributes(const Target& target, history::ResultQuery& query) {
  const auto [begin, end] = target.parameters.equal_range(kAttribute);
  for (auto it = begin; it != end; ++it) {
    const std::pair<std::string, std::string> attribute =
        absl::StrSplit(it->second, absl::MaxSplits('=', 1));
    if (attribute.first.empty() || attribute.second.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute is \"", it->second, "\"; it must be NAME=VALUE"));
    }
    query.attributes.insert(attribute);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckParameters(const Target& target,
                             std::initializer_list<absl::string_view> known) {
  for (const auto& [name, value] : target.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no parameter \"", name, "\"; ",
          known.size() == 0
              ? "there are none"
              : absl::StrCat("there are ", absl::StrJoin(known, ", "))));
    }
    if (name != kAttribute && target.parameters.count(name) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("give \"", name, "\" only once"));
    }
  }
  return absl::OkStatus();
}

std::string ParameterOf(const Target& target, const std::string& name) {
  const auto found = target.parameters.find(name);
  return found == target.parameters.end() ? "" : found->second;
}

absl::StatusOr<history::ResultQuery> ReadResultQuery(const Target& target) {
  history::ResultQuery query;
  absl::Status status =
      CheckParameters(target, {"search", "test", "label", kAttribute, "host",
                               "after", "before", "limit", "cursor"});
  query.search = ParameterOf(target, "search");
  query.test = ParameterOf(target, "test");
  query.label = ParameterOf(target, "label");
  query.host = ParameterOf(target, "host");
  query.cursor = ParameterOf(target, "cursor");
  status.Update(ReadTime(target, "after", query.after_ms));
  status.Update(ReadTime(target, "before", query.before_ms));
  status.Update(ReadLimit(target, query.limit));
  status.Update(ReadAttributes(target, query));
  if (!status.ok()) return status;
  return query;
}

}  // namespace distbench::dashboard
