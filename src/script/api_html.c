/* core.html_parse and what can be asked of a page: HTML as libxml2 reads it, without any access to files or the network. A page lives as long as one of its nodes is
 * referred to; its size is told to the collector, which sees only a small object. */
#include <lauxlib.h>
#include <libxml/HTMLparser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "script/api.h"

#define NODE_TYPE "luabench.html_node"

enum { GROWTH = 8 }; /* bytes of a page in memory for each of its text, about */

struct page {
    unsigned references;
    htmlDocPtr document;
};

struct node {
    struct page *page; /* NULL: none yet */
    xmlNodePtr node;
};

static void release_page(struct page *page)
{
    if (--page->references)
        return;
    xmlFreeDoc(page->document);
    free(page);
}

static int release_node(lua_State *L)
{
    struct node *node = luaL_checkudata(L, 1, NODE_TYPE);
    if (node->page)
        release_page(node->page);
    node->page = NULL;
    return 0;
}

static struct node *check_node(lua_State *L)
{
    return luaL_checkudata(L, 1, NODE_TYPE);
}

static struct node *push_node(lua_State *L)
{
    struct node *node = lua_newuserdata(L, sizeof *node);
    *node = (struct node){ 0 };
    luaL_getmetatable(L, NODE_TYPE);
    lua_setmetatable(L, -2);
    return node;
}

static void set_node(struct node *node, struct page *page, xmlNodePtr at)
{
    page->references++;
    node->page = page;
    node->node = at;
}

/* Pushes the text, which is libxml2's, and frees it; nil for NULL. */
static int push_text(lua_State *L, xmlChar *text)
{
    lua_pushstring(L, (const char *)text);
    xmlFree(text);
    return 1;
}

/* html_parse(text, encoding) -> the page's root; nil when there is nothing in it. */
static int parse(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length), *encoding = luaL_optstring(L, 2, NULL);
    struct node *node = push_node(L);
    if (!length || length > INT_MAX)
        return 0;
    htmlDocPtr document = htmlReadMemory(text, (int)length, NULL, encoding,
                                         HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_COMPACT);
    if (!document)
        return 0;
    struct page *page = mem_zero(sizeof *page);
    page->document = document;
    set_node(node, page, (xmlNodePtr)document);
    lua_gc(L, LUA_GCSTEP, (int)(length * GROWTH / 1024));
    return 1;
}

/* libxml2 gives no words for errors of XPath here, but a number. */
static const char *words_for(int code)
{
    switch (code) {
    case XML_XPATH_UNFINISHED_LITERAL_ERROR: return "a quote is not closed";
    case XML_XPATH_UNDEF_VARIABLE_ERROR: return "a variable is not defined";
    case XML_XPATH_INVALID_PREDICATE_ERROR: return "a predicate is not valid";
    case XML_XPATH_UNCLOSED_ERROR: return "a parenthesis is not closed";
    case XML_XPATH_UNKNOWN_FUNC_ERROR: return "a function is not known";
    case XML_XPATH_INVALID_ARITY: return "a function has another number of arguments";
    case XML_XPATH_INVALID_TYPE: return "something is of the wrong type";
    case XML_XPATH_UNDEF_PREFIX_ERROR: return "a prefix is not known";
    default: return "the expression is not valid";
    }
}

static void on_error(void *context, xmlErrorPtr error)
{
    const char **words = context;
    if (!*words)
        *words = words_for(error->code);
}

static int push_nodes(lua_State *L, struct page *page, xmlNodeSetPtr set, bool first)
{
    int count = set ? set->nodeNr : 0;
    xmlXPathNodeSetSort(set);
    if (first)
        count = count > 1 ? 1 : count;
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        set_node(push_node(L), page, set->nodeTab[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int push_result(lua_State *L, struct page *page, xmlXPathObjectPtr result, bool first)
{
    switch (result->type) {
    case XPATH_NODESET: return push_nodes(L, page, result->nodesetval, first);
    case XPATH_BOOLEAN: lua_pushboolean(L, result->boolval); return 1;
    case XPATH_NUMBER: lua_pushnumber(L, result->floatval); return 1;
    case XPATH_STRING: lua_pushstring(L, (const char *)result->stringval); return 1;
    default: lua_pushnil(L); return 1;
    }
}

/* html_find(node, xpath, first) -> a list of nodes, of the first one alone, or the string, number or boolean that the expression means; or nil and what is wrong with it. */
static int find(lua_State *L)
{
    struct node *node = check_node(L);
    const char *expression = luaL_checkstring(L, 2);
    bool first = lua_toboolean(L, 3);
    const char *wrong = NULL;
    xmlXPathContextPtr context = xmlXPathNewContext(node->page->document);
    context->node = node->node;
    context->error = on_error;
    context->userData = &wrong;
    xmlXPathObjectPtr result = xmlXPathEvalExpression((const xmlChar *)expression, context);
    xmlXPathFreeContext(context);
    if (!result) {
        lua_pushnil(L);
        lua_pushstring(L, wrong ? wrong : words_for(0));
        return 2;
    }
    int count = push_result(L, node->page, result, first);
    xmlXPathFreeObject(result);
    return count;
}

/* html_text(node) -> all text in it. */
static int text_of(lua_State *L)
{
    struct node *node = check_node(L);
    xmlChar *text = xmlNodeGetContent(node->node);
    if (text)
        return push_text(L, text);
    lua_pushliteral(L, "");
    return 1;
}

/* html_attribute(node, name) -> its value or nil. */
static int attribute(lua_State *L)
{
    struct node *node = check_node(L);
    const char *name = luaL_checkstring(L, 2);
    if (node->node->type != XML_ELEMENT_NODE)
        return 0;
    return push_text(L, xmlGetProp(node->node, (const xmlChar *)name));
}

/* html_name(node) -> "a", "img"; nil when it is no element. */
static int name_of(lua_State *L)
{
    struct node *node = check_node(L);
    lua_pushstring(L, node->node->type == XML_ELEMENT_NODE ? (const char *)node->node->name : NULL);
    return 1;
}

/* What libxml2 would print. */
__attribute__((format(printf, 2, 3))) static void say_nothing(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

void api_html_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "html_parse", parse }, { "html_find", find }, { "html_text", text_of }, { "html_attribute", attribute }, { "html_name", name_of }, { NULL, NULL },
    };
    xmlInitParser(); /* in the first state, while there is one thread */
    xmlSetGenericErrorFunc(NULL, say_nothing); /* of this thread, which is that of the state */
    api_register(L, functions);
    luaL_newmetatable(L, NODE_TYPE);
    lua_pushcfunction(L, release_node);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}
