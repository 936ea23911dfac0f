// Transcripts in a Markdown file, compared with what the programs print. Pure.
//
// A transcript is a ```console block. A line that starts with "$ " is a command (one that ends with a backslash
// continues on the next line); the lines below it, up to the next command, are its output. In the output
//
//   > TEXT    is an answer that a person types at the prompt "> "; it makes the command interactive
//   …         alone on a line stands for any number of lines
//   TEXT…     stands for a line that starts with TEXT
//
// What differs from run to run (ids, tokens, hashes, commits, times, durations, sizes) is not compared. An id may be
// used in a later command: learn_ids() notes which id of this run it stands for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::readme {

using Lines = std::vector<std::string>;

struct Example {
  std::size_t line = 0;  // of the command, from 1
  std::string command;
  Lines output;           // without blank lines at its end
  std::size_t first = 0;  // line of the file at which the output begins, from 0
};

std::vector<Example> read_examples(const Lines& file);
Lines answers_in(const Lines& output);  // what a person types

// What a terminal shows at the end, for a program that redraws lines (cursor up, erase line; other controls are
// dropped). Without blank lines at its end.
Lines screen_of(std::string_view printed);

// The line with a placeholder for everything that differs from run to run.
std::string normalised(std::string_view line);

// An expected line, a printed one, or both.
struct Row {
  enum Kind { kEqual, kChanged, kMissing, kExtra, kAnyLines } kind;
  std::string expected, printed;
};

// The alignment with the fewest differences; the two are the same if every row is kEqual or kAnyLines.
std::vector<Row> align(const Lines& expected, const Lines& printed);

// By the file's id: the id of this run.
using Ids = std::map<std::string, std::string>;

// Adds the ids of the rows that have both sides.
void learn_ids(const std::vector<Row>& rows, Ids& ids);
// The command with the ids of this run; nothing if it uses an id that no output above it has. The beginning of an id is
// enough, with or without `…`.
std::optional<std::string> with_ids_of_run(std::string_view command, const Ids& ids);

// The output to write into the file: what was printed, with the file's own `…` and ids where they still fit.
Lines updated(const std::vector<Row>& rows, const Ids& ids);

}  // namespace sb::readme
