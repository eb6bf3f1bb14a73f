/* One of forty libraries that need one another: its names take twenty pages, as those of a large library do. */

/* clang-format off */
#define NAME(n) a_function_with_a_name_that_is_as_long_as_names_of_templates_are_in_libraries_of_cpp_##n
#define LONG_NAME(n) void NAME(n)(void); void NAME(n)(void) {}
#define TEN(n) LONG_NAME(n##0) LONG_NAME(n##1) LONG_NAME(n##2) LONG_NAME(n##3) LONG_NAME(n##4) \
               LONG_NAME(n##5) LONG_NAME(n##6) LONG_NAME(n##7) LONG_NAME(n##8) LONG_NAME(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) \
                   TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)

HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8)
