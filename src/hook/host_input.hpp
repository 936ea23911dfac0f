// The standard input of a hook. A host that starts us and then sends nothing must not keep us, nor be kept by us, so
// reading gives up: when nothing came for a while, or when it takes longer than a host waits for a hook.
//
// Everything else goes to the streams it stands before. Not thread-safe.
#pragma once

#include "base/clock.hpp"
#include "base/streams.hpp"

namespace sb::hook {

struct ReadTimeouts {
  int idle_ms = 2'000;   // without a byte
  int total_ms = 4'000;  // the host gives a hook 5 s for everything
};

// Everything up to the end. What is longer is read to its end and is kLimit; kUnavailable when patience ran out.
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
