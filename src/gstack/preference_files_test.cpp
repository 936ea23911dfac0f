#include "gstack/preference_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"

namespace sb::gstack {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr TimestampMs kNow = 1'700'000'000'000;

PreferencePaths place_in(const std::string& root) {
  return {root, "app", ""};
}

std::optional<std::string> found(const FakeFiles& files, std::string_view id) {
  return find_preference(files, place_in("/gs"), id, PreferenceScope::kProjectThenGlobal).value();
}

TEST(PreferenceFiles, TheProjectOverridesTheGlobalFile) {
  FakeFiles files;
  files.contents() = {{"/gs/projects/app/question-preferences.json", R"({"a":"always-ask","b":null})"},
                      {"/gs/global-question-preferences.json", R"({"a":"never-ask","b":"never-ask","c":"never-ask"})"}};
  EXPECT_EQ(found(files, "a"), "always-ask");
  EXPECT_EQ(found(files, "b"), "never-ask");
  EXPECT_EQ(found(files, "c"), "never-ask");
  EXPECT_EQ(found(files, "d"), std::nullopt);
  EXPECT_EQ(find_preference(files, place_in("/gs"), "c", PreferenceScope::kProject).value(), std::nullopt);
}

TEST(PreferenceFiles, ABrokenGlobalFileIsReportedOnlyWhenItIsRead) {
  FakeFiles files;
  files.contents() = {{"/gs/projects/app/question-preferences.json", R"({"a":"always-ask"})"},
                      {"/gs/global-question-preferences.json", "{"}};
  EXPECT_EQ(found(files, "a"), "always-ask");
  const auto result = find_preference(files, place_in("/gs"), "b", PreferenceScope::kProjectThenGlobal);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(result.error().location.file, "/gs/global-question-preferences.json");
}

TEST(Gap11, SessionFilesStayBelowTheirFolder) {
  const PreferencePaths place = place_in("/gs");
  EXPECT_EQ(place.auto_decided_marker("s-1", "toolu_1"), "/gs/sessions/s-1/.auto-decided-toolu_1");
  for (const char* hostile : {"../../x", "..", "/etc/passwd", ""}) {
    EXPECT_THAT(place.session(hostile), StartsWith("/gs/sessions/"));
    const std::string marker = place.auto_decided_marker(hostile, hostile);
    EXPECT_EQ(std::ranges::count(marker, '/'), 4) << marker;
    EXPECT_EQ(marker.find("/../"), std::string::npos) << marker;
  }
}

TEST(PreferenceFiles, TheFolderIsTheOneTheUserNames) {
  FakeFiles files;
  ASSERT_TRUE(files.make_directories("/w/app"));
  const auto in = [&](const char* pwd) {
    return working_directory(files, Environment({{"PWD", pwd}, {"HOME", "/h"}}));
  };
  EXPECT_EQ(in("/w/app").value(), "/w/app");
  EXPECT_FALSE(in("relative"));
  const SystemFiles system;
  const Environment elsewhere({{"PWD", "/proc"}, {"HOME", "/h"}});
  EXPECT_EQ(working_directory(system, elsewhere).value(), system.canonical(".").value());
}

// Each thread opens the lock again, like another process.
TEST(PreferenceFiles, ConcurrentWritersLoseNothing) {
  char pattern[] = "/tmp/preference_files_test.XXXXXX";
  const std::string root = ::mkdtemp(pattern);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      SystemFiles files;
      for (int i = 0; i < 10; ++i) {
        const PreferenceChange change{"q-" + std::to_string(writer) + "-" + std::to_string(i),
                                      decision::Preference::kNeverAsk, "plan-tune", ""};
        EXPECT_TRUE(set_preference(files, place_in(root), change, kNow));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  SystemFiles files;
  EXPECT_EQ(count_preferences(read_preferences(files, place_in(root)).value()).never_ask, 40);
  const std::string events = files.read(place_in(root).events(), 1 << 20).value();
  EXPECT_EQ(std::ranges::count(events, '\n'), 40);
  std::filesystem::remove_all(root);
}

TEST(PreferenceFiles, ReadsTheTailOfAFile) {
  char pattern[] = "/tmp/preference_files_test.XXXXXX";
  const std::string root = ::mkdtemp(pattern);
  SystemFiles files;
  ASSERT_TRUE(files.append(root + "/log", "one\ntwo\n"));
  EXPECT_EQ(files.read_tail(root + "/log", 4).value(), "two\n");
  EXPECT_EQ(files.read_tail(root + "/log", 100).value(), "one\ntwo\n");
  EXPECT_EQ(files.read_tail(root + "/none", 4).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files.read_tail(root, 4).error().code, ErrorCode::kInvalid);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace sb::gstack
