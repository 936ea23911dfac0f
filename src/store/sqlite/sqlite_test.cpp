#include "store/conformance.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::store {

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, StoreConformance, TempSqliteStore);

}  // namespace sb::store
