#include "guard/glob_overlap.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace sb::guard {
namespace {

using Parts = std::vector<std::string>;

Parts parts_of(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part.find('{') != std::string_view::npos) {
      parts.emplace_back("**");
      break;
    }
    parts.emplace_back(part);
  }
  return parts;
}

// One letter, any letter, or any number of letters.
struct Piece {
  enum class Kind { kLetter, kAny, kMany } kind;
  char letter = 0;
};

std::vector<Piece> pieces_of(std::string_view part) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t close = part[i] == '[' ? part.find(']', i + 2) : std::string_view::npos;
    if (part[i] == '*') {
      pieces.push_back({Piece::Kind::kMany});
    } else if (part[i] == '?' || close != std::string_view::npos) {
      pieces.push_back({Piece::Kind::kAny});
      if (close != std::string_view::npos) i = close;
    } else {
      pieces.push_back({Piece::Kind::kLetter, to_lower(part[i])});
    }
  }
  return pieces;
}

// `meets[i][j]`: the rests of both from there can be equal.
using Meets = std::vector<std::vector<char>>;

bool parts_overlap(const std::string& one, const std::string& other) {
  const auto a = pieces_of(one), b = pieces_of(other);
  Meets meets(a.size() + 1, std::vector<char>(b.size() + 1, 0));
  meets[a.size()][b.size()] = 1;
  for (std::size_t i = a.size() + 1; i-- > 0;) {
    for (std::size_t j = b.size() + 1; j-- > 0;) {
      const bool has_a = i < a.size(), has_b = j < b.size();
      const bool is_many_a = has_a && a[i].kind == Piece::Kind::kMany;
      const bool is_many_b = has_b && b[j].kind == Piece::Kind::kMany;
      if (is_many_a && (meets[i + 1][j] || (has_b && meets[i][j + 1]))) meets[i][j] = 1;
      if (is_many_b && (meets[i][j + 1] || (has_a && meets[i + 1][j]))) meets[i][j] = 1;
      if (!has_a || !has_b || is_many_a || is_many_b) continue;
      const bool is_same =
          a[i].kind == Piece::Kind::kAny || b[j].kind == Piece::Kind::kAny || a[i].letter == b[j].letter;
      if (is_same && meets[i + 1][j + 1]) meets[i][j] = 1;
    }
  }
  return meets[0][0] != 0;
}

}  // namespace

bool may_overlap(std::string_view pattern, std::string_view glob, bool is_recursive) {
  const Parts named = parts_of(pattern), covered = parts_of(glob);
  // A path without wildcards covers everything below it.
  const bool is_plain = glob.find_first_of("*?[{") == std::string_view::npos;
  Meets meets(named.size() + 1, std::vector<char>(covered.size() + 1, 0));
  for (std::size_t i = named.size() + 1; i-- > 0;) {
    for (std::size_t j = covered.size() + 1; j-- > 0;) {
      const bool has_named = i < named.size(), has_covered = j < covered.size();
      bool is_met = false;
      if (!has_named && !has_covered) {
        is_met = true;
      } else if (!has_covered) {
        is_met = is_plain || (named[i] == "**" && meets[i + 1][j]);
      } else if (covered[j] == "**") {
        is_met = meets[i][j + 1] || (has_named && meets[i + 1][j]);
      } else if (!has_named) {
        is_met = is_recursive;
      } else if (named[i] == "**") {
        is_met = meets[i + 1][j] || meets[i][j + 1];
      } else {
        is_met = meets[i + 1][j + 1] && parts_overlap(named[i], covered[j]);
      }
      meets[i][j] = is_met ? 1 : 0;
    }
  }
  return meets[0][0] != 0;
}

}  // namespace sb::guard
