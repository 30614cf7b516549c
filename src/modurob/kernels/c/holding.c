/* Rows of constrained motion in which dry friction holds some rates; behind what is traced from `algorithms.constraints.solver`. */

/* y = A^T x. at: rows, columns, A, x, y. */
void product_transposed(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t j = 0; j < at[1]; ++j) {
        const vec *const A = arena + at[2] + j, *const x = arena + at[3];
        vec sum = V(0);
        for (int32_t i = 0; i < at[0]; ++i) {
            sum += A[i * at[1]] * x[i];
        }
        arena[at[4] + j] = sum;
    }
}

/* M with ones in place of the rows and columns of held rates. at: n, M, free, the result. */
void free_inertia(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t n = at[0];
    const vec *const free = arena + at[2];
    for (int32_t i = 0; i < n; ++i) {
        const vec *const row = arena + at[1] + i * n;
        vec *const to = arena + at[3] + i * n;
        for (int32_t j = 0; j < n; ++j) {
            const vec one = V(i == j);
            free_entry(row + j, free + i, free + j, &one, to + j);
        }
    }
}

/* Rows of K without the entries of held rates; zero where what is left is rounding. at: rows, nv, K, free, the result. c: what is rounding,
   squared. */
void free_rows(vec *arena, const int32_t *at, const real *c)
{
    const vec *const free = arena + at[3], rounding = V(c[0]);
    for (int32_t r = 0; r < at[0]; ++r) {
        const vec *const row = arena + at[2] + r * at[1];
        vec *const to = arena + at[4] + r * at[1];
        vec whole = V(0), left = V(0);
        for (int32_t j = 0; j < at[1]; ++j) {
            to[j] = row[j] * free[j];
            whole += row[j] * row[j];
            left += to[j] * to[j];
        }
        for (int32_t j = 0; j < at[1]; ++j) {
            left_of_row(to + j, &left, &whole, &rounding, to + j);
        }
    }
}
