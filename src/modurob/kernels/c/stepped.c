/* A function of plain arrays, for one state and for many; before this file stand the function and the macro CALL(k), its call for state k. */
#include "prelude.h"

/* Row k of output i, which has n numbers. */
#define ROW(i, n, k) (double *)((char *)out[i] + (k) * row_bytes((n) * (int64_t)sizeof(double)))

double one_state(const void *nothing, double *arena, const double *const *in, double *const *out, long repeats)
{
    (void)nothing;
    (void)arena;
    (void)repeats;
    CALL(0);
    return 0;
}

double many_states(const void *nothing, double *arena, const double *const *in, double *const *out, long states)
{
    (void)nothing;
    (void)arena;
    for (long k = 0; k < states; ++k) {
        CALL(k);
    }
    return 0;
}
