#include "pipeline/forge/local_forge.hpp"

#include <fmt/format.h>

#include <map>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {
namespace {

class LocalForge final : public Forge {
 public:
  LocalForge(const Seams& seams, std::string repository, std::string remote)
      : seams_(seams), git_(seams, std::move(repository)), remote_(std::move(remote)) {}
  const ForgeKind& kind() const override { return *forge_kind_named("local"); }

  Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& name) override;
  Result<ChangeRequest> open_or_update(const ChangeRequestSpec& spec) override;
  Result<RequestChecks> checks(const ChangeRequest&) override { return RequestChecks{}; }
  Status merge(const ChangeRequest& request, const std::string& commit, const std::string& title) override;
  Result<bool> needs_update(const ChangeRequest& request) override;
  Status comment(const ChangeRequest& request, const std::string& mark, const std::string& text) override;
  Result<Ticket> ticket(const std::string& url_or_id) override;
  Status close_ticket(const Ticket& ticket, const std::string& comment) override;

 private:
  // The remote's refs, read in one call.
  struct RemoteRefs {
    std::map<std::string, std::string> refs;  // name to hash
    std::string at(const std::string& ref) const { return refs.contains(ref) ? refs.at(ref) : ""; }
  };
  struct Note {
    std::string hash;  // of the blob; empty if there is none
    Value value;
    std::string text(std::string_view name) const { return value.string_at(name).value_or(""); }
  };
  static std::string note_ref(const std::string& run) { return "refs/signalbox/requests/" + run; }
  static std::string branch_ref(const std::string& branch) { return "refs/heads/" + branch; }
  Result<RemoteRefs> look(const std::string& ref);  // every branch, and this one
  Result<Note> note_at(const RemoteRefs& there, const std::string& ref);
  Status put_note(const std::string& ref, const std::string& expected, const Value& note);
  Status push(const std::string& ref, const std::string& expected, const std::string& hash);
  Status have(const std::string& ref, const std::string& hash);
  Result<ChangeRequest> request_of(const RemoteRefs& there, const Note& note);

  Seams seams_;
  Git git_;
  std::string remote_, url_ = {};
};

Result<LocalForge::RemoteRefs> LocalForge::look(const std::string& ref) {
  if (url_.empty() && remote_.find('/') != std::string::npos) url_ = remote_;
  if (url_.empty()) {
    url_ = SB_TRY(git_.remote_url(remote_));
    if (url_.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("the repository has no remote {}", shown(remote_)),
                  fmt::format("Create one: git init --bare ../remote.git && git remote add {} ../remote.git", remote_));
    }
  }
  const std::string text =
      SB_TRY(git_.run(GitCall{.words = {"ls-remote", "--quiet", remote_, "refs/heads/*", ref}, .is_remote = true}))
          .output;
  RemoteRefs there;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::size_t tab = std::min(line.find('\t'), line.size());
    if (tab < line.size()) there.refs.emplace(line.substr(tab + 1), line.substr(0, tab));
    at = end + 1;
  }
  return there;
}

// So that the object is in the working copy too.
Status LocalForge::have(const std::string& ref, const std::string& hash) {
  if (SB_TRY(git_.has_object(hash))) return {};
  SB_TRY(
      git_.run(GitCall{.words = {"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", remote_, ref},
                       .is_remote = true}));
  return {};
}

Result<LocalForge::Note> LocalForge::note_at(const RemoteRefs& there, const std::string& ref) {
  Note note{.hash = there.at(ref), .value = {}};
  if (note.hash.empty()) return note;
  SB_TRY(have(ref, note.hash));
  const std::string text =
      SB_TRY(git_.run(GitCall{.words = {"cat-file", "blob", note.hash}, .max_bytes = limits::kDiffBytes})).output;
  auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} of the remote was not written by Signalbox", shown(ref)),
                fmt::format("Inspect it: git cat-file blob {}", note.hash));
  }
  note.value = std::move(*parsed);
  return note;
}

Status LocalForge::push(const std::string& ref, const std::string& expected, const std::string& hash) {
  const auto pushed =
      git_.run(GitCall{.words = {"push", "--quiet", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags",
                                 fmt::format("--force-with-lease={}:{}", ref, expected), remote_, hash + ":" + ref},
                       .is_remote = true});
  if (pushed) return {};
  // An earlier push of a killed process may have finished first.
  if (pushed.error().code == ErrorCode::kConflict && SB_TRY(look(ref)).at(ref) == hash) return {};
  return std::unexpected(pushed.error());
}

Status LocalForge::put_note(const std::string& ref, const std::string& expected, const Value& note) {
  const std::string hash =
      without_trailing_newlines(SB_TRY(git_.run({"hash-object", "-w", "--stdin"}, to_canonical_json(note) + "\n")));
  if (hash == expected) return {};
  return push(ref, expected, hash);
}

Result<ChangeRequest> LocalForge::request_of(const RemoteRefs& there, const Note& note) {
  const std::string branch = branch_ref(note.text("branch")), base = branch_ref(note.text("base"));
  ChangeRequest request{.id = note.text("run"), .url = {}, .commit = there.at(branch)};
  request.url = fmt::format("{} {}", url_, note_ref(request.id));
  const std::string base_hash = there.at(base);
  const std::string head = request.commit.empty() ? note.text("commit") : request.commit;
  if (!base_hash.empty() && !head.empty()) {
    SB_TRY(have(base, base_hash));
    if (!request.commit.empty()) SB_TRY(have(branch, request.commit));
    // A removed branch counts as merged only if the base has its commit.
    if (SB_TRY(git_.has_object(head)) && SB_TRY(git_.is_ancestor(head, base_hash))) {
      request.state = ChangeRequest::State::kMerged;
      request.commit = request.merged_as = head;
      request.merged_base = base_hash;
      return request;
    }
  }
  if (request.commit.empty()) request.state = ChangeRequest::State::kClosed;
  return request;
}

Result<std::optional<ChangeRequest>> LocalForge::find(const ChangeRequestRef& name) {
  const auto& [branch, run, id] = name;
  const RemoteRefs there = SB_TRY(look(note_ref(run)));
  const Note note = SB_TRY(note_at(there, note_ref(run)));
  if (note.hash.empty()) return std::nullopt;
  if (note.text("branch") != branch) {
    return fail(ErrorCode::kConflict, fmt::format("the request of run {} is for another branch", shown(run)));
  }
  return SB_TRY(request_of(there, note));
}

Result<ChangeRequest> LocalForge::open_or_update(const ChangeRequestSpec& spec) {
  const RemoteRefs there = SB_TRY(look(note_ref(spec.run)));
  const std::string head = there.at(branch_ref(spec.branch));
  if (head != spec.commit) {
    return fail(ErrorCode::kConflict, fmt::format("the remote's {} is at {}, not {}", shown(spec.branch),
                                                  head.empty() ? "nothing" : head, shown(spec.commit)));
  }
  const Note before = SB_TRY(note_at(there, note_ref(spec.run)));
  Note note = before;
  note.value.set("v", 1);
  note.value.set("run", spec.run);
  note.value.set("branch", spec.branch);
  note.value.set("base", spec.base);
  note.value.set("commit", spec.commit);
  note.value.set("title", spec.title);
  note.value.set("body", spec.body);
  if (!note.value["comments"].is_array()) note.value.set("comments", Value::array());
  SB_TRY(put_note(note_ref(spec.run), before.hash, note.value));
  ChangeRequest request = SB_TRY(request_of(there, note));
  request.already_existed = !before.hash.empty();
  return request;
}

Status LocalForge::merge(const ChangeRequest& request, const std::string& commit, const std::string&) {
  const RemoteRefs there = SB_TRY(look(note_ref(request.id)));
  const Note note = SB_TRY(note_at(there, note_ref(request.id)));
  if (note.hash.empty()) return fail(ErrorCode::kNotFound, fmt::format("there is no request {}", shown(request.id)));
  const ChangeRequest now = SB_TRY(request_of(there, note));
  if (now.state == ChangeRequest::State::kMerged && now.merged_as == commit) return {};
  if (now.commit != commit) {
    return fail(ErrorCode::kConflict, fmt::format("the request is now at {}, not {}",
                                                  now.commit.empty() ? "nothing" : now.commit, shown(commit)));
  }
  const std::string base = note.text("base"), base_hash = there.at(branch_ref(base));
  if (base_hash.empty()) return fail(ErrorCode::kNotFound, fmt::format("the remote has no branch {}", shown(base)));
  if (!SB_TRY(git_.is_ancestor(base_hash, commit))) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} has changed since the run started, so merging is not a fast-forward", shown(base)));
  }
  return push(branch_ref(base), base_hash, commit);
}

Result<bool> LocalForge::needs_update(const ChangeRequest& request) {
  const RemoteRefs there = SB_TRY(look(note_ref(request.id)));
  const Note note = SB_TRY(note_at(there, note_ref(request.id)));
  const std::string base = branch_ref(note.text("base")), base_hash = there.at(base);
  const std::string head = there.at(branch_ref(note.text("branch")));
  if (base_hash.empty() || head.empty()) return false;
  SB_TRY(have(base, base_hash));
  return !SB_TRY(git_.is_ancestor(base_hash, head));
}

Status LocalForge::comment(const ChangeRequest& request, const std::string& mark, const std::string& text) {
  Note note = SB_TRY(note_at(SB_TRY(look(note_ref(request.id))), note_ref(request.id)));
  if (note.hash.empty()) return fail(ErrorCode::kNotFound, fmt::format("there is no request {}", shown(request.id)));
  Value comments = note.value["comments"].is_array() ? note.value["comments"] : Value::array();
  for (const Value& one : comments.items()) {
    if (one.string_at("mark") == mark) return {};
  }
  comments.push_back(Value::object({{"mark", mark}, {"text", text}}));
  note.value.set("comments", std::move(comments));
  return put_note(note_ref(request.id), note.hash, note.value);
}

Result<Ticket> LocalForge::ticket(const std::string& url_or_id) {
  if (url_or_id.find("://") != std::string::npos || !ticket_reference(url_or_id, kind()).empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the forge here is local and cannot fetch the ticket {}", shown(url_or_id)),
                "Save it to a file: --ticket FILE (or - for stdin); or set forge: {kind: github, ...}");
  }
  const std::string path = url_or_id.starts_with('/') ? url_or_id : join_path(git_.directory(), url_or_id);
  return read_ticket(SB_TRY(seams_.files.read(path, limits::kTicketBytes)), url_or_id);
}

Status LocalForge::close_ticket(const Ticket& ticket, const std::string& comment) {
  if (ticket.id.empty()) return {};
  const std::string ref = "refs/signalbox/closed/" + sha256_hex(ticket.id);
  if (!SB_TRY(look(ref)).at(ref).empty()) return {};
  return put_note(ref, "",
                  Value::object({{"v", 1}, {"ticket", ticket.id}, {"title", ticket.title}, {"comment", comment}}));
}

}  // namespace

std::unique_ptr<Forge> make_local_forge(const Seams& seams, std::string repository, std::string remote) {
  return std::make_unique<LocalForge>(seams, std::move(repository), std::move(remote));
}

Result<std::unique_ptr<Forge>> make_local_forge(const ForgeParts& parts) {
  return make_local_forge(parts.seams, parts.repository, parts.settings.remote);
}

}  // namespace sb::pipeline
