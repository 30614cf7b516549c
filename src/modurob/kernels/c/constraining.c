/* Rows that solve the equations of motion with constraints; behind elimination.c and what is traced from `algorithms.constraints.solver`. */

/* How many rows from i on have the same places, three at most: what they add is then added at once. */
static inline int32_t alike(pattern p, int32_t i, int32_t n)
{
    int32_t count, other, many = 1;
    const int32_t *const places = columns_of(p, i, &count);
    for (; many < 3 && i + many < n; ++many) {
        const int32_t *const next = columns_of(p, i + many, &other);
        if (other != count || memcmp(next, places, (size_t)count * sizeof *places)) {
            break;
        }
    }
    return many;
}

/* Sizes of rows, squared: those of rounding alone, next to the largest, count as `rounding` of it. */
static inline void raise_rows(vec *sizes, int32_t r, real rounding)
{
    vec largest = V(0);
    for (int32_t a = 0; a < r; ++a) {
        largest = SELECT(largest, sizes[a], sizes[a], largest);
    }
    const vec lost = V(rounding);
    vec least;
    least_size(&largest, &lost, &least);
    for (int32_t a = 0; a < r; ++a) {
        raised_size(sizes + a, &least, sizes + a);
    }
}

/* B becomes M^-1 B, (n, wide), in two halves: L^-T B, of which row k has only the columns that `sides` names, and L^-1 D^-1 of one column. */
static inline void lowered(const vec *L, int32_t n, pattern p, pattern sides, vec *B, int32_t wide)
{
    int32_t count, some;
    for (int32_t k = n - 1, many; k >= 0; k -= many) {
        const int32_t *const columns = columns_of(p, k, &count), *const side = columns_of(sides, k, &some);
        const vec *const from = B + k * wide, *const above = from - wide, *const l = L + k * n, *const m = l - n;
        many = 1 + (paired(p, k) && alike(sides, k - 1, k + 1) == 2);
        for (int32_t a = many == 1 ? 0 : count - 1; a < count; ++a) {
            vec *const to = B + columns[a] * wide;
            to[0] -= l[columns[a]] * from[0];
            added(to, from, -l[columns[a]], side + 1, some - 1);
        }
        for (int32_t a = 0; many == 2 && a < count - 1; ++a) {
            added_both(B + columns[a] * wide, from, -l[columns[a]], above, -m[columns[a]], side, some);
        }
    }
}

static inline void raised(const vec *L, const vec *inverse, int32_t n, pattern p, vec *b)
{
    int32_t count;
    for (int32_t k = 0; k < n; ++k) {
        const int32_t *const columns = columns_of(p, k, &count);
        vec sum = b[k] * inverse[k];
        for (int32_t a = 0; a < count; ++a) {
            sum -= L[k * n + columns[a]] * b[columns[a]];
        }
        b[k] = sum;
    }
}

static inline vec larger(vec a, vec b)
{
    const vec size = SELECT(b, V(0), -b, b);
    return SELECT(a, size, size, a);
}

/* x with D x = b, as `proximal_solution` of `algorithms.constraints.solver` sums it up. A state is left once a term differs from the last one by less than
   `settled` of x: it then stands for all that are to come, and their coefficients are minus those taken. b, the lower half of D and its diagonal are
   lost. work: diagonal, 1/D, the next term (r each). */
static inline void proximal(vec *D, vec *b, vec *x, int32_t r, pattern p, vec *work, real settled)
{
    vec *const diagonal = work, *const inverse = work + r, *const next = inverse + r, *const term = b;
    vec unused = V(0), open = V(1);
    real taken = 0; /* the sum of all coefficients so far */
    for (int32_t a = 0; a < r; ++a) {
        diagonal[a] = D[a * r + a];
        D[a * r + a] += PROXIMAL;
        term[a] = b[a] * ((real)1 / PROXIMAL);
        x[a] = V(0);
    }
    factored(D, inverse, r, p, &unused, 0, 0);
    for (int k = 0; k < ITERATIONS * FILTERS && any_positive(open); ++k) {
        const real coefficient = COEFFICIENTS[k / ITERATIONS];
        vec change = V(0), size = V(0);
        for (int32_t a = 0; a < r; ++a) {
            next[a] = PROXIMAL * term[a];
        }
        substituted_columns(D, inverse, r, p, next, 1, r - 1, 1);
        for (int32_t a = 0; a < r; ++a) {
            change = larger(change, next[a] - term[a]);
            size = larger(size, x[a]);
            term[a] = next[a];
        }
        const vec here = SELECT(settled * size, change, V(coefficient), V(-taken));
        for (int32_t a = 0; a < r; ++a) {
            x[a] = SELECT(V(0), open, x[a] + here * term[a], x[a]);
        }
        open = SELECT(settled * size, change, open, V(0));
        taken += coefficient;
    }
}

/* M += K^T W K and b += K^T W k of rows of K from `row` on that have the same columns, the upper half of M left out; b and K^T stand in B, r + 1
   wide. */
static inline __attribute__((always_inline)) void stiffened(vec *M, vec *B, const vec *k, const vec *scale, vec average, int32_t n, int32_t r,
    int32_t row, const int32_t *columns, int32_t count, int32_t many)
{
    vec weight[3];
    for (int32_t a = 0; a < many; ++a) {
        row_weight(&average, scale + row + a, weight + a);
    }
    for (int32_t i = 0; i < count; ++i) {
        vec *const own = B + columns[i] * (r + 1), *const to = M + columns[i] * n;
        vec weighted[3], force = own[0];
        for (int32_t a = 0; a < many; ++a) {
            weighted[a] = weight[a] * own[1 + row + a];
            force += weighted[a] * k[row + a];
        }
        own[0] = force;
        for (int32_t j = 0; j <= i; ++j) {
            const vec *const other = B + columns[j] * (r + 1) + 1 + row;
            vec sum = to[columns[j]];
            for (int32_t a = 0; a < many; ++a) {
                sum += weighted[a] * other[a];
            }
            to[columns[j]] = sum;
        }
    }
}

/* D += B^T D^-1 B and rest -= B^T D^-1 b of some rows (b, B), r + 1 wide, that have the same sides, the upper half of D left out. */
static inline __attribute__((always_inline)) void gathered(
    vec *D, vec *rest, const vec *B, const vec *inverse, int32_t r, const int32_t *side, int32_t count, int32_t many)
{
    for (int32_t a = 1; a < count; ++a) {
        vec half[3], left = rest[side[a] - 1];
        for (int32_t i = 0; i < many; ++i) {
            half[i] = B[i * (r + 1) + side[a]] * inverse[i];
            left -= half[i] * B[i * (r + 1)];
        }
        rest[side[a] - 1] = left;
        vec *const to = D + (side[a] - 1) * r - 1;
        for (int32_t j = 1; j <= a; ++j) {
            vec sum = to[side[j]];
            for (int32_t i = 0; i < many; ++i) {
                sum += half[i] * B[i * (r + 1) + side[j]];
            }
            to[side[j]] = sum;
        }
    }
}

/* M vdot - K^T lambda = force, K vdot = k, as `algorithms.constraints.solver` has it. at: n, rows, M, K, tau, bias, k, vdot, lambda, work,
   where four lists begin: the coordinates in each row of K, the sides that are not zero in each row of L^-T (force, K^T), the pattern
   of the rows, that of M; then the coordinates in the order of that pattern. c: pivots that are nothing, rows that are rounding next to
   the largest, squared, terms that have settled, then the rotors, and the units of rates, squared. */
void constrain(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0], r = at[1], wide = r + 1;
    const vec *const given = arena + at[2], *const K = arena + at[3], *const tau = arena + at[4], *const bias = arena + at[5];
    const vec *const k = arena + at[6];
    vec *const vdot = arena + at[7], *const lambda = arena + at[8];
    const pattern in_row = at + at[10], sides = at + at[11], of_rows = at + at[12], of_M = at + at[13];
    const int32_t *const order = at + 14;
    const real *const unit = c + 3 + n; /* of rates, squared */
    int32_t count;
    const struct solved s = solved_at(arena + at[9], n, r);
    vec *const M = s.M, *const inverse = s.inverse, *const B = s.B, *const sum = s.sum, *const D = s.D;
    vec *const scale = s.scale, *const rest = s.rest;
    vec average = V(0);
    for (int32_t i = 0; i < n; ++i) {
        const int32_t *const columns = columns_of(of_M, i, &count);
        const vec *const from = given + order[i] * n;
        for (int32_t a = 0; a < count; ++a) {
            M[i * n + columns[a]] = from[order[columns[a]]];
        }
        M[i * n + i] = from[order[i]] + c[3 + order[i]];
        average += M[i * n + i] * unit[order[i]];
        B[i * wide] = tau[order[i]] - bias[order[i]];
        const int32_t *const side = columns_of(sides, i, &count);
        for (int32_t a = 1; a < count; ++a) {
            B[i * wide + side[a]] = K[(side[a] - 1) * n + order[i]];
        }
    }
    average = average * ((real)1 / (real)(n ? n : 1));
    /* the inertia against moving the constraints */
    for (int32_t a = 0; a < r; ++a) {
        const int32_t *const columns = columns_of(in_row, a, &count);
        scale[a] = V(0);
        for (int32_t i = 0; i < count; ++i) {
            const vec entry = B[columns[i] * wide + 1 + a];
            scale[a] += entry * entry * unit[order[columns[i]]];
        }
    }
    raise_rows(scale, r, c[1]);
    for (int32_t a = 0, many; a < r; a += many) {
        const int32_t *const columns = columns_of(in_row, a, &count);
        many = alike(in_row, a, r);
        if (many == 3) {
            stiffened(M, B, k, scale, average, n, r, a, columns, count, 3);
        } else if (many == 2) {
            stiffened(M, B, k, scale, average, n, r, a, columns, count, 2);
        } else {
            stiffened(M, B, k, scale, average, n, r, a, columns, count, 1);
        }
    }
    factored(M, inverse, n, of_M, arena, c[0], -1);
    lowered(M, n, of_M, sides, B, wide);
    /* what the constraints move, scaled to one for each of them, and what is left for them to do */
    memset(D, 0, (size_t)(r * r) * sizeof(vec));
    memcpy(rest, k, (size_t)r * sizeof(vec));
    for (int32_t i = 0, many; i < n; i += many) {
        const int32_t *const side = columns_of(sides, i, &count);
        many = alike(sides, i, n);
        if (many == 3) {
            gathered(D, rest, B + i * wide, inverse + i, r, side, count, 3);
        } else if (many == 2) {
            gathered(D, rest, B + i * wide, inverse + i, r, side, count, 2);
        } else {
            gathered(D, rest, B + i * wide, inverse + i, r, side, count, 1);
        }
    }
    for (int32_t a = 0; a < r; ++a) {
        scale[a] = D[a * r + a];
    }
    raise_rows(scale, r, c[1]);
    for (int32_t a = 0; a < r; ++a) {
        row_scale(D + a * r + a, scale + a, scale + a);
        rest[a] *= scale[a];
        for (int32_t b = 0; b <= a; ++b) {
            D[b * r + a] = D[a * r + b] *= scale[a] * scale[b];
        }
    }
    proximal(D, rest, lambda, r, of_rows, s.work, c[2]);
    for (int32_t a = 0; a < r; ++a) {
        lambda[a] *= scale[a];
    }
    for (int32_t i = 0; i < n; ++i) {
        const int32_t *const side = columns_of(sides, i, &count);
        sum[i] = B[i * wide];
        for (int32_t a = 1; a < count; ++a) {
            sum[i] += B[i * wide + side[a]] * lambda[side[a] - 1];
        }
    }
    raised(M, inverse, n, of_M, sum);
    for (int32_t i = 0; i < n; ++i) {
        vdot[order[i]] = sum[i];
    }
}
