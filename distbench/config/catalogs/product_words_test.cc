// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/product_words.h"

#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"
#include "proto/product.pb.h"

namespace distbench::config {
namespace {

// A file that gives the word "carrier_pigeon" to the product "birds".
const google::protobuf::FileDescriptor& FileWithBirds() {
  static auto* const pool = new google::protobuf::DescriptorPool(
      google::protobuf::DescriptorPool::generated_pool());
  google::protobuf::FileDescriptorProto file;
  file.set_name("birds.proto");
  ProductWord& word = *file.mutable_options()->AddExtension(product_word);
  word.set_word("carrier_pigeon");
  word.set_product("birds");
  return *pool->BuildFile(file);
}

TEST(ProductWordsTest, UnknownNamesOfProductsSayWhoseTheyAre) {
  const std::vector<std::string> known = {"grpc", "tcp"};
  EXPECT_EQ(ExplainUnknownName("carrier_pigeon", known, FileWithBirds()),
            "it belongs to the product \"birds\", which this program was built "
            "without");
  EXPECT_EQ(ExplainUnknownName("grcp", known, FileWithBirds()),
            "did you mean \"grpc\"?");
}

TEST(ProductWordsTest, DriversOfTheCoreBelongToNoProduct) {
  for (const DriverDeclaration& driver : DriverCatalog()) {
    EXPECT_EQ(ProductOfWord(driver.name), "") << driver.name;
  }
}

}  // namespace
}  // namespace distbench::config
