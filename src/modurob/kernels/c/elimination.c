/* Symmetric matrices that are sparse by branches, factored and solved with; behind patterns.h. */
#include <string.h>

#define BLOCK 12 /* columns that are solved for at once */

/* to += l from at these places, ascending; most often they are a run. */
static inline void added(vec *to, const vec *from, vec l, const int32_t *places, int32_t count)
{
    if (count && places[count - 1] - places[0] == count - 1) {
        to += places[0];
        from += places[0];
        for (int32_t j = 0; j < count; ++j) {
            to[j] += l * from[j];
        }
        return;
    }
    for (int32_t j = 0; j < count; ++j) {
        to[places[j]] += l * from[places[j]];
    }
}

/* Whether row k - 1 has the places of row k, but for its own: both are then taken at once. */
static inline int paired(pattern p, int32_t k)
{
    int32_t count, other;
    if (k == 0) {
        return 0;
    }
    const int32_t *const places = columns_of(p, k, &count), *const next = columns_of(p, k - 1, &other);
    return count == other + 1 && places[other] == k - 1 && !memcmp(next, places, (size_t)other * sizeof *places);
}

/* to += l one + m two at these places. */
static inline void added_both(vec *to, const vec *one, vec l, const vec *two, vec m, const int32_t *places, int32_t count)
{
    for (int32_t j = 0; j < count; ++j) {
        const int32_t at = places[j];
        to[at] = (to[at] + l * one[at]) + m * two[at];
    }
}

/* M = L^T D L in place: row k of L stands in row k of M, 1/D in `inverse`. Where a pivot is below `nothing` times its diagonal the status
   becomes `number`. */
static inline void factored(vec *M, vec *inverse, int32_t n, pattern p, vec *status, real nothing, real number)
{
    for (int32_t k = 0; k < n; ++k) {
        inverse[k] = nothing * M[k * n + k];
    }
    for (int32_t k = n - 1, many; k >= 0; k -= many) {
        int32_t count;
        const int32_t *columns = columns_of(p, k, &count);
        vec *const row_k = M + k * n, *const above = row_k - n;
        many = 1 + paired(p, k);
        *status = SELECT(inverse[k], row_k[k], *status, V(number));
        inverse[k] = (real)1 / row_k[k];
        if (many == 1) {
            for (int32_t a = 0; a < count; ++a) {
                added(M + columns[a] * n, row_k, -row_k[columns[a]] * inverse[k], columns, a + 1);
            }
        } else {
            added(above, row_k, -row_k[k - 1] * inverse[k], columns, count);
            *status = SELECT(inverse[k - 1], above[k - 1], *status, V(number));
            inverse[k - 1] = (real)1 / above[k - 1];
            for (int32_t a = 0; a < count - 1; ++a) {
                const vec l = -row_k[columns[a]] * inverse[k], m = -above[columns[a]] * inverse[k - 1];
                added_both(M + columns[a] * n, row_k, l, above, m, columns, a + 1);
            }
            for (int32_t a = 0; a < count - 1; ++a) {
                above[columns[a]] *= inverse[k - 1];
            }
        }
        for (int32_t a = 0; a < count; ++a) {
            row_k[columns[a]] *= inverse[k];
        }
    }
}

/* Columns of M^-1 B, (n, wide), for a few columns at once, which stay in registers and in the nearest cache. B is zero below row `last`, and is
   found down to that row. */
static inline __attribute__((always_inline)) void substituted_columns(
    const vec *L, const vec *inverse, int32_t n, pattern p, vec *B, int32_t wide, int32_t last, int32_t few)
{
    int32_t count;
    vec x[BLOCK];
    for (int32_t k = last; k >= 0; --k) {
        const int32_t *columns = columns_of(p, k, &count);
        for (int32_t j = 0; j < few; ++j) {
            x[j] = B[k * wide + j];
        }
        for (int32_t a = 0; a < count; ++a) {
            const vec l = L[k * n + columns[a]];
            vec *const to = B + columns[a] * wide;
            for (int32_t j = 0; j < few; ++j) {
                to[j] -= l * x[j];
            }
        }
    }
    for (int32_t k = 0; k <= last; ++k) {
        const int32_t *columns = columns_of(p, k, &count);
        vec *const to = B + k * wide;
        for (int32_t j = 0; j < few; ++j) {
            x[j] = to[j] * inverse[k];
        }
        for (int32_t a = 0; a < count; ++a) {
            const vec l = L[k * n + columns[a]];
            const vec *const from = B + columns[a] * wide;
            for (int32_t j = 0; j < few; ++j) {
                x[j] -= l * from[j];
            }
        }
        for (int32_t j = 0; j < few; ++j) {
            to[j] = x[j];
        }
    }
}
