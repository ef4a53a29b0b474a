// The verifier: one broken module for each rule, and whole ones that it must accept. A case is the
// body of a function
//     func @f(%x: f32[M, N], %h: f16[M, N], %i: i64[N], %b: bool[M, N], %s: f32[]) -> (y: f32[M,
//     N])
// or of a kernel in it, with buffers %x f32[M, N] and %y f32[M, N] (output), and the scalar %s f32
// by value.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ir.h"

enum {
    C = KC_LEVEL_COMPOSITE,
    T = KC_LEVEL_TENSOR,
    TILE = KC_LEVEL_TILE,
    LAYOUT = KC_LEVEL_LAYOUT
};

#define LAYOUTS                                                                                    \
    "layout #0 = #layout<tile: 4x4, reg: [0,1] [0,2], lane: [1,0] [2,0]>\n"                        \
    "layout #1 = #layout<tile: 4x4, reg: [1,0] [2,0], lane: [0,1] [0,2]>\n"                        \
    "layout #2 = #layout<tile: 4x4, offset: [0,1] [0,2] [1,0] [2,0]>\n"                            \
    "layout #3 = #layout<tile: 4x1, lane: [1,0] [2,0]>\n"                                          \
    "layout #4 = #layout<tile: 1x4, reg: [0,1] [0,2], lane: [0,0] [0,0]>\n"
#define HEAD "module @m\n" LAYOUTS
#define SIGNATURE                                                                                  \
    "func @f(%x: f32[M, N], %h: f16[M, N], %i: i64[N], %b: bool[M, N], %s: f32[]) -> (y: f32[M, "  \
    "N]) dims {M: 1..1000, N: 1..1000, K: 1..9} "

static char *join(const char *before, const char *body, const char *after) {
    char *text;
    assert_true(asprintf(&text, "%s%s%s", before, body, after) > 0);
    return text;
}

static char *with_head(const char *body) {
    return join(HEAD, body, "");
}

static char *in_function(const char *body) {
    return join(HEAD SIGNATURE "{\n", body, "  return %x\n}\n");
}

static char *in_kernel(const char *body) {
    return join(HEAD SIGNATURE
                "{\n  variant {\n    %y = output {name = \"y\"} : f32[M, N]\n"
                "    kernel inputs(%x, %s, %h) outputs(%y) {name = \"k\", grid = M} {\n"
                "    ^(%x: f32[M, N], %s: f32, %h: f16[M, N], %y: f32[M, N]):\n      %p = "
                "program_id : i64\n",
                body, "      return\n    }\n  }\n}\n");
}

static char *verify(char *text, int level, bool *good) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, "test", text, strlen(text));
    kc_module *module = kc_module_parse(arena, text, strlen(text), diag);
    *good = module && kc_module_verify(module, level, diag);
    char *errors;
    size_t size;
    FILE *file = open_memstream(&errors, &size);
    kc_diag_print(diag, file);
    fclose(file);
    if (!module) fail_msg("does not parse:\n%s%s", text, errors);
    kc_arena_destroy(arena);
    free(text);
    return errors;
}

typedef struct {
    int level;
    const char *body, *error; // error NULL: it is right
} example;

static void check(char *(*wrap)(const char *), const example *examples, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool good;
        char *errors = verify(wrap(examples[i].body), examples[i].level, &good);
        const char *error = examples[i].error;
        if (good != !error || (error && !strstr(errors, error)))
            fail_msg("example %zu:\n%sexpected: %s\nfound: %s", i, examples[i].body,
                     error ? error : "nothing", errors);
        free(errors);
    }
}

#define CHECK(wrap, examples) check(wrap, examples, sizeof(examples) / sizeof *(examples))

// ---- structure

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const example functions[] = {
    {C, "func @f(%x: f32[]) -> (y: f32[]) {\n  return %x\n}\n", NULL},
    {C, "func @f(%x: f32[]) -> (y: f32[]) {\n}\n", "its body does not end in return"},
    {C, "func @f(%x: f32[]) -> (y: f32[]) {\n  return\n}\n", "0 values for 1 outputs"},
    {C, "func @f(%x: f32[]) -> (y: f16[]) {\n  return %x\n}\n",
     "value 0 has not the type of output 'y'"},
    {C, "func @f(%x: f32[]) -> (x: f32[]) {\n  return %x\n}\n", "'x' is an input and an output"},
    {C, "func @f(%x: f32[]) -> (y: f32[], y: f32[]) {\n  return %x, %x\n}\n",
     "two outputs are called 'y'"},
    {C, "func @f(%x: f32[]) -> (y: f32[] alias z) {\n  return %x\n}\n",
     "output 'y' aliases 'z', which is no input"},
    {C, "func @f(%y: f32[2], %x: f32[2]) -> (x: f32[2] alias x) {\n  return %y\n}\n", NULL},
    {C, "func @f(%x: f32[2], %y: f32[2]) -> (x: f32[2] alias x) {\n  return %y\n}\n",
     "'x' is updated in place, but its input and output do not pair up"},
    {C, "func @f(%x: f32[2]) -> (y: f32[2], x: f32[2] alias x) {\n  return %x, %x\n}\n",
     "'x' is updated in place, but its input and output do not pair up"},
    {C, "func @f(%x: f32[]) -> (x: f32[] alias x) {\n  return %x\n}\n",
     "'x' is updated in place: its input and output have one type, of rank 1 or more"},
    {C, "func @f(%x: f32[2]@[2]) -> (x: f32[2] alias x) {\n  return %x\n}\n",
     "'x' is updated in place: its input and output have one type"},
    {C, "func @f(%x: f32[2]) -> (x: f32[2] alias x, y: f32[2] alias x) {\n  return %x, %x\n}\n",
     "output 'y' aliases 'x', which is updated in place"},
    {C, "func @f(%x: f32[2]) -> (y: f32[2] alias y) {\n  return %x\n}\n",
     "output 'y' aliases 'y', which is no input"},
    {C, "func @f(%x: f32[N], %w: f32[2] constant \"" HASH "\") -> (y: f32[2]) dims {N} {\n  return %w\n}\n", NULL},
    {C, "func @f(%w: f32[2] constant \"" HASH "0\") -> (y: f32[2]) {\n  return %w\n}\n",
     "constant 'w' is not named by 64 lowercase hexadecimal digits"},
    {C, "func @f(%w: f32[N] constant \"" HASH "\") -> (y: f32[N]) dims {N} {\n  return %w\n}\n",
     "constant 'w' has a fixed shape, of rank 1 or more, and no strides"},
    {C, "func @f(%w: f32[] constant \"" HASH "\") -> (y: f32[]) {\n  return %w\n}\n",
     "constant 'w' has a fixed shape"},
    {C, "func @f(%w: f32[2]@[1] constant \"" HASH "\") -> (y: f32[2]) {\n  return %w\n}\n",
     "constant 'w' has a fixed shape"},
    {C, "func @f(%w: f32[2] constant \"" HASH "\") -> (y: f32[2] alias w) {\n  return %w\n}\n",
     "output 'y' aliases 'w', which is a constant"},
    {C,
     "func @f(%x: f32[2], %w: f32[2] constant \"" HASH "\") -> (x: f32[2] alias x) {\n  return %w\n}\n",
     NULL},
    {C, "func @f(%x: f32) -> () {\n  return\n}\n", "an input is a tile, expected a tensor"},
    {C, "func @f(%0: f32[]) -> () {\n  return\n}\n", "input 0 has no name"},
    {C, "func @f(%x: i4[2, 4], %y: f4e2m1[M, 2*N]@[4, 1]) -> () dims {M, N} {\n  return\n}\n",
     NULL},
    {C, "func @f(%x: i4[]) -> () {\n  return\n}\n", "an input has rank 0"},
    {C, "func @f(%x: i4[N]) -> () dims {N} {\n  return\n}\n",
     "an input has a last dimension not known to be even"},
    {C, "func @f(%x: i4[2, 2]@[3, 1]) -> () {\n  return\n}\n", "a stride not known to be even"},
    {C, "func @f(%x: i4[2, 2]@[4, 2]) -> () {\n  return\n}\n", "a last stride other than 1"},
    {C, "func @f(%x: i8[3]) -> (y: i4[3]) {\n  %y = cast %x {dtype = i4} : i4[3]\n  return %y\n}\n",
     "an output has a last dimension not known to be even"},
    {C, "func @f() -> () {\n  return\n  return\n}\n", "ops follow after the end of the region"},
    {C, "func @f() -> () {\n  yield\n}\n", "a function ends in return"},
    {C, "func @f() -> () {\n  variant\n  return\n}\n", "it has no region"},
    {C, "func @f(%x: f32[]) -> () {\n  %a = abs %x : f32[] {\n  }\n  return\n}\n",
     "it has a region"},
    {C, "func @f() -> () {\n  variant {\n    variant {\n    }\n  }\n}\n",
     "a variant stands in a function's body"},
    {C, "func @f() -> () {\n  variant {aligned = [\"q\"]} {\n  }\n}\n",
     "aligned 'q' is no argument"},
    {C, "func @f() -> () {\n  variant {\n    kernel {name = \"k\"} {\n      schedule\n    }\n  }\n}\n",
     "a schedule stands in the body of a function or variant"},
    {C, "func @f(%x: f32[4]) -> (y: f32[4]) {\n  variant {\n    schedule\n    return %x\n  }\n}\n",
     "its region takes 0 arguments, the function 1"},
    {C, "func @f(%x: f32[4]) -> (y: f32[4]) {\n  variant {\n  ^(%x: f32[5]):\n    return %x\n  }\n}\n",
     "argument 0 has not the type of the function's"},
    {C, "func @f(%x: f32[4]) -> (y: f32[4]) {\n  variant {\n  ^(%x: f32[4]):\n  }\n}\n",
     "its body does not end in return"},
    {C,
     "func @f(%x: f32[4]) -> (y: f32[5]) {\n  variant {\n  ^(%x: f32[4]):\n    return %x\n  }\n}\n",
     "value 0 has not the type of output 'y'"},
    {C,
     "func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..9} {\n  variant dims {N: 3..3} {\n"
     "  ^(%x: f32[3]):\n    return %x\n  }\n}\n",
     NULL},
    {C, "func @f() -> () {\n  variant {\n    %o = output {name = \"y\"} : f32[]\n  }\n}\n",
     "the function has no output 'y'"},
    {C,
     "func @f() -> (y: f32[4]) {\n  variant {\n    %o = output {name = \"y\"} : f32[5]\n  }\n}\n",
     "its type is not that of output 'y'"},
    {C, "func @f() -> () {\n  variant {\n    %o = buffer {offset = 0} : f32\n  }\n}\n",
     "the result is a tile, expected a tensor"},
    {TILE, "func @f(%x: f32[]) -> () {\n  %t = transpose %x {perm = []} : f32[]\n  return\n}\n",
     "not legal at the tile level outside a kernel"},
};

static const example table[] = {
    {C, "  %a = softmax %x {axis = 1} : f32[M, N]\n", NULL},
    {T, "  %a = softmax %x {axis = 1} : f32[M, N]\n",
     "%a = softmax in @f: the op is not legal at the tensor level"},
    {C, "  %a = cast %x : f16[M, N]\n", "attribute 'dtype' is missing"},
    {C, "  schedule {warps = 0}\n", "attribute 'warps' is below 1"},
    {C, "  schedule {vector = 12}\n", "attribute 'vector' is no power of two"},
    {C, "  schedule {unit = \"gpu\"}\n", "attribute 'unit' is neither"},
    {C, "  schedule {tile = [4, 0]}\n", "attribute 'tile' has an extent below 1"},
    {C, "  schedule {swizzle = -1}\n", "attribute 'swizzle' is below 0"},
    {C, "  %a = exp %x {approximate = 2} : f32[M, N]\n",
     "attribute 'approximate' is neither 0 nor 1"},
    {C, "  %a = matmul %x, %x {transpose_b = 1, precision = \"good\"} : f32[M, M]\n",
     "attribute 'precision' is none of"},
    {C, "  %a = exp %h : f16[M, N]\n", "operand 0 is f16, expected f32 or f64"},
    {C, "  %a = add %x, %h : f32[M, N]\n",
     "operand 1 is f16, expected f32, f64 or an integer type"},
    {C, "  %a = max %x, %h : f32[M, N]\n",
     "operand 1 is f16 and operand 0 is f32; cast one of them"},
    {C, "  %a = add %x, %s : f32[M, N]\n", "the shape of operand 1 does not fit"},
    {C, "  %a = add %x, %x : f64[M, N]\n", "the result is f64, expected f32"},
    {C, "  %a = add %x, %x : f32[N, M]\n", "the result's shape is not that of its operands"},
    {C, "  %a = lt %x, %x : f32[M, N]\n", "the result is f32, expected bool"},
    {C, "  %a = select %x, %x, %x : f32[M, N]\n", "the condition is f32, expected bool"},
    {C, "  %a = and %x, %x : f32[M, N]\n", "operand 0 is f32, expected bool or an integer type"},
    {C, "  %a = cast %x {dtype = i4} : i4[M, N]\n", NULL},
    {C, "  %a = cast %x {dtype = f8e8m0} : f8e8m0[M, N]\n  %q = neg %a : f8e8m0[M, N]\n",
     "a type other than f8e8m0, which has no sign"},
    {C, "  %a = cast %x {dtype = f8e4m3} : f8e4m3[M, N]\n  %q = add %a, %a : f8e4m3[M, N]\n",
     "operand 0 is f8e4m3, expected f32, f64 or an integer type"},
    {C, "  %a = const {value = 1} : i32[]\n",
     "a constant of this type has attribute 'integer' alone"},
    {C, "  %a = const {value = 1, integer = 1} : f32[]\n",
     "a constant of this type has attribute 'value' alone"},
    {C, "  %a = sym {expr = N} : i64[N]\n", "its result has rank 0"},
    {C, "  %a = iota {axis = 2} : i64[M, N]\n", "axis 2 of a shape of rank 2"},
    {C, "  %a = iota {axis = 0} : bool[M, N]\n", "indices are numbers, not bool"},
};

// ---- tensors

static const example tensors[] = {
    {T, "  %a = broadcast %i : i64[M, N]\n", NULL},
    {T, "  %a = broadcast %i : i64[N, M]\n", "extent 1 of the result"},
    {T, "  %a = broadcast %x : f32[N]\n", "from rank 2 to rank 1"},
    {T, "  %a = broadcast %i : f32[M, N]\n", "moving keeps the element type"},
    {T, "  %a = transpose %x {perm = [1, 0]} : f32[N, M]\n", NULL},
    {T, "  %a = transpose %x {perm = [1, 0]} : f32[M, N]\n", "extent 0 of the result"},
    {T, "  %a = transpose %x {perm = [1, 1]} : f32[N, N]\n", "'perm' is no permutation"},
    {T, "  %a = transpose %x {perm = [0]} : f32[M, N]\n", "1 items in 'perm' for rank 2"},
    {T, "  %a = reshape %x : f32[N * M]\n", NULL},
    {T, "  %a = reshape %s : f32[1, 1]\n", NULL},
    {T, "  %a = reshape %s : f32[2]\n", "differ in their number of elements"},
    {T, "  %a = slice %x {starts = [0, N - 1], steps = [1, -1]} : f32[M, N]\n", NULL},
    {T, "  %a = slice %x {starts = [0, 1], steps = [1, 1]} : f32[M, N]\n",
     "dimension 1 is taken beyond its extent"},
    {T, "  %a = slice %x {starts = [0, -1], steps = [1, 1]} : f32[M, 1]\n",
     "dimension 1 is taken beyond its extent"},
    {T, "  %a = slice %x {starts = [0, 0], steps = [1, 0]} : f32[M, N]\n", "step 1 is 0"},
    {T, "  %a = slice %x {starts = [0], steps = [1, 1]} : f32[M, N]\n",
     "1 items in 'starts' for rank 2"},
    {T, "  %a = concat %x, %x {axis = 0} : f32[M + M, N]\n", NULL},
    {T, "  %a = concat %x, %x {axis = 0} : f32[M, N]\n", "extent 0 of the result"},
    {T, "  %a = concat {axis = 0} : f32[M, N]\n", "nothing to join"},
    {T, "  %a = concat %x, %i {axis = 0} : f32[M, N]\n",
     "operand 1 has not the rank and element type"},
    {T, "  %a = pad %x {low = [0, 1], high = [0, 2], value = 0} : f32[M, N + 3]\n", NULL},
    {T, "  %a = pad %x {low = [0, 1], high = [0, 2], value = 0} : f32[M, N + 2]\n",
     "extent 1 of the result"},
    {T, "  %a = gather %x, %i {axis = 0} : f32[N, N]\n", NULL},
    {T, "  %a = gather %x, %i {axis = 1} : f32[N, N]\n", "extent 0 of the result"},
    {T, "  %a = gather %x, %h {axis = 0} : f32[M, N, N]\n",
     "indices are f16, expected an integer type"},
    {T, "  %a = gather %x, %i {axis = 2} : f32[N, N]\n", "axis 2 of a shape of rank 2"},
    {T, "  %a = matmul %h, %h {transpose_b = 1} : f32[M, M]\n", NULL},
    {T, "  %a = matmul %h, %h {transpose_b = 1} : f16[M, M]\n", "the result is f16, expected f32"},
    {T, "  %a = matmul %h, %h : f32[M, N]\n", "the extents that are summed over differ"},
    {T, "  %a = matmul %x, %h {transpose_b = 1} : f32[M, M]\n", "operands are f32 and f16"},
    {T, "  %a = matmul %x, %x {transpose_a = 1} : f32[M, N]\n", "extent 0 of the result"},
    {T, "  %a = matmul %x, %s : f32[M, N]\n", "operands of ranks 2 and 0"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [1, 1], groups = 1} : f32[1, "
     "2, N, 1]\n",
     NULL},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [1, 1], groups = 1} : f32[1, "
     "2, N - 2, 1]\n",
     "extent 2 of the result"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [1, 1], groups = 1} : f16[1, "
     "2, N, 1]\n",
     "the result is f16, expected f32"},
    {T,
     "  %p1 = reshape %x : f32[M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [1, 1], groups = 1} : f32[1, "
     "2, N, 1]\n",
     "operands of ranks 3 and 4; both have 4"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1, 1], low = [0, 0], high = [0, 0], dilation = [1, 1], groups = 1} : "
     "f32[1, 2, N, 1]\n",
     "3 items in 'steps', expected 2"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [0, 1], low = [0, 0], high = [0, 0], dilation = [1, 1], groups = 1} : f32[1, "
     "2, N, 1]\n",
     "step 0 and dilation 1; both are at least 1"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [-1, 1], high = [0, 0], dilation = [1, 1], groups = 1} : "
     "f32[1, 2, N, 1]\n",
     "negative padding"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [1, 1], groups = 2} : f32[1, "
     "2, N, 1]\n",
     "the channels of x are not those of w in every group"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [0, 0], high = [0, 0], dilation = [1, 1], groups = 0} : f32[1, "
     "2, N, 1]\n",
     "no groups"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 3, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [1, 1], groups = 3} : f32[1, "
     "2, N, 1]\n",
     "groups of different sizes"},
    {T,
     "  %p1 = reshape %x : f32[1, M, N, 1]\n  %p2 = iota {axis = 0} : f32[2, M, 0, 1]\n  %q = conv2d "
     "%p1, %p2 {steps = [1, 1], low = [0, 0], high = [0, 0], dilation = [1, 1], groups = 1} : f32[1, "
     "2, N, 1]\n",
     "an empty kernel"},
    {T, "  %a = fusion %x : f32[M, N] {\n  ^(%c: f32[M, N]):\n    yield %c\n  }\n", NULL},
    {T, "  %a = fusion %x : f32[M, N] {\n  ^(%c: f32[N, M]):\n    yield %c\n  }\n",
     "argument 0 has not the type of its input"},
    {T, "  %a = fusion %x : f32[M, N] {\n    yield\n  }\n", "0 arguments for 1 inputs"},
    {T, "  %a = fusion %x : f32[M, N] {\n  ^(%c: f32[M, N]):\n  }\n",
     "its region does not end in yield"},
    {T, "  %a = fusion %x : f32[M, N] {\n  ^(%c: f32[M, N]):\n    yield %c, %c\n  }\n",
     "yields 2 values, expected 1"},
    {T, "  %a = fusion %x : f32[M, M] {\n  ^(%c: f32[M, N]):\n    yield %c\n  }\n",
     "value 0 that its region yields has another type"},
};

#define COMBINE " {\n  ^(%p: f32[], %q: f32[]):\n    %r = add %p, %q : f32[]\n    yield %r\n  }\n"

static const example reductions[] = {
    {T, "  %a = reduce %x {axes = [1], init = [0]} : f32[M]" COMBINE, NULL},
    {T, "  %a = reduce %x {axes = [], init = [0]} : f32[M, N]" COMBINE, NULL},
    {T, "  %a = reduce %x {axes = [1], init = [0]} : f32[N]" COMBINE,
     "result 0 has not the shape that is left"},
    {T, "  %a = reduce %x {axes = [1, 0], init = [0]} : f32[]" COMBINE,
     "axes are dimensions below 2 in ascending order"},
    {T, "  %a = reduce %x {axes = [2], init = [0]} : f32[M]" COMBINE,
     "axes are dimensions below 2 in ascending order"},
    {T, "  %a = reduce %x {axes = [1], init = [0, 0]} : f32[M]" COMBINE,
     "2 initial values for 1 inputs"},
    {T, "  %a = reduce %h {axes = [1], init = [0]} : f32[M]" COMBINE,
     "result 0 has not the element type of input 0"},
    {T, "  %a, %c = reduce %x {axes = [1], init = [0]} : f32[M], f32[M]" COMBINE,
     "2 results, expected 1"},
    {T, "  %a, %c = reduce %x, %i {axes = [1], init = [0, 0]} : f32[M], i64[M]" COMBINE,
     "input 1 has not the shape of input 0"},
    {T,
     "  %a = reduce %x {axes = [1], init = [0]} : f32[M] {\n  ^(%p: f32[]):\n    yield %p\n  }\n",
     "expected two tuples of 1"},
    {T,
     "  %a = reduce %x {axes = [1], init = [0]} : f32[M] {\n  ^(%p: f32[], %q: f16[]):\n    yield "
     "%p\n  }\n",
     "argument 1 of its region is no scalar"},
    {T,
     "  %a = reduce %x {axes = [1], init = [0]} : f32[M] {\n  ^(%p: f32[], %q: f32[]):\n    yield "
     "%s\n  }\n",
     "is defined outside a region that sees its own arguments alone"},
    {T, "  %a = scan %x {axes = [1], init = [0]} : f32[M, N]" COMBINE, NULL},
    {T, "  %a = scan %x {axes = [0, 1], init = [0]} : f32[M, N]" COMBINE,
     "2 axes, a scan runs along one"},
    {T, "  %a = scan %x {axes = [2], init = [0]} : f32[M, N]" COMBINE, "axes are dimensions below 2"},
    {T, "  %a = scan %x {axes = [1], init = [0]} : f32[N, M]" COMBINE,
     "result 0 has not the type of input 0"},
    {T, "  %a = scan %x {axes = [1], init = [0, 1]} : f32[M, N]" COMBINE,
     "2 initial values for 1 inputs"},
    {T, "  %a, %c = scan %x {axes = [1], init = [0]} : f32[M, N], f32[M, N]" COMBINE,
     "2 results, expected 1"},
    {T, "  %a, %c = scan %x, %i {axes = [1], init = [0, 0]} : f32[M, N], i64[M, N]" COMBINE,
     "operand 1 has not the shape of operand 0"},
    {C, "  %a = cumsum %x {axis = 1} : f32[M, N]\n", NULL},
    {C, "  %a = cumsum %x {axis = 2} : f32[M, N]\n", "axis 2 of a shape of rank 2"},
    {C, "  %a = cumsum %x {axis = 1} : f32[N, M]\n", "the result has not the shape of x"},
    {C, "  %a = cumsum %i {axis = 0} : i32[M]\n", "the result is i32, expected i64"},
    {C, "  %a = sum %x {axes = [1]} : f32[M]\n", NULL},
    {C, "  %a = sum %i {axes = [0], keepdims = 1} : i64[1]\n", NULL},
    {C, "  %a = sum %h {axes = [1]} : f32[M]\n",
     "operand 0 is f16, expected f32, f64 or an integer type"},
    {C, "  %a = sum %i {axes = [0]} : i32[]\n", "the result is i32, expected i64"},
    {C, "  %a = amax %x {axes = [1], keepdims = 1} : f32[M]\n",
     "the result has not the shape that is left with reduced extents 1"},
    {C, "  %a = argmax %x {axes = [0, 1]} : i64[]\n", NULL},
    {C, "  %a = argmax %x {axes = [0]} : f32[N]\n", "the result is f32, expected i64"},
    {C, "  %a = argmax %x {axes = []} : i64[M, N]\n", "an index is taken along one axis"},
    {C, "  %a = softmax %x {axis = 1} : f32[N, M]\n", "the result has not the type of x"},
    {C, "  %a = softmax %x {axis = -1} : f32[M, N]\n", "axis -1 of a shape of rank 2"},
    {C, "  %a = rmsnorm %x, %s {axis = 1, eps = 1e-6} : f32[M, N]\n",
     "operand 1 is not f32[extent of the axis]"},
};

// ---- kernels

static const example kernels[] = {
    {T,
     SIGNATURE "{\n  variant {\n    %y = output {name = \"y\"} : f32[M, N]\n    kernel inputs(%x) "
               "outputs(%y) {name = \"k\"} {\n"
               "    ^(%a: f32[M, N], %o: f32[M, N]):\n      %e = exp %a : f32[M, N]\n      yield "
               "%e\n    }\n  }\n}\n",
     NULL},
    {T,
     SIGNATURE "{\n  variant {\n    %y = output {name = \"y\"} : f32[M, N]\n    kernel inputs(%x) "
               "outputs(%y) {name = \"k\"} {\n"
               "    ^(%a: f32[M, N], %o: f32[M, N]):\n      yield %a, %a\n    }\n  }\n}\n",
     "its region yields 2 values, expected 1"},
    {T,
     SIGNATURE "{\n  variant dims {N: 8..8} {\n    %y = output {name = \"y\"} : f32[M, 8]\n    "
               "kernel inputs(%x) outputs(%y) {name = \"k\"} {\n"
               "    ^(%a: f32[8 * M], %o: f32[M, 8]):\n      %r = reshape %a : f32[M, 8]\n      "
               "yield %r\n    }\n  }\n}\n",
     NULL},
    {TILE,
     SIGNATURE "{\n  variant {\n    kernel inputs(%x) {name = \"k\"} {\n    ^(%a: f32[N, N]):\n    "
               "}\n  }\n}\n",
     "argument 0 does not fit its operand"},
    {TILE,
     SIGNATURE "{\n  variant {\n    kernel inputs(%x) {name = \"k\"} {\n    ^(%a: f16[M, N]):\n    "
               "}\n  }\n}\n",
     "argument 0 is f16, its operand f32"},
    {TILE,
     SIGNATURE
     "{\n  variant {\n    kernel inputs(%x) {name = \"k\"} {\n    ^(%a: f32):\n    }\n  }\n}\n",
     "argument 0 does not fit its operand"},
    {TILE, SIGNATURE "{\n  variant {\n    kernel inputs(%x) {name = \"k\"} {\n    }\n  }\n}\n",
     "0 arguments for 1 inputs and 0 outputs"},
    {TILE,
     SIGNATURE "{\n  variant {\n    kernel inputs(%x) {name = \"k\"} {\n    ^(%a: f32[M, N]):\n    "
               "  return %a\n    }\n  }\n}\n",
     "it ends functions"},
};

#define IOTAS                                                                                      \
    "      %r = iota {axis = 0} : tile<4x1xi32>\n      %c = iota {axis = 1} : tile<1x4xi32>\n"
#define ONE "      %one = const {value = 1} : tile<4x4xf32>\n"

static const example tiles[] = {
    {TILE,
     IOTAS "      %v = load %x base(%p, %p) local(%r, %c) : tile<4x4xf32>\n      store %y, %v "
           "base(%p, %p) local(%r, %c)\n",
     NULL},
    {TILE, "      %e = transpose %x {perm = [1, 0]} : f32[N, M]\n", "not legal at the tile level"},
    {TILE, "      barrier\n", "not legal at the tile level"},
    {TILE, "      %q = program_id : i32\n", "its result is i64"},
    {TILE, IOTAS "      %v = load %x base(%p) local(%r) : tile<4x4xf32>\n",
     "1 base and 1 local coordinates for a buffer of rank 2"},
    {TILE, IOTAS "      %v = load %x base(%p, %r) local(%r, %c) : tile<4x4xf32>\n",
     "base coordinate 1 is no i64 scalar"},
    {TILE, IOTAS "      %v = load %x base(%p, %p) local(%r, %c) : tile<4x8xf32>\n",
     "local coordinate 1 does not fit the tile"},
    {TILE, IOTAS ONE "      %v = load %x base(%p, %p) local(%r, %one) : tile<4x4xf32>\n",
     "local coordinate 1 is f32, expected i32 or i64"},
    {TILE, IOTAS "      %v = load %x base(%p, %p) local(%r, %c) mask(%r) : tile<4x4xf32>\n",
     "the mask is i32, expected bool"},
    {TILE, IOTAS "      %v = load %h base(%p, %p) local(%r, %c) : tile<4x4xf32>\n",
     "the tile is f32, the buffer f16"},
    {TILE, IOTAS "      %v = load %p base(%p, %p) local(%r, %c) : tile<4x4xi64>\n",
     "the buffer is a tile, expected a tensor"},
    {TILE, IOTAS ONE "      store %x, %one base(%p, %p) local(%r, %c)\n",
     "it writes to an input of the kernel"},
    {TILE, IOTAS "      %w = iota {axis = 0} : tile<4xi32>\n",
     "a tile of rank 1 in a kernel of rank 2"},
    {TILE, IOTAS "      %t = add %r, %c : tile<4x4xi32>\n", NULL},
    {TILE, IOTAS "      %t = add %r, %c : tile<4x1xi32>\n",
     "the result's shape is not that of its operands"},
    {TILE,
     IOTAS "      %o = iota {axis = 0} : tile<2x1xi32>\n      %t = add %r, %o : tile<4x1xi32>\n",
     "the shape of operand 1 does not fit the operands before it (extents are equal or 1)"},
    {TILE, IOTAS "      %t = iota {axis = 0} : tile<0x1xi32>\n", "result 0 has an extent below 1"},
    {TILE,
     ONE "      %t = reduce %one {axes = [1], init = [0]} : tile<4x1xf32> {\n      ^(%a: f32, %b: "
         "f32):\n        yield %a\n      }\n",
     NULL},
    {TILE,
     ONE "      %t = reduce %one {axes = [1], init = [0]} : tile<4x2xf32> {\n      ^(%a: f32, %b: "
         "f32):\n        yield %a\n      }\n",
     "result 0 has not the extents that are left"},
    {TILE,
     ONE "      %t, %u = scan %one {axes = [1], init = [0]} : tile<4x4xf32>, tile<4x1xf32> {\n      "
         "^(%a: f32, %b: f32):\n        yield %a\n      }\n",
     NULL},
    {TILE,
     ONE "      %t, %u = scan %one {axes = [1], init = [0]} : tile<4x4xf32>, tile<4x2xf32> {\n      "
         "^(%a: f32, %b: f32):\n        yield %a\n      }\n",
     "2 segments of an axis of 4"},
    {TILE,
     ONE "      %t, %u = scan %one {axes = [1], init = [0]} : tile<4x4xf32>, tile<1x4xf32> {\n      "
         "^(%a: f32, %b: f32):\n        yield %a\n      }\n",
     "result 1 is not the total of input 0"},
    {TILE,
     ONE "      %t = scan %one {axes = [1], init = [0]} : tile<4x4xf32> {\n      ^(%a: f32, %b: "
         "f32):\n        yield %a\n      }\n",
     "1 results, expected 2"},
    {TILE,
     ONE "      %t = for %p, %p carried(%one) {step = 1} : tile<4x4xf32> {\n      ^(%n: i64, %a: "
         "tile<4x4xf32>):\n        yield %one\n      }\n",
     NULL},
    {TILE,
     ONE "      %t = for %s, %p carried(%one) {step = 1} : tile<4x4xf32> {\n      ^(%n: i64, %a: "
         "tile<4x4xf32>):\n        yield %a\n      }\n",
     "bound 0 is no i64 scalar"},
    {TILE,
     ONE "      %t = for %p, %p carried(%one) {step = 1} : tile<4x4xf32> {\n      ^(%n: i32, %a: "
         "tile<4x4xf32>):\n        yield %a\n      }\n",
     "the counter is no i64 scalar"},
    {TILE,
     ONE "      %t = for %p, %p carried(%one) {step = 1} : tile<4x4xf32> {\n      ^(%n: i64):\n    "
         "    yield %one\n      }\n",
     "expected the counter and 1 carried values"},
    {TILE,
     ONE "      %t = for %p, %p carried(%one) {step = 1} : tile<4x4xf32> {\n      ^(%n: i64, %a: "
         "tile<4x1xf32>):\n        yield %one\n      }\n",
     "argument 1 has not the type of its carried value"},
    {TILE,
     ONE "      %t = for %p, %p carried(%one) {step = 1} : tile<4x4xf32> {\n      ^(%n: i64, %a: "
         "tile<4x4xf32>):\n        yield %s\n      }\n",
     "value 0 that its region yields has another type"},
    {TILE,
     ONE "      for %p, %p carried(%one) {step = 1} {\n      ^(%n: i64, %a: tile<4x4xf32>):\n      "
         "  yield %a\n      }\n",
     "0 results, expected 1"},
    {TILE, ONE "      for %p, %p {step = 0} {\n      ^(%n: i64):\n        yield\n      }\n",
     "attribute 'step' is below 1"},
    {TILE, "      if %p {\n      }\n", "the condition is no bool scalar"},
    {TILE, "      %t = lt %p, %p : bool\n      if %t {\n        yield %t\n      }\n",
     "its region ends with values, expected none"},
    {TILE, "      %t = lt %p, %p : bool\n      if %t {\n        %u = not %t : bool\n      }\n",
     NULL},
};

#define DOT(a, b, sum, axis, result)                                                               \
    "      %a = const {value = 1} : tile<" a ">\n      %b = const {value = 1} : tile<" b           \
    ">\n      %c = const {value = 0} : tile<" sum ">\n"                                            \
    "      %d = dot %a, %b, %c {axis = " axis "} : tile<" result ">\n"

static const example dots[] = {
    {TILE, DOT("8x1x4xf16", "1x2x4xf16", "8x2x1xf32", "2", "8x2x1xf32"), NULL},
    {TILE, DOT("8x1x4xf16", "1x2x4xf32", "8x2x1xf32", "2", "8x2x1xf32"),
     "operands are f16 and f32"},
    {TILE, DOT("8x1x4xf16", "1x2x4xf16", "8x2x1xf16", "2", "8x2x1xf16"), "the accumulator is f16"},
    {TILE, DOT("8x1x4xf16", "1x2x4xf16", "8x2x1xf32", "2", "8x1x1xf32"),
     "the result has not the accumulator's type"},
    {TILE, DOT("8x1x4xf16", "1x2x4xf16", "8x2x4xf32", "2", "8x2x4xf32"),
     "the accumulator has extent 4 along the axis"},
    {TILE, DOT("8x1x4xf16", "1x2x2xf16", "8x2x1xf32", "2", "8x2x1xf32"),
     "the extents that are summed over differ"},
    {TILE, DOT("4x1x4xf16", "1x2x4xf16", "8x2x1xf32", "2", "8x2x1xf32"),
     "extents along dimension 0 do not fit"},
    {TILE, DOT("8x1x4xf16", "1x2x4xf16", "8x2x1xf32", "3", "8x2x1xf32"),
     "axis 3 of a shape of rank 3"},
};

#define TILE0 "      %a = const {value = 1} : tile<4x4xf32, #0>\n"
#define BUFFER "      %b = shared_alloc : shared<2x4x4xf32, #2>\n"

static const example layouts[] = {
    {LAYOUT,
     TILE0 BUFFER "      shared_store %b, %a stage(%p)\n      barrier\n      %c = shared_load %b "
                  "stage(%p) : tile<4x4xf32, #1>\n",
     NULL},
    {LAYOUT,
     TILE0 "      %c = convert %a : tile<4x4xf32, #1>\n      %d = add %c, %c : tile<4x4xf32, #1>\n",
     NULL},
    {LAYOUT, "      %a = const {value = 1} : tile<4x4xf32>\n", "result 0 has no layout"},
    {LAYOUT, "      %a = const {value = 1} : tile<4x8xf32, #0>\n",
     "result 0 has a layout of other extents"},
    {LAYOUT, "      %a = const {value = 1} : tile<4x4xf32, #2>\n",
     "is a tile with a layout of memory"},
    {LAYOUT, "      %a = shared_alloc : shared<4x4xf32, #0>\n",
     "is a shared buffer with a layout of threads"},
    {LAYOUT, "      %a = shared_alloc : tile<4x4xf32, #0>\n",
     "the result is a tile, expected a shared buffer"},
    {LAYOUT,
     TILE0 "      %c = const {value = 1} : tile<4x4xf32, #1>\n      %d = add %a, %c : "
           "tile<4x4xf32, #0>\n",
     "operand 1 and the result have different layouts"},
    {LAYOUT, TILE0 "      %c = convert %a : tile<4x4xf16, #1>\n", "it changes the layout alone"},
    {LAYOUT, TILE0 BUFFER "      shared_store %b, %a\n",
     "the tile has not the extents of the buffer"},
    {LAYOUT, TILE0 BUFFER "      shared_store %b, %a stage(%s)\n",
     "the stage is no integer scalar"},
    {LAYOUT, TILE0 "      shared_store %a, %a\n", "the buffer is a tile, expected a shared buffer"},
    {LAYOUT, BUFFER "      %c = shared_load %b stage(%p) : tile<4x4xf16, #1>\n",
     "the tile is f16, the buffer f32"},
    {LAYOUT, BUFFER "      %c = shared_load %b stage(%p) {offsets = [0, 1]} : tile<4x4xf32, #1>\n",
     "dimension 1 of the part lies outside the buffer"},
    {LAYOUT, BUFFER "      %c = shared_load %b stage(%p) {offsets = [0]} : tile<4x4xf32, #1>\n",
     "1 offsets for a tile of rank 2"},
};

#define PLACES                                                                                     \
    BUFFER "      %i = iota {axis = 0} : tile<4x1xi32, #3>\n      %j = iota {axis = 1} : "          \
           "tile<1x4xi32, #4>\n      %q = const {integer = 0} : i64\n"
#define COPY_TO(stage, result)                                                                     \
    "async_copy %x, %b base(%p, %q) local(%i, %j) " stage " : " result "\n"
#define COPY "      %c = " COPY_TO("stage(%q)", "token<4x4xf32, #0>")
#define GROUP "      %t = async_commit %c : token\n"
#define WAIT "      async_wait %t\n"
#define READ "      %l = shared_load %b stage(%q) : tile<4x4xf32, #0>\n"

static const example copies[] = {
    {LAYOUT, PLACES COPY GROUP WAIT READ, NULL},
    {LAYOUT, PLACES COPY GROUP READ WAIT, "a copy to %b may be on its way: no async_wait orders"},
    {LAYOUT, PLACES TILE0 COPY GROUP "      shared_store %b, %a stage(%q)\n" WAIT,
     "a copy to %b may be on its way: no async_wait orders"},
    {LAYOUT, PLACES COPY, "the copy is not in the group that is committed next in its block"},
    {LAYOUT, PLACES COPY "      %u = async_commit : token\n" GROUP WAIT,
     "the copy is not in the group that is committed next in its block"},
    {LAYOUT, PLACES "      %c = " COPY_TO("stage(%q)", "token<4x4xf16, #0>") GROUP WAIT,
     "the tile is f16, the buffer f32"},
    {LAYOUT, PLACES "      %c = " COPY_TO("", "token<4x4xf32, #0>") GROUP WAIT,
     "the tile has not the extents of the buffer"},
    {LAYOUT, PLACES "      %c = " COPY_TO("stage(%q)", "token") GROUP WAIT,
     "the result does not say which tile is copied"},
    {LAYOUT, PLACES "      %c = " COPY_TO("stage(%q)", "tile<4x4xf32, #0>"), "the result is a tile, expected a token"},
    {LAYOUT, PLACES "      %c = " COPY_TO("stage(%q)", "token<4x4xf32, #2>") GROUP WAIT,
     "is a tile with a layout of memory"},
    {LAYOUT, PLACES COPY "      %t = async_commit %c : token<4x4xf32, #0>\n",
     "the result is no token of a group"},
    {LAYOUT, PLACES COPY GROUP "      async_wait %c\n", "the operand is no token of a group"},
    {LAYOUT, PLACES COPY GROUP "      %u = async_commit %t : token\n", "operand 0 is no copy"},
    {LAYOUT, PLACES COPY GROUP "      %u = add %t, %t : token\n", "operand 0 is a token"},
    {LAYOUT, "      %t = const {integer = 0} : token\n", "result 0 is a token"},
    {LAYOUT,
     PLACES COPY GROUP "      %r = for %q, %p carried(%t) {step = 1} : token {\n      ^(%k: i64, "
                       "%u: token):\n        async_wait %u\n        yield %u\n      }\n",
     NULL},
    {LAYOUT,
     PLACES COPY "      %r = for %q, %p carried(%c) {step = 1} : token<4x4xf32, #0> {\n      ^(%k: "
                 "i64, %u: token<4x4xf32, #0>):\n        yield %u\n      }\n",
     "carried value 0 is a copy that no group has"},
    {TILE, "      %t = async_commit : token\n", "the op is not legal at the tile level"},
};

static void functions_are_checked(void **state) {
    (void)state;
    CHECK(with_head, functions);
}

static void the_table_is_checked(void **state) {
    (void)state;
    CHECK(in_function, table);
}

static void tensor_ops_are_checked(void **state) {
    (void)state;
    CHECK(in_function, tensors);
    CHECK(in_function, reductions);
}

static void kernels_are_checked(void **state) {
    (void)state;
    CHECK(with_head, kernels);
}

static void tile_ops_are_checked(void **state) {
    (void)state;
    CHECK(in_kernel, tiles);
    CHECK(in_kernel, dots);
    CHECK(in_kernel, layouts);
    CHECK(in_kernel, copies);
}

static void every_violation_is_reported(void **state) {
    (void)state;
    bool good;
    char *errors = verify(in_function("  %a = exp %h : f16[M, N]\n  schedule {warps = 0, vector = "
                                      "3}\n  %c = lt %x, %x : f32[M, N]\n"),
                          C, &good);
    assert_non_null(strstr(errors, "%a = exp"));
    assert_non_null(strstr(errors, "'warps'"));
    assert_non_null(strstr(errors, "'vector'"));
    assert_non_null(strstr(errors, "%c = lt"));
    free(errors);
}

// ---- what text cannot say

typedef struct {
    kc_arena *arena;
    kc_module *module;
    kc_op *func, *add, *neg;
    kc_diag *diag;
} fixture;

static fixture start(void) {
    fixture f = {.arena = kc_arena_create()};
    f.module = kc_module_create(f.arena, "m");
    f.func = kc_func_create(f.module, "f", (kc_loc){0});
    kc_value *x = kc_block_add_arg(f.module, f.func->body, kc_type_tensor(KC_f32, 0, NULL), "x");
    kc_builder b = kc_builder_at_end(f.module, f.func->body, (kc_loc){0});
    f.add = kc_build_binary(&b, KC_OP_ADD, x, x)->def;
    f.neg = kc_build_unary(&b, KC_OP_NEG, f.add->results[0])->def;
    kc_build(&b, KC_OP_RETURN, 0, NULL, 0, NULL);
    f.diag = kc_diag_create(f.arena, "test", NULL, 0);
    assert_true(kc_module_verify(f.module, C, f.diag));
    return f;
}

static void assert_broken(fixture *f, const char *error) {
    assert_false(kc_module_verify(f->module, C, f->diag));
    char *errors;
    size_t size;
    FILE *file = open_memstream(&errors, &size);
    kc_diag_print(f->diag, file);
    fclose(file);
    if (!strstr(errors, error)) fail_msg("expected %s, found\n%s", error, errors);
    free(errors);
    kc_arena_destroy(f->arena);
}

static void broken_pointers_are_found(void **state) {
    (void)state;
    fixture f = start();
    kc_op_move_before(f.neg, f.add);
    assert_broken(&f, "operand 0 is not defined before its use");
    f = start();
    f.neg->operands[0].value = NULL;
    assert_broken(&f, "operand 0 is missing");
    f = start();
    f.add->results[0]->uses = NULL;
    assert_broken(&f, "the use list of operand 0 is broken");
    f = start();
    f.neg->operands[0].index = 1;
    assert_broken(&f, "the use list of operand 0 is broken");
    f = start();
    f.neg->block = NULL;
    assert_broken(&f, "it does not know the block it stands in");
    f = start();
    f.neg->previous = NULL;
    assert_broken(&f, "the links of its block are broken");
    f = start();
    f.add->segments[1] = 0;
    assert_broken(&f, "0 operands for 'b'");
    f = start();
    f.neg->results[0]->type.kind = KC_TYPE_NONE;
    assert_broken(&f, "result 0 has no type");
    f = start();
    kc_attr_set_int(f.neg, KC_ATTR_AXIS, 0);
    assert_broken(&f, "attribute 'axis' does not belong to this op");
    f = start();
    kc_func_create(f.module, "f", (kc_loc){0});
    assert_broken(&f, "two functions have this name");
}

static void strange_symbols_are_found(void **state) {
    (void)state;
    fixture f = start();
    kc_expr_pool *pool = kc_pool_create(f.module);
    kc_builder b = kc_builder_before(f.module, f.add);
    kc_build_sym(&b, kc_type_tensor(KC_i64, 0, NULL), kc_expr_symbol(pool, "Q"));
    assert_broken(&f, "attribute 'expr' mentions a symbol that its function does not declare");
    f = start();
    pool = kc_pool_create(f.module);
    b = kc_builder_before(f.module, f.add);
    kc_build_const(&b, kc_type_tensor(KC_f32, 1, (const kc_expr *[]){kc_expr_symbol(pool, "Q")}),
                   0);
    assert_broken(&f, "result 0 mentions a symbol that its function does not declare");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_checked),     cmocka_unit_test(the_table_is_checked),
        cmocka_unit_test(tensor_ops_are_checked),    cmocka_unit_test(kernels_are_checked),
        cmocka_unit_test(tile_ops_are_checked),      cmocka_unit_test(every_violation_is_reported),
        cmocka_unit_test(broken_pointers_are_found), cmocka_unit_test(strange_symbols_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
