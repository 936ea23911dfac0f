// The limits of a walk, and which links it follows.
#include "workflow/catalog/walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/limits.hpp"
#include "base/testing/fakes.hpp"
#include "workflow/catalog/catalog.hpp"
#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Walk, StopsAtItsLimitsAndReportsIt) {
  FakeFiles files;
  const auto write = [&](const std::string& path, const char* text) { files.contents()[path] = text; };
  for (std::size_t i = 0; i <= limits::kSourceFiles; ++i) write("/many/" + std::to_string(i) + ".json", "{}");
  EXPECT_THAT(walk_source(files, "/many").stopped, HasSubstr("more than 2000"));
  EXPECT_EQ(walk_source(files, "/many").files.size(), limits::kSourceFiles);
  files.contents().erase("/many/0.json");
  EXPECT_EQ(walk_source(files, "/many").stopped, "");
  std::string deep = "/deep";
  for (int i = 0; i < limits::kSourceDepth; ++i) deep += "/d";
  write(deep + "/at.json", "{}");
  EXPECT_EQ(walk_source(files, "/deep").stopped, "");
  EXPECT_EQ(walk_source(files, "/deep").files.size(), 1u);
  write(deep + "/d/past.json", "{}");
  EXPECT_THAT(walk_source(files, "/deep").stopped, HasSubstr("deep"));
  EXPECT_EQ(walk_source(files, "/deep").files.size(), 1u);
}

class WalkTest : public testing::Test {
 protected:
  WalkTest() {
    char name[] = "/tmp/sb-walk-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~WalkTest() override { [[maybe_unused]] const int code = std::system(("rm -rf " + folder).c_str()); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files.make_directories(parent_path(folder + "/" + name)));
    ASSERT_TRUE(files.write_atomic(folder + "/" + name, text));
  }
  void link(const std::string& to, const std::string& name) {
    ASSERT_EQ(::symlink(to.c_str(), (folder + "/" + name).c_str()), 0);
  }

  SystemFiles files;
  std::string folder;
};

TEST_F(WalkTest, LinksOutsideAreReportedAndNotFollowed) {
  write("out/secret.json", "{}");
  write("in/real.json", "{}");
  link(folder + "/out/secret.json", "in/a.json");
  link("../out", "in/b");
  link("nowhere", "in/c.json");
  link("../out/secret.json", "in/readme.md");  // not a name we read, so not reported
  const SourceScan walk = walk_source(files, folder + "/in");
  ASSERT_EQ(walk.files.size(), 1u);
  EXPECT_EQ(walk.files[0].path, folder + "/in/real.json");
  EXPECT_EQ(walk.notes.size(), 3u) << to_lines(walk.notes);
  EXPECT_THAT(to_lines(walk.notes), HasSubstr("points outside"));
}

TEST_F(WalkTest, LinksInsideAreFollowedOnceAndCyclesEnd) {
  write("in/d/real.json", "{}");
  link("..", "in/d/up");
  link("d", "in/e");
  link("d/real.json", "in/z.json");
  const SourceScan walk = walk_source(files, folder + "/in");
  ASSERT_EQ(walk.files.size(), 1u);
  EXPECT_EQ(walk.files[0].path, folder + "/in/d/real.json");
  EXPECT_THAT(walk.notes, IsEmpty());
}

TEST_F(WalkTest, AProjectFolderLinkedOutsideIsNotASource) {
  write("out/a.json", "{\"id\": \"acme.aa\", \"steps\": []}");
  write("p/x", "");
  link("../out", "p/workflows");
  const HomeDirectories homes{folder + "/h", folder + "/h", folder + "/h"};
  const auto catalog = Catalog::open(files, Environment(), homes, folder + "/p");
  EXPECT_FALSE(catalog->find("acme.aa"));
  EXPECT_THAT(to_lines(catalog->sources().back().notes), HasSubstr("source add"));
}

}  // namespace
}  // namespace sb::workflow
