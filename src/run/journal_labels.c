#define _GNU_SOURCE
#include "run/journal_labels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_CAPACITY = 64, LONGEST_NAME = 1000 }; /* bytes of name and of scenario; quoting makes at most six of one */

/* Texts */

/* Bytes of the UTF-8 character at the front; 0: it is none (RFC 3629). */
static size_t character(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t size = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] <= 0xdf ? 2 : (at[0] & 0xf0) == 0xe0 ? 3 : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4 : 0;
    if (size > length)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return size;
}

/* Control characters (C0, DEL, C1) steer terminals. */
static bool is_control(const char *text, size_t size)
{
    unsigned char first = (unsigned char)text[0];
    return (size == 1 && (first < 0x20 || first == 0x7f)) || (size == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* Appends `text` with \xNN for everything that is no printable character. */
static void append_harmless(struct buf *out, const char *text, size_t length)
{
    while (length) {
        size_t size = character(text, length);
        if (size && !is_control(text, size)) {
            buf_append(out, text, size);
        } else {
            size = size ? size : 1;
            for (size_t i = 0; i < size; i++)
                buf_printf(out, "\\x%02x", (unsigned char)text[i]);
        }
        text += size;
        length -= size;
    }
}

static void hide(struct buf *text, const char *secret)
{
    size_t length = strlen(secret);
    struct buf out = { 0 };
    const char *at = text->data, *end = text->data + text->length, *found;
    while (length && at < end && (found = memmem(at, (size_t)(end - at), secret, length))) {
        buf_append(&out, at, (size_t)(found - at));
        buf_append(&out, "***", 3);
        at = found + length;
    }
    buf_append(&out, at, (size_t)(end - at));
    buf_free(text);
    *text = out;
}

/* "NAME\nTAG=VALUE\n..." of the metrics as it is shown everywhere: "NAME {TAG=VALUE, ...}". */
static void append_shown(struct buf *out, const char *name)
{
    size_t length = strcspn(name, "\n");
    append_harmless(out, name, length);
    name += length;
    for (const char *separator = " {"; *name; separator = ", ") {
        length = strcspn(++name, "\n");
        buf_printf(out, "%s", separator);
        append_harmless(out, name, length);
        name += length;
        if (!name[0] || !name[1]) {
            buf_append(out, "}", 1);
            break;
        }
    }
}

/* A cut may not leave half a character behind. */
static void cut(struct buf *text)
{
    if (text->length <= LONGEST_NAME)
        return;
    text->length = LONGEST_NAME;
    while (text->length && ((unsigned char)text->data[text->length] & 0xc0) == 0x80)
        text->length--;
}

static void shown(const struct labels *labels, const char *name, struct buf *out)
{
    append_shown(out, name);
    for (size_t i = 0; i < labels->plan->journal.secret_count; i++)
        hide(out, labels->plan->journal.secrets[i]);
    cut(out);
}

/* Control characters are gone already. */
static void append_json(struct buf *out, const struct buf *text)
{
    buf_append(out, "\"", 1);
    for (size_t i = 0; i < text->length; i++)
        buf_printf(out, text->data[i] == '"' || text->data[i] == '\\' ? "\\%c" : "%c", text->data[i]);
    buf_append(out, "\"", 1);
}

/* A field that begins as a formula does would be one in a spreadsheet: it gets an apostrophe (OWASP, CSV injection). Quoting as of RFC 4180. */
static void append_csv(struct buf *out, const struct buf *text)
{
    bool formula = text->length && strchr("=+-@", text->data[0]);
    bool quoted = text->length && (memchr(text->data, ',', text->length) || memchr(text->data, '"', text->length));
    buf_printf(out, "%s%s", quoted ? "\"" : "", formula ? "'" : "");
    for (size_t i = 0; i < text->length; i++)
        buf_printf(out, text->data[i] == '"' ? "\"\"" : "%c", text->data[i]);
    buf_printf(out, "%s", quoted ? "\"" : "");
}

static size_t scenario_index(const struct plan *plan, const char *name)
{
    size_t index = 0;
    while (index + 1 < plan->scenario_count && strcmp(plan->scenarios[index].name, name))
        index++;
    return index;
}

static struct label *make_label(const struct labels *labels, const struct name_metrics *name)
{
    struct label *label = mem_zero(sizeof *label);
    struct buf scenario = { 0 }, text = { 0 };
    label->name = name;
    label->scenario = scenario_index(labels->plan, name->scenario->name);
    shown(labels, name->scenario->name, &scenario);
    shown(labels, name->name, &text);
    buf_printf(&label->json, "\"scenario\":");
    append_json(&label->json, &scenario);
    buf_printf(&label->json, ",\"name\":");
    append_json(&label->json, &text);
    append_csv(&label->csv, &text);
    append_csv(&label->csv_scenario, &scenario);
    buf_free(&scenario);
    buf_free(&text);
    return label;
}

/* The table */

static struct label **slot_of(struct label **slots, size_t capacity, const struct name_metrics *name)
{
    size_t at = ((uintptr_t)name >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    while (slots[at % capacity] && slots[at % capacity]->name != name)
        at++;
    return &slots[at % capacity];
}

static void grow(struct labels *labels)
{
    size_t capacity = labels->capacity * 2;
    struct label **slots = mem_array(capacity, sizeof *slots);
    for (size_t i = 0; i < labels->capacity; i++)
        if (labels->slots[i])
            *slot_of(slots, capacity, labels->slots[i]->name) = labels->slots[i];
    free(labels->slots);
    labels->slots = slots;
    labels->capacity = capacity;
}

void labels_init(struct labels *labels, const struct plan *plan)
{
    *labels = (struct labels){ .plan = plan, .capacity = FIRST_CAPACITY, .slots = mem_array(FIRST_CAPACITY, sizeof *labels->slots) };
}

void labels_free(struct labels *labels)
{
    for (size_t i = 0; i < labels->capacity; i++) {
        if (!labels->slots[i])
            continue;
        buf_free(&labels->slots[i]->json);
        buf_free(&labels->slots[i]->csv);
        buf_free(&labels->slots[i]->csv_scenario);
        free(labels->slots[i]);
    }
    free(labels->slots);
}

const struct label *labels_of(struct labels *labels, const struct name_metrics *name)
{
    struct label **slot = slot_of(labels->slots, labels->capacity, name);
    if (*slot)
        return *slot;
    if (labels->count * 2 >= labels->capacity) {
        grow(labels);
        slot = slot_of(labels->slots, labels->capacity, name);
    }
    labels->count++;
    return *slot = make_label(labels, name);
}
