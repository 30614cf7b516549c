/* Rows over whole arrays that no step is traced for, on any kind of cells. */

/* arrays in a sum that is written out */
enum { MOST_TERMS = 5 };

/* at: where, how many. */
void clear(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t i = 0; i < at[1]; ++i) {
        arena[at[0] + i] = V(0);
    }
}

/* at: from, to, how many. */
void copy(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t i = 0; i < at[2]; ++i) {
        arena[at[1] + i] = arena[at[0] + i];
    }
}

/* A sum of `n` arrays times scales, entry by entry; written out for few arrays, so that scales stay in registers. */
static inline __attribute__((always_inline)) void sum_of(cells arena, const int32_t *at, const real *c, const int32_t n)
{
    const cells to = arena + at[0];
    vec scale[MOST_TERMS];
    cells x[MOST_TERMS];
#pragma GCC unroll 8
    for (int32_t k = 0; k < n; ++k) {
        x[k] = arena + at[3 + 2 * k];
        scale[k] = at[4 + 2 * k] ? arena[at[4 + 2 * k]] * c[k] : V(c[k]);
    }
#pragma GCC ivdep
    for (int32_t i = 0; i < at[1]; ++i) {
        vec sum = scale[0] * x[0][i];
#pragma GCC unroll 8
        for (int32_t k = 1; k < n; ++k) {
            sum += scale[k] * x[k][i];
        }
        to[i] = sum;
    }
}

/* to = sum of scale times array; at: to, entries, arrays, then for each its place and that of its scale (0: the number in c). */
void combine(cells arena, const int32_t *at, const real *c)
{
    switch (at[2]) {
    case 1: sum_of(arena, at, c, 1); return;
    case 2: sum_of(arena, at, c, 2); return;
    case 3: sum_of(arena, at, c, 3); return;
    case 4: sum_of(arena, at, c, 4); return;
    case 5: sum_of(arena, at, c, 5); return;
    }
    for (int32_t i = 0; i < at[1]; ++i) {
        vec sum = V(0);
        for (int32_t k = 0; k < at[2]; ++k) {
            const int32_t *const term = at + 3 + 2 * k;
            sum += (term[1] ? arena[term[1]] * c[k] : V(c[k])) * arena[term[0] + i];
        }
        arena[at[0] + i] = sum;
    }
}

/* The same where each entry of an array has a weight of its own. */
static inline __attribute__((always_inline)) void weighed_sum(cells arena, const int32_t *at, const real *c, const int32_t n)
{
    const cells to = arena + at[0];
#pragma GCC ivdep
    for (int32_t i = 0; i < at[1]; ++i) {
        vec sum = V(0);
#pragma GCC unroll 8
        for (int32_t k = 0; k < n; ++k) {
            sum += V(c[k]) * arena[at[4 + 2 * k] + i] * arena[at[3 + 2 * k] + i];
        }
        to[i] = sum;
    }
}

/* to = sum of number times weights times array, entry by entry; at: to, entries, arrays, then for each its place and that of its
   weights. */
void weigh(cells arena, const int32_t *at, const real *c)
{
    switch (at[2]) {
    case 1: weighed_sum(arena, at, c, 1); return;
    case 2: weighed_sum(arena, at, c, 2); return;
    case 3: weighed_sum(arena, at, c, 3); return;
    case 4: weighed_sum(arena, at, c, 4); return;
    case 5: weighed_sum(arena, at, c, 5); return;
    default: weighed_sum(arena, at, c, at[2]);
    }
}

/* An array x in states where a < b, else y. at: entries, a, b, x, y, where it goes. */
void smaller(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    const ivec mask = (ivec)(arena[at[1]] < arena[at[2]]);
    for (int32_t i = 0; i < at[0]; ++i) {
        arena[at[5] + i] = choose(mask, arena[at[3] + i], arena[at[4] + i]);
    }
}

/* Adds entries of an array to entries of another; at: how many, then from and to of each. */
void scatter(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t k = 0; k < at[0]; ++k) {
        arena[at[2 + 2 * k]] += arena[at[1 + 2 * k]];
    }
}

/* Copies runs of entries; at: how many, then from, to and length of each. */
void gather(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t *const end = at + 1 + 3 * at[0];
    for (const int32_t *run = at + 1; run < end; run += 3) {
        for (int32_t i = 0; i < run[2]; ++i) {
            arena[run[1] + i] = arena[run[0] + i];
        }
    }
}

/* at: how many, then where each number of c goes. */
void set(cells arena, const int32_t *at, const real *c)
{
    for (int32_t k = 0; k < at[0]; ++k) {
        arena[at[1 + k]] = V(c[k]);
    }
}
