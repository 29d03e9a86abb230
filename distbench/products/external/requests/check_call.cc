#include "distbench/products/external/requests/check_call.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "distbench/products/external/requests/descriptors.h"
#include "distbench/products/external/requests/message_source.h"

namespace distbench::external {
namespace {

// Requests that are tried, and their text together: enough for most files of
// rows, in milliseconds.
constexpr int64_t kMaxTried = 1000;
constexpr int64_t kMaxTriedBytes = int64_t{16} << 20;

// Returns how many requests to try, at least one.
int64_t CountToTry(const ExternalCall& call, const CallTemplates& templates) {
  const auto rows = static_cast<int64_t>(call.rows.size());
  const int64_t bytes = templates.request.MostBytes(call.rows) + 1;
  return std::clamp<int64_t>(kMaxTriedBytes / bytes, 1,
                             std::min(rows + 1, kMaxTried));
}

}  // namespace

absl::Status CheckExternalCall(const ExternalCall& call) {
  if (const auto path = ParseMethodPath(call.method); !path.ok()) {
    return absl::Status(path.status().code(),
                        absl::StrCat("method: ", path.status().message()));
  }
  const auto templates = ParseTemplates(call);
  if (!templates.ok() || call.descriptors.empty()) return templates.status();
  auto descriptors = ParseDescriptors(call);
  if (!descriptors.ok()) return descriptors.status();
  std::atomic<int64_t> number = 0;
  const auto source =
      MessageSource::Make(call, *std::move(descriptors),
                          {.next_number = &number, .errors_show_rows = true});
  if (!source.ok()) return source.status();
  EncodedRequest request;
  const int64_t count =
      (*source)->is_constant() ? 1 : CountToTry(call, *templates);
  for (int64_t i = 0; i < count; ++i) {
    absl::Status made = (*source)->Next(request);
    if (!made.ok()) return made;
  }
  return absl::OkStatus();
}

}  // namespace distbench::external
