#include "base/document/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <unordered_set>

#include "base/document/document.hpp"
#include "base/limits.hpp"

namespace sb {
namespace {

// Builds the tree while Boost.JSON parses; stops at the first duplicate key or exceeded limit.
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
  bool on_object_begin(error_code& code) { return open(true, code); }
  bool on_object_end(std::size_t, error_code& code) { return close(code); }
  bool on_array_begin(error_code& code) { return open(false, code); }
  bool on_array_end(std::size_t, error_code& code) { return close(code); }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& code) {
    std::string key = take_text(part);
    if (is_repeated(key)) {
      error = Error{ErrorCode::kInvalid, fmt::format("duplicate key \"{}\"", key), "Keep only one", {}, false};
      error->location.pointer = pointer() + '/' + escape_pointer(key);
      return stop(code);
    }
    parts_.push_back({std::move(key), Value()});
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code& code) { return add(Value(take_text(part)), code); }
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
    // Boost.JSON 1.81 can be wrong in the last bit, and hashes are computed from the values read here.
    std::from_chars(text_.data(), text_.data() + text_.size(), number);
    text_.clear();
    if (!std::isfinite(number)) {
      error = Error{ErrorCode::kInvalid, "number out of range", "Use a smaller number", {}, false};
      return stop(code);
    }
    return add(Value(number), code);
  }
  bool on_bool(bool value, error_code& code) { return add(Value(value), code); }
  bool on_null(error_code& code) { return add(Value(), code); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  // An open object or array. Its parts are the entries of `parts_` from `begin` on, once the inner ones are closed.
  struct Frame {
    std::size_t begin;
    bool is_object;
    std::unique_ptr<std::unordered_set<std::string>> keys;  // only for a large object
  };

  std::string take_text(string_view part) {
    if (text_.empty()) return std::string(part.data(), part.size());
    text_.append(part.data(), part.size());
    std::string whole(text_);  // exact size, and text_ keeps its capacity
    text_.clear();
    return whole;
  }

  bool is_repeated(const std::string& key) {
    constexpr std::size_t kLarge = 16;
    Frame& frame = frames_.back();
    const std::span<const Value::Member> members(parts_.begin() + static_cast<std::ptrdiff_t>(frame.begin),
                                                 parts_.end());
    if (members.size() < kLarge) return std::ranges::find(members, key, &Value::Member::name) != members.end();
    if (!frame.keys) {
      frame.keys = std::make_unique<std::unordered_set<std::string>>();
      for (const auto& member : members) frame.keys->insert(member.name);
    }
    return !frame.keys->insert(key).second;
  }

  // Pointer to the innermost open container.
  std::string pointer() const {
    std::string out;
    for (std::size_t i = 1; i < frames_.size(); ++i) {
      const Frame& parent = frames_[i - 1];
      const std::size_t begin = frames_[i].begin;
      out += '/' + (parent.is_object ? escape_pointer(parts_[begin - 1].name) : std::to_string(begin - parent.begin));
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

  bool open(bool is_object, error_code& code) {
    if (!count(code)) return false;
    if (frames_.size() >= bounds_.depth) {
      error =
          Error{ErrorCode::kLimit, fmt::format("nested deeper than {} levels", bounds_.depth), "Flatten it", {}, false};
      return stop(code);
    }
    frames_.push_back({parts_.size(), is_object, nullptr});
    return true;
  }

  bool close(error_code& code) {
    const auto begin = parts_.begin() + static_cast<std::ptrdiff_t>(frames_.back().begin);
    Value value;
    if (frames_.back().is_object) {
      value = Value::object();
      value.members().assign(std::move_iterator(begin), std::move_iterator(parts_.end()));
    } else {
      Value::Array items;
      items.reserve(static_cast<std::size_t>(parts_.end() - begin));
      for (auto at = begin; at != parts_.end(); ++at) items.push_back(std::move(at->value));
      value = Value(std::move(items));
    }
    parts_.erase(begin, parts_.end());
    frames_.pop_back();
    --nodes_;
    return add(std::move(value), code);
  }

  bool add(Value value, error_code& code) {
    if (!count(code)) return false;
    if (frames_.empty()) {
      root = std::move(value);
    } else if (frames_.back().is_object) {
      parts_.back().value = std::move(value);  // the key was added before
    } else {
      parts_.push_back({std::string(), std::move(value)});
    }
    return true;
  }

  JsonBounds bounds_;
  std::vector<Frame> frames_;
  // Of all open containers, so that each list is allocated once, with its exact size.
  std::vector<Value::Member> parts_;
  std::string text_;  // a key, string or number that arrives in pieces
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
  if (code == boost::json::error::incomplete)
    return failure("unexpected end of JSON", "Close the open strings, lists and objects");
  if (code) return failure(fmt::format("invalid JSON: {}", code.message()), "Fix the syntax here");
  if (text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
    used = text.find_first_not_of(" \t\r\n", used);
    return failure("unexpected text after the JSON value", "Keep one value per document");
  }
  return std::move(parser.handler().root);
}

}  // namespace sb
