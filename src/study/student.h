/* student: quantiles of Student's t, for the intervals of tune and drill. Any thread. */
#ifndef TIPPLE_STUDY_STUDENT_H
#define TIPPLE_STUDY_STUDENT_H

/* The value that Student's t with this many degrees of freedom (1 or more, not always a whole number) stays below with
 * this probability, which is between 0.5 and 1. Exact to six digits. */
double student_quantile(double probability, double freedom);

#endif
