// Finds the highest load that a system carries within its objectives, by
// running it at one load after the other. Knows nothing of what a load or an
// objective is: whoever runs a probe says how far it was from the limit.
//
// The search is a function of the probes so far, so that one that was
// interrupted goes on where it stopped once its probes are added again:
//
//   LoadSearch search(options);
//   while (auto request = search.Next()) search.Add(RunProbe(*request));
//   search.result()
//
// The way of a search:
//
//   warm-up ─▶ bracket ─▶ recovery ─▶ refine ─▶ final ─▶ verdict
//
// Bracket: doubles or halves the load until one met and one missed. Recovery:
// the system must meet again what it met before it was overloaded. Refine: in
// logarithms of load and measurement, halves the bracket while it is wide, then
// goes where a line through the probes nearby crosses the limit, and measures
// longer the nearer it comes. Final: a long run a little below, which must
// meet; else it steps down, a few times.
//
// A host that stalls makes a probe miss that should have met; nothing makes one
// meet that should have missed. So where a load clearly missed, and one that is
// higher, or hardly lower, clearly met, the first is measured again. If it does
// not miss again, its first measurement is overruled and left out of what is
// decided from there on. If it does, the system is unstable if the other load
// was higher, and has an edge there if it was not.
//
// Where loads are whole numbers, so is every probe's, and a bracket of two
// neighbours needs no refining.

#ifndef DISTBENCH_SEARCH_LOAD_SEARCH_H_
#define DISTBENCH_SEARCH_LOAD_SEARCH_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/search/crossing.h"
#include "distbench/search/probe.h"
#include "distbench/search/probe_history.h"

namespace distbench {

// All loads are positive, in one unit of the caller's choice. No probe has a load
// outside of min_load and max_load. Where loads are whole numbers, there must be
// one between them.
struct SearchOptions {
  double initial_load = 1;
  double min_load = 1e-3;
  double max_load = 1e12;

  // Two loads that differ by less, relatively, count as equal: how exact the
  // answer shall be. 0.001 to 0.5.
  double tolerance = 0.02;

  // Loads are whole numbers. The answer is exact when one load met and the next
  // one missed, however much they differ relatively.
  bool is_whole = false;

  // Of all phases together.
  int max_probes = 25;

  // How often the final run may step down, each time by half of the tolerance
  // at least and twice of it at most.
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

  // Highest load that met the objectives: with kConverged that of the final run
  // that confirmed it; absent if none did.
  std::optional<double> load;

  // What the verdict rests on, for people.
  std::string evidence;
};

class LoadSearch {
 public:
  explicit LoadSearch(SearchOptions options);

  // What to run next; absent once there is a result.
  const std::optional<ProbeRequest>& Next() const { return next_; }

  // The outcome of Next().
  void Add(const Probe& probe);

  const std::vector<Probe>& probes() const { return history_.probes(); }

  // Highest load that met and lowest that missed so far, if any, of the probes
  // that are not overruled.
  const std::optional<double>& met() const { return bounds_.met; }
  const std::optional<double>& missed() const { return bounds_.missed; }

  // Requires that Next() is absent.
  const SearchResult& result() const { return result_; }

 private:
  // Each decides on what comes after a probe of its phase.
  void AfterBracket(const Probe& probe);
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
  bool IsTooGood(const Probe& final_run, const Probe& miss) const;
  void StepDown(double load);
  void Ask(ProbePhase phase, double load, double length);
  double Allowed(double load) const;
  bool AreNeighbours(double met, double missed) const;
  void Finish(SearchVerdict verdict, std::optional<double> load,
              std::string evidence);
  void FinishConfirmed(const Probe& final_run);
  void FinishUnstable(const Probe& miss);
  void FinishAtMaximum();
  void FinishBelowMinimum();

  const SearchOptions options_;
  ProbeHistory history_;
  ProbeHistory::Bounds bounds_;
  std::optional<ProbeRequest> next_;
  int recovery_attempts_ = 0;
  std::optional<double> doubted_load_;  // of a miss that is measured again
  std::optional<Probe> met_final_;      // while a miss next to it is in doubt
  std::set<double> confirmed_loads_;    // of misses
  int steps_down_ = 0;
  double refine_length_ = 1;
  SearchResult result_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_LOAD_SEARCH_H_
