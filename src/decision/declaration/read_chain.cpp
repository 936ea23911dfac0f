// Reads a chain: options that are decided one by one, and their dependencies.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text/unicode.hpp"
#include "decision/declaration/declaration_readers.hpp"

namespace sb::decision {
namespace {

constexpr std::size_t kLongestSkill = 53;  // leaves room for "-split-", a letter and a suffix in 64 characters
constexpr std::string_view kChainWords[] = {"continue", "reset", "abort", "cancel"};

constexpr std::pair<std::string_view, Bucket> kBuckets[] = {
    {"include", Bucket::kInclude}, {"defer", Bucket::kDefer}, {"cut", Bucket::kCut}, {"hold", Bucket::kHold}};
constexpr std::pair<std::string_view, Relation> kChainRelations[] = {{"alternatives", Relation::kAlternatives},
                                                                     {"independent", Relation::kIndependent},
                                                                     {"unknown", Relation::kUnknown}};

void read_recommendation(Fields& fields, ChainOption& option) {
  const auto reader = fields.get("recommend");
  if (!reader) return;
  Fields inner = reader->fields();
  const auto choice = inner.get("choice", Need::kRequired);
  if (choice) {
    option.recommended = choice->choice<Bucket>(kBuckets);
    if (option.recommended == Bucket::kHold) {
      choice->fault("hold cannot be recommended", "Recommend include, defer or cut");
    }
  }
  if (const auto reason = inner.get("reason", Need::kRequired)) option.reason = read_line(*reason).value_or("");
  inner.finish();
}

ChainOption read_chain_option(const Reader& reader, const Profile& profile) {
  ChainOption option;
  if (reader.value().is_string()) {
    option.label = read_line(reader).value_or("");
    option.key = option.label;
  } else {
    Fields fields = reader.fields();
    option.label = read_line(fields, "label", Need::kRequired).value_or("");
    const auto key = fields.get("key");
    option.key = key ? read_line(*key).value_or("") : option.label;
    option.eli10 = read_text(fields, "eli10");
    option.description = read_text(fields, "description");
    read_recommendation(fields, option);
    option.required_keys = fields.strings("requires");
    option.conflicting_keys = fields.strings("conflicts");
    option.shipped = fields.boolean("shipped").value_or(false);
    fields.finish();
  }
  if (profile.grammar == Grammar::kStrictNumbers && !option.label.empty()) check_label(reader, option.label, profile);
  if (option.key.size() > limits::kTextBytes / 16)
    reader.fault("the key is too long", "Use a short key", ErrorCode::kLimit);
  if (std::ranges::find(kChainWords, option.key) != std::end(kChainWords)) {
    reader.fault(fmt::format("the key \"{}\" is reserved", option.key), "Use another key");
  }
  // The brief of a child shows both; a profile without briefs does not need them.
  if (profile.independent == IndependentOverflow::kSplit && !option.label.empty()) {
    if (is_blank(option.eli10)) {
      reader.fault(fmt::format("option \"{}\" has no eli10", option.key), "Add eli10: what it is, in plain words");
    }
    if (!option.recommended && !(reader.value().is_object() && reader.value().find("recommend"))) {
      reader.fault(fmt::format("option \"{}\" has no recommend", option.key),
                   "Add recommend: {choice: include|defer|cut, reason: ...}");
    }
  }
  return option;
}

// The direct and transitive requirements of an option. A cycle is an all-or-none group and allowed.
class Requirements {
 public:
  explicit Requirements(const Chain& chain) : needed_(chain.options.size()), reach_(chain.options.size()) {
    for (std::size_t i = 0; i < chain.options.size(); ++i) index_.emplace(chain.options[i].key, i);
    for (std::size_t i = 0; i < chain.options.size(); ++i) {
      for (const auto& key : chain.options[i].required_keys) {
        if (const auto found = index_.find(key); found != index_.end()) needed_[i].push_back(found->second);
      }
    }
  }

  bool reaches(const std::string& from, const std::string& to) {
    const auto first = index_.find(from), last = index_.find(to);
    if (first == index_.end() || last == index_.end()) return false;
    auto& seen = reach_[first->second];
    if (seen.empty()) {
      seen.resize(needed_.size());
      std::vector<std::size_t> open = needed_[first->second];
      while (!open.empty()) {
        const std::size_t next = open.back();
        open.pop_back();
        if (seen[next]) continue;
        seen[next] = true;
        open.insert(open.end(), needed_[next].begin(), needed_[next].end());
      }
    }
    return seen[last->second];
  }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::vector<std::size_t>> needed_;
  std::vector<std::vector<bool>> reach_;  // computed on demand
};

void check_relations(const Reader& list, const Chain& chain) {
  const auto items = list.items(limits::kOptions);
  std::vector<std::string> keys;
  for (const auto& option : chain.options) keys.push_back(option.key);
  const std::set<std::string, std::less<>> known(keys.begin(), keys.end());
  for (std::size_t i = 0; i < chain.options.size(); ++i) {
    const ChainOption& option = chain.options[i];
    const auto check = [&](std::string_view name, const std::vector<std::string>& others) {
      for (const auto& other : others) {
        if (other == option.key) {
          items[i].fault(fmt::format("\"{}\" {} itself", option.key, name), "Remove this entry");
        } else if (!known.contains(other)) {
          const std::string nearest = nearest_name(other, keys);
          items[i].fault(fmt::format("\"{}\" {} \"{}\", which is not an option here", option.key, name, other),
                         nearest.empty() ? "Name the key of an option" : fmt::format("Did you mean {}?", nearest));
        }
      }
    };
    check("requires", option.required_keys);
    check("conflicts", option.conflicting_keys);
  }
  Requirements requirements(chain);
  for (std::size_t i = 0; i < chain.options.size(); ++i) {
    for (const auto& other : chain.options[i].conflicting_keys) {
      const std::string& key = chain.options[i].key;
      if (other != key && (requirements.reaches(key, other) || requirements.reaches(other, key))) {
        items[i].fault(fmt::format("\"{}\" and \"{}\" both require and conflict with each other", key, other),
                       "Keep requires or conflicts, not both");
      }
    }
  }
}

}  // namespace

Chain read_chain(Fields& fields, const Profile& profile) {
  Chain chain;
  chain.id = read_id(fields, "chain");
  chain.profile = profile.id;
  const auto skill = fields.get("skill");
  chain.skill = skill ? read_id(fields, "skill") : chain.id;
  if (chain.skill.size() > kLongestSkill) {
    (skill ? *skill : fields.self())
        .fault(fmt::format("the skill name has {} characters; at most {} leave room for the options' ids",
                           chain.skill.size(), kLongestSkill),
               "Shorten it", ErrorCode::kLimit);
  }
  chain.instruction = read_line(fields, "instruction").value_or("");
  chain.number = static_cast<int>(fields.integer("number", 1, 1'000'000).value_or(1));
  chain.relation = fields.choice<Relation>("relation", kChainRelations).value_or(Relation::kUnknown);
  chain.expires = read_time(fields, "expires");
  for (const std::string_view name : {"default", "on_timeout", "deadline"}) {
    if (const auto reader = fields.get(name))
      reader->fault(fmt::format("a chain has no {}", name), "Remove it: a person decides every option");
  }
  const auto list = fields.get("options", Need::kRequired);
  std::string sample = chain.instruction;
  if (sample.empty() && list && list->value().is_array() && list->value().size() > 0) {
    const Value& first = list->value().items()[0];
    sample = first.is_string() ? first.as_string() : first.string_at("label").value_or("");
  }
  chain.locale = read_locale(fields, sample);
  if (!list) return chain;
  std::set<std::string> keys, labels;
  for (const Reader& item : list->items(limits::kOptions)) {
    ChainOption option = read_chain_option(item, profile);
    if (!option.key.empty() && !keys.insert(option.key).second) {
      item.fault(fmt::format("two options have the key \"{}\"", option.key), "Give each its own key");
    }
    if (!option.label.empty() && !labels.insert(case_fold(option.label)).second) {
      item.fault(fmt::format("two options are called \"{}\"", option.label), "Give them different labels");
    }
    chain.options.push_back(std::move(option));
  }
  if (list->value().is_array() && list->value().size() < 2)
    list->fault("a chain needs at least 2 options", "Add one, or declare a decision");
  check_relations(*list, chain);
  return chain;
}

}  // namespace sb::decision
