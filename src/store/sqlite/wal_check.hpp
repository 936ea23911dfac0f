// Finds commits in a WAL that SQLite passes over in silence.
//
// SQLite reads a WAL up to the first frame whose checksum is wrong and takes that for where a crash cut it off. That is
// right when the frame belongs to the last transaction, which nobody was told about. ScopeFilter whole transactions
// follow, something that was synced has been damaged since, and what was acknowledged would be lost without a word, and
// written over by the next one.
//
// The proof is in the checksums, each of which continues that of the frame before: a frame that continues a commit
// frame was written after that commit was on disk. Where such a pair stands behind the part SQLite reads, commits are
// lost. Damage in the last transaction, or in the one checksum by which the last continues the one before, cannot be
// told from a crash.
//
// The WAL: a header of 32 bytes (magic, version, page size, count, two salts, two checksums, big-endian), then frames
// of a header of 24 (page, size of the file after a commit or 0, two salts, two checksums) and a page. How far SQLite
// reads stands in the shared memory: the 32-bit number at 16, in the machine's own order. That is asked of SQLite and
// never of the file: closing FILE or FILE-shm, however opened, drops every lock that this process holds on it.
//
// A torn header leaves the WAL as if it were empty, with frames behind it that are in the file already: those are not
// lost.
#pragma once

#include "base/result.hpp"
#include "store/sqlite/connection.hpp"

namespace sb::store::sqlite {

// For a connection that has read from its file. kCorrupt naming the frame, which is certain only inside a transaction
// while no other process writes. Reads a few bytes when all is well.
Status check_wal(Connection& connection);

}  // namespace sb::store::sqlite
