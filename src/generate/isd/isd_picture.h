/* isd_picture: a piece of a weather record as it looks, with holes for what changes, and what fills them.
 *
 *     OC1{gust:4}{~5}                            a section of 5 characters
 *     [snow?AJ1{depth:4}95999999{9*9|3}9]        one that is not always there
 *     ^MET SPECI {$icao} {day:2}{hour:2}...^     a remark: its kind, its length, its text
 *
 *     {temp:+5}     a value of the observation: sign and 4 digits. {temp:+5?3} is missing in 3 of 1024.
 *     {0..360:3}    any number of the range
 *     {$cover1}     a text of the observation
 *     {9*95|2*5}    one of these texts, by its share
 *     {~5}          the quality of the value before it: 9 when that is missing, else in the mix around 5
 *     {#Q}          Q01, Q02...: numbers within the record
 *     [rain?A|B]    A when there is rain, otherwise B. Conditions: rain, !rain, hour=6, !hour=6, temp<0,
 *                   temp>300, and ~300 (in 300 of 1024); several are joined by &
 *
 * Formats: 4 (digits, missing is 9999), +5 (always signed), -4 (signed when negative), b6 (a blank or a minus
 * and 5 digits), p3 (padded with blanks), d5 (hundredths with a decimal point, padded), s4 (0 or 1 for the
 * sign, missing is ////), m2 (M for minus, missing is //), /3 (digits, missing is ///). */
#ifndef TIPPLE_GENERATE_ISD_ISD_PICTURE_H
#define TIPPLE_GENERATE_ISD_ISD_PICTURE_H

#include "base/err.h"
#include "generate/isd/isd_scene.h"

#include <stddef.h>

typedef struct isd_picture isd_picture_t;

/* Room that a picture may write past its end. */
enum { ISD_PICTURE_SLACK = 32 };

/* NULL with a sentence: memory is short, or the picture is not one (which no user can bring about). */
isd_picture_t *isd_picture_new(const char *text, err_t *err);
void isd_picture_destroy(isd_picture_t *picture);

/* Writes it and returns its end. Several threads may share a picture, each with a scene of its own. */
char *isd_picture_put(const isd_picture_t *picture, isd_scene_t *scene, char *to);

#endif
