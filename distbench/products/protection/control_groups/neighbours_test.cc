#include "distbench/products/protection/control_groups/neighbours.h"

#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Neighbours(FakeHierarchy& host) {
  const auto found = FindHierarchy(host.root(), host.files());
  EXPECT_TRUE(found.ok()) << found.status();
  const auto paths = NeighbourPaths(*found, host.files());
  EXPECT_TRUE(paths.ok()) << paths.status();
  return *paths;
}

TEST(NeighboursTest, AreOnAllLevels) {
  FakeHierarchy host("/a/b/us");
  for (const char* path : {"/z", "/z/below", "/a/y", "/a/b/x", "/a/b/us/own"}) {
    host.MakeGroup(path);
  }
  EXPECT_THAT(Neighbours(host), ElementsAre("/a/b/x", "/a/y", "/z"));
}

TEST(NeighboursTest, OfTheRootAreThoseOfOthers) {
  FakeHierarchy host("/");
  host.MakeGroup("/others");
  host.MakeGroup("/distbench.group-0");
  EXPECT_THAT(Neighbours(host), ElementsAre("/others"));
}

}  // namespace
}  // namespace distbench::protection
