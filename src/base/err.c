#include "base/err.h"

static const char *const names[] = {
#define X(id, name, text) name,
    ERR_MAP(X)
#undef X
};

static const char *const texts[] = {
#define X(id, name, text) text,
    ERR_MAP(X)
#undef X
};

const char *err_name(enum err err)
{
    return names[err];
}

const char *err_text(enum err err)
{
    return texts[err];
}
