/* Rows over whole arrays that no step is traced for, on any kind of cells. */

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

/* to = sum of scale times array; at: to, entries, arrays, then for each its place and that of its scale (0: the number in c). */
void combine(cells arena, const int32_t *at, const real *c)
{
    const int32_t *terms = at + 3;
    for (int32_t i = 0; i < at[1]; ++i) {
        vec sum = V(0);
        for (int32_t k = 0; k < at[2]; ++k) {
            const vec scale = terms[2 * k + 1] ? arena[terms[2 * k + 1]] * c[k] : V(c[k]);
            sum += scale * arena[terms[2 * k] + i];
        }
        arena[at[0] + i] = sum;
    }
}

/* Entry by entry. at: entries, two arrays, where their product goes. */
void multiply(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t i = 0; i < at[0]; ++i) {
        arena[at[3] + i] = arena[at[1] + i] * arena[at[2] + i];
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

/* at: how many, then where each number of c goes. */
void set(cells arena, const int32_t *at, const real *c)
{
    for (int32_t k = 0; k < at[0]; ++k) {
        arena[at[1 + k]] = V(c[k]);
    }
}
