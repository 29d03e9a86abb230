// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Finds the highest load that a system carries within its objectives, by
// running it at one load after another. The search knows nothing about loads
// and objectives: whoever runs a probe reports how far it was from the limit.
//
// The search is a function of its probes. An interrupted search therefore
// continues once its probes have been added again:
//
//   LoadSearch search(options);
//   while (auto request = search.Next()) search.Add(RunProbe(*request));
//   search.result()
//
// A search has these phases:
//
//   warm-up ─▶ bracket ─▶ recovery ─▶ refine ─▶ final ─▶ verdict
//
// Bracket: doubles or halves the load until one load met and one missed; a load
// that is itself less than an objective asks for is doubled, too.
// Recovery: the system must again meet the load that it met before it was
// overloaded. Refine: halves the bracket while it is wide, then goes to where a
// line through nearby probes crosses the limit, with longer probes the nearer
// it gets; loads and measurements are logarithms. Final: a long run slightly
// below the crossing, which must meet; otherwise the load steps down, a few
// times. A final run that met is repeated until its load is proven or the final
// runs have taken long enough.
//
// A stalling host can make a probe miss that should have met, but nothing makes
// a probe meet that should have missed. Therefore, if a load clearly missed
// although a higher or only slightly lower load clearly met, the miss is
// measured again. If the load meets this time, the first measurement is
// overruled and ignored from then on. If it misses again, the system is
// unstable if the other load was higher, and otherwise has a sharp edge there.
//
// If loads are integers, so are the loads of all probes, and a bracket of two
// neighbouring integers is not refined.
//
// A search can also look for the lowest load that meets, as for the weight of a
// control group that protects a service. It then asks for half of the load
// where it would otherwise ask for twice, and so on (LoadScale).

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_SEARCH_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_SEARCH_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/search/strategy/load_scale.h"
#include "distbench/products/search/strategy/probe_history.h"

namespace distbench::search {

// Limits of a load search's settings, in configs and on the command line.
inline constexpr double kMaxSearchLoad = 1e12;
inline constexpr double kMinSearchTolerance = 0.001;
inline constexpr double kMaxSearchTolerance = 0.5;
inline constexpr int kMinSearchProbes = 3;
inline constexpr int kMaxSearchProbes = 1000;

// All loads are positive, in one unit of the caller's choice. No probe has a
// load outside of min_load and max_load. Where loads are whole numbers, there
// must be one between them.
struct SearchOptions {
  double initial_load = 1;
  double min_load = 1e-3;
  double max_load = 1e12;

  // The relative accuracy of the answer: loads that differ by less count as
  // equal. From 0.001 to 0.5.
  double tolerance = 0.02;

  // Loads are integers. The answer is exact if one load met and the next
  // integer missed, however large their relative difference is.
  bool is_whole = false;

  // Look for the lowest load that meets: the higher the load, the easier it is.
  bool finds_lowest = false;

  // The requests per second that a load of 1 asks of a queue; 0 if loads are no
  // rates, or what is limited is no latency. Says how long probes have to last
  // for their errors to be known.
  double queue_rate = 0;

  // All phases together.
  int max_probes = 25;

  // How often the final run may step down, by at least half of the tolerance
  // and at most twice the tolerance each time.
  int max_steps_down = 4;
};

enum class SearchVerdict {
  kConverged,
  kObjectiveUnreachable,
  kGeneratorLimited,
  kUpperBoundHit,
  kUnstable,
  kBudgetExhausted,
};
absl::string_view ToString(SearchVerdict verdict);

struct SearchResult {
  SearchVerdict verdict = SearchVerdict::kBudgetExhausted;

  // The highest (or lowest) load that met the objectives; absent if none did.
  // With kConverged, it was confirmed by the final run.
  std::optional<double> load;

  // The 95 % confidence interval of the highest (or lowest) load that meets the
  // objectives.
  LoadInterval interval;

  // Whether final runs and the interval prove that `load` meets the objectives.
  // Nothing does so near saturation, where queues remember for longer than
  // probes last.
  bool is_proven = false;

  // The evidence for the verdict, for users.
  std::string evidence;
};

class LoadSearch {
 public:
  explicit LoadSearch(SearchOptions options);

  // The probe to run next; absent once there is a result.
  const std::optional<ProbeRequest>& Next() const { return next_; }

  // Adds the outcome of Next().
  void Add(const Probe& outcome);

  // Ends the search without the probe that Next() asks for. If a final run met,
  // it is the answer. Otherwise, the verdict is kBudgetExhausted, and `reason`
  // its evidence.
  void EndEarly(std::string reason);

  // With the hardness of loads (LoadScale) instead of loads.
  const std::vector<Probe>& probes() const { return history_.probes(); }

  // The hardest load that met and the easiest that missed so far, if any,
  // ignoring overruled probes.
  std::optional<double> met() const { return LoadOf(bounds_.met); }
  std::optional<double> missed() const { return LoadOf(bounds_.missed); }

  // Requires that Next() is absent.
  const SearchResult& result() const { return result_; }

 private:
  // Whatever is called a load below, and in `history_`, is a hardness.

  std::optional<double> LoadOf(const std::optional<double>& hardness) const;
  double SecondsNeeded(double load) const;
  bool IsNearSaturation(double load) const;
  std::string DescribeLoads(const Probe& probe) const;
  std::string DescribeBeyond(double load) const;

  // Each function decides what follows a probe of its phase.
  void AfterBracket(const Probe& probe);
  void AskAboveTooLow();
  void AfterRecovery(const Probe& probe);
  void AfterRefine(const Probe& probe);
  void AfterFinal(const Probe& probe);

  void Confirm(const Probe& miss);
  void AfterConfirmation(const Probe& probe);

  bool IsDoubtful(const Probe& miss) const;
  bool IsBelowAMeet(const Probe& miss) const;
  void Refine();
  void Approach(const Crossing& crossing);
  bool IsNarrow() const;
  void Bisect(double low, double high);
  double Below(const Crossing& crossing) const;
  void AskFinal(double load);
  void AfterMetFinal(const Probe& final_runs);
  void RepeatFinal();
  bool IsTooGood(const Probe& final_run, const Probe& miss) const;
  void StepDown(double load);
  void Ask(ProbePhase phase, double load, double length);
  void Finish(SearchVerdict verdict, std::optional<double> load,
              std::string evidence);
  void FinishConfirmed(const Probe& final_runs);
  void FinishUnstable(const Probe& miss);
  void FinishAtHardest();
  void FinishTooLow();
  void FinishBelowEasiest();

  const SearchOptions options_;
  const LoadScale scale_;
  ProbeHistory history_;
  ProbeHistory::Bounds bounds_;
  std::optional<ProbeRequest> next_;
  std::optional<double> too_low_;  // the highest such load
  int recovery_attempts_ = 0;
  // of a miss that is being measured again
  std::optional<double> doubted_load_;
  // final runs that met, while one of them is repeated or a miss next to them
  // is doubtful
  std::optional<Probe> met_final_;
  std::set<double> confirmed_loads_;  // of misses
  int steps_down_ = 0;
  double refine_length_ = 1;
  SearchResult result_;
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_SEARCH_H_
