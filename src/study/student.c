#include "study/student.h"

#include <math.h>

/* With t = sqrt(freedom) * tan(angle), the density over the angle is a power of its cosine: it has no tail. The integral
 * is computed by Simpson's rule, the angle by Newton's method: the density falls, so steps from 0 never go too far. */
double student_quantile(double probability, double freedom) {
    enum { MOST_STEPS = 60, PARTS = 100 };
    const double n = fmin(freedom, 1e6); /* with more, it is the normal distribution to six digits */
    int sign;
    const double at_zero = exp(lgamma_r((n + 1) / 2, &sign) - lgamma_r(n / 2, &sign)) / sqrt(M_PI);
    double angle = 0;
    for (int i = 0; i < MOST_STEPS; i++) {
        const double end = pow(cos(angle), n - 1);
        double sum = 1 + end;
        for (int part = 1; part < PARTS; part++)
            sum += (part % 2 ? 4 : 2) * pow(cos(angle * part / PARTS), n - 1);
        const double below = 0.5 + at_zero * sum * angle / PARTS / 3;
        const double step = (probability - below) / (at_zero * end);
        angle += step;
        if (!(step > 1e-12 * angle))
            break;
    }
    return sqrt(n) * tan(angle);
}
