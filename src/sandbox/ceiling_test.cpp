// How much of the machine a command can use in the real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/testing.hpp"

namespace sb::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Doors, FilesProcessesAndSharedMemoryAreLimited) {
  room.settings.limits.open_files = 64;
  room.settings.limits.shm_mb = 1;
  EXPECT_EQ(room.run("ulimit -n").output, "64\n");
  EXPECT_EQ(room.run("ulimit -c").output, "0\n");
  EXPECT_EQ(room.run("ulimit -t").output, "3600\n");
  closed("head -c 2000000 /dev/zero > /dev/shm/x");
  closed("ulimit -n 128");
}

TEST_F(Doors, TooManyProcessesEndTheCommand) {
  room.settings.limits.processes = 40;
  const ProcessResult result = room.run("for i in $(seq 200); do sleep 60 & done; wait; echo survived");
  EXPECT_THAT(result.output, Not(HasSubstr("survived")));
  // As root the kernel does not count; the watch does.
  EXPECT_THAT(result.errors, testing::AnyOf(HasSubstr("limit of processes"), HasSubstr("Resource temporarily")));
}

TEST_F(Doors, ThreadsCountAsProcesses) {
  room.settings.limits.processes = 40;
  const ProcessResult result = room.run(
      "python3 -c 'import threading,time\nfor i in range(200): threading.Thread(target=time.sleep, args=(60,), "
      "daemon=True).start()\ntime.sleep(60); print(\"survived\")'");
  EXPECT_THAT(result.output, Not(HasSubstr("survived")));
  EXPECT_THAT(result.errors, testing::AnyOf(HasSubstr("limit of processes"), HasSubstr("start new thread")));
}

TEST_F(Doors, TooMuchMemoryEndsTheCommand) {
  room.settings.limits.memory_mb = 64;
  for (const char* how :
       {"x = bytearray(300_000_000)", "import mmap; x = mmap.mmap(-1, 300_000_000); x.write(b\"x\" * 300_000_000)"}) {
    const ProcessResult result =
        room.run(std::string("python3 -c '") + how + "\nimport time; time.sleep(60); print(\"survived\")'");
    EXPECT_NE(result.code, 0) << how;
    EXPECT_THAT(result.errors, HasSubstr("limit of memory was reached")) << how;
  }
}

TEST_F(Doors, ACommandBelowItsLimitsIsLeftAlone) {
  room.settings.limits.memory_mb = 512;
  EXPECT_EQ(room.run("python3 -c 'import time; x = bytearray(50_000_000); time.sleep(0.3); print(\"fine\")'").output,
            "fine\n");
}

// The pages stay, although no process has them.
TEST_F(Doors, SharedMemoryCountsThoughNoProcessMapsItsPages) {
  room.settings.limits.memory_mb = 64;
  const ProcessResult result = room.run(
      "python3 -c 'import mmap,time\nkept = []\nfor i in range(40):\n  x = mmap.mmap(-1, 10_000_000); "
      "x.write(b\"x\" * 10_000_000); x.madvise(mmap.MADV_DONTNEED); kept.append(x)\n"
      "time.sleep(60); print(\"survived\")'");
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.errors, HasSubstr("limit of memory was reached"));
}

// Memory that belongs to no process could not be counted.
TEST_F(Doors, MemoryWithoutAnOwnerIsRefused) {
  const std::string call =
      "python3 -c 'import ctypes,sys; l=ctypes.CDLL(None,use_errno=True); "
      "r=getattr(l,sys.argv[1])(*[ctypes.c_long(int(x)) for x in sys.argv[2:]]); sys.exit(0 if r>=0 else 1)' ";
  closed(call + "shmget 0 20000000 1023");
  closed(call + "shmget 0 4294967296 1023");
  closed(call + "shmget 0 4097 1023");
  open(call + "shmget 0 56 1023");  // as PostgreSQL does
  closed(call + "semget 0 33 1023");
  open(call + "semget 0 17 1023");
  closed(call + "msgget 0 1023");
  closed("python3 -c 'import os; os.memfd_create(\"x\")'");
}

// As a control group would count them.
TEST_F(Doors, FilesInMemoryCountAsMemory) {
  room.settings.limits.memory_mb = 64;
  room.settings.limits.shm_mb = 48;
  const std::string fill = "head -c 40000000 /dev/zero > ";
  for (const std::string& line :
       {fill + "/tmp/x; " + fill + "/var/tmp/x", fill + "~/x; " + fill + "/dev/shm/x",
        std::string("cd /tmp; python3 -c 'for i in range(100000): open(str(i), \"w\").close()'")}) {
    const ProcessResult result = room.run(line + "; sleep 60; echo survived");
    EXPECT_NE(result.code, 0) << line;
    EXPECT_THAT(result.errors, HasSubstr("limit of memory was reached")) << line;
  }
  closed("head -c 100000000 /dev/zero > /tmp/x");
}

TEST_F(Doors, TooMuchProcessorTimeEndsTheCommand) {
  room.settings.limits.cpu_s = 1;
  closed("while :; do :; done");
}

}  // namespace
}  // namespace sb::sandbox
