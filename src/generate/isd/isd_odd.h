/* isd_odd: what is odd about some records, put into them when they are written. Every kind of oddity, and
 * every kind of additional section, has one appointment in every so many records, at a random one among them
 * or at the next that it can be done to: a file long enough holds them all, and the records between cost
 * nothing. */
#ifndef TIPPLE_GENERATE_ISD_ISD_ODD_H
#define TIPPLE_GENERATE_ISD_ISD_ODD_H

#include "generate/isd/isd_picture.h"

enum { ISD_ODD_MOST_BYTES = 1024, ISD_APPOINTMENTS = 128 };

typedef struct {
    uint64_t every, group, next;
} isd_appointment_t;

typedef struct {
    uint64_t key, next; /* the next odd record */
    size_t appointments;
    isd_appointment_t appointment[ISD_APPOINTMENTS];
    isd_picture_t **sections; /* of the layouts */
} isd_odd_t;

bool isd_odd_init(isd_odd_t *odd, uint64_t key, err_t *err);
void isd_odd_clear(isd_odd_t *odd);

/* For the record number odd->next, whole but for its line end: changes it by up to ISD_ODD_MOST_BYTES, keeps
 * its count right unless that is what is odd, and returns its end. */
char *isd_odd_apply(isd_odd_t *odd, isd_scene_t *scene, char *record, char *end);

#endif
