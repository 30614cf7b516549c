/* Patterns of matrices, and what constraining.c leaves behind for constrained.c. */

/* The pattern of a symmetric matrix that is eliminated from its last row to its first: for each row where its columns stand, then how
   many there are before the diagonal, and which. */
typedef const int32_t *pattern;
static inline const int32_t *columns_of(pattern p, int32_t k, int32_t *count)
{
    const int32_t *found = p + p[k];
    *count = found[0];
    return found + 1;
}

static inline int any_positive(vec x)
{
#if LANES == 1
    return x > 0;
#else
    for (int i = 0; i < LANES; ++i) {
        if (x[i] > 0) {
            return 1;
        }
    }
    return 0;
#endif
}

/* What `constrain` works in, and leaves behind: L of M with the inertia against moving the constraints, and its 1/D; L^-T (force, K^T); the
   matrix between rows, scaled, as `proximal` leaves it; the scales of rows. */
struct solved {
    vec *M, *inverse; /* (n, n), (n) */
    vec *B, *sum;     /* (n, r + 1), (n) */
    vec *D;           /* (r, r) */
    vec *scale, *rest, *work; /* (r) each, and that of `proximal`, (3 r) */
};

static inline struct solved solved_at(vec *work, int32_t n, int32_t r)
{
    struct solved s = {.M = work};
    s.inverse = s.M + n * n;
    s.B = s.inverse + n;
    s.sum = s.B + n * (r + 1);
    s.D = s.sum + n;
    s.scale = s.D + r * r;
    s.rest = s.scale + r;
    s.work = s.rest + r;
    return s;
}
