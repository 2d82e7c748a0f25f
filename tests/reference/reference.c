/* An independent reference for the CPU ceilings: vector intrinsics, pthreads, its own clock and its own memory.
 *
 * Build:  gcc -O3 -march=native -pthread reference.c -o reference
 * Start:  ./reference CPU [CPU ...]     one pinned thread a CPU; then one command a line on standard input:
 *
 *   fma64 REPETITIONS CALLS             registers only
 *   fma32 REPETITIONS CALLS
 *   read STREAMS BYTES PASSES CALLS     BYTES per thread, on huge pages
 *   triad BYTES PASSES CALLS            BYTES per thread over three arrays, non-temporal stores
 *
 * It answers with one line: the work of a call (FLOP, or bytes by STREAM's count) and the seconds of each call, from the first
 * thread's start to the last one's end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 8
#define CHAINS 16
typedef __m512d vd;
typedef __m512 vf;
#define LOAD(p) _mm512_load_pd(p)
#define STREAM(p, v) _mm512_stream_pd(p, v)
#define ADD(a, b) _mm512_add_pd(a, b)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define SET(x) _mm512_set1_pd(x)
#define FMAF(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SETF(x) _mm512_set1_ps(x)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define LANES 4
#define CHAINS 12
typedef __m256d vd;
typedef __m256 vf;
#define LOAD(p) _mm256_load_pd(p)
#define STREAM(p, v) _mm256_stream_pd(p, v)
#define ADD(a, b) _mm256_add_pd(a, b)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define SET(x) _mm256_set1_pd(x)
#define FMAF(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SETF(x) _mm256_set1_ps(x)
#else
#error "the reference knows AVX-512 and AVX2 with FMA"
#endif

#define MOST_THREADS 256
#define HUGE ((size_t)2 << 20)

enum kind { FMA64, FMA32, READ, TRIAD };

struct job {
    enum kind kind;
    long repetitions;
    int streams;
    size_t bytes;
};

struct worker {
    pthread_t thread;
    int cpu;
    double *memory;
    size_t held;
    double start, end, sink;
};

static struct worker workers[MOST_THREADS];
static int threads;
static struct job job;
static pthread_barrier_t begin, ready, finish;
static int stop;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* The constants come through volatile variables, so that nothing folds. */
static volatile double factor = 0.5, addend = 0.125;

static double fma64(long repetitions)
{
    vd b = SET(factor), c = SET(addend), acc[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        acc[k] = SET(0.25 * (k + 1) * factor);
    for (long n = 0; n < repetitions; n++) {
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) {
#pragma GCC unroll 16
            for (int k = 0; k < CHAINS; k++)
                acc[k] = FMA(b, c, acc[k]);
        }
    }
    for (int k = 1; k < CHAINS; k++)
        acc[0] = ADD(acc[0], acc[k]);
    double out[LANES] __attribute__((aligned(64)));
    memcpy(out, &acc[0], sizeof out);
    return out[0];
}

static double fma32(long repetitions)
{
    vf b = SETF((float)factor), c = SETF((float)addend), acc[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        acc[k] = SETF((float)(0.25 * (k + 1) * factor));
    for (long n = 0; n < repetitions; n++) {
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) {
#pragma GCC unroll 16
            for (int k = 0; k < CHAINS; k++)
                acc[k] = FMAF(b, c, acc[k]);
        }
    }
    float total = 0, out[2 * LANES] __attribute__((aligned(64)));
    for (int k = 0; k < CHAINS; k++) {
        memcpy(out, &acc[k], sizeof out);
        total += out[0];
    }
    return total;
}

#define READ_BODY(STREAMS, UNROLL)                                                                                     \
    do {                                                                                                               \
        vd acc[STREAMS * UNROLL];                                                                                      \
        for (int k = 0; k < STREAMS * UNROLL; k++)                                                                     \
            acc[k] = SET(0.0);                                                                                         \
        size_t part = words / STREAMS;                                                                                 \
        for (long n = 0; n < passes; n++) {                                                                            \
            for (size_t i = 0; i < part; i += UNROLL * LANES) {                                                        \
                _Pragma("GCC unroll 16") for (int s = 0; s < STREAMS; s++)                                             \
                    _Pragma("GCC unroll 16") for (int u = 0; u < UNROLL; u++)                                          \
                        acc[s * UNROLL + u] = ADD(acc[s * UNROLL + u], LOAD(p + s * part + i + u * LANES));            \
            }                                                                                                          \
            __asm__ volatile("" ::: "memory");                                                                         \
        }                                                                                                              \
        for (int k = 1; k < STREAMS * UNROLL; k++)                                                                     \
            acc[0] = ADD(acc[0], acc[k]);                                                                              \
        memcpy(out, &acc[0], sizeof out);                                                                              \
    } while (0)

static double read_all(const double *p, size_t words, int streams, long passes)
{
    double out[LANES] __attribute__((aligned(64)));
    if (streams == 1)
        READ_BODY(1, 8);
    else if (streams == 2)
        READ_BODY(2, 4);
    else if (streams == 4)
        READ_BODY(4, 2);
    else
        READ_BODY(8, 1);
    return out[0];
}

static double triad(double *memory, size_t words, long passes)
{
    size_t each = words / 3 / LANES * LANES, step = each + 128;
    double *a = memory, *b = memory + step, *c = memory + 2 * step;
    vd s = SET(factor);
    for (long n = 0; n < passes; n++) {
        for (size_t i = 0; i < each; i += LANES)
            STREAM(c + i, FMA(s, LOAD(b + i), LOAD(a + i)));
        __asm__ volatile("" ::: "memory");
    }
    return c[0];
}

static void hold(struct worker *w, size_t bytes)
{
    if (w->held >= bytes)
        return;
    if (w->memory)
        munmap(w->memory, w->held);
    bytes = (bytes + HUGE - 1) / HUGE * HUGE;
    char *raw = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        exit(3);
    char *aligned = raw + (-(uintptr_t)raw % HUGE);
    madvise(aligned, bytes, MADV_HUGEPAGE);
    w->memory = (double *)aligned;
    w->held = bytes;
    for (size_t i = 0; i < bytes / 8; i++)
        w->memory[i] = 1.0;
}

static void *serve(void *argument)
{
    struct worker *w = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(w->cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set))
        exit(4);
    for (;;) {
        pthread_barrier_wait(&begin);
        if (stop)
            return NULL;
        if (job.kind == READ || job.kind == TRIAD)
            hold(w, job.bytes + 4096);
        pthread_barrier_wait(&ready);
        w->start = now();
        switch (job.kind) {
        case FMA64: w->sink += fma64(job.repetitions); break;
        case FMA32: w->sink += fma32(job.repetitions); break;
        case READ: w->sink += read_all(w->memory, job.bytes / 8, job.streams, job.repetitions); break;
        case TRIAD: w->sink += triad(w->memory, job.bytes / 8, job.repetitions); break;
        }
        w->end = now();
        pthread_barrier_wait(&finish);
    }
}

static double work(void)
{
    double each = job.repetitions * 2.0 * 4 * CHAINS * LANES;
    size_t words = job.bytes / 8;
    switch (job.kind) {
    case FMA64: return threads * each;
    case FMA32: return threads * each * 2;
    case READ: return threads * 8.0 * words * job.repetitions;
    case TRIAD: return threads * 24.0 * (words / 3 / LANES * LANES) * job.repetitions;
    }
    return 0;
}

int main(int argc, char **argv)
{
    threads = argc - 1;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    pthread_barrier_init(&begin, NULL, threads + 1);
    pthread_barrier_init(&ready, NULL, threads);
    pthread_barrier_init(&finish, NULL, threads + 1);
    for (int t = 0; t < threads; t++) {
        workers[t].cpu = atoi(argv[t + 1]);
        pthread_create(&workers[t].thread, NULL, serve, &workers[t]);
    }
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        long calls = 0, block = 8 * LANES * 8;
        memset(&job, 0, sizeof job);
        if (sscanf(line, "fma64 %ld %ld", &job.repetitions, &calls) == 2)
            job.kind = FMA64;
        else if (sscanf(line, "fma32 %ld %ld", &job.repetitions, &calls) == 2)
            job.kind = FMA32;
        else if (sscanf(line, "read %d %zu %ld %ld", &job.streams, &job.bytes, &job.repetitions, &calls) == 4)
            job.kind = READ;
        else if (sscanf(line, "triad %zu %ld %ld", &job.bytes, &job.repetitions, &calls) == 3)
            job.kind = TRIAD;
        else
            return 2;
        job.bytes = job.bytes / block * block;
        printf("%.17g", work());
        for (long k = 0; k < calls; k++) {
            pthread_barrier_wait(&begin);
            pthread_barrier_wait(&finish);
            double start = workers[0].start, end = workers[0].end;
            for (int t = 1; t < threads; t++) {
                start = workers[t].start < start ? workers[t].start : start;
                end = workers[t].end > end ? workers[t].end : end;
            }
            printf(" %.9g", end - start);
        }
        printf("\n");
        fflush(stdout);
    }
    stop = 1;
    pthread_barrier_wait(&begin);
    return 0;
}
