#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SimulatedFabric GraphOf(const std::string& text) {
  SimulatedFabric fabric;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("graph {", text, "}"), &fabric));
  return fabric;
}

std::string GraphError(const std::string& text, int host_count) {
  return base::Message(MakeClusterModel(GraphOf(text), host_count, 1).status());
}

TEST(GraphPathsTest, HostsAreNumberedInTheOrderOfSwitches) {
  const auto model = MakeClusterModel(
      GraphOf("switches { name: 'b' hosts: ['n[8-9]', 'm'] }"
              "switches { name: 'a' hosts: 'n7' hosts: 'n[1-5]' }"
              "links { from: 'a' to: 'b' link { delay_ns: 3 } }"),
      5, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  EXPECT_THAT(model->host_names, ElementsAre("n8", "n9", "m", "n7", "n1"));
  EXPECT_THAT(model->switch_of_host, ElementsAre(5, 5, 5, 6, 6));
  EXPECT_EQ(model->switch_count, 2);
  EXPECT_EQ(model->links.size(), 2 * 5 + 2);
  EXPECT_EQ(model->min_delay_ns, 3);
  std::vector<int> links;
  model->paths->Find(4, 0, 1, links);
  EXPECT_THAT(links, ElementsAre(8, 10, 1));
  model->paths->Find(0, 4, 1, links);
  EXPECT_THAT(links, ElementsAre(0, 11, 9));
}

TEST(GraphPathsTest, SaysWhatIsWrong) {
  EXPECT_THAT(
      GraphError("switches { name: 'left' hosts: 'n[1-2]' }"
                 "switches { name: 'left' hosts: 'n2' hosts: 'n[' }"
                 "switches { host_link { delay_ns: -1 } }"
                 "links { from: 'left' to: 'lefd' }"
                 "links { from: 'left' to: 'left' link { gbps: 0 } }",
                 3),
      AllOf(HasSubstr("graph.switches[1].name: \"left\" is the name of "
                      "another switch"),
            HasSubstr("graph.switches[1].hosts[0]: host \"n2\" is at a switch "
                      "already"),
            HasSubstr("graph.switches[1].hosts[1]: \"n[\" is not a list"),
            HasSubstr("graph.switches[2].name: is missing"),
            HasSubstr("graph.switches[2].host_link.delay_ns: "),
            HasSubstr("graph.links[0].to: \"lefd\" is not a switch; did you "
                      "mean \"left\"?"),
            HasSubstr("graph.links[1].to: the link leads from \"left\" to "
                      "itself"),
            HasSubstr("graph.links[1].link.gbps: "),
            HasSubstr("graph.switches: have 2 hosts, but 3 are simulated")));
}

TEST(GraphPathsTest, HostsThatCannotBeReachedAreNamed) {
  const std::string graph =
      "switches { name: 'a' hosts: 'n1' } switches { name: 'b' hosts: 'n2' }"
      "switches { name: 'c' hosts: 'n[3-4]' }"
      "links { from: 'a' to: 'b' }";
  EXPECT_THAT(GraphError(graph, 4),
              HasSubstr("no path leads from host \"n1\" to host \"n3\" at "
                        "switch \"c\"; add a link"));
  EXPECT_EQ(GraphError(graph, 2), "");
}

// Two paths of two hops, one of which begins with two parallel links, and a
// longer one that nothing may take.
TEST(GraphPathsTest, FlowsSpreadOverShortestPathsByLinks) {
  const auto model =
      MakeClusterModel(GraphOf("switches { name: 's' hosts: 'n1' }"
                               "switches { name: 'x' } switches { name: 'y' }"
                               "switches { name: 'z' }"
                               "switches { name: 't' hosts: 'n2' }"
                               "links { from: 's' to: 'x' }"
                               "links { from: 'x' to: 's' }"
                               "links { from: 's' to: 'y' }"
                               "links { from: 'x' to: 't' }"
                               "links { from: 't' to: 'y' }"
                               "links { from: 'y' to: 'z' }"
                               "links { from: 'z' to: 't' }"),
                       2, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  std::map<int, int> first_links;
  std::vector<int> links;
  for (int connection = 0; connection < 30'000; ++connection) {
    model->paths->Find(0, 1, connection, links);
    ASSERT_EQ(links.size(), 4);
    ++first_links[links[1]];
  }
  ASSERT_EQ(first_links.size(), 3);
  for (const auto& [link, count] : first_links) {
    EXPECT_NEAR(count, 10'000, 400);
  }
}

// A random connected graph, as text and as a matrix of distances between
// switches (Floyd and Warshall).
class RandomGraph {
 public:
  explicit RandomGraph(int seed) : random_(seed), size_(2 + Below(12)) {
    distances_.assign(size_, std::vector<int>(size_, 1000));
    for (int i = 0; i < size_; ++i) {
      distances_[i][i] = 0;
      absl::StrAppend(&text_, "switches { name: 's", i, "' hosts: 'n", i,
                      "' }");
      if (i > 0) AddLink(i, Below(i));
    }
    for (int more = Below(2 * size_); more > 0; --more) {
      const int from = Below(size_);
      const int to = Below(size_);
      if (from != to) AddLink(from, to);
    }
    for (int via = 0; via < size_; ++via) {
      for (int from = 0; from < size_; ++from) {
        for (int to = 0; to < size_; ++to) {
          distances_[from][to] =
              std::min(distances_[from][to],
                       distances_[from][via] + distances_[via][to]);
        }
      }
    }
  }

  const std::string& text() const { return text_; }
  int size() const { return size_; }
  int distance(int from, int to) const { return distances_[from][to]; }

 private:
  int Below(int limit) { return static_cast<int>(random_() % limit); }

  void AddLink(int from, int to) {
    absl::StrAppend(&text_, "links { from: 's", from, "' to: 's", to, "' }");
    distances_[from][to] = distances_[to][from] = 1;
  }

  std::mt19937 random_;
  const int size_;
  std::string text_;
  std::vector<std::vector<int>> distances_;
};

TEST(GraphPathsTest, PathsOfRandomGraphsConnectAndAreShortest) {
  for (int seed = 0; seed < 200; ++seed) {
    const RandomGraph graph(seed);
    const auto model = MakeClusterModel(GraphOf(graph.text()), graph.size(), 1);
    ASSERT_EQ(model.status(), absl::OkStatus()) << graph.text();
    std::vector<int> links;
    for (int from = 0; from < graph.size(); ++from) {
      for (int to = 0; to < graph.size(); ++to) {
        if (from == to) continue;
        model->paths->Find(from, to, seed, links);
        ASSERT_EQ(links.size(), 2 + graph.distance(from, to));
        int at = from;
        for (const int link : links) {
          ASSERT_EQ(model->links[link].from, at) << graph.text();
          at = model->links[link].to;
        }
        ASSERT_EQ(at, to);
      }
    }
  }
}

// A fat tree of 10 000 hosts at 500 leaves: tables per pair of hosts would be
// too large for this to end.
TEST(GraphPathsTest, TenThousandHostsAreLaidOut) {
  std::string text = "switches { name: 'top' }";
  for (int leaf = 0; leaf < 500; ++leaf) {
    absl::StrAppend(&text, "switches { name: 'l", leaf, "' hosts: 'n", leaf,
                    "-[1-20]' } links { from: 'top' to: 'l", leaf, "' }");
  }
  const auto model = MakeClusterModel(GraphOf(text), 10'000, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  std::vector<int> links;
  model->paths->Find(0, 9'999, 1, links);
  EXPECT_EQ(links.size(), 4);
}

}  // namespace
}  // namespace distbench::simulation
