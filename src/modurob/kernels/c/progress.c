/* The two passes of motion/fastest/reachability.py, which defines them: intervals one after the other, each with a few bounds on u that are
   linear in x. What is called and not defined here is traced from there. */

/* Bounds on u per interval, (intervals, uppers) and (intervals, lowers), and on x, (intervals); steps h of the grid. */
typedef struct {
    const double *upper_slope, *upper_offset, *lower_slope, *lower_offset, *floor, *ceiling, *h;
    long intervals, uppers, lowers;
} problem;

/* The rows of one interval, which ends with x between low and high. */
typedef struct {
    const double *upper_slope, *upper_offset, *lower_slope, *lower_offset;
    long uppers, lowers;
    double h, low, high;
} interval;

typedef struct {
    double u, slope;
} limit;

static interval interval_of(const problem *p, long i, const double *K)
{
    const long up = i * p->uppers, down = i * p->lowers;
    return (interval){p->upper_slope + up, p->upper_offset + up, p->lower_slope + down, p->lower_offset + down, p->uppers, p->lowers, p->h[i], K[2 * i + 2], K[2 * i + 3]};
}

static limit highest(const interval *s, double x)
{
    limit best = {INFINITY, 0}, last;
    for (long j = 0; j < s->uppers; ++j) {
        double u;
        bound(s->upper_slope + j, s->upper_offset + j, &x, &u);
        if (u < best.u) {
            best = (limit){u, s->upper_slope[j]};
        }
    }
    last_bound(&s->high, &x, &s->h, &last.u, &last.slope);
    return best.u <= last.u ? best : last;
}

static limit lowest(const interval *s, double x)
{
    limit best = {-INFINITY, 0}, last;
    for (long j = 0; j < s->lowers; ++j) {
        double u;
        bound(s->lower_slope + j, s->lower_offset + j, &x, &u);
        if (u > best.u) {
            best = (limit){u, s->lower_slope[j]};
        }
    }
    last_bound(&s->low, &x, &s->h, &last.u, &last.slope);
    return best.u >= last.u ? best : last;
}

/* Highest less lowest u at x and its slope; whether some u is left. */
static int is_open(const interval *s, double x, limit *gap)
{
    const limit up = highest(s, x), down = lowest(s, x);
    double left;
    *gap = (limit){up.u - down.u, up.slope - down.slope};
    room(&gap->u, &up.u, &left);
    return left >= 0;
}

/* The x nearest to the given one, on the way to `other`, where some u is left; not a number if there is none. */
static double outermost(const interval *s, double x, double other)
{
    limit gap, wider;
    if (is_open(s, x, &gap)) {
        return x;
    }
    const double inwards = (double)((other > x) - (other < x));
    for (int k = 0; k < STEPS && gap.slope * inwards > 0; ++k) {
        double step, outer;
        newton_step(&gap.u, &gap.slope, &x, &step);
        x += inwards * step;
        if ((other - x) * inwards < 0) {
            break;
        }
        if (is_open(s, x, &gap)) {
            if (gap.slope * inwards <= 0 || step < fabs(x)) {
                return x;
            }
            outer_end(&x, &gap.u, &gap.slope, &inwards, &outer);
            return is_open(s, outer, &wider) ? outer : x;
        }
    }
    return NAN;
}

/* The least and largest x at each point, (points, 2), of which the last pair is given; where none is left, or -1. */
long controllable(const problem *p, double fastest, double *K)
{
    for (long i = p->intervals - 1; i >= 0; --i) {
        const interval here = interval_of(p, i, K);
        const double floor = p->floor[i], ceiling = p->ceiling[i] < fastest ? p->ceiling[i] : fastest;
        const double high = floor <= ceiling ? outermost(&here, ceiling, floor) : NAN;
        if (isnan(high)) {
            return i;
        }
        const double low = outermost(&here, floor, high);
        K[2 * i] = isnan(low) ? high : low;
        K[2 * i + 1] = high;
    }
    return -1;
}

/* x at the points, of which the first is given, and u in the intervals: at each step the largest that is controllable. */
void fastest_speeds(const problem *p, const double *K, double *x, double *u)
{
    for (long i = 0; i < p->intervals; ++i) {
        const interval here = interval_of(p, i, K);
        const double u_most = highest(&here, x[i]).u;
        later_speed(x + i, &u_most, &here.h, &here.low, &here.high, x + i + 1);
        acceleration(x + i, x + i + 1, &here.h, u + i);
    }
}
