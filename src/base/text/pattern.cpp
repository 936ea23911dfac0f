#include "base/text/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <new>

#include "base/limits.hpp"

namespace sb {
namespace {

struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

std::string describe(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Pattern::Code {
  struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  };
  pcre2_code* code = nullptr;
  std::unique_ptr<pcre2_match_context, FreeContext> limits;  // read-only after construction
  std::string expression;
  ~Code() { pcre2_code_free(code); }
};

Result<Pattern> Pattern::compile(std::string_view expression, unsigned flags) {
  // A long pattern can nest so deeply that the compiler fails before its own limits apply.
  if (expression.size() > 64u << 10) return fail(ErrorCode::kLimit, "the pattern is longer than 64 KiB");
  std::uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
  options |= flags & kJavaScript
                 ? PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS
                 : PCRE2_UCP;
  if (flags & kIgnoreCase) options |= PCRE2_CASELESS;
  if (flags & kMultiLine) options |= PCRE2_MULTILINE;
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto code = std::make_shared<Code>();
  code->expression = expression;
  code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), options, &error,
                             &offset, nullptr);
  // Not a fault of the pattern, which may be one of ours.
  if (!code->code && error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
  if (!code->code) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("the pattern `{}` does not compile: {} at character {}", expression, describe(error), offset),
        "Use PCRE2 syntax");
  }
  code->limits.reset(pcre2_match_context_create(nullptr));
  if (!code->limits) throw std::bad_alloc();
  pcre2_set_match_limit(code->limits.get(), limits::kPatternMatchLimit);
  pcre2_set_depth_limit(code->limits.get(), limits::kPatternDepthLimit);
  pcre2_set_heap_limit(code->limits.get(), 64u << 10);
  // If the library has no JIT, matching works without it.
  if (flags & kFast) pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE);
  return Pattern(std::move(code));
}

Result<std::optional<Match>> Pattern::find(std::string_view text, std::size_t from) const {
  std::unique_ptr<pcre2_match_data, FreeMatchData> data(pcre2_match_data_create_from_pattern(code_->code, nullptr));
  const int count = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, 0,
                                data.get(), code_->limits.get());
  if (count == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (count < 0) {
    const bool gave_up =
        count == PCRE2_ERROR_MATCHLIMIT || count == PCRE2_ERROR_DEPTHLIMIT || count == PCRE2_ERROR_HEAPLIMIT;
    return fail(gave_up ? ErrorCode::kLimit : ErrorCode::kInvalid,
                fmt::format("matching `{}` failed: {}", code_->expression, describe(count)),
                gave_up ? "Write a pattern that needs less backtracking" : "");
  }
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data.get());
  Match match;
  match.begin = offsets[0];
  match.end = offsets[1];
  const auto groups = pcre2_get_ovector_count(data.get());
  for (std::uint32_t i = 0; i < groups; ++i) {
    const PCRE2_SIZE begin = offsets[2 * i], end = offsets[2 * i + 1];
    const bool is_set = i < static_cast<std::uint32_t>(count) && begin != PCRE2_UNSET;
    match.groups.push_back(is_set ? std::optional(text.substr(begin, end - begin)) : std::nullopt);
  }
  return match;
}

std::optional<std::pair<std::size_t, std::size_t>> Pattern::find_range(std::string_view text) const {
  std::unique_ptr<pcre2_match_data, FreeMatchData> data(pcre2_match_data_create(1, nullptr));
  const int count = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0,
                                PCRE2_NO_UTF_CHECK, data.get(), code_->limits.get());
  if (count < 0) return std::nullopt;
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data.get());
  return std::pair(offsets[0], offsets[1]);
}

Result<bool> Pattern::matches(std::string_view text) const {
  const auto match = SB_TRY(find(text));
  return match.has_value();
}

}  // namespace sb
