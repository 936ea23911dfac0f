// A text cut into instruction and options, as far as it has them.
//
// Strict option lines (`1) text`) make a block; without any, at least two lines with other markers (bullets, letters,
// `1.`) make one whose markers are wrong.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "decision/lint/mask.hpp"
#include "decision/lint/span.hpp"

namespace sb::decision::linting {

struct Line {
  Span span;  // without the line feed
  std::string_view text;

  bool is_blank() const;  // nothing but white space
};

std::vector<Line> split_lines(std::string_view text, Span within);

struct OptionLine {
  Span span;
  std::string_view text;    // behind the marker
  std::string_view marker;  // "1)", "-", "A."
  int number = 0;           // of a strict marker; 0 for others
  std::vector<Span> below;  // lines under it that are no options
};

struct Block {
  std::vector<Line> before;  // lines before the first option that are not blank; of the first block only
  std::vector<OptionLine> options;
  std::vector<Line> after;     // lines behind the last option that are not blank; of the last block only
  int blank_lines = 0;         // between the line before and the first option
  bool has_empty_gap = false;  // the gap is made of lines with nothing at all in them
  bool has_inner_blank = false;
  bool is_strict = true;

  Span span() const;  // from the first option to the last
};

struct ParsedText {
  std::vector<Block> blocks;  // more than one: several questions
};

ParsedText parse_blocks(std::string_view text, Span within, const std::vector<Span>& code);

}  // namespace sb::decision::linting
