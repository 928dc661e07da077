/* isd_picture: a piece of a weather record as it looks, with holes for what changes, and what fills them.
 *
 *     OC1{gust:4}{~5}                            a section of 5 characters
 *     [snows?AJ1{depth:4}95999999{9*9|3}9]       one that is not always there
 *     ^MET SPECI {$icao} {hour:2}{minute:2}...^  a remark: its kind, its length, its text
 *
 *     {temp:+5}     a value of the observation: sign and 4 digits. {temp:+5?3} is missing in 3 of 1024.
 *     {temp/F:3}    the same converted: F degF, C whole degC (or hPa, m/s), I hundredths of inches of mercury, i of
 *                   rain, M mph of knots, x tenfold, k and T its last 3 and 4 digits
 *     {0..360:3}    any number of the range
 *     {$cover1}     a text of the observation
 *     {9*95|2*5}    one of these texts, by its share
 *     {~}           the quality of the value before it: 9 when that is missing, else in the mix around the usual one;
 *                   {~5}: in the mix around 5
 *     {#Q}          Q01, Q02...: numbers within the record
 *     [rain?A|B]    A when there is rain, otherwise B. Conditions: rain, !rain, hour=6, !hour=6, temp<0,
 *                   temp>300, and ~300 (in 300 of 1024); several are joined by &
 *
 * Formats: 4 (digits, missing is 9999), +5 (always signed), -4 (signed when negative), b6 (a blank or a minus
 * and 5 digits), s4 (0 or 1 for the sign, missing is ////), m2 (M for minus, missing is //), /3 (missing is ///). */
#ifndef TIPPLE_GENERATE_ISD_ISD_PICTURE_H
#define TIPPLE_GENERATE_ISD_ISD_PICTURE_H

#include "base/err.h"
#include "generate/isd/isd_scene.h"

/* The pictures of a world. Several threads may share them, each with a scene of its own. */
typedef struct isd_pictures isd_pictures_t;

typedef uint16_t isd_picture_t; /* one of them; 0: the one with nothing in it */

/* Room that a picture may write past its end. */
enum { ISD_PICTURE_SLACK = 32 };

/* To be freed; NULL: there is no memory. */
isd_pictures_t *isd_pictures_new(err_t *err);

/* `usual` is the quality that {~} stands for. False with a sentence: it is not one, or there are too many (which no
 * user can bring about). */
bool isd_picture_read(isd_pictures_t *pictures, const char *text, char usual, isd_picture_t *picture,
                      err_t *err);

/* Writes it and returns its end. */
char *isd_picture_put(const isd_pictures_t *pictures, isd_picture_t picture, isd_scene_t *scene, char *to);

#endif
