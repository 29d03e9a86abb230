#include "distbench/products/bench/files/job_identity.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/reading/load.h"

namespace distbench::bench {

std::string RequestOf(const JobSpec& spec) {
  JobSpec request = spec;
  request.repeat = 1;
  request.keep_going = false;
  return ToText(request);
}

std::string RequestOf(const BenchJob& job) {
  JobSpec request;
  request.kind = job.kind();
  request.id = job.id();
  request.passive.assign(job.passive().begin(), job.passive().end());
  request.properties.insert(job.properties().begin(), job.properties().end());
  return ToText(request);
}

void SetIdentity(const JobSpec& spec, int repetition, BenchJob& job) {
  job.set_kind(spec.kind);
  job.set_id(spec.id);
  job.set_repetition(repetition);
  job.mutable_passive()->Assign(spec.passive.begin(), spec.passive.end());
  job.mutable_properties()->insert(spec.properties.begin(),
                                   spec.properties.end());
}

std::string GroupKeyOf(const BenchJob& job) {
  std::set<std::string> models;
  for (const BenchSystem& system : job.systems()) {
    for (const BlockDeviceFacts& device : system.devices()) {
      models.insert(device.model());
    }
  }
  std::string key =
      absl::StrCat(RequestOf(job), "\n", absl::StrJoin(models, "\n"));
  for (const DistributedSystemDescription& test : job.tests().tests()) {
    absl::StrAppend(&key, "\n", config::ConfigHash(test));
  }
  return key;
}

}  // namespace distbench::bench
