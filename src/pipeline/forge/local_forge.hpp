// The embedded forge: a bare repository that is the work copy's remote. Nothing else is needed.
//
// In the remote, a request is its branch and the ref `refs/signalbox/requests/RUN`, a blob of canonical JSON
// {v: 1, run, branch, base, commit, title, body, comments: [{mark, text}]}; a closed ticket is the ref
// `refs/signalbox/closed/SHA256-OF-ID`, a blob {v: 1, ticket, title, comment}. Whether a request is merged is not
// written down: it is, when the base has its commit. Everything is changed by pushing, under the value seen before, so
// hooks of the remote are asked, and two that do the same at once do it once.
//
// Threads: one at a time.
#pragma once

#include <memory>

#include "base/seams.hpp"
#include "pipeline/forge/forge.hpp"

namespace sb::pipeline {

// `repository`: the work copy; `remote`: a name of its remotes, or a path or URL.
std::unique_ptr<Forge> make_local_forge(const Seams& seams, std::string repository, std::string remote);
Result<std::unique_ptr<Forge>> make_local_forge(const ForgeParts& parts);

}  // namespace sb::pipeline
