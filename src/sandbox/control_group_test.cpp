#include <gtest/gtest.h>

#include "sandbox/testing.hpp"

namespace sb::sandbox {
namespace {

// A folder that looks like the groups of a system: the kernel makes the files of a new group, here they are missing, so
// only what is looked for can be tested.
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

}  // namespace
}  // namespace sb::sandbox
