// Only the precompiled header that the test programs share (tests_precompiled.hpp).
