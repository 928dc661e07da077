/* codes: the server's error codes that something is decided by. */
#ifndef TIPPLE_TARGET_CODES_H
#define TIPPLE_TARGET_CODES_H

enum {
    CODE_UNAUTHORIZED = 13,
    CODE_NAMESPACE_NOT_FOUND = 26,
    CODE_NOT_ON_A_VIEW = 166,
    CODE_TOO_LARGE = 10334,
    CODE_DUPLICATE_KEY = 11000,
    CODE_STALE_CONFIG = 13388,
};

#endif
