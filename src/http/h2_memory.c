#include "http/h2_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Before every piece; as long as malloc's alignment. */
struct h2_piece_head {
    union {
        struct h2_piece_head *next; /* of those kept */
        max_align_t alignment;
    };
    size_t room; /* bytes behind the head */
    max_align_t data[];
};

static size_t place_of(size_t room)
{
    return room / H2_MEMORY_STEP - 1;
}

void *h2_memory_take(size_t size, void *context)
{
    struct h2_memory *memory = context;
    size_t room = (size + !size + H2_MEMORY_STEP - 1) / H2_MEMORY_STEP * H2_MEMORY_STEP, place = place_of(room);
    struct h2_piece_head *piece = place < H2_MEMORY_SIZES ? memory->kept[place] : NULL;
    if (piece) {
        memory->kept[place] = piece->next;
    } else {
        piece = mem_resize(NULL, sizeof *piece + room);
        piece->room = room;
    }
    return piece->data;
}

void *h2_memory_take_zeroed(size_t count, size_t size, void *context)
{
    void *pointer = h2_memory_take(count * size, context); /* nghttp2 asks for a few structs */
    return memset(pointer, 0, count * size);
}

static struct h2_piece_head *head_of(void *pointer)
{
    return (struct h2_piece_head *)((char *)pointer - offsetof(struct h2_piece_head, data));
}

void *h2_memory_resize(void *pointer, size_t size, void *context)
{
    if (pointer && size <= head_of(pointer)->room)
        return pointer;
    void *larger = h2_memory_take(size, context);
    if (pointer)
        memcpy(larger, pointer, head_of(pointer)->room);
    h2_memory_give(pointer, context);
    return larger;
}

void h2_memory_give(void *pointer, void *context)
{
    struct h2_memory *memory = context;
    if (!pointer)
        return;
    struct h2_piece_head *piece = head_of(pointer);
    size_t place = place_of(piece->room);
    if (place >= H2_MEMORY_SIZES) {
        free(piece);
        return;
    }
    piece->next = memory->kept[place];
    memory->kept[place] = piece;
}

void h2_memory_free(struct h2_memory *memory)
{
    for (size_t i = 0; i < H2_MEMORY_SIZES; i++)
        for (struct h2_piece_head *piece = memory->kept[i], *next; piece; piece = next) {
            next = piece->next;
            free(piece);
        }
}
