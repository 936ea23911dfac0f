// The tags by which sessions in progress are found in the store's tag index. Pure.
//
// A tag is a letter and what it stands for. Words are found by their parts, so that `log` finds `login`, as the ranking
// does: a part is three successive characters of a word, or a word of one or two characters; in scripts without spaces
// one character, or two successive ones. A session whose tags match may still lack the word; the ranking decides.
//
//   x                 every session
//   t, w, b + part    in its title, goal and recap; in its workflow's id and name; in its branch
//   r, n, p + hash    its repository; its workspace if it is in no repository; its workspace
//   h, e, f + hash    its commit; its branch; each beginning of the name of its branch
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/recall/ranking.hpp"
#include "store/store.hpp"

namespace sb::engine {

std::vector<std::string> tags_of(const Summary& summary);

store::TagQuery tagged_any();
// A word of the query in the text, in the name of the workflow, or anywhere.
store::TagQuery tagged_in_text(std::string_view word);
store::TagQuery tagged_in_workflow(std::string_view word);
store::TagQuery tagged_anywhere(std::string_view word);
// In the repository or workspace of the query.
store::TagQuery tagged_here(const ResumeQuery& query);
store::TagQuery tagged_commit(const ResumeQuery& query);
store::TagQuery tagged_branch(const ResumeQuery& query);

}  // namespace sb::engine
