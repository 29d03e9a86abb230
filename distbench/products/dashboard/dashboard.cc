// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/dashboard.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/digest.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hosts.h"
#include "distbench/base/json.h"
#include "distbench/base/threads.h"
#include "distbench/base/version.h"
#include "distbench/cli/exposure.h"
#include "distbench/products/dashboard/access.h"
#include "distbench/products/dashboard/index_keeper.h"
#include "distbench/products/dashboard/live_feed.h"
#include "distbench/products/dashboard/page/page_files.h"
#include "distbench/products/dashboard/report_pages.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/result_source.h"
#include "distbench/report/html/page_files.h"
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

constexpr char kNotLive[] =
    "this dashboard shows a folder of results, nothing live; distbench "
    "test_sequencer --dashboard_port does";

// ---- Responses --------------------------------------------------------------

int HttpStatusOf(const absl::Status& error, bool is_post) {
  static constexpr std::pair<absl::StatusCode, int> kStatuses[] = {
      {absl::StatusCode::kInvalidArgument, 400},
      {absl::StatusCode::kPermissionDenied, 403},
      {absl::StatusCode::kNotFound, 404},
      {absl::StatusCode::kFailedPrecondition, 409},
      {absl::StatusCode::kResourceExhausted, 413},
      {absl::StatusCode::kUnavailable, 503},
  };
  // What could not be stored is no fault of the request.
  if (is_post && absl::IsResourceExhausted(error)) return 507;
  for (const auto& [code, status] : kStatuses) {
    if (code == error.code()) return status;
  }
  return 500;
}

absl::Status NothingThere() {
  return absl::NotFoundError(
      "there is no such page or request; begin at /, or see "
      "docs/products/dashboard.md for what there is");
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

// ---- What requests say ------------------------------------------------------

// Reads a parameter, if there is one.
template <typename Number>
absl::Status ReadNumber(const HttpRequest& request, const std::string& name,
                        absl::string_view what, std::optional<Number>& number) {
  const std::string text = request.Parameter(name);
  if (text.empty() || absl::SimpleAtoi(text, &number.emplace())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is \"", text, "\"; it must be ", what));
}

// What a POST says; Member() knows if that is no object.
SortedJson ContentOf(const HttpRequest& request) {
  return SortedJson::parse(request.body, /*cb=*/nullptr,
                           /*allow_exceptions=*/false);
}

// A member of a POST's object; INVALID_ARGUMENT if it is missing or of another
// type.
template <typename Value>
absl::StatusOr<Value> Member(const SortedJson& object, const char* name) {
  constexpr bool kIsText = std::is_same_v<Value, std::string>;
  if (object.is_object() && object.contains(name) &&
      (kIsText ? object[name].is_string() : object[name].is_boolean())) {
    return object[name].get<Value>();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the request must be a JSON object with \"", name,
                   "\", which is ", kIsText ? "a text" : "true or false"));
}

// The parameters of a request; absent: it may have any, which mean nothing.
using Parameters = std::optional<std::vector<absl::string_view>>;

// INVALID_ARGUMENT if the request has others, or one of them several times,
// unless it is "attribute".
absl::Status CheckParameters(const Parameters& known,
                             const HttpRequest& request) {
  if (!known.has_value()) return absl::OkStatus();
  for (const auto& [name, value] : request.parameters) {
    if (std::find(known->begin(), known->end(), name) == known->end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no parameter \"", name, "\"; ",
          known->empty()
              ? "there are none"
              : absl::StrCat("there are ", absl::StrJoin(*known, ", "))));
    }
    if (name != kAttribute && request.parameters.count(name) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("give \"", name, "\" only once"));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> HostNames(const DashboardOptions& options) {
  std::vector<std::string> names = options.host_names;
  names.push_back(base::Hostname());
  names.push_back(options.listen_address);
  return names;
}

// Returns the path of the results' index in the user's cache folder, which is
// made; empty if there can be none.
std::string DefaultIndexPath(const history::ResultFolders& results) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder = cache == nullptr ? "" : cache;
  if (!folder.is_absolute()) {
    folder = fs::path(home == nullptr ? "" : home) / ".cache";
  }
  if (!folder.is_absolute()) return "";
  folder /= "distbench";
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string hash = base::Sha256(results.Identity());
  return folder / absl::StrCat("history-", absl::BytesToHexString(hash), ".db");
}

// Of no results if there are none.
absl::StatusOr<std::unique_ptr<history::HistoryIndex>> OpenIndex(
    const std::string& index_path, const history::ResultFolders* results) {
  history::HistoryOptions history;
  if (results == nullptr) return history::HistoryIndex::Open(history);
  history.notes_paths = results->Notes();
  const bool is_chosen = !index_path.empty();
  history.index_path = is_chosen ? index_path : DefaultIndexPath(*results);
  auto index = history::HistoryIndex::Open(history);
  if (index.ok() || is_chosen) return index;
  LOG(WARNING) << "the index of results is kept in memory: "
               << index.status().message();
  history.index_path.clear();
  return history::HistoryIndex::Open(history);
}

// ---- The dashboard ----------------------------------------------------------

class DashboardOfOptions final : public Dashboard {
 public:
  explicit DashboardOfOptions(DashboardOptions options)
      : options_(std::move(options)),
        guard_(HostNames(options_), options_.tls, options_.access) {
    if (options_.sequencer != nullptr) feed_.emplace(*options_.sequencer);
  }

  absl::Status OpenResults() {
    if (!options_.results_dirs.empty()) {
      auto results = history::OpenResultFolders(options_.results_dirs);
      if (!results.ok()) return results.status();
      results_ = *std::move(results);
    }
    auto index = OpenIndex(options_.index_path, results_.get());
    if (!index.ok()) return index.status();
    index_ = *std::move(index);
    if (results_ == nullptr) return absl::OkStatus();
    IndexKeeper::Options keeping;
    if (options_.sequencer != nullptr) {
      keeping.is_busy = [this] { return options_.sequencer->IsTestRunning(); };
    }
    keeper_.emplace(*index_, *results_, std::move(keeping));
    return absl::OkStatus();
  }

  absl::Status Listen() {
    std::shared_ptr<security::TlsContext> context;
    if (!options_.tls.empty()) {
      auto tls = security::TlsContext::Make(options_.tls,
                                            security::TlsRole::kSequencer);
      if (!tls.ok()) return tls.status();
      context = *std::move(tls);
    }
    auto server = HttpServer::Start(options_.listen_address, options_.port,
                                    std::move(context), *this);
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  std::string Announcement() const override {
    const security::TlsFiles& tls = options_.tls;
    const std::string& listen = options_.listen_address;
    // Certificates have the machine's name rather than an address.
    const std::string host = listen.empty() ? base::Hostname()
                             : listen == "localhost" && tls.empty()
                                 ? "127.0.0.1"
                                 : listen;
    const std::string readers =
        !tls.ca.empty()
            ? absl::StrCat(
                  "TLS: readers of the dashboard need certificates signed by ",
                  tls.ca)
            : absl::StrCat(cli::WhoReaches(listen),
                           " can read what the dashboard shows: ",
                           tls.empty() ? "there is no TLS"
                                       : "TLS encrypts, but without --tls_ca "
                                         "no certificate is required");
    return absl::StrCat("Dashboard at ", tls.empty() ? "http://" : "https://",
                        base::JoinHostPort(host, server_->port()), "/",
                        guard_.token().empty() ? "" : "#token=", guard_.token(),
                        "\n", readers, "\n");
  }

  HttpLane LaneOf(const HttpRequest& request) const override {
    const Route* route = RouteOf(request);
    return route == nullptr ? HttpLane::kInstant : route->lane;
  }

  std::optional<HttpResponse> Refuse(
      const HttpRequest& request) const override {
    return guard_.Refuse(request);
  }

  HttpResponse Answer(const HttpRequest& request) override {
    Response response = AnswerAllowed(request);
    if (response.ok()) return *std::move(response);
    return ErrorResponse(
        HttpStatusOf(response.status(), request.method == "POST"),
        response.status().message());
  }

 private:
  using Response = absl::StatusOr<HttpResponse>;

  struct Route {
    bool is_post;
    absl::string_view path;  // "/results/*": all paths that begin like this
    HttpLane lane;
    Parameters parameters;
    Response (DashboardOfOptions::*answer)(const HttpRequest& request);

    bool Matches(const HttpRequest& request) const {
      absl::string_view begin = path;
      return is_post == (request.method == "POST") &&
             (absl::ConsumeSuffix(&begin, "*")
                  ? absl::StartsWith(request.path, begin)
                  : request.path == path);
    }
  };

  // What does not need the index must not wait for its queries.
  static const Route* RouteOf(const HttpRequest& request) {
    using enum HttpLane;
    using D = DashboardOfOptions;
    const Parameters kAny = std::nullopt;
    const Parameters kNone = std::vector<absl::string_view>();
    static const auto* const routes = new std::vector<Route>{
        {false, "/", kInstant, kAny, &D::PageFile},
        {false, "/assets/*", kInstant, kAny, &D::PageFile},
        {false, "/results/*", kSlow, kAny, &D::Report},
        {false, "/compare", kSlow, {{"base", "new"}}, &D::Compare},
        {false, "/api/session", kInstant, kAny, &D::Session},
        {false, "/api/status", kInstant, kAny, &D::Status},
        {false, "/api/live", kInstant, kAny, &D::Live},
        {false,
         "/api/results",
         kOrdinary,
         {{"search", "test", "label", kAttribute, "host", "after", "before",
           "limit", "cursor"}},
         &D::List},
        {false, "/api/filters", kOrdinary, kNone, &D::Filters},
        {false, "/api/problems", kOrdinary, kNone, &D::Problems},
        {false, "/api/series", kOrdinary, {{"test", "rpc"}}, &D::Series},
        {false, "/api/trend", kSlow, {{"series"}}, &D::Trend},
        {true, "/api/notes", kOrdinary, kAny, &D::Annotate},
        {true, "/api/accepted", kOrdinary, kAny, &D::Annotate},
        {true, "/api/cancel", kInstant, kAny, &D::Cancel}};
    const auto found = std::find_if(
        routes->begin(), routes->end(),
        [&](const Route& route) { return route.Matches(request); });
    return found == routes->end() ? nullptr : &*found;
  }

  Response AnswerAllowed(const HttpRequest& request) {
    const Route* route = RouteOf(request);
    if (route == nullptr) return NothingThere();
    absl::Status status = CheckParameters(route->parameters, request);
    if (!status.ok()) return status;
    if (keeper_.has_value()) keeper_->OnRequest();
    return (this->*route->answer)(request);
  }

  // "/" is the page itself; it loads the other files, and contains no scripts
  // or styles of its own, so that the policy can forbid them.
  Response PageFile(const HttpRequest& request) {
    struct File {
      absl::string_view path;
      const char* content_type;
      absl::string_view bytes;
    };
    static const File kFiles[] = {
        {"/", kHtml, kIndexHtml},
        {"/assets/dashboard.css", "text/css; charset=utf-8", kDashboardCss},
        {"/assets/dashboard.js", "text/javascript; charset=utf-8",
         kDashboardJs},
        {"/assets/library.js", "text/javascript; charset=utf-8",
         report::kLibraryJs},
    };
    for (const File& file : kFiles) {
      if (file.path != request.path) continue;
      HttpResponse response = Json(std::string(file.bytes));
      response.content_type = file.content_type;
      response.headers.emplace_back(kPolicyHeader, kOwnFilesPolicy);
      return response;
    }
    return NothingThere();
  }

  Response Session(const HttpRequest& request) {
    const bool has_history = results_ != nullptr;
    const bool is_live = feed_.has_value();
    const std::string why_not = guard_.WhyNotWrite(request);
    return Json(base::DumpJson(SortedJson{
        {"version", std::string(base::ProgramVersion())},
        {"source", is_live ? "sequencer" : "directory"},
        {"name", is_live ? options_.sequencer_address
                         : absl::StrJoin(options_.results_dirs, ", ")},
        {"folders",
         is_live ? std::vector<std::string>() : options_.results_dirs},
        {"live", is_live},
        {"may_write", why_not.empty()},
        {"why_not_write", why_not},
        {"history", has_history},
        {"why_no_history", has_history ? "" : kNoHistory},
        {"reading", keeper_.has_value() && keeper_->IsReading()},
    }));
  }

  Response Status(const HttpRequest& /*request*/) {
    if (!feed_.has_value()) return absl::NotFoundError(kNotLive);
    return Json(feed_->Json());
  }

  Response Live(const HttpRequest& /*request*/) {
    if (!feed_.has_value()) return absl::NotFoundError(kNotLive);
    HttpResponse response = Json(kStreamBegin);
    response.content_type = "text/event-stream";
    response.newest_events = [this] { return feed_->NewestEvents(); };
    return response;
  }

  Response Cancel(const HttpRequest& request) {
    if (!feed_.has_value()) return absl::NotFoundError(kNotLive);
    const auto run = Member<std::string>(ContentOf(request), "run");
    if (!run.ok()) return run.status();
    const std::vector<std::string>& names = request.caller_names;
    return OutcomeOf(options_.sequencer->CancelRun(
        *run, names.empty() ? "a user of the dashboard" : names.front()));
  }

  Response List(const HttpRequest& request) {
    const auto query = ReadResultQuery(request);
    if (!query.ok()) return query.status();
    return JsonOf(index_->List(*query));
  }

  Response Filters(const HttpRequest& /*request*/) {
    return Json(history::ToJson(index_->Filters()));
  }

  Response Problems(const HttpRequest& /*request*/) {
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

  Response Series(const HttpRequest& request) {
    return Json(history::ToJson(index_->ListSeries(request.Parameter("test"),
                                                   request.Parameter("rpc"))));
  }

  Response Trend(const HttpRequest& request) {
    int64_t id = 0;
    if (!absl::SimpleAtoi(request.Parameter("series"), &id)) {
      return absl::InvalidArgumentError(
          "series must be the id of one of /api/series");
    }
    return JsonOf(index_->TrendOf(id));
  }

  Response Annotate(const HttpRequest& request) {
    if (results_ == nullptr) return absl::FailedPreconditionError(kNoHistory);
    const SortedJson content = ContentOf(request);
    const auto id = Member<std::string>(content, "result");
    if (!id.ok()) return id.status();
    if (request.path == "/api/notes") {
      const auto note = Member<std::string>(content, "note");
      if (!note.ok()) return note.status();
      return OutcomeOf(index_->SetNote(*id, *note));
    }
    const auto accepted = Member<bool>(content, "accepted");
    if (!accepted.ok()) return accepted.status();
    return OutcomeOf(index_->SetAccepted(*id, *accepted));
  }

  absl::StatusOr<history::IndexedResult> Find(absl::string_view id) const {
    if (results_ == nullptr) return absl::NotFoundError(kNoHistory);
    return index_->Find(std::string(id));
  }

  // The id is looked up in the index, which knows the file: nothing of a
  // request becomes a path.
  Response Report(const HttpRequest& request) {
    absl::string_view id = absl::StripPrefix(request.path, "/results/");
    const bool wants_file = absl::ConsumeSuffix(&id, "/file");
    const bool wants_json = !wants_file && absl::ConsumeSuffix(&id, ".json");
    const auto result = Find(id);
    if (!result.ok()) return result.status();
    absl::StatusOr<std::string> body =
        wants_file ? ReportFile(*result, *results_)
                   : MakeReport(*result, *results_, wants_json);
    if (!wants_file && !wants_json) {
      return PageOf(std::move(body), ReportPolicy());
    }
    if (!body.ok()) return body.status();
    HttpResponse response = Json(*std::move(body));
    if (!wants_file) return response;
    response.content_type = "application/octet-stream";
    // Names of files may contain anything.
    std::string name = fs::path(result->file()).filename();
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
          return !absl::ascii_isalnum(c) && !absl::StrContains("._-", c);
        },
        '_');
    response.headers.emplace_back(
        "Content-Disposition",
        absl::StrCat("attachment; filename=\"", name, "\""));
    return response;
  }

  Response Compare(const HttpRequest& request) {
    const auto base = Find(request.Parameter("base"));
    if (!base.ok()) return base.status();
    const auto next = Find(request.Parameter("new"));
    if (!next.ok()) return next.status();
    return PageOf(ComparisonPage(*base, *next, *results_), ComparisonPolicy());
  }

  const DashboardOptions options_;
  const AccessGuard guard_;

  // The index is empty if there are no results: then the others are absent.
  std::unique_ptr<history::HistoryIndex> index_;
  std::unique_ptr<history::ResultFolders> results_;
  std::optional<IndexKeeper> keeper_;

  std::optional<LiveFeed> feed_;  // absent if nothing is live
  std::unique_ptr<HttpServer> server_;
};

}  // namespace

absl::StatusOr<history::ResultQuery> ReadResultQuery(
    const HttpRequest& request) {
  constexpr char kTime[] = "a time in Unix milliseconds";
  history::ResultQuery query;
  query.search = request.Parameter("search");
  query.test = request.Parameter("test");
  query.label = request.Parameter("label");
  query.host = request.Parameter("host");
  query.cursor = request.Parameter("cursor");
  std::optional<int> limit = query.limit;
  absl::Status status = ReadNumber(request, "after", kTime, query.after_ms);
  status.Update(ReadNumber(request, "before", kTime, query.before_ms));
  status.Update(ReadNumber(request, "limit", "a number", limit));
  if (!status.ok()) return status;
  query.limit = *limit;
  const auto [begin, end] = request.parameters.equal_range(kAttribute);
  for (auto it = begin; it != end; ++it) {
    status = history::AddAttribute(it->second, query);
    if (!status.ok()) return status;
  }
  return query;
}

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Start(
    DashboardOptions options) {
  auto dashboard = std::make_unique<DashboardOfOptions>(std::move(options));
  try {
    absl::Status status = dashboard->OpenResults();
    if (status.ok()) status = dashboard->Listen();
    if (!status.ok()) return status;
    return dashboard;
  } catch (const std::system_error& error) {
    return base::NoThreadError("the dashboard", error);
  }
}

}  // namespace distbench::dashboard
