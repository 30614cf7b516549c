/* What straight lines and their drivers need beside prelude.h. */

/* Comparisons as masks of all bits. */
#if LANES == 1
#define MASK(x) (-(ivec)(x))
#define LANE(x, i) (x)
#else
#define MASK(x) ((ivec)(x))
#define LANE(x, i) ((x)[i])
#endif

/* Sets of lanes: those where a < b, numbers by whether a lane is in a set, whether any is, and whether one is. */
#ifdef WIDE
typedef uint8_t lane_set;
#define LESS(a, b) ((lane_set)IS_LESS(a, b))
#define PICK(set, yes, no) BLEND(set, no, yes)
#define ANY(set) ((lane_set)(set) != 0)
#define HOLDS(set, lane) (((set) >> (lane) & 1) != 0)
#define NO_LANE ((lane_set)0)
#elif LANES == 1
typedef int lane_set;
#define LESS(a, b) (-(lane_set)((a) < (b)))
#define PICK(set, yes, no) ((set) ? (yes) : (no))
#define ANY(set) ((set) != 0)
#define HOLDS(set, lane) ((set) != 0)
#define NO_LANE 0
#else
typedef ivec lane_set;
#define LESS(a, b) ((lane_set)((a) < (b)))
#define PICK(set, yes, no) choose(set, yes, no)
#define ANY(set) any_negative(choose(set, V(-1), V(1)))
#define HOLDS(set, lane) ((set)[lane] != 0)
#define NO_LANE ((lane_set)V(0))
#endif

#if defined(WIDE) && defined(__clang__)
#include <immintrin.h>
#endif
#if LANES == 1 || defined(WIDE)
/* Angles of the first quadrant, whose sine less cosine is -1, -6/7, ... 1; filled up to two vectors. */
static const real COSINES[16] __attribute__((aligned(64))) = { 1.0, 0.991000562429415, 0.9674288389512522, 0.9325275098669583, 0.8881415094326146,
    0.8353828367737612, 0.7749184144140074, 0.7071067811865476, 0.6320612715568646, 0.5496685510594755, 0.459570080861186, 0.3610989384383869,
    0.25314312466553796, 0.13385770528655794, 0.0 };
static const real SINES[16] __attribute__((aligned(64))) = { 0.0, 0.13385770528655794, 0.25314312466553796, 0.3610989384383869, 0.459570080861186,
    0.5496685510594755, 0.6320612715568646, 0.7071067811865476, 0.7749184144140074, 0.8353828367737612, 0.8881415094326146, 0.9325275098669583,
    0.9674288389512522, 0.991000562429415, 1.0 };
static const real ANGLES[16] __attribute__((aligned(64))) = { 0.0, 0.1342607043872596, 0.2559278276219401, 0.3694460764473408, 0.4775110718254567,
    0.5819674231263652, 0.6842103206138999, 0.7853981633974483, 0.8865860061809967, 0.9888289036685314, 1.0932852549694398, 1.201350250347556,
    1.3148684991729565, 1.436535622407637, 1.5707963267948966 };

/* The number of a table that the last digits of `at` say, which is MAGIC and a small whole number. */
static inline __attribute__((always_inline)) vec looked_up(const real *table, vec at)
{
#if LANES == 1
    union { vec number; ivec bits; } place = { at };
    return table[place.bits & 15];
#elif defined(__clang__)
    return (vec)_mm512_permutex2var_pd(_mm512_load_pd(table), (__m512i)at, _mm512_load_pd(table + LANES));
#else
    return __builtin_shuffle(*(const vec *)table, *(const vec *)(table + LANES), (ivec)at);
#endif
}

/* The angle of (x, y), good to 4e-16: the vector is turned back by the nearest of the angles above, and what is left has a small sine. Not a
   number where x or y is not. */
static inline __attribute__((always_inline)) vec unit_angle(vec y, vec x)
{
    const vec wide = magnitude(x), high = magnitude(y);
    const vec at = (high - wide) * 7.0 + (MAGIC + 7.0);
    const vec t = high * looked_up(COSINES, at) - wide * looked_up(SINES, at), z = t * t;
    const vec rest = 0.16666666666656824248 + z * (0.075000000647694020604 + z * (0.044642191513272105005 + z * 0.030600632600417442899));
    vec angle = looked_up(ANGLES, at) + (t + t * z * rest);
    angle = SELECT(x, V(0), V(3.14159265358979324) - angle, angle);
    return with_sign(angle, y);
}
#else
#define unit_angle each_atan2
#endif
