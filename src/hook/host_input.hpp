// The standard input of a hook. A host that starts us and then sends nothing must not block us, nor we the host, so
// reading times out: when no data arrives for a while, or when it takes longer than a host waits for a hook.
//
// Everything else goes to the wrapped streams. Not thread-safe.
#pragma once

#include "base/clock.hpp"
#include "base/streams.hpp"

namespace sb::hook {

struct ReadTimeouts {
  int idle_ms = 2'000;   // without a byte
  int total_ms = 4'000;  // the host allows a hook 5 s in total
};

// Reads to the end. Longer input is drained and returns kLimit; kUnavailable on a timeout.
Result<std::string> read_within(int descriptor, std::size_t max_bytes, const ReadTimeouts& patience, Clock& clock);

class HostStreams final : public Streams {
 public:
  HostStreams(Streams& streams, Clock& clock) : streams_(streams), clock_(clock) {}

  Result<std::string> read_input(std::size_t max_bytes) override;
  Result<std::optional<std::string>> read_line(std::size_t max_bytes) override { return streams_.read_line(max_bytes); }
  void out(std::string_view text) override { streams_.out(text); }
  void err(std::string_view text) override { streams_.err(text); }
  Status flush() override { return streams_.flush(); }
  bool output_closed() const override { return streams_.output_closed(); }
  bool is_terminal(Stream stream) const override { return streams_.is_terminal(stream); }

 private:
  Streams& streams_;
  Clock& clock_;
};

}  // namespace sb::hook
