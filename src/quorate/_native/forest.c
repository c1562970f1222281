/* The vote of an ensemble of trees that stops as soon as it is decided.
 *
 * Kernels only: no Python, no allocation, no state, C99 and its mathematics. Whoever
 * calls has checked every index of the arrays (quorate/_engine/_arrays.py) and keeps
 * them alive; nothing here looks twice.
 *
 * Sums are those of NumPy, to the bit: doubles, added in the order of the trees, with
 * every product rounded before it is added (-ffp-contract=off). Answers are those of
 * quorate/_engine/_voter.py, its slow twin.
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* 16 is about numbers of 16 bits, of which there are none here. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "sums would be rounded otherwise than NumPy rounds them"
#endif
/* A leaf is known by a comparison with what is not a number. */
#if (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(_M_FP_FAST)
#error "a forest needs NaN: no -ffast-math, -Ofast, -ffinite-math-only or /fp:fast"
#endif

#ifndef EXPORT
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#endif

/* What Python and this file must agree on; raised with every change of a structure. */
#define INTERFACE 5

/* Descents at the same time: one waits for memory while the others compare. */
#define LANES 12
/* Rows that go through a tree while it is in the nearest cache. */
#define ROWS 1024

/* A node in twelve bytes; children stand side by side, the left one first. A leaf is
 * its own right child, and no value is below its threshold, which is not a number: so
 * a descent that has come to an end stays there, without anybody asking. What a leaf
 * holds stands in the last bits of its threshold and, where that is not enough, beside
 * the column: its class, or ~row of the table if the sign is set.
 *
 * Models written as C have nodes of eight bytes where they fit, and a byte for a share
 * where shares are multiples of 1 / QUORATE_LEVELS. */
typedef union {
    float threshold; /* left if the value is not above it */
    uint32_t bits;
} limit;

#define LOW_BITS 22
#define LOW ((1u << LOW_BITS) - 1)

#ifndef QUORATE_NARROW
typedef struct {
    int32_t feature; /* column, with the flags below; negative: a leaf */
    limit cut;
    int32_t child; /* the left child; of a leaf, the node before it */
} node;

#define COLUMN 0x00ffffff
#define MISSING_LEFT 0x40000000
#define HIGH_SHIFT 24
#define HIGH 0x3f
#define FROM(at) 0
#else
typedef struct {
    int16_t feature;
    int16_t child; /* counted from the node itself */
    limit cut;
} node;

#define COLUMN 0x3fff
#define MISSING_LEFT 0x4000
#define HIGH_SHIFT 0
#define HIGH 0
#define FROM(at) (at)
#endif

/* Another flag: the threshold is the place of a set of ranks, whose bits go left. */
#define IN_SET 0x20000000

#ifndef QUORATE_LEVELS
typedef double share;
#define PART 1.0
#else
typedef uint8_t share;
#define PART (1.0 / QUORATE_LEVELS)
#endif

/* How a vote is stopped, by what the two classes in front have. */
enum { EXACT = 0, SHARE = 1, VOTES = 2, RELATIVE = 3 };
/* How the ensemble itself decides where rounding does: not here, by the average, by
 * the weight of heads, or by heads that also count against the other classes. */
enum { LEFT_OPEN = 0, AVERAGE = 1, HEADS = 2, AGAINST = 3 };

typedef struct {
    const node *nodes;
    const share *table;       /* distinct leaves that are not sure, a row for each */
    const int32_t *own_roots; /* trees in the order of the ensemble ... */
    const double *own_weights;
    const int32_t *roots; /* ... and in the order in which they are asked */
    const double *weights;
    double total;   /* of the weights */
    double against; /* what a vote takes from the other classes, per weight */
    int32_t n_trees;
    int32_t n_features;
    int32_t n_classes;

    int32_t n_looks;
    const int32_t *ends;    /* trees asked at each look; the last is all of them */
    const double *handicap; /* what each class begins with: not zero only where sums
                               are exact, so that taking it off again is exact too */
    const double *rest;     /* a lead above this cannot be lost any more */
    double margin;          /* after all trees, smaller leads may be rounding */
    int32_t rule;
    int32_t n_needed;      /* columns of the table of votes needed */
    const double *enough;  /* SHARE: what the leader needs; RELATIVE: a unit of lead */
    const int64_t *needed; /* VOTES: by look and by votes for the two in front */
    double scale;          /* VOTES: votes per weight */
    double whole;          /* VOTES: what a whole number may be missed by */
    double threshold;      /* RELATIVE: units of lead that are enough */
} plan;

#ifndef QUORATE_ALONE /* a model written as C needs nothing of this, nor the end */
EXPORT int32_t quorate_interface(void) { return INTERFACE; }

EXPORT int64_t quorate_plan_bytes(void) { return (int64_t)sizeof(plan); }

EXPORT int64_t quorate_room(void) { return ROWS; }
#endif

/* Descent */

/* The node after this one. Without a branch, since the processor could only guess
 * it. */
static inline int32_t step(const node *nodes, int32_t at, const float *x, int missing,
                           const uint32_t *sets, int32_t *all)
{
    const node *here = nodes + at;
    const float value = x[here->feature & COLUMN]; /* of a leaf: the first, unused */
    int right = !islessequal(value, here->cut.threshold); /* raises no flag */
    if (sets && (here->feature & (INT32_MIN | IN_SET)) == IN_SET && value == value) {
        const uint32_t rank = (uint32_t)value;
        const uint32_t *set = sets + (uint32_t)here->cut.threshold;
        right = !(set[rank / 32] >> rank % 32 & 1);
    }
    if (missing && value != value)
        right = !(here->feature & MISSING_LEFT);
    *all &= here->feature;
    return FROM(at) + here->child + right;
}

static inline int32_t held_by(const node *leaf)
{
    const uint32_t bits = leaf->cut.bits;
    const uint32_t high = (uint32_t)leaf->feature >> HIGH_SHIFT & HIGH;
    const int32_t number = (int32_t)((bits & LOW) | high << LOW_BITS);
    return bits >> 31 ? ~number : number;
}

static inline int32_t leaf_of(const node *nodes, int32_t at, const float *x,
                              int missing, const uint32_t *sets)
{
    int32_t all = -1;
    while (nodes[at].feature >= 0)
        at = step(nodes, at, x, missing, sets, &all);
    return held_by(nodes + at);
}

/* From LANES roots, each with a row of its own, to what their leaves hold. */
static inline void leaves_of(const node *nodes, int32_t at[LANES],
                             const float *const x[LANES], int missing,
                             const uint32_t *sets)
{
    int32_t all; /* negative if all are leaves */
    do {
        all = -1;
        for (int k = 0; k < LANES; k++)
            at[k] = step(nodes, at[k], x[k], missing, sets, &all);
    } while (all >= 0);
    for (int k = 0; k < LANES; k++)
        at[k] = held_by(nodes + at[k]);
}

#ifndef QUORATE_SUMS /* a model written as C has votes or sums */
/* Votes */

static inline void add(const plan *p, int32_t leaf, double weight, double *scores)
{
    if (leaf >= 0) {
        scores[leaf] += weight;
        return;
    }
    const share *shares = p->table + (size_t)~leaf * (size_t)p->n_classes;
    for (int32_t c = 0; c < p->n_classes; c++)
        scores[c] += weight * (PART * shares[c]);
}

typedef struct {
    int32_t leader;
    double best, second;
} front;

static inline front two_in_front(const plan *p, const double *scores)
{
    front f = {0, scores[0], 0.0};
    if (p->n_classes == 1) /* a class without a rival is ahead of nothing */
        return f;
    f.second = scores[1];
    if (f.second > f.best) {
        const double best = f.best;
        f.leader = 1;
        f.best = f.second;
        f.second = best;
    }
    for (int32_t c = 2; c < p->n_classes; c++) {
        const double score = scores[c];
        if (score > f.best) {
            f.leader = c;
            f.second = f.best;
            f.best = score;
        } else if (score > f.second) {
            f.second = score;
        }
    }
    return f;
}

static inline int is_decided(const plan *p, int32_t look, const front *f)
{
    const double lead = f->best - f->second;
    if (lead > p->rest[look])
        return 1;
    if (p->rule == SHARE)
        return f->best >= p->enough[look];
    if (p->rule == RELATIVE)
        return p->enough[look] == 0.0 || lead / p->enough[look] >= p->threshold;
    if (p->rule == VOTES) {
        const double down = f->best * p->scale + p->whole;
        double up = f->second * p->scale - p->whole;
        up = up > 0.0 ? up : 0.0; /* a handicap can push it below */
        if (!(down >= 0.0 && down + up < (double)p->n_needed))
            return 0;
        const int64_t ahead = (int64_t)down; /* rounded down, and up */
        const int64_t behind = (int64_t)up + ((double)(int64_t)up < up);
        if (ahead + behind >= p->n_needed)
            return 0;
        const int64_t *needed = p->needed + (size_t)look * (size_t)p->n_needed;
        return ahead >= needed[ahead + behind];
    }
    return 0;
}

/* Where two sums differ by rounding only: as the ensemble adds up itself. */
static int32_t settle(const plan *p, const float *x, int missing, int how,
                      double *sums)
{
    for (int32_t c = 0; c < p->n_classes; c++)
        sums[c] = 0.0;
    for (int32_t t = 0; t < p->n_trees; t++) {
        const double weight = p->own_weights[t];
        const int32_t leaf = leaf_of(p->nodes, p->own_roots[t], x, missing, NULL);
        if (how != AGAINST) {
            add(p, leaf, weight, sums);
            continue;
        }
        const double taken = p->against * weight;
        for (int32_t c = 0; c < p->n_classes; c++)
            sums[c] += c == leaf ? weight : taken;
    }
    int32_t winner = 0;
    if (how != HEADS) /* the division can make one of two almost equal sums */
        for (int32_t c = 0; c < p->n_classes; c++)
            sums[c] /= p->total;
    for (int32_t c = 1; c < p->n_classes; c++)
        if (sums[c] > sums[winner])
            winner = c;
    return winner;
}

/* What is found about each row, and where it goes. */
typedef struct {
    const plan *p;
    const float *X;
    int missing;
    int32_t how;     /* rows that rounding decides are settled */
    int64_t *codes;  /* the class */
    int64_t *asked;  /* trees that were asked */
    uint8_t *close;  /* whether rounding decides it, and it is left open */
    double *scores;  /* what the trees asked gave to each class */
    double *scratch; /* room for one row of scores */
    int64_t forgotten; /* rows whose scores nobody wants, and others have taken over */
    int64_t n_close;
} course;

static inline const float *row_of(const course *v, int64_t row)
{
    return v->X + (size_t)row * (size_t)v->p->n_features;
}

static inline double *scores_of(const course *v, int64_t row)
{
    return v->scores + (size_t)(row - v->forgotten) * (size_t)v->p->n_classes;
}

/* Look at a row, and tell whether it is done with. */
static inline int look_at(course *v, int32_t look, int64_t row)
{
    const plan *p = v->p;
    const front f = two_in_front(p, scores_of(v, row));
    const int is_last = look == p->n_looks - 1;
    if (!is_last && !is_decided(p, look, &f))
        return 0;
    double *scores = scores_of(v, row);
    for (int32_t c = 0; c < p->n_classes; c++)
        scores[c] -= p->handicap[c];
    v->codes[row] = f.leader;
    v->asked[row] = p->ends[look];
    v->close[row] = 0;
    if (is_last && !(f.best - f.second > p->margin)) {
        if (v->how == LEFT_OPEN) {
            v->close[row] = 1;
            v->n_close++;
        } else {
            v->codes[row] = settle(p, row_of(v, row), v->missing, v->how, v->scratch);
        }
    }
    return 1;
}

/* Ask about one row, from some tree and some look on. The lanes are trees, and go
 * ahead of the looks: waiting for each would cost more than a few trees too many. */
static inline void finish_row(course *v, int64_t row, int32_t tree, int32_t look,
                              int missing)
{
    const plan *p = v->p;
    const float *x = row_of(v, row);
    double *scores = scores_of(v, row);
    const float *same[LANES];
    for (int k = 0; k < LANES; k++)
        same[k] = x;
    while (tree < p->n_trees) {
        int32_t leaves[LANES];
        const int32_t left = p->n_trees - tree;
        const int n = left < LANES ? (int)left : LANES;
        if (n == LANES) {
            for (int k = 0; k < LANES; k++)
                leaves[k] = p->roots[tree + k];
            leaves_of(p->nodes, leaves, same, missing, NULL);
        } else {
            for (int k = 0; k < n; k++)
                leaves[k] = leaf_of(p->nodes, p->roots[tree + k], x, missing, NULL);
        }
        for (int k = 0; k < n; k++, tree++) {
            add(p, leaves[k], p->weights[tree], scores);
            if (tree + 1 == p->ends[look]) {
                if (look_at(v, look, row))
                    return;
                look++;
            }
        }
    }
}

/* Ask one tree about all rows that are open. The lanes are rows. */
static inline void ask_tree(course *v, int32_t tree, int64_t first,
                            const int32_t *open, int32_t n_open, int missing)
{
    const plan *p = v->p;
    const int32_t root = p->roots[tree];
    const double weight = p->weights[tree];
    int32_t i = 0;
    for (; i + LANES <= n_open; i += LANES) {
        int32_t leaves[LANES];
        const float *x[LANES];
        for (int k = 0; k < LANES; k++) {
            leaves[k] = root;
            x[k] = row_of(v, first + open[i + k]);
        }
        leaves_of(p->nodes, leaves, x, missing, NULL);
        for (int k = 0; k < LANES; k++)
            add(p, leaves[k], weight, scores_of(v, first + open[i + k]));
    }
    for (; i < n_open; i++) {
        const int64_t row = first + open[i];
        const int32_t leaf = leaf_of(p->nodes, root, row_of(v, row), missing, NULL);
        add(p, leaf, weight, scores_of(v, row));
    }
}

static inline void ask(course *v, int64_t first, int32_t n_open, int missing)
{
    const plan *p = v->p;
    int32_t open[ROWS];
    int32_t tree = 0, look = 0;
    for (int32_t i = 0; i < n_open; i++) {
        open[i] = i;
        double *scores = scores_of(v, first + i);
        for (int32_t c = 0; c < p->n_classes; c++)
            scores[c] = p->handicap[c];
    }
    for (; n_open >= LANES && look < p->n_looks; look++) {
        for (; tree < p->ends[look]; tree++)
            ask_tree(v, tree, first, open, n_open, missing);
        int32_t kept = 0;
        for (int32_t i = 0; i < n_open; i++)
            if (!look_at(v, look, first + open[i]))
                open[kept++] = open[i];
        n_open = kept;
    }
    for (int32_t i = 0; i < n_open; i++)
        finish_row(v, first + open[i], tree, look, missing);
}

/* Return how many rows rounding decides and are left open. Scores of more rows than
 * there is room for are not kept; there is room for ROWS, or for all. */
EXPORT int64_t quorate_vote(const plan *p, const float *X, int64_t n_rows,
                            int32_t missing, int32_t how, int64_t *codes,
                            int64_t *asked, uint8_t *close, double *scores,
                            double *scratch, int64_t room)
{
    course v = {p, X, missing, how, codes, asked, close, scores, scratch, 0, 0};
    for (int64_t first = 0; first < n_rows; first += ROWS) {
        const int64_t left = n_rows - first;
        if (room < n_rows)
            v.forgotten = first;
        const int32_t n = left < ROWS ? (int32_t)left : ROWS;
        if (missing)
            ask(&v, first, n, 1);
        else
            ask(&v, first, n, 0);
    }
    return v.n_close;
}

#endif
#if !defined(QUORATE_ALONE) || defined(QUORATE_SUMS)
/* Sums */

/* Trees whose leaves hold numbers that add up; see quorate/_engine/_sums.py. */
typedef struct {
    const node *nodes;
    const share *table;     /* what leaves hold, n_held numbers each */
    const int32_t *roots;   /* trees in the order of the model */
    const int32_t *targets; /* the sum to which a tree adds its first number */
    const double *base;     /* what sums begin with */
    const double *cuts;     /* thresholds of each column, rising, one column after
                               the other; column c has those from first[c] on */
    const int32_t *first;
    const uint32_t *sets; /* of ranks that go left, in words; null if there are none */
    int32_t n_trees;
    int32_t n_features;
    int32_t n_held;
    int32_t n_sums;
    int32_t ranked; /* whether values are replaced by the number of cuts below them */
    int32_t single; /* whether sums are rounded to 32 bits after every tree */
} sum_plan;

/* How many cuts are below a value. */
static inline int32_t rank_of(const double *cuts, int32_t n, double value)
{
    int32_t below = 0;
    while (n > 0) { /* without a branch on values */
        const int32_t half = (n + 1) / 2;
        below += isless(cuts[below + half - 1], value) ? half : 0;
        n -= half;
    }
    return below;
}

/* Turn rows into what nodes compare; 1 if values are missing, 2 if infinite. */
static int32_t prepare_rows(const sum_plan *p, const double *X, int32_t n_rows,
                            float *rows)
{
    int missing = 0, infinite = 0;
    for (int32_t i = 0; i < n_rows; i++, X += p->n_features, rows += p->n_features)
        for (int32_t c = 0; c < p->n_features; c++) {
            const int wide = p->ranked && !p->single;
            const int fits = islessequal(fabs(X[c]), wide ? DBL_MAX : FLT_MAX);
            const int is_missing = X[c] != X[c];
            missing |= is_missing;
            infinite |= !fits && !is_missing;
            if (is_missing) {
                rows[c] = (float)NAN;
                continue;
            }
            double value = fits ? X[c] : X[c] < 0 ? -HUGE_VAL : HUGE_VAL;
            if (!wide)
                value = fits ? (double)(float)value : value;
            if (p->ranked)
                value = rank_of(p->cuts + p->first[c],
                                p->first[c + 1] - p->first[c], value);
            rows[c] = (float)value;
        }
    return missing | infinite << 1;
}

static inline void add_held(const sum_plan *p, int32_t leaf, int32_t tree, double *sums)
{
    const share *held = p->table + (size_t)~leaf * (size_t)p->n_held;
    double *to = sums + p->targets[tree];
    for (int32_t c = 0; c < p->n_held; c++) {
        const double sum = to[c] + PART * held[c];
        to[c] = p->single ? (double)(float)sum : sum; /* as if added in 32 bits */
    }
}

/* All trees on one row; the lanes are trees. */
static inline void add_row(const sum_plan *p, const float *x, int missing,
                           const uint32_t *sets, double *sums)
{
    const float *same[LANES];
    int32_t tree = 0;
    for (int k = 0; k < LANES; k++)
        same[k] = x;
    for (; tree + LANES <= p->n_trees; tree += LANES) {
        int32_t leaves[LANES];
        for (int k = 0; k < LANES; k++)
            leaves[k] = p->roots[tree + k];
        leaves_of(p->nodes, leaves, same, missing, sets);
        for (int k = 0; k < LANES; k++)
            add_held(p, leaves[k], tree + k, sums);
    }
    for (; tree < p->n_trees; tree++)
        add_held(p, leaf_of(p->nodes, p->roots[tree], x, missing, sets), tree, sums);
}

/* All trees on some rows; the lanes are rows. */
static inline void add_rows(const sum_plan *p, const float *rows, int32_t n_rows,
                            int missing, const uint32_t *sets, double *sums)
{
    const size_t width = (size_t)p->n_features, n_sums = (size_t)p->n_sums;
    int32_t in_lanes = n_rows - n_rows % LANES;
    for (int32_t tree = 0; tree < p->n_trees; tree++)
        for (int32_t i = 0; i < in_lanes; i += LANES) {
            int32_t leaves[LANES];
            const float *x[LANES];
            for (int k = 0; k < LANES; k++) {
                leaves[k] = p->roots[tree];
                x[k] = rows + (size_t)(i + k) * width;
            }
            leaves_of(p->nodes, leaves, x, missing, sets);
            for (int k = 0; k < LANES; k++)
                add_held(p, leaves[k], tree, sums + (size_t)(i + k) * n_sums);
        }
    for (int32_t i = in_lanes; i < n_rows; i++)
        add_row(p, rows + (size_t)i * width, missing, sets, sums + (size_t)i * n_sums);
}

/* Add up all trees on each row. There is room for ROWS rows, or for all. Return 1 if
 * values are missing, plus 2 if any is infinite. */
EXPORT int32_t quorate_add(const sum_plan *p, const double *X, int64_t n_rows,
                           float *room, double *sums)
{
    int32_t strange = 0;
    for (int64_t first = 0; first < n_rows; first += ROWS) {
        const int64_t left = n_rows - first;
        const int32_t n = left < ROWS ? (int32_t)left : ROWS;
        double *to = sums + (size_t)first * (size_t)p->n_sums;
        const double *from = X + (size_t)first * (size_t)p->n_features;
        const int32_t found = prepare_rows(p, from, n, room);
        for (int32_t i = 0; i < n; i++)
            for (int32_t c = 0; c < p->n_sums; c++)
                to[(size_t)i * (size_t)p->n_sums + (size_t)c] = p->base[c];
        if (p->sets)
            add_rows(p, room, n, 1, p->sets, to);
        else if (found & 1)
            add_rows(p, room, n, 1, NULL, to);
        else
            add_rows(p, room, n, 0, NULL, to);
        strange |= found;
    }
    return strange;
}
#endif

#ifdef QUORATE_SUMS
#ifdef QUORATE_SINGLE
typedef float real;
#define exp_of expf
#else
typedef double real;
#define exp_of exp
#endif

enum { IDENTITY = 0, SIGMOID = 1, SOFTMAX = 2, EXP = 3 };

/* Add up all trees on one row, and make numbers or probabilities of the sums; see
 * quorate/_serving/_sums.py. */
static void quorate_answer(const sum_plan *p, const double *x, int link, double divisor,
                           double alpha, float *room, double *sums)
{
    real most = -(real)HUGE_VAL, all = 0;
    quorate_add(p, x, 1, room, sums);
    for (int32_t c = 0; c < p->n_sums; c++) {
        sums[c] = (real)(sums[c] / divisor);
        most = sums[c] > most ? (real)sums[c] : most;
    }
    for (int32_t c = 0; c < p->n_sums; c++) {
        const real sum = (real)sums[c];
        real number = sum;
        if (link == SIGMOID)
            number = 1 / (1 + exp_of(-(real)alpha * sum));
        else if (link == SOFTMAX)
            number = exp_of(sum - most);
        else if (link == EXP)
            number = exp_of(sum);
        all += number;
        sums[c] = number;
    }
    if (link == SOFTMAX)
        for (int32_t c = 0; c < p->n_sums; c++)
            sums[c] = (real)sums[c] / all;
}
#endif

#ifndef QUORATE_ALONE
/* Numbers on their way in */

/* Tell whether all are numbers that a tree compares; copy them on the way. */
EXPORT int32_t quorate_narrow(const double *from, float *to, int64_t size)
{
    int strange = 0;
    for (int64_t i = 0; i < size; i++) {
        const double value = from[i];
        const int fits = fabs(value) <= FLT_MAX;
        to[i] = (float)(fits ? value : 0.0);
        strange |= !fits;
    }
    return !strange;
}

EXPORT int32_t quorate_finite(const float *from, int64_t size)
{
    int strange = 0;
    for (int64_t i = 0; i < size; i++)
        strange |= !(fabsf(from[i]) <= FLT_MAX);
    return !strange;
}

/* Buffers for a few rows and their results, allocated once and used again, because
 * allocating them takes longer than evaluating one row. */
typedef struct {
    const double *wide;
    float *narrow;
    int64_t *codes;
    int64_t *asked;
    uint8_t *close;
    double *scores;
    double *scratch;
} buffers;

/* Evaluate the rows in the buffers; -1 if not all of them are finite. */
EXPORT int64_t quorate_serve(const plan *p, const buffers *b, int64_t n_rows,
                             int32_t how)
{
    if (!quorate_narrow(b->wide, b->narrow, n_rows * p->n_features))
        return -1;
    return quorate_vote(p, b->narrow, n_rows, 0, how, b->codes, b->asked, b->close,
                        b->scores, b->scratch, n_rows);
}
#endif
