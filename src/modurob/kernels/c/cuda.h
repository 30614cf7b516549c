/* One state in each thread of a GPU, after prelude.h. Compiled by NVRTC, and by a C++ compiler where a test plays the GPU. */
#define INLINE static __device__ __forceinline__

/* A robot of a fleet: its tables, and where its states stand. Arrays are data, stride of states, stride of entries. */
typedef struct {
    const int *rows;
    const real *constants;
    long long joints, numbers, near, states; /* numbers: how many constants; near: words of scratch that are in shared memory */
    real *status;
    long long arrays[3 * ARRAYS];
} robot;

/* A row of a joint: what every pass needs, where its inputs and results stand, what is seldom needed. The first and the last row
   stand there again before and after all others, so that the next one may always be asked for. */
enum { TYPE, FLAGS, OWN, CONSTANTS, Q, RATE, BODY, ITS_OWN, PARENT, SAVED, TAKE, PUT, ROW, ROWS_AT_ONCE = 6 };
enum { LOADS = 1, SAVES = 2, TIP = 4, TAKES_CARRIED = 8, TAKES_SLOT = 16, PUTS = 32, ADDS = 64, STARTS = 128 };

/* A place in the memory that a block shares. On a GPU it is a number in one register, which the compiler is kept from working out
   anew at every use; SHARED is the address of entry k from there. */
#ifdef __CUDA_ARCH__
typedef unsigned place;

INLINE place place_of(const void *x)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(x);
    asm volatile("" : "+r"(address));
    return address;
}
#define AT_ONCE _Pragma("unroll")
#define INPUT(address) __ldg(address) /* nothing writes there meanwhile: it may be asked for early */
#define SELDOM asm volatile("") /* a branch, no selection of every number in it */
#define SHARED(kind, from, k) ((kind *)__cvta_shared_to_generic((from) + (k) * (unsigned)sizeof(kind)))
#define LATER(at, rows) ((at) + (rows) * (unsigned)(ROW * sizeof(int)))
#else
typedef const void *place;

INLINE place place_of(const void *x)
{
    return x;
}
#define AT_ONCE
#define INPUT(address) (*(address))
#define SELDOM
#define SHARED(kind, from, k) ((kind *)(from) + (k))
#define LATER(at, rows) ((const void *)((const int *)(at) + (rows) * ROW))
#endif

INLINE long long least(long long a, long long b)
{
    return a < b ? a : b;
}

/* The entry k of a state in an array whose entries are so many bytes apart. */
#define ENTRY(kind, first, k, bytes) ((kind *)entry(first, k, bytes))

INLINE const void *entry(const void *first, int k, int bytes)
{
#if defined(__CUDA_ARCH__) && !defined(UNROLLED)
    const void *address; /* one instruction, where the compiler takes four */
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(address) : "r"(k), "r"(bytes), "l"(first));
    return address;
#else
    return (const char *)first + (long long)k * bytes;
#endif
}

/* Numbers and rows come in fours, which are read at once; unrolled code has them in itself. */
#if defined(__CUDA_ARCH__) && !defined(UNROLLED)
INLINE void read_four(const real *from, real *to)
{
#ifdef SINGLE
    const float4 x = *(const float4 *)from;
    to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
#else
    const double2 x = *(const double2 *)from, y = *(const double2 *)(from + 2);
    to[0] = x.x, to[1] = x.y, to[2] = y.x, to[3] = y.y;
#endif
}

INLINE void read_row(const int *from, int *to)
{
    const int4 x = *(const int4 *)from;
    to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}
#else
INLINE void read_four(const real *from, real *to)
{
    for (int k = 0; k < 4; ++k) {
        to[k] = from[k];
    }
}

INLINE void read_row(const int *from, int *to)
{
    for (int k = 0; k < 4; ++k) {
        to[k] = from[k];
    }
}
#endif

/* What the children of a joint sent: that of the next joint, which is still in registers, and what stands in a slot. */
INLINE void take(int flags, const real *slot, int stride, real *sum)
{
    if (!(flags & TAKES_CARRIED)) {
        SELDOM;
        for (int k = 0; k < SENT; ++k) {
            sum[k] = 0;
        }
    }
    if (flags & TAKES_SLOT) {
        for (int k = 0; k < SENT; ++k) {
            sum[k] += slot[k * stride];
        }
    }
}

/* What a joint sends to a body other than the one before it goes to a slot. */
INLINE void put(int flags, real *slot, int stride, const real *sum)
{
    if (flags & PUTS) {
        for (int k = 0; k < SENT; ++k) {
            slot[k * stride] = flags & ADDS ? slot[k * stride] + sum[k] : sum[k];
        }
    }
}
