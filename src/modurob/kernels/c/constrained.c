/* Slopes of constrained motion, once constraining.c has solved for it. */
#include <string.h>

/* The last row or column of a tile of a matrix may stand in it again. */
static inline int32_t smaller_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* TILE rows of A, (m, n), from row i on. */
static inline __attribute__((always_inline)) void rows_from(const vec *rows[TILE], const vec *A, int32_t i, int32_t m, int32_t n)
{
#pragma GCC unroll 9
    for (int x = 0; x < TILE; ++x) {
        rows[x] = A + smaller_of(i + x, m - 1) * n;
    }
}

static inline __attribute__((always_inline)) void clear_tile(vec sum[TILE * TILE])
{
#pragma GCC unroll 9
    for (int x = 0; x < TILE * TILE; ++x) {
        sum[x] = V(0);
    }
}

/* sum += the inner products of TILE rows of A with TILE rows of B, n numbers each. */
static inline __attribute__((always_inline)) void add_tile(vec sum[TILE * TILE], const vec *const A[TILE], const vec *const B[TILE], int32_t n)
{
    for (int32_t k = 0; k < n; ++k) {
        const vec a[TILE] = {A[0][k], A[1][k], A[2][k]}, b[TILE] = {B[0][k], B[1][k], B[2][k]};
#pragma GCC unroll 9
        for (int i = 0; i < TILE * TILE; ++i) {
            sum[i] += a[i / TILE] * b[i % TILE];
        }
    }
}

/* Y = L^-1 and Z = Y D^-1 of a factored matrix, (n, n). */
static inline void inverted_factor(vec *Y, vec *Z, const vec *L, const vec *inverse, int32_t n, pattern p)
{
    int32_t count;
    memset(Y, 0, (size_t)(n * n) * sizeof(vec));
    for (int32_t i = 0; i < n; ++i) {
        vec *const to = Y + i * n;
        const int32_t *const columns = columns_of(p, i, &count);
        for (int32_t a = 0; a < count; ++a) {
            const vec l = L[i * n + columns[a]], *const from = Y + columns[a] * n;
            for (int32_t j = 0; j <= columns[a]; ++j) {
                to[j] -= l * from[j];
            }
        }
        to[i] = V(1);
        for (int32_t j = 0; j < n; ++j) {
            Z[i * n + j] = to[j] * inverse[j];
        }
    }
}

/* What is known of a product: nothing; that it is symmetric; and that rows of its factors also end at their diagonal. */
enum { WHOLE, HALVED, TRIANGULAR };

/* C = A B^T, A (m, n), B (l, n). */
static void multiplied(vec *C, const vec *A, const vec *B, int32_t m, int32_t l, int32_t n, int known)
{
    for (int32_t i = 0; i < m; i += TILE) {
        for (int32_t j = known ? i : 0; j < l; j += TILE) {
            const vec *a[TILE], *b[TILE];
            vec sum[TILE * TILE];
            rows_from(a, A, i, m, n);
            rows_from(b, B, j, l, n);
            clear_tile(sum);
            add_tile(sum, a, b, known == TRIANGULAR ? smaller_of(i + TILE, n) : n);
#pragma GCC unroll 9
            for (int x = 0; x < TILE * TILE; ++x) {
                const int32_t row = smaller_of(i + x / TILE, m - 1), column = smaller_of(j + x % TILE, l - 1);
                C[row * l + column] = sum[x];
                if (known) {
                    C[column * l + row] = sum[x];
                }
            }
        }
    }
}

/* R, `proximal_inverse` of `algorithms.constraints.solver`, from the D that `proximal` leaves behind, times `scale` on both sides. Terms of the series are
   added in pairs, by E²; where E is small in all directions, four terms are all and g is one. work: three matrices (r, r). */
static inline void proximal_matrix(vec *R, vec *work, const struct solved *s, int32_t r, pattern p)
{
    vec *A = work, *const E = A + r * r, *term = E + r * r;
    const int32_t all = r * r;
    vec size = V(0);
    inverted_factor(E, term, s->D, s->work + r, r, p);
    multiplied(A, E, term, r, r, r, TRIANGULAR);
    for (int32_t a = 0; a < r; ++a) {
        size += PROXIMAL * A[a * r + a];
    }
    multiplied(E, A, A, r, r, r, HALVED);
    for (int32_t i = 0; i < all; ++i) {
        R[i] = A[i] + PROXIMAL * E[i];
        E[i] *= PROXIMAL * PROXIMAL;
    }
    multiplied(term, E, R, r, r, r, HALVED);
    for (int32_t i = 0; i < all; ++i) {
        R[i] += term[i];
    }
    if (any_positive(size - V(FEW_TERMS))) {
        for (int terms = 4; terms < ITERATIONS; terms += 2) {
            vec *const next = A;
            multiplied(next, E, term, r, r, r, HALVED);
            A = term;
            term = next;
            for (int32_t i = 0; i < all; ++i) {
                R[i] = SELECT(V(FEW_TERMS), size, R[i] + term[i], R[i]);
            }
        }
        /* g; the product D C would be as large in directions that are nothing but rounding as rounding times 1/p */
        memcpy(A, E, (size_t)all * sizeof(vec));
        for (int terms = 2; terms < ITERATIONS; terms += 2) {
            vec *const next = term;
            multiplied(next, E, A, r, r, r, HALVED);
            term = A;
            A = next;
        }
        for (int32_t a = 0; a < r; ++a) {
            for (int32_t b = 0; b < r; ++b) {
                A[a * r + b] = V(a == b) - A[a * r + b];
            }
        }
        for (int filter = 1; filter < FILTERS; ++filter) {
            multiplied(term, A, R, r, r, r, HALVED);
            for (int32_t i = 0; i < all; ++i) {
                R[i] = SELECT(V(FEW_TERMS), size, term[i], R[i]);
            }
        }
        /* rounding times 1/p is left in R; 2 R - R D R is as exact as D */
        for (int32_t a = 0; a < r; ++a) {
            E[a * r + a] = s->work[a];
            for (int32_t b = a + 1; b < r; ++b) {
                E[a * r + b] = E[b * r + a] = s->D[a * r + b];
            }
        }
        multiplied(A, R, E, r, r, r, WHOLE);
        multiplied(term, A, R, r, r, r, HALVED);
        for (int32_t i = 0; i < all; ++i) {
            R[i] = SELECT(V(FEW_TERMS), size, (real)2 * R[i] - term[i], R[i]);
        }
    }
    for (int32_t a = 0; a < r; ++a) {
        for (int32_t b = 0; b < r; ++b) {
            R[a * r + b] *= s->scale[a] * s->scale[b];
        }
    }
}

#define RAISED 5 /* columns that are raised at once, in registers */

/* Z = M^-1 K^T, (n, r), in the order of the pattern, from the L^-T K^T in B. */
static inline void raised_rows(vec *Z, const struct solved *s, int32_t n, int32_t r, pattern sides, pattern of_M)
{
    int32_t count;
    for (int32_t k = 0; k < n; ++k) {
        vec *const to = Z + k * r;
        memset(to, 0, (size_t)r * sizeof(vec));
        const int32_t *const side = columns_of(sides, k, &count);
        for (int32_t a = 1; a < count; ++a) {
            to[side[a] - 1] = s->B[k * (r + 1) + side[a]] * s->inverse[k];
        }
        const int32_t *const columns = columns_of(of_M, k, &count);
        const vec *const l = s->M + k * n;
        int32_t j = 0;
        for (; j + RAISED <= r; j += RAISED) {
            vec sum[RAISED];
            memcpy(sum, to + j, sizeof sum);
            for (int32_t a = 0; a < count; ++a) {
                const vec *const from = Z + columns[a] * r + j;
#pragma GCC unroll 9
                for (int x = 0; x < RAISED; ++x) {
                    sum[x] -= l[columns[a]] * from[x];
                }
            }
            memcpy(to + j, sum, sizeof sum);
        }
        for (; j < r; ++j) {
            vec sum = to[j];
            for (int32_t a = 0; a < count; ++a) {
                sum -= l[columns[a]] * Z[columns[a] * r + j];
            }
            to[j] = sum;
        }
    }
}

/* P = L^-1 D^-1 L^-T - Q Z^T, which is symmetric, into the last n columns of the results; in the order of the coordinates. `factor`: what
   `inverted_factor` has. */
static inline void projected_inverse(vec *out, const vec *factor, const vec *Q, const vec *Z, int32_t n, int32_t r, const int32_t *order)
{
    for (int32_t i = 0; i < n; i += TILE) {
        for (int32_t j = i; j < n; j += TILE) {
            const vec *a[TILE], *b[TILE];
            vec sum[TILE * TILE];
            rows_from(a, Q, i, n, r);
            rows_from(b, Z, j, n, r);
            clear_tile(sum);
            add_tile(sum, a, b, r);
#pragma GCC unroll 9
            for (int x = 0; x < TILE * TILE; ++x) {
                sum[x] = -sum[x];
            }
            rows_from(a, factor, i, n, n);
            rows_from(b, factor + n * n, j, n, n);
            add_tile(sum, a, b, smaller_of(i + TILE, n));
#pragma GCC unroll 9
            for (int x = 0; x < TILE * TILE; ++x) {
                const int32_t row = order[smaller_of(i + x / TILE, n - 1)], column = order[smaller_of(j + x % TILE, n - 1)];
                out[row * 3 * n + column] = out[column * 3 * n + row] = sum[x];
            }
        }
    }
}

/* TILE columns of -P force - Q rows, given as the numbers of those rows of force (n, n) and rows (r, n) that are not zero there. at: the columns among the
   results, the columns, how many rows of force, of rows, and which. */
static inline void sloped_columns(vec *out, const vec *P, const vec *Q, const vec *force, const vec *rows, int32_t n, int32_t r, const int32_t *at)
{
    const int32_t *const own = at + 2 * TILE + 2, *const others = own + at[2 * TILE];
    for (int32_t i = 0; i < n; i += TILE) {
        vec sum[TILE * TILE];
        int32_t row[TILE];
#pragma GCC unroll 9
        for (int x = 0; x < TILE; ++x) {
            row[x] = smaller_of(i + x, n - 1);
        }
        clear_tile(sum);
        for (int32_t k = 0; k < at[2 * TILE]; ++k) {
            const vec *const from = force + own[k] * n;
#pragma GCC unroll 9
            for (int x = 0; x < TILE * TILE; ++x) {
                sum[x] -= P[row[x / TILE] * 3 * n + own[k]] * from[at[TILE + x % TILE]];
            }
        }
        for (int32_t k = 0; k < at[2 * TILE + 1]; ++k) {
            const vec *const from = rows + others[k] * n;
#pragma GCC unroll 9
            for (int x = 0; x < TILE * TILE; ++x) {
                sum[x] -= Q[row[x / TILE] * r + others[k]] * from[at[TILE + x % TILE]];
            }
        }
#pragma GCC unroll 9
        for (int x = 0; x < TILE * TILE; ++x) {
            out[row[x / TILE] * 3 * n + at[x % TILE]] = sum[x];
        }
    }
}

/* Derivatives of constrained motion, after `constrain` has solved for it: vdot changes by P force + Q k. at: n, rows, the work of `constrain`, slopes
   of the tree by q and v, slopes of rows by q and v, results (n, 3 n), work, where three lists begin, as those of `constrain`: the sides, the pattern of rows,
   that of M; then the order; then how many tiles of columns there are by q and by v, and these, as `sloped_columns` has them. */
void constrain_slopes(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t n = at[0], r = at[1], *const order = at + 13, *tile = at + at[12];
    const struct solved s = solved_at(arena + at[2], n, r);
    vec *const out = arena + at[7], *const P = out + 2 * n;
    /* work: Q (n, r), Z (n, r), R (r, r), and three matrices (r, r), or two (n, n) */
    vec *const Q = arena + at[8], *const Z = Q + n * r, *const R = Z + n * r, *const work = R + r * r;
    proximal_matrix(R, work, &s, r, at + at[10]);
    raised_rows(Z, &s, n, r, at + at[9], at + at[11]);
    /* Q in the order of the pattern, then in that of the coordinates */
    multiplied(Q, Z, R, n, r, r, WHOLE);
    inverted_factor(work, work + n * n, s.M, s.inverse, n, at + at[11]);
    projected_inverse(P, work, Q, Z, n, r, order);
    for (int32_t i = 0; i < n; ++i) {
        memcpy(Z + order[i] * r, Q + i * r, (size_t)r * sizeof(vec));
    }
    for (int which = 0; which < 2; ++which) {
        const int32_t tiles = *tile++;
        for (int32_t k = 0; k < tiles; ++k, tile += 2 * TILE + 2 + tile[2 * TILE] + tile[2 * TILE + 1]) {
            sloped_columns(out, P, Z, arena + at[3 + which], arena + at[5 + which], n, r, tile);
        }
    }
}
