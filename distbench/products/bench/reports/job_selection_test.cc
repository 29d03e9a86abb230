#include "distbench/products/bench/reports/job_selection.h"

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchFile Example() {
  BenchFile file;
  file.add_jobs()->set_kind("run");
  for (const char* id : {"off", "on"}) {
    BenchJob& job = *file.add_jobs();
    job.set_kind("protection");
    job.set_id(id);
  }
  return file;
}

std::vector<std::string> Selected(std::vector<std::string> selectors) {
  const BenchFile file = Example();
  const auto jobs = SelectJobs(file, selectors);
  std::vector<std::string> names;
  if (!jobs.ok()) return {base::Message(jobs.status())};
  for (const BenchJob* job : *jobs) names.push_back(job->kind() + job->id());
  return names;
}

TEST(JobSelectionTest, NamesNumbersAndIdsSelect) {
  EXPECT_THAT(Selected({}),
              ElementsAre("run", "protectionoff", "protectionon"));
  EXPECT_THAT(Selected({"protection"}),
              ElementsAre("protectionoff", "protectionon"));
  EXPECT_THAT(Selected({"protection:id=on"}), ElementsAre("protectionon"));
  EXPECT_THAT(Selected({"3", "1"}), ElementsAre("run", "protectionon"));
}

TEST(JobSelectionTest, WhatSelectsNothingIsAnError) {
  EXPECT_THAT(Selected({"protecton"}),
              ElementsAre(HasSubstr("the file has no job \"protecton\"")));
  EXPECT_THAT(Selected({"4"}), ElementsAre(HasSubstr("has no job \"4\"")));
  EXPECT_THAT(Selected({"protection:id=of"}),
              ElementsAre(HasSubstr("did you mean \"protection:id=of")));
  EXPECT_THAT(Selected({"protection:full"}),
              ElementsAre(HasSubstr("KIND:id=ID")));
}

}  // namespace
}  // namespace distbench::bench
