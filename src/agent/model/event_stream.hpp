// Parses server-sent events incrementally: `event:` and `data:` lines up to an empty line. Lines end with LF, CR LF or
// CR; comments, other fields and a byte order mark are ignored. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sb::agent {

struct SseEvent {
  std::string name;  // empty if absent
  std::string data;  // its lines joined by LF
};

class SseParser {
 public:
  // The size limit of an event and of a line; a larger one ends the parsing for good.
  explicit SseParser(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // The events that these bytes complete.
  std::vector<SseEvent> feed(std::string_view bytes);
  bool is_too_large() const { return is_too_large_; }
  bool has_begun() const;  // whether the bytes so far look like an event stream

 private:
  void line(std::string_view text, std::vector<SseEvent>& events);

  std::size_t max_bytes_;
  std::string rest_;  // the start of an incomplete line
  SseEvent event_;
  bool has_data_ = false, is_too_large_ = false, has_begun_ = false, is_first_ = true, after_cr_ = false;
};

}  // namespace sb::agent
