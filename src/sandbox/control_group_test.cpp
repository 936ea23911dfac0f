#include <gtest/gtest.h>

#include "sandbox/testing.hpp"

namespace sb::sandbox {
namespace {

// A folder that looks like the groups of a system.
TEST(ControlGroup, IsMadeOnlyWhereMemoryAndProcessesAreDelegated) {
  SandboxFixture room;
  const std::string root = room.directory + "/cgroup";
  const std::string own = room.directory + "/own";
  room.write("own", "0::/user/app/term\n");
  room.write("cgroup/user/app/term/cgroup.subtree_control", "");
  room.write("cgroup/user/app/cgroup.subtree_control", "cpu\n");
  room.write("cgroup/user/cgroup.subtree_control", "cpu\n");
  room.write("cgroup/cgroup.subtree_control", "cpu\n");
  EXPECT_FALSE(ControlGroup::make(room.files, {}, root, own));
  room.write("own", "4:memory:/x\n");
  EXPECT_FALSE(ControlGroup::make(room.files, {}, root, own)) << "version 1";
  EXPECT_FALSE(ControlGroup::make(room.files, {}, root, room.directory + "/missing"));
}

TEST(ControlGroup, BoundsMemoryAndProcessesOfTheNearestGroupThatIsDelegated) {
  SandboxFixture room;
  const std::string root = room.directory + "/cgroup";
  room.write("own", "0::/user/app/term\n");
  room.write("cgroup/user/app/term/cgroup.subtree_control", "\n");
  room.write("cgroup/user/app/cgroup.subtree_control", "cpu memory pids\n");
  room.write("cgroup/user/cgroup.subtree_control", "memory pids\n");
  Limits limits;
  limits.memory_mb = 64;
  limits.processes = 40;
  const auto group = ControlGroup::make(room.files, limits, root, room.directory + "/own");
  ASSERT_TRUE(group);
  const std::string folder = parent_path(group->entrance());
  EXPECT_EQ(parent_path(folder), root + "/user/app");
  EXPECT_EQ(room.read(folder + "/memory.max"), "67108864");
  EXPECT_EQ(room.read(folder + "/memory.swap.max"), "0");
  EXPECT_EQ(room.read(folder + "/memory.oom.group"), "1");
  EXPECT_EQ(room.read(folder + "/pids.max"), "40");
  std::ofstream(group->entrance()) << "";
  const auto exit = room.process.run({.argv = {"cat", group->entrance()}, .control_group = group->entrance()});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, "0") << "a process moves itself there before it starts";
}

}  // namespace
}  // namespace sb::sandbox
