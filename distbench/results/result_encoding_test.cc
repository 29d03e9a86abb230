// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/result_encoding.h"

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

using testing::HasSubstr;

TEST(ResultEncodingTest, IsThatOfTheFileWhateverItsName) {
  TestSequenceResults searched;
  searched.add_searches()->set_verdict("converged");
  TestSequenceResults measured;
  measured.add_test_results()->add_log_summary("a summary");
  for (const TestSequenceResults& results : {searched, measured}) {
    for (const char* name : {"encoding_test.pb", "encoding_test.pb.gz"}) {
      const std::string path = testing::TempDir() + "/" + name;
      for (const ResultEncoding encoding :
           {ResultEncoding::kText, ResultEncoding::kBinary}) {
        ASSERT_EQ(base::Message(WriteResults(results, path, encoding)), "");
        const absl::StatusOr<ResultEncoding> found = EncodingOf(path);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(*found, encoding) << path;
      }
    }
  }
}

TEST(ResultEncodingTest, ErrorsNameTheFile) {
  const std::string path = testing::TempDir() + "/empty_encoding_test.pb";
  std::ofstream(path).close();
  EXPECT_THAT(base::Message(EncodingOf(path).status()), HasSubstr(path));
  EXPECT_THAT(base::Message(EncodingOf("/missing.pb").status()),
              HasSubstr("/missing.pb"));
}

}  // namespace
}  // namespace distbench::results
