/* walk: goes from an argument of the command to the files that it stands for: a file, a folder, a pattern, a stream, an
 * archive. */
#ifndef TIPPLE_INPUT_WALK_H
#define TIPPLE_INPUT_WALK_H

#include "input/build.h"

bool walk_argument(build_t *build, const char *argument);

#endif
