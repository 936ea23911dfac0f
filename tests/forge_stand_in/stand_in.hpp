// Stands in for GitHub's REST API in tests: pull requests, merges, checks, issues and comments of one repository.
//
// Backed by a bare git repository, so pushes are real (a file remote) and the API shows them; a merge moves its
// branches. Everything else is in DIR/state.json, written before a response is sent: it survives a kill and a restart.
// State: {pulls: [{number, title, body, head, base, state, merged, merge_commit_sha, sha}], issues: [{number, title,
// body, labels: [names], state}], comments: [{issue, user, body}], checks: {SHA or "*": [{name, status, conclusion}]},
// [repository: {permissions, archived}], [strict: true: only what has the base is merged], instead: [{method, path,
// status, body}]}. `instead` answers requests whose path ends so. A test may write it before the start, and between
// requests.
//
// Every request is numbered from 1 and logged: `NUMBER METHOD PATH?QUERY -> STATUS`.
#pragma once

#include <functional>
#include <string>

#include "base/document/value.hpp"
#include "base/process.hpp"
#include "net/http_listener.hpp"

namespace sb::tests {

struct StandInSettings {
  std::string repository;  // the bare repository
  std::string state;       // folder
  std::string token = {};  // empty: any is accepted
  std::string log = {};    // file; empty: none
  int cut_request = 0;     // this request gets no response: the connection breaks off
  bool cut_after = false;  // after it took effect
  bool refuse_merge = false;
  // Answers instead if it returns a status: for tests of refusals.
  std::function<net::HttpResponse(int number, const net::HttpRequest&)> instead = {};
};

class ForgeStandIn {
 public:
  ForgeStandIn(net::EventLoop& loop, int port, StandInSettings settings);
  ~ForgeStandIn();
  Status open();
  int port() const { return listener_.port(); }
  int requests() const { return number_; }

 private:
  void handle(const net::HttpRequest& request, const net::ExchangePtr& exchange);
  net::HttpResponse override_for(const net::HttpRequest& request);
  net::HttpResponse answer(const net::HttpRequest& request);
  net::HttpResponse pulls(const net::HttpRequest& request, const std::vector<std::string>& parts);
  net::HttpResponse open_pull(const Value& fields);
  net::HttpResponse merge(Value& pull, const Value& fields);
  net::HttpResponse issues(const net::HttpRequest& request, const std::vector<std::string>& parts);
  net::HttpResponse checks(const std::string& commit, bool statuses);
  Value shown_pull(const Value& pull);
  std::string mergeable_state(const Value& pull);
  Value* pull_numbered(const std::string& number);

  std::string git(std::vector<std::string> words, int* code = nullptr);
  std::string commit_of(const std::string& branch);
  void load();
  void save();
  void log(const net::HttpRequest& request, int status);

  StandInSettings settings_;
  SystemProcess process_;
  net::HttpListener listener_;
  Value state_;
  int number_ = 0;
};

}  // namespace sb::tests
