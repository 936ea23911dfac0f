// Sockets and the copying of bytes between two of them: what the door outside of a sandbox and the forwarder inside
// have in common.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sb::sandbox {

// Closes its descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

Socket listen_at_path(const std::string& path);  // at most 107 bytes
Socket listen_on_loopback(int port);
Socket connect_to_path(const std::string& path);
// Not open if no address of the host accepts within the time.
Socket connect_to_host(const std::string& host, int port, std::int64_t timeout_ms);
bool send_all(int socket, std::string_view bytes);
// Reads to the end of a request's or reply's head, with what came behind it in `rest`. False: too large, too slow or
// cut off.
bool read_head(int socket, std::string& head, std::string& rest, std::int64_t timeout_ms);
// Copies in both directions until both sides have ended, or `stop` (an eventfd; -1: none) becomes readable.
void relay(int one, int other, int stop);

}  // namespace sb::sandbox
