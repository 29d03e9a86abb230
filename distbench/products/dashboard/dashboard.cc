// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/dashboard.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/digest.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hosts.h"
#include "distbench/base/json.h"
#include "distbench/base/threads.h"
#include "distbench/base/version.h"
#include "distbench/products/dashboard/page/page_files.h"
#include "distbench/products/dashboard/report_pages.h"
#include "distbench/products/history/notes.h"
#include "distbench/security/tls_session.h"
#include "glog/logging.h"

namespace distbench::dashboard {
namespace {

namespace fs = std::filesystem;
using SortedJson = nlohmann::json;

constexpr char kAttribute[] = "attribute";
constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kPolicyHeader[] = "Content-Security-Policy";

// How soon a page that has lost its stream tries again.
constexpr char kStreamBegin[] = "retry: 2000\n\n";

constexpr char kNoHistory[] =
    "no results are kept; start the sequencer with --results_dir";

constexpr char kAssets[] = "/assets/";
constexpr char kResults[] = "/results/";

absl::Status NothingThere() {
  return absl::NotFoundError(
      "there is no such page or request; begin at /, or see "
      "docs/products/dashboard.md for what there is");
}

absl::Status NotLive() {
  return absl::NotFoundError(
      "this dashboard shows a folder of results, nothing live; distbench "
      "test_sequencer --dashboard_port does");
}

// ---- Responses --------------------------------------------------------------

int HttpStatusOf(const absl::Status& error, bool is_post) {
  switch (error.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      // What could not be stored is no fault of the request.
      return is_post ? 507 : 413;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

HttpResponse Json(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

// An answer of the index, or why there is none.
template <typename Answer>
absl::StatusOr<HttpResponse> JsonOf(const absl::StatusOr<Answer>& answer) {
  if (!answer.ok()) return answer.status();
  return Json(history::ToJson(*answer));
}

// Of a change.
absl::StatusOr<HttpResponse> OutcomeOf(const absl::Status& status) {
  if (!status.ok()) return status;
  return Json("{\"ok\":true}\n");
}

// A self-contained page.
absl::StatusOr<HttpResponse> PageOf(absl::StatusOr<std::string> page,
                                    const std::string& policy) {
  if (!page.ok()) return page.status();
  HttpResponse response = Json(*std::move(page));
  response.content_type = kHtml;
  response.headers.emplace_back(kPolicyHeader, policy);
  return response;
}

// A file of the page. "index.html" is the page itself; it loads the others, and
// contains no scripts or styles of its own, so that the policy can forbid them.
absl::StatusOr<HttpResponse> PageFile(absl::string_view name) {
  struct File {
    absl::string_view name;
    const char* content_type;
    absl::string_view bytes;
  };
  static const File kFiles[] = {
      {"index.html", kHtml, kIndexHtml},
      {"dashboard.css", "text/css; charset=utf-8", kDashboardCss},
      {"dashboard.js", "text/javascript; charset=utf-8", kDashboardJs},
      {"library.js", "text/javascript; charset=utf-8", kLibraryJs},
  };
  for (const File& file : kFiles) {
    if (file.name != name) continue;
    HttpResponse response = Json(std::string(file.bytes));
    response.content_type = file.content_type;
    response.headers.emplace_back(kPolicyHeader, kOwnFilesPolicy);
    return response;
  }
  return NothingThere();
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

// ---- Parameters -------------------------------------------------------------

// Reads a parameter, if there is one.
absl::Status ReadNumber(const Target& target, const std::string& name,
                        int64_t least, int64_t greatest, absl::string_view what,
                        std::optional<int64_t>& number) {
  const std::string text = target.Parameter(name);
  if (text.empty()) return absl::OkStatus();
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= least && value <= greatest) {
    number = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is \"", text, "\"; it must be ", what));
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

// The parameters of requests, by path; others may have any, which mean nothing.
const std::map<std::string, std::vector<absl::string_view>>& Parameters() {
  static const auto* const parameters =
      new std::map<std::string, std::vector<absl::string_view>>{
          {"/compare", {"base", "new"}},
          {"/api/results",
           {"search", "test", "label", kAttribute, "host", "after", "before",
            "limit", "cursor"}},
          {"/api/filters", {}},
          {"/api/problems", {}},
          {"/api/series", {"test", "rpc"}},
          {"/api/trend", {"series"}}};
  return *parameters;
}

// INVALID_ARGUMENT if the target has other parameters than it may, or one of
// them several times, unless it is "attribute".
absl::Status CheckParameters(const Target& target) {
  const auto found = Parameters().find(target.path);
  if (found == Parameters().end()) return absl::OkStatus();
  const std::vector<absl::string_view>& known = found->second;
  for (const auto& [name, value] : target.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no parameter \"", name, "\"; ",
          known.empty()
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

}  // namespace

absl::StatusOr<history::ResultQuery> ReadResultQuery(const Target& target) {
  history::ResultQuery query;
  query.search = target.Parameter("search");
  query.test = target.Parameter("test");
  query.label = target.Parameter("label");
  query.host = target.Parameter("host");
  query.cursor = target.Parameter("cursor");
  constexpr char kTime[] = "a time in Unix milliseconds";
  using Limits = std::numeric_limits<int64_t>;
  absl::Status status = ReadNumber(target, "after", Limits::min(),
                                   Limits::max(), kTime, query.after_ms);
  status.Update(ReadNumber(target, "before", Limits::min(), Limits::max(),
                           kTime, query.before_ms));
  std::optional<int64_t> limit = query.limit;
  status.Update(ReadNumber(target, "limit", 1, history::kMaxPageSize,
                           absl::StrCat("1 to ", history::kMaxPageSize),
                           limit));
  query.limit = static_cast<int>(*limit);
  status.Update(ReadAttributes(target, query));
  if (!status.ok()) return status;
  return query;
}

// ---- Which request is answered how ------------------------------------------

// A request, and what its target says.
struct Dashboard::Call {
  const HttpRequest& request;
  Target target;

  // A member of a POST's object; INVALID_ARGUMENT if it is missing or of
  // another type.
  absl::StatusOr<SortedJson> Member(const char* name,
                                    SortedJson::value_t type) const {
    const SortedJson object = SortedJson::parse(request.body, /*cb=*/nullptr,
                                                /*allow_exceptions=*/false);
    if (object.is_object() && object.contains(name) &&
        object[name].type() == type) {
      return object[name];
    }
    const bool is_text = type == SortedJson::value_t::string;
    return absl::InvalidArgumentError(
        absl::StrCat("the request must be a JSON object with \"", name,
                     "\", which is ", is_text ? "a text" : "true or false"));
  }
};

// What does not need the index must not wait for its queries.
HttpLane Dashboard::LaneOf(const HttpRequest& request) const {
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

HttpResponse Dashboard::Answer(const HttpRequest& request) {
  if (std::optional<HttpResponse> refusal = guard_.Refuse(request)) {
    return *std::move(refusal);
  }
  Response response = AnswerAllowed(request);
  if (response.ok()) return *std::move(response);
  const absl::Status& error = response.status();
  return ErrorResponse(HttpStatusOf(error, request.method == "POST"),
                       error.message());
}

Dashboard::Response Dashboard::AnswerAllowed(const HttpRequest& request) {
  absl::StatusOr<Target> target = SplitTarget(request.target);
  if (!target.ok()) return target.status();
  if (keeper_.has_value()) keeper_->OnRequest();
  const Call call = {request, *std::move(target)};
  return request.method == "POST" ? AnswerPost(call) : AnswerGet(call);
}

Dashboard::Response Dashboard::AnswerGet(const Call& call) {
  absl::Status status = CheckParameters(call.target);
  if (!status.ok()) return status;
  const absl::string_view path = call.target.path;
  if (path == "/") return PageFile("index.html");
  if (absl::StartsWith(path, kAssets)) {
    return PageFile(absl::StripPrefix(path, kAssets));
  }
  if (absl::StartsWith(path, kResults)) return Report(call);
  if (path == "/compare") return Compare(call);
  if (path == "/api/session") return Session(call);
  if (path == "/api/status" || path == "/api/live") return Live(call);
  if (path == "/api/results") {
    const auto query = ReadResultQuery(call.target);
    if (!query.ok()) return query.status();
    return JsonOf(index_->List(*query));
  }
  if (path == "/api/filters") return Json(history::ToJson(index_->Filters()));
  if (path == "/api/problems") return Problems();
  if (path == "/api/series") {
    return Json(history::ToJson(index_->ListSeries(
        call.target.Parameter("test"), call.target.Parameter("rpc"))));
  }
  if (path == "/api/trend") return Trend(call);
  return NothingThere();
}

Dashboard::Response Dashboard::AnswerPost(const Call& call) {
  const absl::string_view path = call.target.path;
  if (path == "/api/cancel") return Cancel(call);
  if (path == "/api/notes" || path == "/api/accepted") return Annotate(call);
  return NothingThere();
}

// ---- What is live -----------------------------------------------------------

Dashboard::Response Dashboard::Session(const Call& call) const {
  const bool has_history = results_ != nullptr;
  const std::string why_not = guard_.WhyNotWrite(call.request);
  return Json(base::DumpJson(SortedJson{
      {"version", std::string(base::ProgramVersion())},
      {"source", feed_.has_value() ? "sequencer" : "directory"},
      {"name", feed_.has_value() ? options_.live_name : options_.results_dir},
      {"live", feed_.has_value()},
      {"may_write", why_not.empty()},
      {"why_not_write", why_not},
      {"history", has_history},
      {"why_no_history", has_history ? "" : kNoHistory},
  }));
}

Dashboard::Response Dashboard::Live(const Call& call) {
  if (!feed_.has_value()) return NotLive();
  if (call.target.path == "/api/status") return Json(feed_->Json());
  HttpResponse response = Json(kStreamBegin);
  response.content_type = "text/event-stream";
  response.newest_events = [this] { return feed_->NewestEvents(); };
  return response;
}

Dashboard::Response Dashboard::Cancel(const Call& call) {
  if (!feed_.has_value()) return NotLive();
  const auto run = call.Member("run", SortedJson::value_t::string);
  if (!run.ok()) return run.status();
  const std::vector<std::string>& names = call.request.caller_names;
  return OutcomeOf(options_.live->Cancel(
      run->get<std::string>(),
      names.empty() ? "a user of the dashboard" : names.front()));
}

// ---- The results ------------------------------------------------------------

Dashboard::Response Dashboard::Problems() {
  history::FileProblems all;
  const std::string problem = keeper_.has_value() ? keeper_->Problem() : "";
  if (!problem.empty()) {
    history::FileProblem& folder = *all.add_files();
    folder.set_file(".");
    folder.set_problem(problem);
  }
  all.MergeFrom(index_->Problems());
  return Json(history::ToJson(all));
}

Dashboard::Response Dashboard::Trend(const Call& call) {
  int64_t id = 0;
  if (!absl::SimpleAtoi(call.target.Parameter("series"), &id)) {
    return absl::InvalidArgumentError(
        "series must be the id of one of /api/series");
  }
  return JsonOf(index_->TrendOf(id));
}

Dashboard::Response Dashboard::Annotate(const Call& call) {
  if (results_ == nullptr) return absl::FailedPreconditionError(kNoHistory);
  const auto result = call.Member("result", SortedJson::value_t::string);
  if (!result.ok()) return result.status();
  const auto id = result->get<std::string>();
  if (call.target.path == "/api/notes") {
    const auto note = call.Member("note", SortedJson::value_t::string);
    if (!note.ok()) return note.status();
    return OutcomeOf(index_->SetNote(id, note->get<std::string>()));
  }
  const auto accepted = call.Member("accepted", SortedJson::value_t::boolean);
  if (!accepted.ok()) return accepted.status();
  return OutcomeOf(index_->SetAccepted(id, accepted->get<bool>()));
}

absl::StatusOr<history::IndexedResult> Dashboard::Find(
    absl::string_view id) const {
  if (results_ == nullptr) return absl::NotFoundError(kNoHistory);
  return index_->Find(std::string(id));
}

// The id is looked up in the index, which knows the file: nothing of a request
// becomes a path.
Dashboard::Response Dashboard::Report(const Call& call) const {
  absl::string_view id = absl::StripPrefix(call.target.path, kResults);
  const bool wants_file = absl::ConsumeSuffix(&id, "/file");
  const bool wants_json = !wants_file && absl::ConsumeSuffix(&id, ".json");
  const auto result = Find(id);
  if (!result.ok()) return result.status();
  if (!wants_file && !wants_json) {
    return PageOf(ReportPage(*result, *results_), ReportPolicy());
  }
  absl::StatusOr<std::string> body = wants_json
                                         ? ReportJson(*result, *results_)
                                         : ReportFile(*result, *results_);
  if (!body.ok()) return body.status();
  HttpResponse response = Json(*std::move(body));
  if (wants_file) {
    response.content_type = "application/octet-stream";
    response.headers.emplace_back(
        "Content-Disposition",
        absl::StrCat("attachment; filename=\"", SafeFileName(result->file()),
                     "\""));
  }
  return response;
}

Dashboard::Response Dashboard::Compare(const Call& call) const {
  const auto base = Find(call.target.Parameter("base"));
  if (!base.ok()) return base.status();
  const auto next = Find(call.target.Parameter("new"));
  if (!next.ok()) return next.status();
  return PageOf(ComparisonPage(*base, *next, *results_), ComparisonPolicy());
}

// ---- Beginning --------------------------------------------------------------

namespace {

std::vector<std::string> HostNames(const DashboardOptions& options) {
  std::vector<std::string> names = options.host_names;
  names.push_back(base::Hostname());
  names.push_back(options.listen_address);
  return names;
}

// Returns the path of the folder's index in the user's cache folder, which is
// made; empty if there can be none.
std::string DefaultIndexPath(const std::string& results_dir) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (cache != nullptr && cache[0] == '/') {
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = fs::path(home) / ".cache";
  } else {
    return "";
  }
  folder /= "distbench";
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path results = fs::canonical(results_dir, error);
  if (error || access(folder.c_str(), W_OK) != 0) return "";
  return folder /
         absl::StrCat("history-",
                      absl::BytesToHexString(base::Sha256(results.string())),
                      ".db");
}

absl::StatusOr<std::unique_ptr<history::HistoryIndex>> OpenIndex(
    const DashboardOptions& options) {
  history::HistoryOptions history;
  if (options.results_dir.empty()) return history::HistoryIndex::Open(history);
  history.notes_path = fs::path(options.results_dir) / history::kNotesFile;
  const bool is_chosen = !options.index_path.empty();
  history.index_path =
      is_chosen ? options.index_path : DefaultIndexPath(options.results_dir);
  auto index = history::HistoryIndex::Open(history);
  if (index.ok() || is_chosen) return index;
  LOG(WARNING) << "the index of results is kept in memory: "
               << index.status().message();
  history.index_path.clear();
  return history::HistoryIndex::Open(history);
}

}  // namespace

Dashboard::Dashboard(DashboardOptions options)
    : options_(std::move(options)),
      guard_(HostNames(options_), options_.tls, options_.access) {
  if (options_.live != nullptr) feed_.emplace(*options_.live);
}

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Start(
    DashboardOptions options) {
  std::unique_ptr<Dashboard> dashboard(new Dashboard(std::move(options)));
  try {
    absl::Status status = dashboard->OpenResults();
    if (status.ok()) status = dashboard->Listen();
    if (!status.ok()) return status;
    return dashboard;
  } catch (const std::system_error& error) {
    return base::NoThreadError("the dashboard", error);
  }
}

absl::Status Dashboard::OpenResults() {
  if (!options_.results_dir.empty()) {
    auto results = history::OpenResultFolder(options_.results_dir);
    if (!results.ok()) return results.status();
    results_ = *std::move(results);
  }
  auto index = OpenIndex(options_);
  if (!index.ok()) return index.status();
  index_ = *std::move(index);
  if (results_ == nullptr) return absl::OkStatus();
  IndexKeeper::Options keeping;
  if (options_.live != nullptr) {
    keeping.is_busy = [live = options_.live] { return live->IsBusy(); };
  }
  keeper_.emplace(*index_, *results_, std::move(keeping));
  return absl::OkStatus();
}

absl::Status Dashboard::Listen() {
  HttpServerOptions http;
  http.listen_address = options_.listen_address;
  http.port = options_.port;
  if (!options_.tls.empty()) {
    auto tls =
        security::TlsContext::Make(options_.tls, security::TlsRole::kSequencer);
    if (!tls.ok()) return tls.status();
    http.tls = *std::move(tls);
  }
  auto server = HttpServer::Start(std::move(http), *this);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

std::string Dashboard::Url() const {
  const bool has_tls = !options_.tls.empty();
  // Certificates have the machine's name rather than an address.
  const std::string host = options_.listen_address.empty() ? base::Hostname()
                           : options_.listen_address == "localhost" && !has_tls
                               ? "127.0.0.1"
                               : options_.listen_address;
  return absl::StrCat(has_tls ? "https://" : "http://",
                      base::JoinHostPort(host, server_->port()), "/",
                      guard_.token().empty() ? "" : "#token=", guard_.token());
}

}  // namespace distbench::dashboard
