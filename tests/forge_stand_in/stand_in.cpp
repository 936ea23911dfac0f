#include "forge_stand_in/stand_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/document/document.hpp"
#include "base/files.hpp"

namespace sb::tests {
namespace {

using net::HttpRequest;
using net::HttpResponse;

HttpResponse json(int status, const Value& value) {
  return {status, {{"Content-Type", "application/json"}}, to_json(value)};
}

HttpResponse refused(int status, const std::string& message, const std::string& error = {}) {
  Value value = Value::object({{"message", message}});
  if (!error.empty()) value.set("errors", Value(Value::Array{Value::object({{"message", error}})}));
  return json(status, value);
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    int byte = 0;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16).ec == std::errc()) {
      out += static_cast<char>(byte);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::map<std::string, std::string> query_of(std::string_view query) {
  std::map<std::string, std::string> values;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t sign = std::min(pair.find('='), pair.size());
    values[decoded(pair.substr(0, sign))] = sign < pair.size() ? decoded(pair.substr(sign + 1)) : "";
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return values;
}

int number_in(const std::map<std::string, std::string>& query, const char* name, int otherwise) {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : std::max(1, std::atoi(found->second.c_str()));
}

Value page_of(const Value::Array& items, const std::map<std::string, std::string>& query) {
  const auto size = static_cast<std::size_t>(number_in(query, "per_page", 30));
  const std::size_t from = size * static_cast<std::size_t>(number_in(query, "page", 1) - 1);
  Value page = Value::array();
  for (std::size_t i = from; i < items.size() && i < from + size; ++i) page.push_back(items[i]);
  return page;
}

}  // namespace

ForgeStandIn::ForgeStandIn(net::EventLoop& loop, int port, StandInSettings settings)
    : settings_(std::move(settings)),
      listener_(loop, {.address = "127.0.0.1", .port = port},
                [this](HttpRequest request, const net::ExchangePtr& exchange) { handle(request, exchange); }) {
  load();
}

ForgeStandIn::~ForgeStandIn() = default;

Status ForgeStandIn::open() {
  return listener_.open();
}

void ForgeStandIn::load() {
  const auto text = SystemFiles().read(join_path(settings_.state, "state.json"), 64u << 20);
  auto value = text ? parse_json(*text) : Result<Value>(Value::object());
  state_ = value && value->is_object() ? std::move(*value) : Value::object();
  for (const char* name : {"pulls", "issues", "comments"}) {
    if (!state_[name].is_array()) state_.set(name, Value::array());
  }
}

void ForgeStandIn::save() {
  (void)SystemFiles().write_atomic(join_path(settings_.state, "state.json"), to_pretty_json(state_));
}

void ForgeStandIn::log(const HttpRequest& request, int status) {
  if (settings_.log.empty()) return;
  (void)SystemFiles().append(settings_.log, fmt::format("{} {} {}{}{} -> {}\n", number_, request.method, request.path,
                                                        request.query.empty() ? "" : "?", request.query, status));
}

std::string ForgeStandIn::git(std::vector<std::string> words, int* code) {
  std::vector<std::string> argv = {
      "git", "-C", settings_.repository, "-c", "user.name=Forge", "-c", "user.email=forge@example.org"};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto exit = process_.run({.argv = std::move(argv)});
  if (code) *code = exit ? exit->code : 127;
  std::string output = exit ? exit->output : "";
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

std::string ForgeStandIn::commit_of(const std::string& branch) {
  return git({"rev-parse", "--quiet", "--verify", "refs/heads/" + branch});
}

void ForgeStandIn::handle(const HttpRequest& request, const net::ExchangePtr& exchange) {
  ++number_;
  load();
  const bool is_cut = number_ == settings_.cut_request;
  if (is_cut && !settings_.cut_after) {
    log(request, 0);
    exchange->begin(200, {{"Content-Type", "application/json"}});
    return;  // dropped before its end: the connection breaks off
  }
  HttpResponse given = settings_.instead ? settings_.instead(number_, request) : HttpResponse{0, {}, {}};
  if (given.status == 0) given = override_for(request);
  if (given.status == 0) given = answer(request);
  log(request, given.status);
  if (is_cut) {
    exchange->begin(200, {{"Content-Type", "application/json"}});
    return;
  }
  exchange->respond(std::move(given));
}

HttpResponse ForgeStandIn::override_for(const HttpRequest& request) {
  const Value& all = state_["instead"];
  for (const Value& one : all.is_array() ? all.items() : Value::Array{}) {
    if (one.string_at("method") != request.method || !request.path.ends_with(one.string_at("path").value_or(""))) {
      continue;
    }
    const Value& body = one["body"];
    return {static_cast<int>(one["status"].as_integer()),
            {{"Content-Type", "application/json"}},
            body.is_null()     ? std::string()
            : body.is_string() ? body.as_string()
                               : to_json(body)};
  }
  return {0, {}, {}};
}

HttpResponse ForgeStandIn::answer(const HttpRequest& request) {
  const auto key = request.header("authorization");
  const bool has_key = key && key->starts_with("Bearer ") && key->size() > 7;
  if (!has_key || (!settings_.token.empty() && *key != "Bearer " + settings_.token)) {
    return refused(401, "Bad credentials");
  }
  const auto parts = parts_of(request.path);  // repos OWNER NAME …
  if (parts.size() == 3 && parts[0] == "repos") {
    Value repository = state_["repository"].is_object() ? state_["repository"] : Value::object();
    repository.set("full_name", parts[1] + "/" + parts[2]);
    return json(200, repository);
  }
  if (parts.size() < 4 || parts[0] != "repos") return refused(404, "Not Found");
  if (parts[3] == "pulls") return pulls(request, parts);
  if (parts[3] == "issues") return issues(request, parts);
  if (parts[3] == "commits" && parts.size() == 6) return checks(parts[4], parts[5] == "status");
  if (parts[3] == "git" && parts.size() >= 7 && parts[4] == "ref") {
    std::string branch = parts[6];
    for (std::size_t i = 7; i < parts.size(); ++i) branch += "/" + parts[i];
    const std::string commit = commit_of(branch);
    if (commit.empty()) return refused(404, "Not Found");
    return json(200, Value::object({{"object", Value::object({{"sha", commit}})}}));
  }
  return refused(404, "Not Found");
}

// The current state: the head of an open request is the head of its branch.
Value ForgeStandIn::shown_pull(const Value& pull) {
  Value value = pull;
  const std::string head = pull.string_at("head").value_or(""), base = pull.string_at("base").value_or("");
  std::string sha = pull.string_at("sha").value_or("");
  if (pull.string_at("state") == "open") {
    if (const std::string now = commit_of(head); !now.empty()) sha = now;
  }
  value.set("head", Value::object({{"ref", head}, {"sha", sha}}));
  value.set("base", Value::object({{"ref", base}}));
  value.set("html_url", fmt::format("https://forge.example/pull/{}", pull["number"].as_integer()));
  return value;
}

Value* ForgeStandIn::pull_numbered(const std::string& number) {
  for (Value& pull : state_.find("pulls")->items()) {
    if (std::to_string(pull["number"].as_integer()) == number) return &pull;
  }
  return nullptr;
}

HttpResponse ForgeStandIn::pulls(const HttpRequest& request, const std::vector<std::string>& parts) {
  const Value fields = request.body.empty() ? Value::object() : parse_json(request.body).value_or(Value::object());
  if (parts.size() == 4 && request.method == "POST") return open_pull(fields);
  if (parts.size() == 4) {
    const auto query = query_of(request.query);
    const auto head = query.find("head");
    Value::Array found;
    for (const Value& pull : state_["pulls"].items()) {
      const bool fits = head == query.end() || head->second == parts[1] + ":" + pull.string_at("head").value_or("");
      if (fits) found.insert(found.begin(), shown_pull(pull));
    }
    for (Value& pull : found) pull.erase("merged");  // a list does not contain it
    return json(200, page_of(found, query));
  }
  Value* pull = pull_numbered(parts[4]);
  if (!pull) return refused(404, "Not Found");
  if (parts.size() == 6 && parts[5] == "merge" && request.method == "PUT") return merge(*pull, fields);
  if (parts.size() != 5) return refused(404, "Not Found");
  if (request.method == "PATCH") {
    for (const char* name : {"title", "body", "state"}) {
      if (const auto text = fields.string_at(name)) pull->set(name, *text);
    }
    save();
  }
  Value shown = shown_pull(*pull);
  shown.set("mergeable_state", mergeable_state(*pull));
  return json(200, shown);
}

std::string ForgeStandIn::mergeable_state(const Value& pull) {
  const std::string head = commit_of(pull.string_at("head").value_or("")),
                    base = commit_of(pull.string_at("base").value_or(""));
  int code = 0;
  git({"merge-tree", "--write-tree", base, head}, &code);
  if (code != 0) return "dirty";
  git({"merge-base", "--is-ancestor", base, head}, &code);
  return state_["strict"].is_bool() && code != 0 ? "behind" : "clean";
}

HttpResponse ForgeStandIn::open_pull(const Value& fields) {
  const std::string head = fields.string_at("head").value_or(""), base = fields.string_at("base").value_or("");
  const std::string commit = commit_of(head), base_commit = commit_of(base);
  if (commit.empty() || base_commit.empty()) return refused(422, "Validation Failed", "head or base is invalid");
  for (const Value& pull : state_["pulls"].items()) {
    if (pull.string_at("head") == head && pull.string_at("state") == "open") {
      return refused(422, "Validation Failed", "A pull request already exists for " + head + ".");
    }
  }
  int code = 0;
  git({"merge-base", "--is-ancestor", commit, base_commit}, &code);
  if (code == 0) return refused(422, "Validation Failed", "No commits between " + base + " and " + head);
  const auto number = static_cast<std::int64_t>(state_["pulls"].size()) + 100;
  Value pull = Value::object({{"number", number},
                              {"title", fields.string_at("title").value_or("")},
                              {"body", fields.string_at("body").value_or("")},
                              {"head", head},
                              {"base", base},
                              {"state", "open"},
                              {"merged", false},
                              {"sha", commit}});
  state_.find("pulls")->push_back(pull);
  save();
  return json(201, shown_pull(pull));
}

HttpResponse ForgeStandIn::merge(Value& pull, const Value& fields) {
  const std::string head = commit_of(pull.string_at("head").value_or(""));
  const std::string branch = pull.string_at("base").value_or(""), base = commit_of(branch);
  if (settings_.refuse_merge)
    return refused(405, "At least 1 approving review is required by reviewers with write access.");
  if (pull.string_at("state") != "open") return refused(405, "Pull Request is not mergeable");
  if (mergeable_state(pull) == "behind") return refused(405, "Head branch is out of date");
  if (fields.string_at("sha") != head) return refused(409, "Head branch was modified. Review and try the merge again.");
  int code = 0;
  std::string tree = git({"merge-tree", "--write-tree", base, head}, &code);
  if (code != 0) return refused(405, "Pull Request is not mergeable");
  const std::string method = fields.string_at("merge_method").value_or("merge");
  std::vector<std::string> words = {"commit-tree", "-p", base};
  if (method == "merge") words.insert(words.end(), {"-p", head});
  words.insert(words.end(), {"-m", fields.string_at("commit_title").value_or("Merge " + head), tree});
  const std::string commit = git(words);
  git({"update-ref", "refs/heads/" + branch, commit, base}, &code);
  if (code != 0) return refused(409, "Base branch was modified. Review and try the merge again.");
  pull.set("state", "closed");
  pull.set("merged", true);
  pull.set("merge_commit_sha", commit);
  pull.set("sha", head);
  save();
  return json(200, Value::object({{"merged", true}, {"sha", commit}}));
}

HttpResponse ForgeStandIn::checks(const std::string& commit, bool statuses) {
  const Value& all = state_["checks"];
  const Value* of = all.find(commit);
  if (!of) of = all.find("*");
  Value list = Value::array();
  for (const Value& check : of && of->is_array() ? of->items() : Value::Array{}) {
    if (check.find("state") ? statuses : !statuses) list.push_back(check);
  }
  return json(200, Value::object({{"total_count", list.size()}, {statuses ? "statuses" : "check_runs", list}}));
}

HttpResponse ForgeStandIn::issues(const HttpRequest& request, const std::vector<std::string>& parts) {
  if (parts.size() < 5) return refused(404, "Not Found");
  Value* issue = nullptr;
  for (Value& one : state_.find("issues")->items()) {
    if (std::to_string(one["number"].as_integer()) == parts[4]) issue = &one;
  }
  const bool is_pull = !issue && pull_numbered(parts[4]);
  if (!issue && !is_pull) return refused(404, "Not Found");
  const Value fields = request.body.empty() ? Value::object() : parse_json(request.body).value_or(Value::object());
  if (parts.size() == 6 && parts[5] == "comments") {
    if (request.method == "POST") {
      state_.find("comments")
          ->push_back(Value::object({{"issue", parts[4]}, {"user", "signalbox"}, {"body", fields["body"]}}));
      save();
      return json(201, Value::object({{"body", fields["body"]}}));
    }
    Value::Array found;
    for (const Value& comment : state_["comments"].items()) {
      if (comment.string_at("issue") != parts[4]) continue;
      found.push_back(
          Value::object({{"user", Value::object({{"login", comment["user"]}})}, {"body", comment["body"]}}));
    }
    return json(200, page_of(found, query_of(request.query)));
  }
  if (parts.size() != 5) return refused(404, "Not Found");
  if (is_pull) {
    return json(200, Value::object({{"number", parts[4]}, {"title", "pull"}, {"pull_request", Value::object()}}));
  }
  if (request.method == "PATCH") {
    if (const auto state = fields.string_at("state")) issue->set("state", *state);
    save();
  }
  Value shown = *issue;
  if (!shown.find("state")) shown.set("state", "open");
  shown.set("html_url", "https://forge.example/issues/" + parts[4]);
  Value labels = Value::array();
  if (const Value& names = (*issue)["labels"]; names.is_array()) {
    for (const Value& name : names.items()) labels.push_back(Value::object({{"name", name}}));
  }
  shown.set("labels", std::move(labels));
  return json(200, shown);
}

}  // namespace sb::tests
