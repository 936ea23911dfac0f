// Files are opened without following a link, whatever the fence saw before.
#include "agent/tools/guarded_files.hpp"

#include "agent/limits.hpp"
#include "agent/tools/testing.hpp"

namespace sb::agent {
namespace {

TEST(GuardedFiles, DoNotFollowALinkPutThereAfterTheCheck) {
  WorkTreeFixture room;
  std::filesystem::create_symlink(room.directory + "/elsewhere/secret.txt", room.root + "/file");
  std::filesystem::create_directory_symlink(room.directory + "/elsewhere", room.root + "/folder");
  for (const std::string rest : {"file", "folder/secret.txt"}) {
    const auto read = read_guarded({room.root, rest}, 1'000);
    EXPECT_FALSE(read) << rest;
    EXPECT_FALSE(write_guarded({room.root, rest}, "mine")) << rest;
  }
  EXPECT_FALSE(write_guarded({room.root, "folder/new/deep.txt"}, "mine"));
  EXPECT_EQ(room.read("elsewhere/secret.txt"), "the-secret");
  EXPECT_FALSE(room.has("elsewhere/new"));
  int found = 0;
  const Fence fence({.root = room.root});
  walk_guarded({room.root, ""}, fence, {}, {}, [&](const WalkedFile&) { ++found; });
  walk_guarded({room.root, "folder"}, fence, {}, {}, [&](const WalkedFile&) { ++found; });
  EXPECT_EQ(found, 0);
}

TEST(GuardedFiles, RemoveWhatAKilledWriterLeft) {
  WorkTreeFixture room;
  ASSERT_TRUE(write_guarded({room.root, "a.txt"}, "one"));
  std::filesystem::create_symlink(room.directory + "/elsewhere/secret.txt", room.root + "/trap");
  ASSERT_TRUE(write_guarded({room.root, "a.txt"}, "two"));
  EXPECT_EQ(room.read("work/a.txt"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(room.root), {}), 2);
}

TEST(GuardedFiles, StopWalksAtTheDepthLimit) {
  WorkTreeFixture room;
  std::string path = room.root;
  for (int i = 0; i <= limits::kWalkDepth + 1; ++i) path += "/d";
  std::filesystem::create_directories(path);
  std::ofstream(path + "/f") << "x";
  int found = 0;
  const Fence fence({.root = room.root});
  EXPECT_FALSE(walk_guarded({room.root, ""}, fence, {}, {}, [&](const WalkedFile&) { ++found; }).is_whole);
  EXPECT_EQ(found, 0);
}

}  // namespace
}  // namespace sb::agent
