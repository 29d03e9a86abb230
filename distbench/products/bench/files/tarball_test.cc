// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/files/tarball.h"

#include <archive.h>
#include <archive_entry.h>

#include <fstream>
#include <iterator>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, std::string> Unpack(const std::string& path) {
  std::map<std::string, std::string> files;
  archive* tar = archive_read_new();
  archive_read_support_format_tar(tar);
  archive_read_support_filter_gzip(tar);
  EXPECT_EQ(archive_read_open_filename(tar, path.c_str(), 1 << 14), ARCHIVE_OK);
  archive_entry* entry = nullptr;
  while (archive_read_next_header(tar, &entry) == ARCHIVE_OK) {
    std::string bytes(archive_entry_size(entry), '\0');
    archive_read_data(tar, bytes.data(), bytes.size());
    files[archive_entry_pathname(entry)] = bytes;
  }
  archive_read_free(tar);
  return files;
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(TarballTest, HoldsTheFiles) {
  const std::string path = ::testing::TempDir() + "/tarball_test.tar.gz";
  const std::string large(100'000, 'x');
  ASSERT_TRUE(WriteTarball({{"b/empty", ""}, {"a", large}}, path).ok());
  EXPECT_THAT(Unpack(path), ElementsAre(Pair("a", large), Pair("b/empty", "")));
}

TEST(TarballTest, NamesMayHaveAnyLetters) {
  const std::string path = ::testing::TempDir() + "/tarball_letters.tar.gz";
  const absl::Status written = WriteTarball({{"gr\xc3\xb6\xc3\x9f"
                                              "e/a",
                                              "x"}},
                                            path);
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_THAT(Unpack(path), ElementsAre(Pair("gr\xc3\xb6\xc3\x9f"
                                             "e/a",
                                             "x")));
}

TEST(TarballTest, EqualFilesGiveEqualArchives) {
  const std::string one = ::testing::TempDir() + "/tarball_one.tar.gz";
  const std::string other = ::testing::TempDir() + "/tarball_other.tar.gz";
  ASSERT_TRUE(WriteTarball({{"a", "x"}}, one).ok());
  ASSERT_TRUE(WriteTarball({{"a", "x"}}, other).ok());
  EXPECT_EQ(BytesOf(one), BytesOf(other));
}

TEST(TarballTest, AnErrorNamesThePath) {
  EXPECT_THAT(
      std::string(WriteTarball({}, "/no_such_folder/x.tar.gz").message()),
      ::testing::HasSubstr("/no_such_folder/x.tar.gz"));
}

}  // namespace
}  // namespace distbench::bench
