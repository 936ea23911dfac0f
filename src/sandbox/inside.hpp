// What runs inside a sandbox in front of the command: sets its limits, forwards loopback ports to the door
// (sandbox/door.hpp), installs a system call filter and starts the command. It is the first process of the sandbox and
// ends with the command.
//
//   signalbox inside-sandbox [--forward PORT]… [--proxy PORT] [--files N] [--processes N] [--cpu S] -- COMMAND…
//
// `--forward`: connections to 127.0.0.1:PORT reach the same port outside. `--proxy`: connections reach the door as they
// are, for programs that use an HTTP proxy. Only x86-64 and arm64 have the filter; elsewhere it
// starts nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::sandbox {

inline constexpr std::string_view kInsideWord = "inside-sandbox";
inline constexpr std::string_view kInsideProgram = "/run/signalbox/inside";
inline constexpr std::string_view kInsideDoor = "/run/signalbox/door";
inline constexpr int kProxyPort = 3128;

// Exit code of the command, or does not return. Nothing: the arguments are not for it.
std::optional<int> run_if_inside(int argc, char** argv);

// No new user namespaces (in one, the kernel trusts the command with far more), no kernel keyrings, no sockets but
// unix, IP and netlink (others, vsock for example, ignore the network namespace), no io_uring (it would pass the
// filter), nothing typed into a terminal, no set-user-id files, no memory that belongs to no process. Needs
// no_new_privs, which bubblewrap sets. False: could not be installed, see errno.
bool install_call_filter();

}  // namespace sb::sandbox
