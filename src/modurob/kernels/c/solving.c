/* Rows that solve linear equations of mass matrices; behind elimination.c. */

/* M^-1 B for the first `end` columns of B, (n, wide), a few at once; where B is the identity only down to their last row. */
static inline void substituted(const vec *L, const vec *inverse, int32_t n, pattern p, vec *B, int32_t wide, int32_t end, int identity)
{
    int32_t j = 0;
    for (; j + BLOCK <= end; j += BLOCK) {
        substituted_columns(L, inverse, n, p, B + j, wide, identity ? j + BLOCK - 1 : n - 1, BLOCK);
    }
    for (; j + 4 <= end; j += 4) {
        substituted_columns(L, inverse, n, p, B + j, wide, identity ? j + 3 : n - 1, 4);
    }
    for (; j < end; ++j) {
        substituted_columns(L, inverse, n, p, B + j, wide, identity ? j : n - 1, 1);
    }
}

/* M^-1, (n, n) with rows `wide` apart: it is symmetric, so that what stands above its diagonal is enough. */
static inline void inverted(const vec *L, const vec *inverse, int32_t n, pattern p, vec *B, int32_t wide)
{
    for (int32_t i = 0; i < n; ++i) {
        for (int32_t j = 0; j < n; ++j) {
            B[i * wide + j] = V(i == j);
        }
    }
    substituted(L, inverse, n, p, B, wide, n, 1);
    for (int32_t i = 0; i < n; ++i) {
        for (int32_t j = 0; j < i; ++j) {
            B[i * wide + j] = B[j * wide + i];
        }
    }
}

/* M with the rotors, factored. c: what is nothing, and the rotors. */
static inline void with_rotors(vec *M, vec *inverse, int32_t n, pattern p, vec *status, const real *c)
{
    for (int32_t i = 0; i < n; ++i) {
        M[i * n + i] += c[1 + i];
    }
    factored(M, inverse, n, p, status, c[0], -1);
}

/* Derivatives of forward dynamics from those of inverse dynamics. at: n, M, 1/D, the sides (n, 3 n), by q, by v, then the pattern. c: what is
   nothing, and the rotors. The sides become -M^-1 by_q, -M^-1 by_v, M^-1. */
void solve_slopes(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0];
    vec *const M = arena + at[1], *const inverse = arena + at[2], *const B = arena + at[3];
    const vec *const by_q = arena + at[4], *const by_v = arena + at[5];
    for (int32_t i = 0; i < n; ++i) {
        vec *const row_i = B + 3 * i * n;
        for (int32_t j = 0; j < n; ++j) {
            row_i[j] = -by_q[i * n + j];
            row_i[n + j] = -by_v[i * n + j];
        }
    }
    with_rotors(M, inverse, n, at + 6, arena, c);
    substituted(M, inverse, n, at + 6, B, 3 * n, 2 * n, 0);
    inverted(M, inverse, n, at + 6, B + 2 * n, 3 * n);
}

/* M^-1. at: n, M, 1/D, where it goes, then the pattern. c as above. */
void invert_inertia(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0];
    vec *const M = arena + at[1], *const inverse = arena + at[2];
    with_rotors(M, inverse, n, at + 4, arena, c);
    inverted(M, inverse, n, at + 4, arena + at[3], n);
}
