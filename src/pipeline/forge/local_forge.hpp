// The embedded forge: a bare repository that is the working copy's remote. Nothing else is needed.
//
// In the remote, a request is its branch and the ref `refs/signalbox/requests/RUN`, a blob of canonical JSON
// {v: 1, run, branch, base, commit, title, body, comments: [{mark, text}]}; a closed ticket is the ref
// `refs/signalbox/closed/SHA256-OF-ID`, a blob {v: 1, ticket, title, comment}. Whether a request is merged is not
// stored: it is merged if the base has its commit. Every change is a push that expects the value read before, so the
// remote's hooks run, and of two concurrent identical changes only one takes effect.
//
// Threads: one at a time.
#pragma once

#include <memory>

#include "base/seams.hpp"
#include "pipeline/forge/forge.hpp"

namespace sb::pipeline {

// `repository`: the working copy; `remote`: the name of one of its remotes, or a path or URL.
std::unique_ptr<Forge> make_local_forge(const Seams& seams, std::string repository, std::string remote);
Result<std::unique_ptr<Forge>> make_local_forge(const ForgeParts& parts);

}  // namespace sb::pipeline
