#include "engine/recall/tags.hpp"

#include <algorithm>
#include <set>

#include "base/crypto.hpp"
#include "base/text/unicode.hpp"
#include "engine/recall/words.hpp"

namespace sb::engine {
namespace {

using store::TagQuery;

constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kBranchBeginnings = 100;  // bytes of a branch's name; longer names are found by their words

std::string hashed(char letter, std::string_view what) {
  return letter + sha256_hex(what).substr(0, kHashDigits);
}

std::vector<std::string_view> characters_of(std::string_view word) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t begin = at;
    (void)next_code_point(word, at);
    all.push_back(word.substr(begin, at - begin));
  }
  return all;
}

// Each run of `count` successive characters. They are adjacent in the word, so a run is one piece of it.
void add_runs(const std::vector<std::string_view>& characters, std::size_t count, std::vector<std::string>& parts) {
  for (std::size_t i = count; i <= characters.size(); ++i) {
    const char* begin = characters[i - count].data();
    parts.emplace_back(begin, static_cast<std::size_t>(characters[i - 1].data() + characters[i - 1].size() - begin));
  }
}

// The parts of a word in a session; a word in a query has the longest of them.
std::vector<std::string> parts_of(std::string_view word, bool in_query) {
  const auto characters = characters_of(word);
  std::vector<std::string> parts;
  if (is_unspaced(word)) {
    if (!in_query || characters.size() == 1) add_runs(characters, 1, parts);
    add_runs(characters, 2, parts);
  } else {
    add_runs(characters, std::min<std::size_t>(characters.size(), 3), parts);
  }
  return parts;
}

void add_parts(char letter, std::string_view text, std::set<std::string>& tags) {
  for (const std::string& word : words_of_folded(folded(text))) {
    for (const std::string& part : parts_of(word, false)) tags.insert(letter + part);
  }
}

TagQuery tagged_with(char letter, std::string_view word) {
  std::vector<TagQuery> parts;
  for (const std::string& part : parts_of(word, true)) parts.push_back(TagQuery::has(letter + part));
  return TagQuery::all(std::move(parts));
}

}  // namespace

std::vector<std::string> tags_of(const Summary& summary) {
  const SearchedTexts texts = searched_texts(summary);
  std::set<std::string> tags{"x"};
  add_parts('t', texts.text, tags);
  add_parts('w', texts.workflow, tags);
  add_parts('b', texts.branch, tags);
  if (!summary.repository.empty()) tags.insert(hashed('r', summary.repository));
  if (!summary.workspace.empty()) {
    tags.insert(hashed('p', summary.workspace));
    if (summary.repository.empty()) tags.insert(hashed('n', summary.workspace));
  }
  if (!summary.git_head.empty()) tags.insert(hashed('h', summary.git_head));
  const std::string_view branch = summary.git_branch;
  if (!branch.empty()) tags.insert(hashed('e', branch));
  for (std::size_t end = 1; end <= std::min(branch.size(), kBranchBeginnings); ++end) {
    tags.insert(hashed('f', branch.substr(0, end)));
  }
  return {tags.begin(), tags.end()};
}

TagQuery tagged_any() {
  return TagQuery::has("x");
}

TagQuery tagged_in_text(std::string_view word) {
  return tagged_with('t', word);
}

TagQuery tagged_in_workflow(std::string_view word) {
  return tagged_with('w', word);
}

TagQuery tagged_anywhere(std::string_view word) {
  return TagQuery::any({tagged_with('t', word), tagged_with('w', word), tagged_with('b', word)});
}

TagQuery tagged_here(const ResumeQuery& query) {
  std::vector<TagQuery> here;
  if (!query.repository.empty()) here.push_back(TagQuery::has(hashed('r', query.repository)));
  if (!query.workspace.empty()) {
    here.push_back(TagQuery::has(hashed(query.repository.empty() ? 'p' : 'n', query.workspace)));
  }
  return TagQuery::any(std::move(here));
}

TagQuery tagged_commit(const ResumeQuery& query) {
  if (query.git_head.empty()) return TagQuery::any({});
  return TagQuery::has(hashed('h', query.git_head));
}

TagQuery tagged_branch(const ResumeQuery& query) {
  const std::string_view branch = query.git_branch;
  std::vector<TagQuery> same;
  if (!branch.empty() && branch.size() <= kBranchBeginnings) same.push_back(TagQuery::has(hashed('f', branch)));
  for (std::size_t end = 1; end <= std::min(branch.size(), kBranchBeginnings); ++end) {
    same.push_back(TagQuery::has(hashed('e', branch.substr(0, end))));
  }
  return TagQuery::any(std::move(same));
}

}  // namespace sb::engine
