// Answers the requests of the dashboard's page; docs/products/dashboard.md
// lists them.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_HANDLER_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_HANDLER_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/dashboard/access.h"
#include "distbench/products/dashboard/http/http_message.h"
#include "distbench/products/dashboard/http/http_server.h"
#include "distbench/products/dashboard/index_keeper.h"
#include "distbench/products/dashboard/live_feed.h"
#include "distbench/products/dashboard/page/assets.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/history_index.h"
#include "distbench/products/history/result_source.h"

namespace distbench::dashboard {

// What is shown. All pointers must outlive the handler.
struct DashboardContents {
  // The folder, or the sequencer's address.
  std::string name;
  absl::Span<const Asset> assets;

  // Null all together: there are no results.
  history::HistoryIndex* index = nullptr;
  const history::ResultSource* results = nullptr;
  IndexKeeper* keeper = nullptr;

  // Why there are no results.
  std::string why_no_history;

  // Null both: nothing is live.
  LiveSource* live = nullptr;
  LiveFeed* feed = nullptr;
};

class DashboardHandler final : public HttpHandler {
 public:
  DashboardHandler(DashboardContents contents, AccessOptions access)
      : contents_(std::move(contents)), guard_(std::move(access)) {}

  // HttpHandler:
  HttpLane LaneOf(const HttpRequest& request) const override;
  HttpResponse Answer(const HttpRequest& request) override;

 private:
  using Body = absl::StatusOr<std::string>;

  HttpResponse AnswerGet(const HttpRequest& request, const Target& target);
  HttpResponse AnswerPost(const HttpRequest& request, const Target& target);
  HttpResponse AnswerResult(const Target& target) const;
  HttpResponse AnswerAsset(const std::string& name) const;
  HttpResponse AnswerLive();

  std::string Session(const HttpRequest& request) const;
  Body History(const Target& target);
  Body Problems();
  Body Compare(const Target& target) const;
  absl::StatusOr<history::IndexedResult> FindResult(
      const std::string& id) const;

  const DashboardContents contents_;
  const AccessGuard guard_;
};

// INVALID_ARGUMENT if the target has other parameters than these, or one of
// them several times, unless it is "attribute".
absl::Status CheckParameters(const Target& target,
                             std::initializer_list<absl::string_view> known);

// The value of a parameter; empty if there is none.
std::string ParameterOf(const Target& target, const std::string& name);

// Reads the parameters of /api/results (docs/products/dashboard.md).
// INVALID_ARGUMENT names the parameter that is wrong.
absl::StatusOr<history::ResultQuery> ReadResultQuery(const Target& target);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_HANDLER_H_
