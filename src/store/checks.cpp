#include "store/checks.hpp"

#include <fmt/format.h>

#include <string>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::store {
namespace {

constexpr std::string_view kLastCodePoint = "\xF4\x8F\xBF\xBF";  // U+10FFFF, a noncharacter; not allowed in names

}  // namespace

Status check_name(std::string_view what, std::string_view name) {
  if (name.empty()) return fail(ErrorCode::kInvalid, fmt::format("the {} is empty", what), "Give it a name.");
  if (name.size() > limits::kStoreNameBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("the {} has {} bytes; at most {} are allowed", what, name.size(), limits::kStoreNameBytes),
                "Shorten it.");
  }
  if (name.find('\0') != name.npos || name.find(kLastCodePoint) != name.npos || !is_utf8(name)) {
    return fail(ErrorCode::kInvalid, fmt::format("the {} is not valid UTF-8", what), "Use UTF-8 text.");
  }
  return {};
}

Status check_value(std::string_view what, std::string_view bytes) {
  if (bytes.size() <= limits::kStoreValueBytes) return {};
  return fail(ErrorCode::kLimit,
              fmt::format("the {} has {} bytes; at most {} are allowed", what, bytes.size(), limits::kStoreValueBytes),
              "Store less, or in several pieces.");
}

Status check_page(int limit) {
  if (limit >= 0 && limit <= limits::kStorePageRows) return {};
  return fail(ErrorCode::kLimit,
              fmt::format("{} rows requested in one read; at most {} are allowed", limit, limits::kStorePageRows),
              "Read page by page.");
}

std::string prefix_end(std::string_view prefix) {
  return std::string(prefix) + std::string(kLastCodePoint);
}

}  // namespace sb::store
