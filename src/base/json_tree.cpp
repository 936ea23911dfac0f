#include "base/json_tree.hpp"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/document.hpp"
#include "base/limits.hpp"

namespace sb {
namespace {

// Builds the tree while Boost.JSON parses, and stops at the first duplicate key or limit.
class TreeBuilder {
 public:
  static constexpr std::size_t max_array_size = -1;
  static constexpr std::size_t max_object_size = -1;
  static constexpr std::size_t max_string_size = -1;
  static constexpr std::size_t max_key_size = -1;
  using error_code = boost::json::error_code;
  using string_view = boost::json::string_view;

  explicit TreeBuilder(const JsonBounds& bounds) : bounds_(bounds) {}

  Value root;
  std::optional<Error> error;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& code) { return open(Value::object(), code); }
  bool on_object_end(std::size_t, error_code& code) { return close(code); }
  bool on_array_begin(error_code& code) { return open(Value::array(), code); }
  bool on_array_end(std::size_t, error_code& code) { return close(code); }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& code) {
    key_.append(part.data(), part.size());
    Frame& frame = frames_.back();
    if (frame.has(key_)) {
      error =
          Error{ErrorCode::kInvalid, fmt::format("the key \"{}\" is given twice", key_), "Keep one of them", {}, false};
      error->place.pointer = pointer() + '/' + pointer_step(key_);
      return stop(code);
    }
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code& code) {
    text_.append(part.data(), part.size());
    Value value(std::move(text_));
    text_.clear();
    return add(std::move(value), code);
  }
  bool on_number_part(string_view part, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t number, string_view, error_code& code) {
    text_.clear();
    return add(Value(static_cast<long>(number)), code);
  }
  bool on_uint64(std::uint64_t number, string_view, error_code& code) {
    text_.clear();
    return add(Value(static_cast<double>(number)), code);
  }
  bool on_double(double number, string_view part, error_code& code) {
    text_.append(part.data(), part.size());
    // Boost.JSON 1.81 can be off by the last bit, and hashes are taken of what we read here.
    std::from_chars(text_.data(), text_.data() + text_.size(), number);
    text_.clear();
    if (!std::isfinite(number)) {
      error = Error{ErrorCode::kInvalid, "a number is too large", "Use a smaller one", {}, false};
      return stop(code);
    }
    return add(Value(number), code);
  }
  bool on_bool(bool value, error_code& code) { return add(Value(value), code); }
  bool on_null(error_code& code) { return add(Value(), code); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  struct Frame {
    Value value;
    std::string key;                       // of this value in its parent
    std::unordered_set<std::string> keys;  // filled only when the object is large
    bool has(const std::string& name) {
      constexpr std::size_t kLarge = 16;
      if (value.size() < kLarge) return value.find(name) != nullptr;
      if (keys.empty()) {
        for (const auto& member : value.members()) keys.insert(member.name);
      }
      return !keys.insert(name).second;
    }
  };

  std::string pointer() const {
    std::string out;
    for (std::size_t i = 1; i < frames_.size(); ++i) {
      const Value& parent = frames_[i - 1].value;
      out += '/' + (parent.is_array() ? std::to_string(parent.size()) : pointer_step(frames_[i].key));
    }
    return out;
  }

  bool stop(error_code& code) {
    code = boost::json::error::syntax;
    return false;
  }

  bool count(error_code& code) {
    if (++nodes_ <= bounds_.nodes) return true;
    error = Error{
        ErrorCode::kLimit, fmt::format("more than {} values in one document", bounds_.nodes), "Split it", {}, false};
    return stop(code);
  }

  bool open(Value value, error_code& code) {
    if (!count(code)) return false;
    if (frames_.size() >= bounds_.depth) {
      error =
          Error{ErrorCode::kLimit, fmt::format("nested deeper than {} levels", bounds_.depth), "Flatten it", {}, false};
      return stop(code);
    }
    frames_.push_back({std::move(value), std::move(key_), {}});
    key_.clear();
    return true;
  }

  bool close(error_code& code) {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    key_ = std::move(frame.key);
    --nodes_;
    return add(std::move(frame.value), code);
  }

  bool add(Value value, error_code& code) {
    if (!count(code)) return false;
    if (frames_.empty()) {
      root = std::move(value);
    } else if (Value& parent = frames_.back().value; parent.is_array()) {
      parent.items().push_back(std::move(value));
    } else {
      parent.members().push_back({std::move(key_), std::move(value)});
      key_.clear();
    }
    return true;
  }

  JsonBounds bounds_;
  std::vector<Frame> frames_;
  std::string key_;
  std::string text_;
  std::size_t nodes_ = 0;
};

}  // namespace

std::expected<Value, JsonFault> json_tree(std::string_view text, const JsonBounds& bounds) {
  boost::json::parse_options options;
  options.max_depth = bounds.depth + 1;
  boost::json::basic_parser<TreeBuilder> parser(options, bounds);
  boost::json::error_code code;
  std::size_t used = parser.write_some(false, text.data(), text.size(), code);
  const auto failure = [&](std::string message, std::string remedy) {
    return std::unexpected(
        JsonFault{Error{ErrorCode::kInvalid, std::move(message), std::move(remedy), {}, false}, used});
  };
  if (parser.handler().error) return std::unexpected(JsonFault{std::move(*parser.handler().error), used});
  if (code == boost::json::error::incomplete) return failure("the JSON ends too early", "Close what is open");
  if (code) return failure(fmt::format("not JSON: {}", code.message()), "Mend the syntax here");
  if (text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
    used = text.find_first_not_of(" \t\r\n", used);
    return failure("text follows the end of the JSON", "Keep one value a document");
  }
  return std::move(parser.handler().root);
}

}  // namespace sb
