#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "sandbox/inside.hpp"
#include "sandbox/limits.hpp"

namespace sb::sandbox {

#if defined(__x86_64__) || defined(__aarch64__)
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kOtherInterface = 0x40000000;  // x32 numbers, which would pass the comparisons below
#else
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kOtherInterface = 0xffffffff;
#endif
constexpr std::uint32_t kTiocLinux = 0x541c;  // pastes into a console
constexpr std::uint32_t kSetId = S_ISUID | S_ISGID;
constexpr long kFchmodat2 = 452;
constexpr long kMemfdSecret = 447;

class FilterProgram {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void refuse(int error) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA));
  }
  void allow() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  // Skips so many instructions unless the loaded value equals `value`.
  void unless_equal_skip(std::uint32_t value, std::uint8_t count) {
    lines_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, count, value});
  }
  void unless_bits_skip(std::uint32_t bits, std::uint8_t count) {
    lines_.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, count, bits});
  }
  void if_equal_skip(std::uint32_t value, std::uint8_t count) {
    lines_.push_back({BPF_JMP | BPF_JEQ | BPF_K, count, 0, value});
  }
  void if_at_least_refuse(std::uint32_t value, int error) {
    lines_.push_back({BPF_JMP | BPF_JGE | BPF_K, 0, 1, value});
    refuse(error);
  }
  void refuse_call(long number, int error) {
    unless_equal_skip(static_cast<std::uint32_t>(number), 1);
    refuse(error);
  }
  // Arguments are compared by their low 32 bits, which is all that these calls use.
  void load_argument(std::size_t index) { load(offsetof(seccomp_data, args) + 8 * index); }
  void refuse_call_with_bits(long number, std::size_t argument, std::uint32_t bits, int error) {
    unless_equal_skip(static_cast<std::uint32_t>(number), 4);
    load_argument(argument);
    unless_bits_skip(bits, 1);
    refuse(error);
    allow();
  }
  // A size, whose high 32 bits count too.
  void refuse_call_above(long number, std::size_t argument, std::uint32_t most, int error) {
    unless_equal_skip(static_cast<std::uint32_t>(number), 6);
    load(offsetof(seccomp_data, args) + 8 * argument + 4);
    unless_equal_skip(0, 2);
    load_argument(argument);
    lines_.push_back({BPF_JMP | BPF_JGT | BPF_K, 0, 1, most});
    refuse(error);
    allow();
  }
  // Where a file may be created: by flags, with a mode.
  void refuse_creation_with_bits(long number, std::size_t flags, std::size_t mode, std::uint32_t bits, int error) {
    unless_equal_skip(static_cast<std::uint32_t>(number), 6);
    load_argument(flags);
    unless_bits_skip(O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 3);
    load_argument(mode);
    unless_bits_skip(bits, 1);
    refuse(error);
    allow();
  }
  std::vector<sock_filter>& lines() { return lines_; }

 private:
  void add(std::uint16_t code, std::uint32_t value) { lines_.push_back({code, 0, 0, value}); }
  std::vector<sock_filter> lines_;
};

FilterProgram call_filter() {
  FilterProgram program;
  program.load(offsetof(seccomp_data, arch));
  program.if_equal_skip(kArchitecture, 1);
  program.refuse(ENOSYS);  // 32-bit calls have other numbers
  program.load(offsetof(seccomp_data, nr));
  program.if_at_least_refuse(kOtherInterface, ENOSYS);
  for (const long number : {SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
                            SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_open_by_handle_at, SYS_syslog}) {
    program.refuse_call(number, EPERM);
  }
  // The C library tries clone3 first and then clone, whose flags can be read here.
  // The mode of openat2 is in memory and cannot be read here; callers fall back to openat.
  for (const long number : {SYS_clone3, SYS_openat2, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}) {
    program.refuse_call(number, ENOSYS);
  }
  // Memory that belongs to no process, so that nothing but a control group counts it: files sent over a socket and
  // never received, messages, segments and semaphores. PostgreSQL needs one small segment.
  for (const long number : {static_cast<long>(SYS_memfd_create), kMemfdSecret, static_cast<long>(SYS_msgget)}) {
    program.refuse_call(number, ENOSYS);
  }
  program.refuse_call_above(SYS_shmget, 1, limits::kSharedSegmentBytes, EINVAL);
  program.refuse_call_above(SYS_semget, 1, limits::kSemaphoresPerSet, EINVAL);
  program.refuse_call_with_bits(SYS_unshare, 0, CLONE_NEWUSER, EPERM);
  program.refuse_call_with_bits(SYS_clone, 0, CLONE_NEWUSER, EPERM);
  // A set-user-id program in the work tree would be root's, or the user's, for everyone on the machine.
  program.refuse_call_with_bits(SYS_fchmod, 1, kSetId, EPERM);
  program.refuse_call_with_bits(SYS_fchmodat, 2, kSetId, EPERM);
  program.refuse_call_with_bits(kFchmodat2, 2, kSetId, EPERM);
  program.refuse_call_with_bits(SYS_mknodat, 2, kSetId, EPERM);
  program.refuse_creation_with_bits(SYS_openat, 2, 3, kSetId, EPERM);
#if defined(__x86_64__)
  program.refuse_call_with_bits(SYS_chmod, 1, kSetId, EPERM);
  program.refuse_call_with_bits(SYS_creat, 1, kSetId, EPERM);
  program.refuse_call_with_bits(SYS_mknod, 1, kSetId, EPERM);
  program.refuse_creation_with_bits(SYS_open, 1, 2, kSetId, EPERM);
#endif
  program.unless_equal_skip(SYS_ioctl, 5);
  program.load_argument(1);
  program.if_equal_skip(TIOCSTI, 2);
  program.if_equal_skip(kTiocLinux, 1);
  program.allow();
  program.refuse(EPERM);
  for (const long number : {SYS_socket, SYS_socketpair}) {
    program.unless_equal_skip(static_cast<std::uint32_t>(number), 7);
    program.load_argument(0);
    program.if_equal_skip(AF_UNIX, 4);
    program.if_equal_skip(AF_INET, 3);
    program.if_equal_skip(AF_INET6, 2);
    program.if_equal_skip(AF_NETLINK, 1);
    program.refuse(EAFNOSUPPORT);
    program.allow();
  }
  program.allow();
  return program;
}

}  // namespace

bool install_call_filter() {
  FilterProgram program = call_filter();
  const sock_fprog filter{static_cast<unsigned short>(program.lines().size()), program.lines().data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
#else
// Without the filter the sandbox would have holes, so there is none.
bool install_call_filter() {
  errno = ENOTSUP;
  return false;
}
#endif

}  // namespace sb::sandbox
