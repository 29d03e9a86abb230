// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/stories.h"

#include <string>
#include <vector>

#include "distbench/activity/compress.h"
#include "glog/logging.h"

namespace distbench::activity {
namespace {

// By default a story takes 7.9 kB, as in FeedSim.
constexpr int kTitleBytes = 40;
constexpr int kNameBytes = 6;
constexpr int kKeyBytes = 4;
constexpr int kTextBytes = 4;
constexpr int kVectorValues = 3;

// The number of serialised messages that Deserialize prepares.
constexpr int kPayloads = 4;

void SetText(int bytes, base::WorkRandom& random, std::string& text) {
  text.resize(bytes);
  for (char& character : text) {
    character = static_cast<char>('a' + random.Below(26));
  }
}

// All numbers have the same encoded size.
int64_t SomeNumber(base::WorkRandom& random) {
  return static_cast<int64_t>((uint64_t{1} << 33) | (random() >> 31));
}

void AddActions(int count, base::WorkRandom& random, FeedObject& object) {
  for (int i = 0; i < count; ++i) {
    FeedAction& action = *object.add_actions();
    action.set_id(random());
    action.set_actor(random());
    action.set_timestamp_us(random());
    action.set_weight(static_cast<float>(random.Fraction()));
  }
}

void AddProperties(int count, base::WorkRandom& random, FeedObject& object) {
  for (int i = 0; i < count; ++i) {
    FeedNumber& number = *object.add_numbers();
    SetText(kKeyBytes, random, *number.mutable_key());
    number.set_value(SomeNumber(random));
    FeedText& text = *object.add_texts();
    SetText(kKeyBytes, random, *text.mutable_key());
    SetText(kTextBytes, random, *text.mutable_value());
    FeedVector& vector = *object.add_vectors();
    SetText(kKeyBytes, random, *vector.mutable_key());
    for (int j = 0; j < kVectorValues; ++j) {
      vector.add_values(static_cast<int32_t>(random.Below(128)));
    }
  }
}

// A checksum that reads every story.
uint64_t ChecksumOf(const FeedStories& stories) {
  uint64_t checksum = 0;
  for (const FeedStory& story : stories.stories()) {
    checksum += base::WorkRandom::Mix(story.id() + story.objects_size());
  }
  return checksum;
}

class Serialize final : public Activity {
 public:
  explicit Serialize(const StoriesOptions& options)
      : options_(options), parts_(options.parallelism) {
    for (int i = 0; i < options.parallelism; ++i) {
      Generate(base::WorkRandom(options.seed, 0, i), i);
    }
  }

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    base::WorkRandom random(options_.seed, iteration, part);
    Part& own = parts_[part];
    if (options_.generate) {
      Generate(random, part);
    } else {
      for (FeedStory& story : *own.stories.mutable_stories()) {
        story.set_id(random());
      }
    }
    CHECK(own.stories.SerializeToString(&own.bytes));
    return {.checksum = Digest(own.bytes) ^ base::WorkRandom::Mix(iteration),
            .output_bytes = static_cast<int64_t>(own.bytes.size())};
  }

 private:
  struct Part {
    FeedStories stories;
    std::string bytes;
  };

  void Generate(base::WorkRandom random, int part) {
    FeedStories& stories = parts_[part].stories;
    stories.Clear();
    AddStories(options_,
               ShareOf(options_.stories, part, options_.parallelism).size(),
               random, stories);
  }

  const StoriesOptions options_;
  std::vector<Part> parts_;
};

class Deserialize final : public Activity {
 public:
  explicit Deserialize(const StoriesOptions& options)
      : options_(options), payloads_(kPayloads) {
    for (int i = 0; i < kPayloads; ++i) {
      for (int part = 0; part < options.parallelism; ++part) {
        FeedStories stories;
        AddStories(options,
                   ShareOf(options.stories, part, options.parallelism).size(),
                   base::WorkRandom(options.seed, i, part), stories);
        CHECK(stories.SerializeToString(&payloads_[i].emplace_back()));
      }
    }
  }

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    const std::string& bytes = payloads_[iteration % kPayloads][part];
    // A new message, because every receiver of a message allocates one.
    FeedStories stories;
    CHECK(stories.ParseFromString(bytes));
    return {.checksum = ChecksumOf(stories) ^ base::WorkRandom::Mix(iteration),
            .input_bytes = static_cast<int64_t>(bytes.size())};
  }

 private:
  const StoriesOptions options_;
  std::vector<std::vector<std::string>> payloads_;  // each by part
};

}  // namespace

void AddStories(const StoriesOptions& options, int64_t count,
                base::WorkRandom random, FeedStories& stories) {
  for (int64_t i = 0; i < count; ++i) {
    FeedStory& story = *stories.add_stories();
    story.set_id(random());
    story.set_score(random.Fraction());
    SetText(kTitleBytes, random, *story.mutable_title());
    for (int j = 0; j < options.objects; ++j) {
      FeedObject& object = *story.add_objects();
      object.set_id(random());
      SetText(kNameBytes, random, *object.mutable_name());
      AddActions(options.actions, random, object);
      AddProperties(options.actions, random, object);
    }
  }
}

std::unique_ptr<Activity> MakeSerialize(const StoriesOptions& options) {
  return std::make_unique<Serialize>(options);
}

std::unique_ptr<Activity> MakeDeserialize(const StoriesOptions& options) {
  return std::make_unique<Deserialize>(options);
}

}  // namespace distbench::activity
