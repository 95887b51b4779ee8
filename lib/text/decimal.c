// Decimal text to double, correctly rounded.
//
// Nearly all numbers in real files have at most 15 digits and a small exponent; there one exact multiplication or
// division by a power of ten gives the correctly rounded result (Clinger's fast path). The rest goes through
// strtod on a copy of bounded size.

#include "lexer.h"

#include <math.h>
#include <stdlib.h>

// 768 digits decide the rounding of any double; the rest of a longer text only matters as "not zero".
enum { EXACT_DIGITS = 15, EXACT_POWER = 22, DECIDING_DIGITS = 800 };

static const double powers_of_ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What a long decimal text says: 0.digits × 10^point, digits without leading zeros.
typedef struct Decimal {
    int64_t point;
    size_t digit_count;
    bool more;  // nonzero digits were left out
    char digits[DECIDING_DIGITS];
} Decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void add_digit(Decimal *d, char c) {
    if (d->digit_count == 0 && c == '0') return;
    if (d->digit_count < DECIDING_DIGITS) {
        d->digits[d->digit_count++] = c;
    } else if (c != '0') {
        d->more = true;
    }
}

// Exponents beyond ±99999 mean infinity or zero anyway.
static int64_t exponent_read(const char *p, const char *end) {
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++) {
        if (value < 99999999) value = value * 10 + (*p - '0');
    }
    return negative ? -value : value;
}

static void scan(Decimal *d, const char *p, const char *end) {
    bool seen_point = false;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            seen_point = true;
            continue;
        }
        bool leading = d->digit_count == 0 && *p == '0';
        if (!seen_point && !leading) d->point++;
        if (seen_point && leading) d->point--;
        add_digit(d, *p);
    }
    if (p < end) d->point += exponent_read(p + 1, end);
}

// A normalised copy `D…De±X`, so that its length is bounded and it has no locale's decimal point.
static double convert(Decimal *d) {
    if (d->point > 400) return INFINITY;
    if (d->point < -400) return 0;
    char text[DECIDING_DIGITS + 32];
    size_t n = d->digit_count;
    memcpy(text, d->digits, n);
    int64_t exponent = d->point - (int64_t)n;
    if (d->more) {  // a digit that keeps the value on its side of every tie
        text[n++] = '1';
        exponent--;
    }
    text[n++] = 'e';
    if (exponent < 0) text[n++] = '-';
    char reversed[8];
    size_t count = 0;
    for (uint64_t rest = (uint64_t)(exponent < 0 ? -exponent : exponent); count == 0 || rest; rest /= 10)
        reversed[count++] = (char)('0' + rest % 10);
    while (count) text[n++] = reversed[--count];
    text[n] = 0;
    return strtod(text, NULL);
}

// The whole value when it has at most 15 digits and a small exponent; false otherwise.
static bool scan_quickly(const char *p, const char *end, double *out) {
    uint64_t digits = 0;
    size_t digit_count = 0;
    int64_t power = 0;
    bool seen_point = false;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            seen_point = true;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*p - '0');
        digit_count += digits != 0;
        if (digit_count > EXACT_DIGITS) return false;
        power -= seen_point;
    }
    if (p < end) power += exponent_read(p + 1, end);
    if (power > EXACT_POWER || power < -EXACT_POWER) return false;
    *out = power >= 0 ? (double)digits * powers_of_ten[power] : (double)digits / powers_of_ten[-power];
    return true;
}

static double scan_fully(const char *p, const char *end) {
    Decimal d;
    d.point = 0;
    d.digit_count = 0;
    d.more = false;
    scan(&d, p, end);
    return d.digit_count ? convert(&d) : 0;
}

double hlo_decimal_read(const char *text, size_t size) {
    bool negative = size > 0 && text[0] == '-';
    const char *end = text + size;
    double value;
    if (!scan_quickly(text + negative, end, &value)) value = scan_fully(text + negative, end);
    return negative ? -value : value;
}
