#include "readme/transcript.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "base/text/pattern.hpp"

namespace sb::readme {
namespace {

constexpr std::string_view kAny = "…";
constexpr std::string_view kPrompt = "> ";

Pattern pattern_of(std::string_view expression) {
  auto pattern = Pattern::compile(expression);
  if (!pattern) std::abort();  // all expressions are literals in this file
  return std::move(*pattern);
}

std::vector<Match> all_matches(const Pattern& pattern, std::string_view text) {
  std::vector<Match> matches;
  std::size_t at = 0;
  while (at < text.size()) {
    auto match = pattern.find(text, at);
    if (!match || !*match) break;
    at = std::max((*match)->end, at + 1);
    matches.push_back(std::move(**match));
  }
  return matches;
}

std::string replaced(std::string_view text, const Pattern& pattern, std::string_view by) {
  std::string result;
  std::size_t at = 0;
  for (const Match& match : all_matches(pattern, text)) {
    result.append(text.substr(at, match.begin - at)).append(by);
    at = match.end;
  }
  return result.append(text.substr(at));
}

// Ids and tokens, whole or their beginning: d-4vsjkfnc32…, ct_25wnr0d1vx….
const Pattern& id_pattern() {
  static const Pattern pattern = pattern_of(R"(\b[a-z]{1,3}[-_](?=[a-z]*[0-9])[0-9a-z]{10,}\b)");
  return pattern;
}

bool is_equal(std::string_view expected, std::string_view printed) {
  if (expected == printed) return true;
  return expected.ends_with(kAny) && printed.starts_with(expected.substr(0, expected.size() - kAny.size()));
}

void trim_blank_end(Lines& lines) {
  while (!lines.empty() && trimmed(lines.back()).empty()) lines.pop_back();
}

}  // namespace

std::vector<Example> read_examples(const Lines& file) {
  std::vector<Example> examples;
  bool is_inside = false;
  bool is_first = true;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::string& line = file[i];
    if (line.starts_with("```")) {
      is_inside = !is_inside && line == "```console";
      is_first = true;
    } else if (is_inside && line.starts_with("$ ")) {
      Example example{i + 1, line.substr(2), {}, 0};
      while (example.command.ends_with('\\') && i + 1 < file.size()) example.command += "\n" + file[++i];
      example.first = i + 1;
      examples.push_back(std::move(example));
      is_first = false;
    } else if (is_inside && !is_first) {
      examples.back().output.push_back(line);
    }
  }
  for (Example& example : examples) trim_blank_end(example.output);
  return examples;
}

Lines answers_in(const Lines& output) {
  Lines answers;
  for (const std::string& line : output) {
    if (line == ">") answers.emplace_back();
    if (line.starts_with(kPrompt)) answers.push_back(line.substr(kPrompt.size()));
  }
  return answers;
}

Lines screen_of(std::string_view printed) {
  static const Pattern control = pattern_of("\x1b\\[([0-9;?]*)([A-Za-z])");
  Lines rows(1);
  std::size_t row = 0;
  std::size_t at = 0;
  std::size_t column = 0;  // in bytes; lines are only rewritten as a whole
  const auto show = [&](std::string_view text) {
    for (const char c : text) {
      if (c == '\n') {
        if (++row == rows.size()) rows.emplace_back();
        column = 0;
      } else {
        rows[row].resize(std::max(rows[row].size(), column + 1), ' ');
        rows[row][column++] = c;
      }
    }
  };
  for (const Match& match : all_matches(control, printed)) {
    show(printed.substr(at, match.begin - at));
    at = match.end;
    if (*match.groups[2] == "K") rows[row].clear();
    if (*match.groups[2] != "F") continue;
    row -= std::min<std::size_t>(row, std::strtoul(std::string(*match.groups[1]).c_str(), nullptr, 10));
    column = 0;
  }
  show(printed.substr(at));
  for (std::string& line : rows) line = trimmed_end(line);
  trim_blank_end(rows);
  return rows;
}

std::string normalised(std::string_view line) {
  struct Varying {
    Pattern pattern;
    std::string_view placeholder;
  };
  static const std::vector<Varying> kVarying = {
      {id_pattern(), "ID"},
      {pattern_of(R"(\b(?=[a-f]*[0-9])[0-9a-f]{12,64}\b)"), "HASH"},
      {pattern_of(R"(\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)"), "TIME"},
      {pattern_of(R"(\b\d+(\.\d+)? ?(ms|s|min|h)\b)"), "DURATION"},
      {pattern_of(R"(\b\d+(\.\d+)? ?([kKMGT]i?)?B\b)"), "SIZE"},
      {pattern_of(R"(\b\d+ (?=events\b|of the run\b|of its agents\b))"), "N "},
      {pattern_of(R"(^[-\\|/] (?=\w))"), "- "},  // the spinner of a run
  };
  std::string result(trimmed_end(line));
  for (const Varying& varying : kVarying) result = replaced(result, varying.pattern, varying.placeholder);
  return result;
}

namespace {

// Edit distance of lines, in which `…` matches any number of printed lines at no cost.
class Alignment {
 public:
  Alignment(const Lines& expected, const Lines& printed)
      : expected_(expected),
        printed_(printed),
        cost_(expected.size() + 1, std::vector<std::size_t>(printed.size() + 1)) {
    for (const std::string& line : expected) left_.push_back(normalised(line));
    for (const std::string& line : printed) right_.push_back(normalised(line));
    for (std::size_t i = left_.size() + 1; i-- > 0;) {
      for (std::size_t j = right_.size() + 1; j-- > 0;) cost_[i][j] = cost_at(i, j);
    }
  }

  std::vector<Row> rows() const {
    std::vector<Row> result;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < left_.size() || j < right_.size()) {
      if (is_any(i)) {
        while (cost_[i][j] != cost_[i + 1][j]) ++j;
        result.push_back({Row::kAnyLines, expected_[i++], {}});
      } else if (has_both(i, j) && cost_[i][j] == cost_[i + 1][j + 1] + difference(i, j)) {
        const auto kind = difference(i, j) == 0 ? Row::kEqual : Row::kChanged;
        result.push_back({kind, expected_[i++], printed_[j++]});
      } else if (i < left_.size() && cost_[i][j] == cost_[i + 1][j] + 1) {
        result.push_back({Row::kMissing, expected_[i++], {}});
      } else {
        result.push_back({Row::kExtra, {}, printed_[j++]});
      }
    }
    return result;
  }

 private:
  bool has_both(std::size_t i, std::size_t j) const { return i < left_.size() && j < right_.size(); }
  bool is_any(std::size_t i) const { return i < left_.size() && left_[i] == kAny; }
  std::size_t difference(std::size_t i, std::size_t j) const { return is_equal(left_[i], right_[j]) ? 0 : 1; }

  // The fewest differences from expected line i and printed line j on.
  std::size_t cost_at(std::size_t i, std::size_t j) const {
    const std::size_t skip = is_any(i) ? 0 : 1;
    if (i == left_.size()) return right_.size() - j;
    if (j == right_.size()) return cost_[i + 1][j] + skip;
    const std::size_t cost = std::min(cost_[i + 1][j], cost_[i][j + 1]) + skip;
    return is_any(i) ? cost : std::min(cost, cost_[i + 1][j + 1] + difference(i, j));
  }

  const Lines &expected_, &printed_;
  Lines left_, right_;  // normalised
  std::vector<std::vector<std::size_t>> cost_;
};

}  // namespace

std::vector<Row> align(const Lines& expected, const Lines& printed) {
  return Alignment(expected, printed).rows();
}

void learn_ids(const std::vector<Row>& rows, Ids& ids) {
  for (const Row& row : rows) {
    if (row.kind != Row::kEqual && row.kind != Row::kChanged) continue;
    const auto of_file = all_matches(id_pattern(), row.expected);
    const auto of_run = all_matches(id_pattern(), row.printed);
    for (std::size_t i = 0; i < std::min(of_file.size(), of_run.size()); ++i) {
      ids.emplace(*of_file[i].groups[0], *of_run[i].groups[0]);
    }
  }
}

std::optional<std::string> with_ids_of_run(std::string_view command, const Ids& ids) {
  std::string result;
  std::size_t at = 0;
  for (const Match& match : all_matches(id_pattern(), command)) {
    const std::string id(*match.groups[0]);
    const auto known = ids.lower_bound(id);  // the first id that can start with it
    if (known == ids.end() || !known->first.starts_with(id)) return {};
    result.append(command.substr(at, match.begin - at)).append(known->second);
    at = match.end;
    if (command.substr(at).starts_with(kAny)) at += kAny.size();
  }
  return result.append(command.substr(at));
}

Lines updated(const std::vector<Row>& rows, const Ids& ids) {
  Lines lines;
  for (const Row& row : rows) {
    if (row.kind == Row::kEqual || row.kind == Row::kAnyLines) lines.push_back(row.expected);
    if (row.kind != Row::kChanged && row.kind != Row::kExtra) continue;
    std::string line = row.printed;
    for (const auto& [of_file, of_run] : ids) replace_all(line, of_run, of_file);
    if (row.kind == Row::kChanged && row.expected.ends_with(kAny)) {
      line = shortened(line, row.expected.size() - kAny.size());
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace sb::readme
