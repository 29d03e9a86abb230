#include "distbench/products/stacks/stacks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/stacks/stack_values.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/comparability.h"

namespace distbench::stacks {
namespace {

// The runs of a stack with one traffic, and what they measured by RPC.
struct StackRuns {
  std::string stack;
  std::vector<report::TestRun> runs;
  std::vector<std::map<std::string, StackValues>> values = {};
};

// All stacks with one traffic.
using TrafficStacks = std::vector<StackRuns>;

// The stacks of results.
using StackNames = std::map<const TestResult*, std::string>;

bool ChoosesItsLoad(const report::TestRun& run) {
  return report::HasChosenLoad(run) || run.result->has_experiment_cell();
}

std::string RunText(const report::TestRun& run) {
  return absl::StrCat(run.name, report::RunNumber(run), " (", run.source, ")");
}

std::vector<report::TestRun> RunsToCompare(
    absl::Span<const report::TestRun> runs) {
  std::vector<report::TestRun> compared(runs.begin(), runs.end());
  std::erase_if(compared, ChoosesItsLoad);
  return compared;
}

StackNames NamesOf(absl::Span<const report::TestRun> runs) {
  const std::vector<std::string> stacks = NameStacks(runs);
  StackNames names;
  for (size_t i = 0; i < runs.size(); ++i) names[runs[i].result] = stacks[i];
  return names;
}

// The stacks of the runs, in order of appearance.
TrafficStacks GroupByStack(absl::Span<const report::TestRun> runs,
                           const StackNames& names) {
  TrafficStacks stacks;
  for (report::RunGroup& group : report::GroupRuns(
           runs,
           [&](const report::TestRun& run) { return names.at(run.result); })) {
    stacks.push_back({std::move(group.key), std::move(group.runs)});
  }
  return stacks;
}

// The stacks in the order of the runs, valid or not: the first is what the
// others are compared with, under every load.
std::vector<std::string> StackOrder(absl::Span<const report::TestRun> runs,
                                    const StackNames& names) {
  std::vector<std::string> order;
  for (const StackRuns& stack : GroupByStack(runs, names)) {
    order.push_back(stack.stack);
  }
  return order;
}

// The valid runs. Adds the others to `omissions`.
std::vector<report::TestRun> ValidRuns(absl::Span<const report::TestRun> runs,
                                       std::vector<std::string>& omissions) {
  std::vector<report::TestRun> valid;
  for (const report::TestRun& run : runs) {
    const std::string why = report::WhyInvalid(run);
    if (why.empty()) {
      valid.push_back(run);
    } else {
      omissions.push_back(absl::StrCat(RunText(run), " ", why));
    }
  }
  return valid;
}

// Says why the only stack of a traffic has nothing to be compared with.
std::string WhyAlone(const StackRuns& alone,
                     absl::Span<const report::TestRun> valid,
                     const StackNames& names) {
  const report::TestRun& run = alone.runs.front();
  for (const report::TestRun& other : valid) {
    const std::string& stack = names.at(other.result);
    if (stack == alone.stack) continue;
    return absl::StrCat(
        RunText(run), " is the only one with its traffic; that of ",
        RunText(other), ", over ", stack,
        ", differs: ", report::TrafficDifference({other}, {run}));
  }
  return absl::StrCat(RunText(run), ": no run of another stack is valid");
}

// Infinite values rank above all others.
StackFigure OverRuns(std::vector<StackFigure> figures) {
  if (figures.size() == 1) return figures.front();
  std::sort(figures.begin(), figures.end(),
            [](const StackFigure& a, const StackFigure& b) {
              return a.value < b.value;
            });
  const double upper_median = figures[figures.size() / 2].value;
  const double lower_median = figures[(figures.size() - 1) / 2].value;
  return {std::isinf(upper_median) ? upper_median
                                   : (lower_median + upper_median) / 2,
          figures.front().value, figures.back().value};
}

// The metric in each run; empty if a run does not have it.
std::vector<StackFigure> FiguresOf(const StackRuns& stack,
                                   const std::string& rpc, size_t metric) {
  std::vector<StackFigure> figures;
  for (const auto& values : stack.values) {
    const auto found = values.find(rpc);
    if (found == values.end() || !found->second.figures[metric]) return {};
    figures.push_back(*found->second.figures[metric]);
  }
  return figures;
}

StackRow RowOf(const StackRuns& stack, const std::string& rpc) {
  StackRow row;
  row.stack = stack.stack;
  row.runs = static_cast<int>(stack.runs.size());
  for (size_t metric = 0; metric < kStackMetricCount; ++metric) {
    std::vector<StackFigure> figures = FiguresOf(stack, rpc, metric);
    if (!figures.empty()) {
      row.figures[metric] = OverRuns(std::move(figures));
    }
  }
  return row;
}

// Empty unless all values can be compared by ratio.
std::vector<double> ComparableValues(const std::vector<StackFigure>& figures) {
  std::vector<double> values;
  for (const StackFigure& figure : figures) {
    if (!(figure.value > 0) || std::isinf(figure.value)) return {};
    values.push_back(figure.value);
  }
  return values;
}

StackChange ChangeOfMetric(const StackRuns& first, const StackRuns& next,
                           const std::string& rpc, size_t metric) {
  StackChange change = {next.stack, metric,
                        report::ComparisonVerdict::kNotComparable};
  const std::vector<double> base =
      ComparableValues(FiguresOf(first, rpc, metric));
  const std::vector<double> other =
      ComparableValues(FiguresOf(next, rpc, metric));
  if (base.empty() || other.empty()) return change;
  change.ratio = stats::RatioOfMeans(base, other, report::kCompareConfidence);
  change.verdict = report::JudgeChange(change.ratio, /*no_change=*/1,
                                       report::kLatencyResolution,
                                       kStackMetrics[metric].higher_is_better);
  return change;
}

std::string RatioText(const StackChange& change) {
  const auto& [lower, upper] = *change.ratio.interval;
  return absl::StrFormat("%.3g times the %s (%.3g to %.3g)",
                         change.ratio.estimate,
                         kStackMetrics[change.metric].title, lower, upper);
}

// All changes of one stack in words, which do not say more than is known.
std::string Sentence(const std::string& first,
                     absl::Span<const StackChange> changes) {
  std::vector<std::string> shown;
  std::map<report::ComparisonVerdict, std::vector<std::string>> others;
  for (const StackChange& change : changes) {
    if (change.verdict == report::ComparisonVerdict::kBetter ||
        change.verdict == report::ComparisonVerdict::kWorse) {
      shown.push_back(RatioText(change));
    } else {
      others[change.verdict].push_back(kStackMetrics[change.metric].title);
    }
  }
  std::string text =
      absl::StrCat(changes.front().stack, " compared with ", first, ":");
  const char* separator = " ";
  const auto add = [&](const std::vector<std::string>& parts,
                       const char* before, const char* after) {
    if (parts.empty()) return;
    absl::StrAppend(&text, separator, before, absl::StrJoin(parts, ", "),
                    after);
    separator = "; ";
  };
  add(shown, "", "");
  add(others[report::ComparisonVerdict::kNoDifference],
      "no difference shown: ", "");
  add(others[report::ComparisonVerdict::kNotShown], "unknown: ",
      ", because a single run does not tell how runs differ (repeat the tests, "
      "as with run_tests --repeat=5)");
  add(others[report::ComparisonVerdict::kNotComparable],
      "not measured by all runs: ", "");
  return text + ".";
}

std::vector<std::string> NotesOn(const StackRuns& first,
                                 const StackRuns& next) {
  std::vector<std::string> notes;
  for (const report::Circumstance& circumstance :
       report::CompareCircumstances(first.runs, next.runs)) {
    if (!circumstance.differs() ||
        circumstance.name == report::kDriversCircumstance) {
      continue;
    }
    notes.push_back(absl::StrCat(
        "not only the driver differs: ", circumstance.name, ": ", first.stack,
        " ", circumstance.base.empty() ? "not known" : circumstance.base, ", ",
        next.stack, " ",
        circumstance.other.empty() ? "not known" : circumstance.other));
  }
  return notes;
}

// The words with which all names begin, or the first name. Names of tests have
// their driver in the end.
std::string CommonBeginning(const TrafficStacks& stacks) {
  const std::string& first = stacks.front().runs.front().name;
  absl::string_view common = first;
  for (const StackRuns& stack : stacks) {
    const std::string& name = stack.runs.front().name;
    const auto end =
        std::mismatch(common.begin(), common.end(), name.begin(), name.end());
    common = common.substr(0, end.first - common.begin());
  }
  const auto splits_word = [&](const StackRuns& stack) {
    const std::string& name = stack.runs.front().name;
    return name.size() > common.size() &&
           absl::ascii_isalnum(name[common.size()]);
  };
  if (absl::c_any_of(stacks, splits_word)) {
    while (!common.empty() && absl::ascii_isalnum(common.back())) {
      common.remove_suffix(1);
    }
  }
  while (!common.empty() && !absl::ascii_isalnum(common.back())) {
    common.remove_suffix(1);
  }
  return common.empty() ? first : std::string(common);
}

StackLoad LoadOf(const TrafficStacks& stacks, const std::string& rpc) {
  const StackRuns& first = stacks.front();
  StackLoad load;
  load.test = CommonBeginning(stacks);
  load.offered_per_second = first.values.front().at(rpc).offered_per_second;
  for (const StackRuns& stack : stacks) {
    load.rows.push_back(RowOf(stack, rpc));
    if (&stack == &first) continue;
    const size_t begin = load.changes.size();
    for (size_t metric = 0; metric < kStackMetricCount; ++metric) {
      if (!kStackMetrics[metric].is_judged) continue;
      load.changes.push_back(ChangeOfMetric(first, stack, rpc, metric));
    }
    load.sentences.push_back(Sentence(
        first.stack, absl::MakeConstSpan(load.changes).subspan(begin)));
    for (std::string& note : NotesOn(first, stack)) {
      load.notes.push_back(std::move(note));
    }
  }
  return load;
}

// Studies by RPC and work, in order of appearance.
class Studies {
 public:
  explicit Studies(std::vector<std::string> order) : order_(std::move(order)) {}

  void Add(TrafficStacks stacks) {
    std::sort(stacks.begin(), stacks.end(),
              [this](const StackRuns& a, const StackRuns& b) {
                return RankOf(a.stack) < RankOf(b.stack);
              });
    for (StackRuns& stack : stacks) {
      for (const report::TestRun& run : stack.runs) {
        stack.values.push_back(StackValuesOf(*run.result));
      }
    }
    const StackRuns& first = stacks.front();
    for (const auto& [rpc, values] : first.values.front()) {
      StackStudy& study = StudyOf(rpc, report::WorkText(first.runs.front()));
      study.has_response_times = values.has_response_times;
      study.loads.push_back(LoadOf(stacks, rpc));
    }
  }

  std::vector<StackStudy> Take() { return std::move(studies_); }

 private:
  StackStudy& StudyOf(const std::string& rpc, const std::string& work) {
    const auto [position, is_new] =
        positions_.emplace(std::make_pair(rpc, work), studies_.size());
    if (is_new) {
      StackStudy& study = studies_.emplace_back();
      study.rpc = rpc;
      study.stacks = order_;
    }
    return studies_[position->second];
  }

  size_t RankOf(const std::string& stack) const {
    return std::find(order_.begin(), order_.end(), stack) - order_.begin();
  }

  const std::vector<std::string> order_;
  std::vector<StackStudy> studies_;
  std::map<std::pair<std::string, std::string>, size_t> positions_;
};

}  // namespace

StackComparison CompareStacks(absl::Span<const report::TestRun> runs) {
  const std::vector<report::TestRun> compared = RunsToCompare(runs);
  const StackNames names = NamesOf(compared);
  const std::vector<std::string> order = StackOrder(compared, names);
  if (order.size() < 2) return {};
  StackComparison comparison;
  const std::vector<report::TestRun> valid =
      ValidRuns(compared, comparison.omissions);
  Studies studies(order);
  for (const report::RunGroup& traffic :
       report::GroupRuns(valid, report::TrafficText)) {
    TrafficStacks stacks = GroupByStack(traffic.runs, names);
    if (stacks.size() > 1) {
      studies.Add(std::move(stacks));
    } else {
      comparison.omissions.push_back(WhyAlone(stacks.front(), valid, names));
    }
  }
  comparison.studies = studies.Take();
  return comparison;
}

}  // namespace distbench::stacks
