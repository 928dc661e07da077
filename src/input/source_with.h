/* source_with: source_open with a choice of library, for the tests. */
#ifndef TIPPLE_INPUT_SOURCE_WITH_H
#define TIPPLE_INPUT_SOURCE_WITH_H

#include "input/decoder.h"
#include "input/source.h"

source_t *source_open_with(const input_file_t *file, inflate_engine_t engine, err_t *err);

#endif
