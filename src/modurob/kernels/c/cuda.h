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
#ifdef FAR /* scratch stands in the second-level cache: what is not read again makes room for it */
#define LAST_INPUT(address) __ldcs(address)
#define OUTPUT(address, value) __stcs(address, value)
#else
#define LAST_INPUT(address) __ldg(address)
#define OUTPUT(address, value) (*(address) = (value))
#endif
#define SELDOM asm volatile("") /* a branch, no selection of every number in it */
#define SHARED(kind, from, k) ((kind *)__cvta_shared_to_generic((from) + (k) * (unsigned)sizeof(kind)))
#define LATER(at, rows) ((at) + (rows) * (unsigned)(ROW * sizeof(int)))
#define NEARBY(from, bytes) ((from) + (unsigned)(bytes))
/* The number, a small one, as something that is known no sooner than the value: what depends on it is not asked for before. */
#ifdef SINGLE
#define AFTER(value, number) ((int)umin((unsigned)(number), __float_as_uint(value) | 0x7fffffffu))
#else
#define AFTER(value, number) ((int)umin((unsigned)(number), (unsigned)__double2hiint(value) | 0x7fffffffu))
#endif
#define SOON(address) asm volatile("prefetch.global.L2 [%0];" : : "l"(address)) /* to the second-level cache */
#define ONCE(address) asm volatile("" : "+l"(address)) /* worked out here, not at every use */
#else
typedef const void *place;

INLINE place place_of(const void *x)
{
    return x;
}
#define AT_ONCE
#define INPUT(address) (*(address))
#define LAST_INPUT(address) (*(address))
#define OUTPUT(address, value) (*(address) = (value))
#define SELDOM
#define SHARED(kind, from, k) ((kind *)(from) + (k))
#define LATER(at, rows) ((const void *)((const int *)(at) + (rows) * ROW))
#define NEARBY(from, bytes) ((const void *)((const char *)(from) + (bytes)))
#define AFTER(value, number) (number)
#define SOON(address) ((void)(address))
#define ONCE(address) ((void)(address))
#endif

INLINE long long least(long long a, long long b)
{
    return a < b ? a : b;
}

/* An array for the states of a block, in the memory that it shares: the first entry of the first state, bytes from an entry to the
   next, and from a state to the next. */
typedef struct {
    const char *data;
    int entry, state;
} port;

/* The entry k of a state of the block. What is read of a port is read anew in each row: few registers are left for it. */
INLINE const void *entry(place from, place row, int state, int k)
{
#ifdef __CUDA_ARCH__
    unsigned long long address;
    int entry_bytes, state_bytes;
    asm("{ .reg .u32 low, high; ld.shared.v4.u32 {low, high, %1, %2}, [%3]; mov.b64 %0, {low, high}; }"
        : "=l"(address), "=r"(entry_bytes), "=r"(state_bytes) : "r"(from), "r"(row));
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(address) : "r"(state), "r"(state_bytes));
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(address) : "r"(k), "r"(entry_bytes));
    return (const void *)address;
#else
    const port *const p = (const port *)from;
    (void)row;
    return p->data + (long long)state * p->state + (long long)k * p->entry;
#endif
}

/* The arrays of a robot, for a block whose first state is so far from the robot's first. */
INLINE void open_ports(const robot *own, port *ports, long long begin)
{
    for (int k = threadIdx.x; k < ARRAYS; k += blockDim.x) {
        const long long *const array = own->arrays + 3 * k, bytes = sizeof(real);
        ports[k].data = (const char *)array[0] + begin * array[1] * bytes;
        ports[k].entry = (int)(array[2] * bytes), ports[k].state = (int)(array[1] * bytes);
    }
}

/* All threads of a block bring so many bytes, a multiple of 16, to the memory that they share; they are there when all have arrived. */
INLINE void bring(place to, const void *from, int bytes)
{
    for (int i = 16 * threadIdx.x; i < bytes; i += 16 * blockDim.x) {
#ifdef __CUDA_ARCH__
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to + i), "l"((const char *)from + i) : "memory");
#else
        for (int k = i; k < i + 16; ++k) {
            ((char *)to)[k] = ((const char *)from)[k];
        }
#endif
    }
}

INLINE void arrive(void)
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
    __syncthreads();
}

/* The next task of a block that has begun one. The counter is back at zero when all have been done. */
INLINE int next_task(int *counter, int count)
{
    return (int)(gridDim.x + atomicInc((unsigned *)counter, count - 1));
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

/* What the children of a joint sent: that of the next joint, which is still in registers, or nothing, and what stands in a slot. */
INLINE void clear(real *sum)
{
    for (int k = 0; k < SENT; ++k) {
        sum[k] = 0;
    }
}

INLINE void take(const real *slot, int stride, real *sum)
{
    for (int k = 0; k < SENT; ++k) {
        sum[k] += slot[k * stride];
    }
}

/* What a joint sends to a body other than the one before it goes to a slot. */
INLINE void put(int flags, real *slot, int stride, const real *sum)
{
    for (int k = 0; k < SENT; ++k) {
        slot[k * stride] = flags & ADDS ? slot[k * stride] + sum[k] : sum[k];
    }
}
