/* isd_odd: what is odd about some records, put into them when they are written. */
#ifndef TIPPLE_GENERATE_ISD_ISD_ODD_H
#define TIPPLE_GENERATE_ISD_ISD_ODD_H

#include "generate/isd/isd_kinds.h"

/* For the record number odd->next, whole but for its line end: changes it by up to a kilobyte and returns its end. Its
 * declared length is then to be wrong by *more. */
char *isd_odd_apply(odd_plan_t *odd, const isd_world_t *world, isd_scene_t *scene, char *record, char *end,
                    int32_t *more);

#endif
