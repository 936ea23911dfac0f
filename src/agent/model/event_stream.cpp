#include "agent/model/event_stream.hpp"

#include <algorithm>
#include <utility>

namespace sb::agent {

namespace {

// Whether the format defines this field; empty: a comment.
bool is_known(std::string_view field) {
  return field.empty() || field == "data" || field == "event" || field == "id" || field == "retry";
}

}  // namespace

bool SseParser::has_begun() const {
  const std::size_t colon = rest_.find(':');
  return has_begun_ || (colon != std::string::npos && is_known(std::string_view(rest_).substr(0, colon)));
}

std::vector<SseEvent> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty() && !is_too_large_) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (rest_.size() + part.size() + event_.data.size() > max_bytes_) {
      is_too_large_ = true;
      break;
    }
    if (end == std::string_view::npos) {
      rest_ += part;
      break;
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      line(part, events);
    } else {
      rest_ += part;
      line(std::exchange(rest_, {}), events);
    }
  }
  return events;
}

void SseParser::line(std::string_view text, std::vector<SseEvent>& events) {
  if (std::exchange(is_first_, false) && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.empty()) {
    if (has_data_) events.push_back(std::move(event_));
    event_ = {};
    has_data_ = false;
    return;
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view field = text.substr(0, colon);
  std::string_view value = text.substr(std::min(colon + 1, text.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  has_begun_ |= is_known(field) && colon < text.size();
  if (field == "event") event_.name = value;
  if (field != "data") return;
  if (has_data_) event_.data += '\n';
  event_.data += value;
  has_data_ = true;
}

}  // namespace sb::agent
