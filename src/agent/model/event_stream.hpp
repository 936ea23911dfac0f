// Server-sent events out of bytes as they come: `event:` and `data:` lines up to an empty one. Lines end with LF, CR LF
// or CR; comments and other fields are passed over, as is a byte order mark. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sb::agent {

struct SseEvent {
  std::string name;  // empty where none was given
  std::string data;  // its lines joined by LF
};

class SseParser {
 public:
  // An event, and a line, may have so many bytes; one that has more ends the reading for good.
  explicit SseParser(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // The events these bytes complete.
  std::vector<SseEvent> feed(std::string_view bytes);
  bool is_too_large() const { return is_too_large_; }
  bool has_begun() const;  // whether what came looks like such a stream so far

 private:
  void line(std::string_view text, std::vector<SseEvent>& events);

  std::size_t max_bytes_;
  std::string rest_;  // of a line that is not whole yet
  SseEvent event_;
  bool has_data_ = false, is_too_large_ = false, has_begun_ = false, is_first_ = true, after_cr_ = false;
};

}  // namespace sb::agent
