/* isd_layouts: the 91 kinds of additional sections: their identifiers, their widths, and what a plausible one
 * looks like. Reports have pictures of their own for the sections that they always carry; these are for those
 * that a station sends once in a while. */
#ifndef TIPPLE_GENERATE_ISD_ISD_LAYOUTS_H
#define TIPPLE_GENERATE_ISD_ISD_LAYOUTS_H

#include <stdint.h>

typedef struct {
    char id[4];      /* of the first member */
    uint8_t members; /* AA1 to AA4: 4 */
    uint8_t width;   /* behind the identifier */
    const char *picture;
} isd_layout_t;

enum { ISD_LAYOUTS = 91 };

extern const isd_layout_t isd_layouts[ISD_LAYOUTS]; /* in ascending order */

/* By the identifier; members beyond the documented ones, as AW5, have their family's. NULL: there is none. */
const isd_layout_t *isd_layout_of(const char id[3]);

#endif
