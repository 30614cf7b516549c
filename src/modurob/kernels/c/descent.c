/* Steps of damped least squares, as `algorithms.descent` has them; behind what is traced from there. */
#include "prelude.h"

/* x with A x = b for a symmetric positive definite A, (n, n), of which the lower half is read and lost; b becomes x. Column j of A becomes
   that of L times D, and 1/D stands on the diagonal. */
static inline __attribute__((always_inline)) void definite_solve(vec *restrict A, vec *restrict b, const int32_t n)
{
    for (int32_t j = 0; j < n; ++j) {
        /* what rounding takes to zero moves nothing */
        const vec pivot = A[j * n + j], inverse = SELECT(V(0), pivot, (real)1 / pivot, V(0));
        A[j * n + j] = inverse;
        b[j] *= inverse;
        for (int32_t i = j + 1; i < n; ++i) {
            const vec l = A[i * n + j] * inverse;
            for (int32_t k = j + 1; k <= i; ++k) {
                A[i * n + k] -= l * A[k * n + j];
            }
            b[i] -= A[i * n + j] * b[j];
        }
    }
    for (int32_t j = n - 1; j >= 0; --j) {
        vec sum = V(0);
        for (int32_t i = j + 1; i < n; ++i) {
            sum += A[i * n + j] * b[i];
        }
        b[j] -= A[j * n + j] * sum;
    }
}

/* The step of damped least squares as `algorithms.descent` has it, for a number of rows that the compiler may know. */
static inline __attribute__((always_inline)) void damped_step_of(
    vec *arena, const int32_t *at, const real *c, const int32_t n, const int32_t r, vec *restrict A)
{
    const int32_t *const coordinate = at + 8;
    const vec *const given = arena + at[2], *const error = arena + at[3];
    vec *const dq = arena + at[6], *const kept = arena + at[7], *const descent = kept + r * n;
    const real *const lower = c, *const upper = lower + n;
    const vec *J = given;
    vec size = V(0);
    for (int32_t j = 0; j < n; ++j) {
        vec sum = V(0);
        for (int32_t i = 0; i < r; ++i) {
            const vec entry = given[i * n + j];
            sum += entry * error[i];
            size += entry * entry;
        }
        descent[j] = sum;
    }
    int limited = 0;
    for (int32_t j = 0; j < n; ++j) {
        limited |= coordinate[j];
    }
    if (limited) {
        for (int32_t j = 0; j < n; ++j) {
            vec free = V(1);
            if (coordinate[j]) {
                const vec limits[2] = {V(lower[j]), V(upper[j])};
                freedom(descent + j, arena + coordinate[j], limits, &free);
            }
            descent[j] *= free;
            for (int32_t i = 0; i < r; ++i) {
                kept[i * n + j] = given[i * n + j] * free;
            }
        }
        J = kept;
    }
    size *= (real)1 / (real)(r ? r : 1);
    vec lambda;
    whole_damping(arena + at[5], arena + at[4], &size, &lambda);
    const int32_t few = r <= n ? r : n;
    vec *const x = A + few * few;
    for (int32_t a = 0; a < few; ++a) {
        for (int32_t b = 0; b <= a; ++b) {
            vec sum = a == b ? lambda : V(0);
            for (int32_t k = 0; k < (r <= n ? n : r); ++k) {
                sum += r <= n ? J[a * n + k] * J[b * n + k] : J[k * n + a] * J[k * n + b];
            }
            A[a * few + b] = sum;
        }
        x[a] = r <= n ? error[a] : descent[a];
    }
    definite_solve(A, x, few);
    for (int32_t j = 0; j < n; ++j) {
        vec step = r <= n ? V(0) : x[j];
        for (int32_t i = 0; r <= n && i < r; ++i) {
            step += J[i * n + j] * x[i];
        }
        if (coordinate[j]) {
            const vec limits[2] = {V(lower[j]), V(upper[j])}, whole = step;
            within_limits(&whole, arena + coordinate[j], limits, &step);
        }
        dq[j] = step;
    }
}

/* at: n, rows, J, error, cost, damping, dq, work, then the coordinate of each rate (0: none). c: lower limits, upper
   limits. */
void damped_step(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0], r = at[1];
    vec few[6 * 7];
    if (n == 6 && r == 6) {
        damped_step_of(arena, at, c, 6, 6, few);
    } else if (n == 7 && r == 6) {
        damped_step_of(arena, at, c, 7, 6, few);
    } else {
        damped_step_of(arena, at, c, n, r, arena + at[7] + (r + 1) * n);
    }
}
