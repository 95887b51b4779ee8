// libhlo from C++: the header alone gives everything, without a warning.
#include <hlo/hlo.h>

int main() {
    HloModule *m = hlo_module_new("empty");
    bool is_new = m != nullptr && m->count == 0;
    hlo_module_free(m);
    return is_new ? 0 : 1;
}
