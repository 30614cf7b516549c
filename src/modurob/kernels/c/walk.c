/* Runs sequences of rows on a GPU, one state in each thread: what driver.c is on a CPU. Before it stand prelude.h with CELLS, rows.c, the
   steps, and `run_row`, which runs one of them. */

/* An array over states and entries, its place and size in the arena. */
typedef struct {
    real *data;
    int64_t state_stride, entry_stride, place, entries;
} port;

/* A robot of a fleet: its rows (step, where its places and where its constants begin), and where its states stand. */
typedef struct {
    const int32_t *rows, *at, *start_at;
    const real *c, *start;
    int64_t count, once, starts, words, states, repeats, inputs, ports, places, numbers;
    real *status;
    port array[PORTS];
} robot;

/* The tables of a robot, where they are read from. */
typedef struct {
    const int32_t *rows, *at;
    const real *c;
} tables;

/* All threads of a block bring the tables of a robot into the memory they share. */
static tables brought(const robot *own, real *memory)
{
    int32_t *const rows = (int32_t *)(memory + own->numbers), *const at = rows + 3 * own->count;
    __syncthreads(); /* others may still read */
    for (int i = threadIdx.x; i < own->numbers; i += blockDim.x) {
        memory[i] = own->c[i];
    }
    for (int i = threadIdx.x; i < 3 * own->count; i += blockDim.x) {
        rows[i] = own->rows[i];
    }
    for (int i = threadIdx.x; i < own->places; i += blockDim.x) {
        at[i] = own->at[i];
    }
    __syncthreads();
    const tables found = {rows, at, memory};
    return found;
}

/* What stands in an arena before anything runs. */
static void fill(const robot *own, const cells arena)
{
    for (int32_t i = 0; i < own->words; ++i) {
        arena[i] = 0;
    }
    for (int32_t i = 0; i < own->starts; ++i) {
        arena[own->start_at[i]] = own->start[i];
    }
}

static void run_state(const robot *own, const tables *t, const cells arena, int64_t state, int store)
{
    arena[0] = 0;
    for (const port *p = own->array; p < own->array + own->inputs; ++p) {
        for (int32_t i = 0; i < p->entries; ++i) {
            arena[(int32_t)p->place + i] = p->data[state * p->state_stride + i * p->entry_stride];
        }
    }
    for (int64_t again = 0; again < own->repeats; ++again) {
        for (int32_t i = again ? (int32_t)own->once : 0; i < own->count; ++i) {
            const int32_t *const r = t->rows + 3 * i;
            run_row(r[0], arena, t->at + r[1], t->c + r[2]);
        }
    }
    int finite = 1;
    for (const port *p = own->array + own->inputs; store && p < own->array + own->ports; ++p) {
        for (int32_t i = 0; i < p->entries; ++i) {
            const real x = arena[(int32_t)p->place + i];
            finite &= x <= LARGEST && x >= -LARGEST;
            p->data[state * p->state_stride + i * p->entry_stride] = x;
        }
    }
    if (store) {
        own->status[state] = finite ? arena[0] : (real)-2;
    }
}

/* Each block takes some states of one robot at a time; threads without a state repeat the last, so that none waits for others alone. */
extern "C" __global__ void __launch_bounds__(STRIDE, BLOCKS)
walk(const robot *robots, const int *tasks, int count, int words, real *work)
{
#ifdef SHARED
    extern __shared__ real memory[];
#endif
    const cells arena = {work + (int64_t)blockIdx.x * words * STRIDE + threadIdx.x};
    tables t;
    int last = -1;
    for (int task = blockIdx.x; task < count; task += gridDim.x) {
        const robot *const own = robots + tasks[2 * task];
        if (tasks[2 * task] != last) {
#ifdef SHARED
            t = brought(own, memory);
#else
            t.rows = own->rows, t.at = own->at, t.c = own->c;
#endif
            fill(own, arena);
            last = tasks[2 * task];
        }
        const int64_t state = (int64_t)tasks[2 * task + 1] * STRIDE + threadIdx.x;
        run_state(own, &t, arena, state < own->states ? state : own->states - 1, state < own->states);
    }
}
