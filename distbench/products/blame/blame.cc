#include "distbench/products/blame/blame.h"

#include <set>
#include <utility>

#include "distbench/products/blame/sentences.h"

namespace distbench::blame {
namespace {

// Each costs a replay of all requests.
constexpr size_t kMostInstancesTried = 8;
constexpr size_t kMostRpcsTried = 8;

// The instances and RPCs that may be worth making faster: instances to blame,
// those with most of the tail's time, and all RPCs but the request itself.
std::vector<Remedy> RemediesFor(const RequestBlame& blame) {
  std::vector<Remedy> remedies;
  std::set<std::pair<int, int>> known;
  const auto add = [&](int rpc, int instance, size_t most) {
    if (remedies.size() < most && known.insert({rpc, instance}).second) {
      remedies.push_back({rpc, instance});
    }
  };
  for (const Straggler& straggler : blame.stragglers) {
    if (!straggler.is_to_blame) break;
    add(straggler.rpc, straggler.instance, kMostInstancesTried);
  }
  for (const BlameShare& share : blame.shares[kTail].instance_shares) {
    if (share.part == BlamePart::kLateness) continue;
    add(share.rpc, share.instance, kMostInstancesTried);
  }
  const size_t most = remedies.size() + kMostRpcsTried;
  for (const BlameShare& share : blame.shares[kTail].shares) {
    if (share.rpc != 0) add(share.rpc, -1, most);
  }
  return remedies;
}

}  // namespace

RequestBlame BlameFor(TracedRequests requests) {
  RequestBlame blame;
  blame.requests = std::move(requests);
  blame.windows = WindowsOf(blame.requests);
  blame.shares = SharesIn(blame.requests, blame.windows);
  blame.stragglers = FindStragglers(blame.requests, blame.windows[kTail]);
  if (!blame.windows[kTail].trees.empty()) {
    blame.what_ifs = TryRemedies(blame.requests, RemediesFor(blame));
  }
  blame.sentences = SentencesOf(blame);
  return blame;
}

std::optional<TestBlame> FindBlame(const TestResult& result) {
  TracedTest test = CollectRequests(result);
  if (test.requests.empty() && test.rootless_count == 0) return std::nullopt;
  TestBlame blame = {.rootless_count = test.rootless_count,
                     .dropped_sample_count = test.dropped_sample_count};
  for (TracedRequests& requests : test.requests) {
    blame.requests.push_back(BlameFor(std::move(requests)));
  }
  return blame;
}

}  // namespace distbench::blame
