#include "base/list.h"

#include "test.h"

enum { ITEMS = 20 };

struct item {
    int number;
    struct link link;
};

static struct item *item_of(struct link *link)
{
    return container_of(link, struct item, link);
}

/* The list holds exactly `numbers`, forwards and backwards. */
static void assert_holds(struct link *list, const int *numbers, size_t count)
{
    assert_int_equal(list_empty(list), count == 0);
    struct link *at = list->next;
    for (size_t i = 0; i < count; i++, at = at->next) {
        assert_ptr_not_equal(at, list);
        assert_int_equal(item_of(at)->number, numbers[i]);
        assert_true(link_listed(at));
    }
    assert_ptr_equal(at, list);
    at = list->previous;
    for (size_t i = count; i > 0; i--, at = at->previous)
        assert_int_equal(item_of(at)->number, numbers[i - 1]);
    assert_ptr_equal(at, list);
}

static void make_items(struct item *items)
{
    for (int i = 0; i < ITEMS; i++) {
        items[i].number = i;
        link_init(&items[i].link);
    }
}

static void appends_and_prepends(void **state)
{
    struct item items[ITEMS];
    struct link list;
    make_items(items);
    link_init(&list);
    assert_holds(&list, NULL, 0);
    assert_null(list_shift(&list));
    list_append(&list, &items[1].link);
    list_append(&list, &items[2].link);
    list_prepend(&list, &items[0].link);
    assert_holds(&list, (int[]){ 0, 1, 2 }, 3);
}

static void removing_twice_is_fine(void **state)
{
    struct item items[ITEMS];
    struct link list;
    make_items(items);
    link_init(&list);
    for (int i = 0; i < 3; i++)
        list_append(&list, &items[i].link);
    list_remove(&items[1].link);
    list_remove(&items[1].link);
    assert_false(link_listed(&items[1].link));
    assert_holds(&list, (int[]){ 0, 2 }, 2);
    list_remove(&items[0].link);
    list_remove(&items[2].link);
    assert_holds(&list, NULL, 0);
}

static void splices(void **state)
{
    struct item items[ITEMS];
    struct link a, b;
    make_items(items);
    link_init(&a);
    link_init(&b);
    list_splice(&a, &b);
    assert_holds(&a, NULL, 0);
    list_append(&b, &items[0].link);
    list_append(&b, &items[1].link);
    list_splice(&a, &b);
    assert_holds(&a, (int[]){ 0, 1 }, 2);
    assert_holds(&b, NULL, 0);
    list_splice(&a, &b);
    list_append(&b, &items[2].link);
    list_splice(&a, &b);
    assert_holds(&a, (int[]){ 0, 1, 2 }, 3);
}

struct model {
    int numbers[2][ITEMS];
    size_t counts[2];
};

static void model_remove(struct model *model, int number)
{
    for (int k = 0; k < 2; k++) {
        size_t kept = 0;
        for (size_t i = 0; i < model->counts[k]; i++)
            if (model->numbers[k][i] != number)
                model->numbers[k][kept++] = model->numbers[k][i];
        model->counts[k] = kept;
    }
}

static void model_insert(struct model *model, int k, size_t at, int number)
{
    memmove(&model->numbers[k][at + 1], &model->numbers[k][at], (model->counts[k] - at) * sizeof(int));
    model->numbers[k][at] = number;
    model->counts[k]++;
}

/* One random operation on two lists and on their model. */
static void step(struct link *lists, struct item *items, struct model *model, uint64_t *seed)
{
    int k = (int)random_below(seed, 2), number = (int)random_below(seed, ITEMS);
    struct link *link = &items[number].link;
    switch (random_below(seed, 8)) {
    case 0: {
        struct link *first = list_shift(&lists[k]);
        assert_int_equal(first != NULL, model->counts[k] > 0);
        if (first) {
            assert_int_equal(item_of(first)->number, model->numbers[k][0]);
            model_remove(model, item_of(first)->number);
        }
        break;
    }
    case 1:
        list_splice(&lists[!k], &lists[k]);
        for (size_t i = 0; i < model->counts[k]; i++)
            model_insert(model, !k, model->counts[!k], model->numbers[k][i]);
        model->counts[k] = 0;
        break;
    case 2:
        list_remove(link);
        model_remove(model, number);
        break;
    case 3:
        list_remove(link);
        model_remove(model, number);
        list_prepend(&lists[k], link);
        model_insert(model, k, 0, number);
        break;
    default:
        list_remove(link);
        model_remove(model, number);
        list_append(&lists[k], link);
        model_insert(model, k, model->counts[k], number);
    }
}

static void behaves_like_two_arrays(void **state)
{
    struct item items[ITEMS];
    struct link lists[2];
    struct model model = { 0 };
    uint64_t seed = 1;
    make_items(items);
    link_init(&lists[0]);
    link_init(&lists[1]);
    for (int i = 0; i < 20000; i++) {
        step(lists, items, &model, &seed);
        assert_holds(&lists[0], model.numbers[0], model.counts[0]);
        assert_holds(&lists[1], model.numbers[1], model.counts[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_and_prepends),
        cmocka_unit_test(removing_twice_is_fine),
        cmocka_unit_test(splices),
        cmocka_unit_test(behaves_like_two_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
