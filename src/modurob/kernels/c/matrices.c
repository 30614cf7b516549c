/* Rows over matrices: products and mass matrices. */
#include "prelude.h"

#include <string.h>

/* y = A x. at: rows, columns, A, x, y. */
void product(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t i = 0; i < at[0]; ++i) {
        const vec *const A = arena + at[2] + i * at[1], *const x = arena + at[3];
        vec sum = V(0);
        for (int32_t j = 0; j < at[1]; ++j) {
            sum += A[j] * x[j];
        }
        arena[at[4] + i] = sum;
    }
}

/* Rows of K: wrenches T (rows, 6) against the vectors of rates, with a sign. at: rows, nv, T, K, whether to add to what is there, rates; then for
   each its vector, its coordinate and the sign. */
void project(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const vec *const T = arena + at[2];
    vec *const K = arena + at[3];
    const int32_t *rate = at + 6;
    for (int32_t k = 0; k < at[5]; ++k, rate += 3) {
        /* kept here, since what is written might else be it */
        vec S[6];
        memcpy(S, arena + rate[0], sizeof S);
        for (int32_t r = 0; r < at[0]; ++r) {
            vec sum = T[6 * r] * S[0];
            for (int i = 1; i < 6; ++i) {
                sum += T[6 * r + i] * S[i];
            }
            vec *const entry = K + r * at[1] + rate[1];
            *entry = (at[4] ? *entry : V(0)) + sum * (real)rate[2];
        }
    }
}

/* Entries are sums of products of a row with several vectors of a rate, which stand together. */
static inline __attribute__((always_inline)) void projected(vec *arena, const int32_t *at, const int pieces)
{
    const vec *const T = arena + at[2];
    const int32_t *const offsets = at + 7, *rate = offsets + pieces;
    for (int32_t k = 0; k < at[6]; ++k, rate += 3) {
        vec x[18];
        for (int p = 0; p < pieces; ++p) {
            memcpy(x + 6 * p, arena + rate[0] + offsets[p], 6 * sizeof(vec));
        }
        for (int32_t r = 0; r < at[0]; ++r) {
            const vec *const row = T + 6 * pieces * r;
            vec sum = row[0] * x[0], other = row[1] * x[1];
            for (int i = 2; i < 6 * pieces; i += 2) {
                sum += row[i] * x[i];
                other += row[i + 1] * x[i + 1];
            }
            vec *const entry = arena + at[3] + r * at[1] + rate[1];
            *entry = (at[4] ? *entry : V(0)) + (sum + other) * (real)rate[2];
        }
    }
}

/* As `project`, for rows of two or three vectors. at: rows, nv, T, K, whether to add, vectors, rates, where each vector of a rate stands among its
   columns; then as there. */
void project_sum(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    if (at[5] == 2) {
        projected(arena, at, 2);
    } else {
        projected(arena, at, 3);
    }
}

/* A matrix less S_a . W S_b, W (6, 6). at: nv, the matrix, W, rates a, rates b; then for each rate a and each rate b its vector, its coordinate and
   its sign. */
void turn(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    vec *const M = arena + at[1];
    const vec *const W = arena + at[2];
    const int32_t *const first = at + 5, *b = first + 3 * at[3];
    for (int32_t k = 0; k < at[4]; ++k, b += 3) {
        const vec *const S = arena + b[0];
        vec wrench[6];
        for (int i = 0; i < 6; ++i) {
            vec sum = W[6 * i] * S[0];
            for (int j = 1; j < 6; ++j) {
                sum += W[6 * i + j] * S[j];
            }
            wrench[i] = sum * (real)b[2];
        }
        for (const int32_t *a = first; a < first + 3 * at[3]; a += 3) {
            const vec *const S_a = arena + a[0];
            vec sum = S_a[0] * wrench[0];
            for (int i = 1; i < 6; ++i) {
                sum += S_a[i] * wrench[i];
            }
            M[a[1] * at[0] + b[1]] -= sum * (real)a[2];
        }
    }
}

/* M += D^T G D of pairs of bodies. at: n, M, the vectors of the rates, pairs; then for each where G stands, as 21 numbers, how many rates move
   one of its bodies alone, and these, counted from one, with the sign they have in D. */
void couple(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t n = at[0], *pair = at + 4;
    vec *const M = arena + at[1];
    for (int32_t k = 0; k < at[3]; ++k, pair += 2 + pair[1]) {
        const vec *const G = arena + pair[0];
        if (!any_negative(-(G[0] + G[6] + G[11]))) {
            continue;
        }
        for (int32_t i = 0; i < pair[1]; ++i) {
            const int32_t one = pair[2 + i], row = (one < 0 ? -one : one) - 1;
            const vec *const S = arena + at[2] + 6 * row;
            vec h[6];
            for (int a = 0; a < 6; ++a) {
                h[a] = V(0);
                for (int b = 0; b < 6; ++b) {
                    const int low = a < b ? a : b, high = a < b ? b : a;
                    h[a] += G[low * 6 - low * (low - 1) / 2 + high - low] * S[b];
                }
            }
            for (int32_t j = 0; j <= i; ++j) {
                const int32_t other = pair[2 + j], column = (other < 0 ? -other : other) - 1;
                const vec *const T = arena + at[2] + 6 * column;
                vec sum = h[0] * T[0];
                for (int a = 1; a < 6; ++a) {
                    sum += h[a] * T[a];
                }
                sum = (one < 0) == (other < 0) ? sum : -sum;
                M[row * n + column] += sum;
                if (i != j) {
                    M[column * n + row] += sum;
                }
            }
        }
    }
}
