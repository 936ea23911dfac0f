// The tag index, on FTS5.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "store/checks.hpp"
#include "store/sqlite/sqlite_transaction.hpp"

namespace sb::store::sqlite {
namespace {

constexpr const char* kIdOf = "SELECT id FROM tagged WHERE key = ?1";
constexpr const char* kDropTags = "DELETE FROM tags WHERE rowid = ?1";
constexpr const char* kDropDocument = "DELETE FROM tagged WHERE id = ?1";
constexpr const char* kAddDocument = "INSERT INTO tagged(key) VALUES(?1) RETURNING id";
constexpr const char* kAddTags = "INSERT INTO tags(rowid, names) VALUES(?1, ?2)";
// FTS5 walks the matches from the newest and stops at the limit; the join adds one lookup each.
constexpr const char* kTagged =
    "SELECT key FROM tags JOIN tagged ON tagged.id = tags.rowid WHERE tags MATCH ?1 ORDER BY tags.rowid DESC LIMIT ?2";
constexpr const char* kCountTagged = "SELECT count(*) FROM tags WHERE tags MATCH ?1";

bool is_tag_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// The tokenizer folds capitals and splits at everything else.
Status check_tag(std::string_view tag) {
  SB_TRY(check_name("tag", tag));
  if (std::ranges::all_of(tag, is_tag_byte)) return {};
  return fail(ErrorCode::kInvalid, "a tag has only lower-case letters, digits and `_`");
}

// In the query language of FTS5; empty for a query without tags.
Result<std::string> match_text(const TagQuery& query) {
  if (query.kind == TagQuery::Kind::kTag) {
    SB_TRY(check_tag(query.tag));
    return fmt::format("\"{}\"", query.tag);
  }
  std::vector<std::string> parts;
  for (const TagQuery& part : query.parts) {
    std::string text = SB_TRY(match_text(part));
    if (!text.empty()) {
      parts.push_back(std::move(text));
    } else if (query.kind == TagQuery::Kind::kAll) {
      return std::string();
    } else if (query.kind == TagQuery::Kind::kWithout && parts.empty()) {
      return std::string();
    }
  }
  if (parts.size() <= 1) return parts.empty() ? std::string() : parts.front();
  const std::string_view joint = query.kind == TagQuery::Kind::kAll   ? " AND "
                                 : query.kind == TagQuery::Kind::kAny ? " OR "
                                                                      : " NOT ";
  return fmt::format("({})", fmt::join(parts, joint));
}

}  // namespace

Result<std::vector<std::string>> SqliteTransaction::tagged(const TagQuery& query, int limit) {
  SB_TRY(check_page(limit));
  const std::string match = SB_TRY(match_text(query));
  std::vector<std::string> keys;
  if (match.empty()) return keys;
  Statement statement = SB_TRY(connection_.prepare(kTagged));
  statement.bind(1, match).bind(2, std::int64_t{limit});
  while (SB_TRY(statement.step())) keys.emplace_back(statement.bytes(0));
  return keys;
}

Result<std::int64_t> SqliteTransaction::count_tagged(const TagQuery& query) {
  const std::string match = SB_TRY(match_text(query));
  if (match.empty()) return 0;
  Statement statement = SB_TRY(connection_.prepare(kCountTagged));
  SB_TRY(statement.bind(1, match).step());
  return statement.integer(0);
}

Status SqliteTransaction::remove_tags(std::string_view key) {
  SB_TRY(check_name("key", key));
  std::int64_t id = 0;
  {
    Statement found = SB_TRY(connection_.prepare(kIdOf));
    if (!SB_TRY(found.bind(1, key).step())) return {};
    id = found.integer(0);
  }
  SB_TRY(SB_TRY(connection_.prepare(kDropTags)).bind(1, id).run());
  return SB_TRY(connection_.prepare(kDropDocument)).bind(1, id).run();
}

Status SqliteTransaction::put_tags(std::string_view key, std::span<const std::string> tags) {
  for (const std::string& tag : tags) SB_TRY(check_tag(tag));
  SB_TRY(remove_tags(key));
  std::int64_t id = 0;
  {
    Statement added = SB_TRY(connection_.prepare(kAddDocument));
    SB_TRY(added.bind(1, key).step());
    id = added.integer(0);
    SB_TRY(added.run());
  }
  const std::string text = fmt::format("{}", fmt::join(tags, " "));
  return SB_TRY(connection_.prepare(kAddTags)).bind(1, id).bind(2, text).run();
}

}  // namespace sb::store::sqlite
