// Element types: one table, and exact conversion of single elements to and from double.
#ifndef KC_IR_DTYPE_H
#define KC_IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

//      name        bits class        DLPack code/bits  exponent bits, mantissa bits
#define KC_DTYPES(X)                                              \
    X(f64,          64,  FLOAT,       2, 64,            11, 52)   \
    X(f32,          32,  FLOAT,       2, 32,             8, 23)   \
    X(f16,          16,  FLOAT,       2, 16,             5, 10)   \
    X(bf16,         16,  FLOAT,       4, 16,             8,  7)   \
    X(f8e4m3,        8,  FLOAT,      10,  8,             4,  3)   \
    X(f8e5m2,        8,  FLOAT,      12,  8,             5,  2)   \
    X(f8e4m3fnuz,    8,  FLOAT,      11,  8,             4,  3)   \
    X(f8e5m2fnuz,    8,  FLOAT,      13,  8,             5,  2)   \
    X(f8e8m0,        8,  FLOAT,      14,  8,             8,  0)   \
    X(f4e2m1,        4,  FLOAT,      17,  4,             2,  1)   \
    X(i64,          64,  INT,         0, 64,             0,  0)   \
    X(i32,          32,  INT,         0, 32,             0,  0)   \
    X(i16,          16,  INT,         0, 16,             0,  0)   \
    X(i8,            8,  INT,         0,  8,             0,  0)   \
    X(u8,            8,  UINT,        1,  8,             0,  0)   \
    X(i4,            4,  INT,         0,  4,             0,  0)   \
    X(bool,          8,  BOOL,        6,  8,             0,  0)

typedef enum {
#define X(name, ...) KC_##name,
    KC_DTYPES(X)
#undef X
    KC_DTYPE_COUNT,
    KC_DTYPE_NONE = -1,
} kc_dtype;

typedef enum { KC_CLASS_FLOAT, KC_CLASS_INT, KC_CLASS_UINT, KC_CLASS_BOOL } kc_dtype_class;

typedef struct {
    const char *name;
    int bits;
    kc_dtype_class class;
    int dl_code, dl_bits;               // DLPack DLDataTypeCode and bits
    int exponent_bits, mantissa_bits;
} kc_dtype_info;

extern const kc_dtype_info kc_dtype_table[KC_DTYPE_COUNT];

kc_dtype kc_dtype_find(const char *name, size_t length); // KC_DTYPE_NONE when unknown
static inline const char *kc_dtype_name(kc_dtype t) { return kc_dtype_table[t].name; }
static inline int kc_dtype_bits(kc_dtype t) { return kc_dtype_table[t].bits; }
static inline int kc_dtype_bytes(kc_dtype t) { return kc_dtype_table[t].bits / 8; } // 0 for packed types

// 4-bit types are packed in tensors: two a byte, the low nibble first. Everywhere else they are elements like others.
static inline bool kc_dtype_is_packed(kc_dtype t) { return kc_dtype_table[t].bits < 8; }
// Bytes that `elements` neighbours of a tensor take.
static inline int64_t kc_dtype_size(kc_dtype t, int64_t elements) {
    return kc_dtype_is_packed(t) ? elements / 2 + elements % 2 : elements * kc_dtype_bytes(t);
}
// Bytes of an element by itself (in shared memory, by value), and what addresses are multiples of.
static inline int kc_dtype_unit(kc_dtype t) { return kc_dtype_is_packed(t) ? 1 : kc_dtype_bytes(t); }
static inline bool kc_dtype_is_float(kc_dtype t) { return kc_dtype_table[t].class == KC_CLASS_FLOAT; }
static inline bool kc_dtype_is_integer(kc_dtype t) { return kc_dtype_table[t].class == KC_CLASS_INT || kc_dtype_table[t].class == KC_CLASS_UINT; }

// The rules of the model language.
kc_dtype kc_dtype_promote(kc_dtype a, kc_dtype b);   // NumPy 2 promotion; bf16 with f16 gives f32
kc_dtype kc_dtype_compute(kc_dtype);                 // what arithmetic on it gives: floats below f32 give f32
kc_dtype kc_dtype_accumulate(kc_dtype);              // what sum and prod give: f32/f64; i64 for i64, else i32

// One element. Loads are exact for every type but i64, for which see the _i64 pair. 4-bit types live in the low
// nibble of *at, and a store keeps the other. Each function takes any type: where its comment names fewer, the
// value goes through `cast` as docs/MODEL.md has it. A cast to f4e2m1 turns NaN into the largest value (it has no NaN);
// f8e8m0 takes no sign: negative values give NaN, ties go up.
double kc_dtype_load(kc_dtype, const void *at);            // bool gives 0 or 1
int64_t kc_dtype_load_i64(kc_dtype, const void *at);       // integer and bool types
void kc_dtype_store(kc_dtype, void *at, double);           // float types: to nearest even; overflow as `cast` says
void kc_dtype_store_i64(kc_dtype, void *at, int64_t);      // integer types wrap; bool: value != 0
double kc_dtype_round(kc_dtype, double);                   // to nearest even in that float type, as a double
double kc_dtype_ulp(kc_dtype, double);                     // spacing of the type at that value (least denormal near 0)
int64_t kc_dtype_saturate(kc_dtype, double);               // float to integer cast: truncate, saturate, NaN gives 0

// Element i of an array, packed or not. Values that are moved or written as literals are not cast: an infinity stays one
// where the type has it (f8e5m2 has, though a cast to it saturates), as kc_dtype_represent says.
double kc_dtype_get(kc_dtype, const void *array, int64_t i);
int64_t kc_dtype_get_i64(kc_dtype, const void *array, int64_t i);
void kc_dtype_put(kc_dtype, void *array, int64_t i, double);
void kc_dtype_put_i64(kc_dtype, void *array, int64_t i, int64_t);
double kc_dtype_represent(kc_dtype, double);               // kc_dtype_round, but for infinities

#endif
