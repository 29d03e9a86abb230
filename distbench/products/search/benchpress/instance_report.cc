#include "distbench/products/search/benchpress/instance_report.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/products/search/report/search_table.h"

namespace distbench::search {
namespace {

int InstanceCount(const SearchReport& report) {
  int count = 1;
  for (const SearchProbe& probe : report.probes()) {
    count = std::max(count, probe.instance_statistics_size());
  }
  return count;
}

SearchProbe ProbeOfInstance(const SearchProbe& all, int instance,
                            double share) {
  SearchProbe own = all;
  own.set_requested_load(share * all.requested_load());
  own.set_achieved_load(share * all.achieved_load());
  *own.mutable_statistics() = all.instance_statistics(instance - 1);
  own.clear_instance_statistics();
  own.clear_instance_failures();
  return own;
}

void ShareLoads(double share, SearchReport& report) {
  if (report.has_load()) report.set_load(share * report.load());
  if (report.has_min_load()) report.set_min_load(share * report.min_load());
  if (report.has_max_load()) report.set_max_load(share * report.max_load());
}

}  // namespace

absl::StatusOr<SearchReport> ReportOfInstance(const SearchReport& all,
                                              int instance) {
  const int count = InstanceCount(all);
  if (instance < 1 || instance > count) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no instance ", instance,
                     "; the search has the instances 1 to ", count));
  }
  if (count == 1) return all;
  const double share = LoadsAreRates(all) ? 1.0 / count : 1;
  SearchReport own = all;
  own.clear_probes();
  for (const SearchProbe& probe : all.probes()) {
    if (probe.instance_statistics_size() < instance) continue;
    *own.add_probes() = ProbeOfInstance(probe, instance, share);
  }
  ShareLoads(share, own);
  return own;
}

}  // namespace distbench::search
