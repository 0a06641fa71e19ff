/* Pages as scripts see them, on libxml2: which elements CSS selectors find, what is read of them, and what is wrong with bad ones. What each selector must find was
 * worked out by hand from Selectors Level 3. */
#include <lauxlib.h>
#include <lua.h>

#include "script/api.h"
#include "script/vm.h"
#include "test.h"

static struct vm *vm;

static const char page[] =
    "<!DOCTYPE html><html><head><title>A &amp; B</title><base href='/base/'>"
    "<link rel='StyleSheet' href='a.css'><link rel='shortcut icon' href='//cdn.example/i.ico'><link rel=alternate href=feed.xml>"
    "<script src='s.js?x=1&amp;y=2'></script><script>var x = '<p id=no>';</script></head>"
    "<body id=body class='one two'>"
    "<h1 id=h1>Hello <b id=b>big</b> world</h1>"
    "<ul id=ul><li id=l1 class='item first'>1<li id=l2 class=item>2<li id=l3 class='item last'>3<li id=l4>4</ul>"
    "<form id=f action='/go'><input id=i1 name=token value='t&quot;1'><input id=i2 type=CHECKBOX checked name=c><input id=i3 disabled type=submit>"
    "<select id=s><option id=o1 value=1><option id=o2 value=2 selected></select></form>"
    "<div id=d1 lang=en-GB><p id=p1>one</p><span id=s1></span><p id=p2 title='x y z'>two</p><p id=p3 data-id=7>three <a id=a1 HREF='https://h.example/x#y'>link</a></p></div>"
    "<div id=d2></div><img id=m1 src=' i.png '><img id=m2 src='i.png#f'><img id=m3 src='data:image/png;base64,AA=='><input id=i4 type=IMAGE src='b.gif'>"
    "</body></html>";

static int set_up(void **state)
{
    vm = vm_new(VM_CONTROL, false);
    lua_pushlstring(vm->L, page, sizeof page - 1);
    lua_setglobal(vm->L, "page");
    return luaL_dostring(vm->L,
                         "css, html = require 'luabench.css', require 'luabench.html'\n"
                         "doc = html.parse(page)\n"
                         "function ids(nodes) local t = {} for i, n in ipairs(nodes) do t[i] = n:attr 'id' or n.name end return table.concat(t, ' ') end\n"
                         "function found(selector) return ids(doc:all(selector)) end\n");
}

static int tear_down(void **state)
{
    vm_free(vm);
    return 0;
}

/* Runs `chunk`, which returns a text. */
static const char *run(const char *chunk)
{
    lua_settop(vm->L, 0);
    if (luaL_loadstring(vm->L, chunk) || lua_pcall(vm->L, 0, 1, 0))
        fail_msg("%s\n%s", lua_tostring(vm->L, -1), chunk);
    return lua_tostring(vm->L, 1);
}

static void finds(void **state)
{
    static const char *const cases[][2] = {
        { "h1", "h1" }, { "H1", "h1" }, { "#l2", "l2" }, { ".item", "l1 l2 l3" }, { "li.item.last", "l3" }, { ".ite", "" }, { "body.two.one", "body" }, { "#ul > li", "l1 l2 l3 l4" },
        { "body > li", "" }, { "body li", "l1 l2 l3 l4" }, { "#l1 + li", "l2" }, { "#l1 + .last", "" }, { "#l1 ~ li", "l2 l3 l4" }, { "#l1~.last", "l3" },
        { "h1, #b , .last", "h1 b l3" }, { "#b, h1", "h1 b" }, { "h1 > b", "b" }, { "h1>b", "b" }, { "h1  b", "b" },
        { "[title]", "p2" }, { "[title~=y]", "p2" }, { "[title~='x y']", "" }, { "[title^='x ']", "p2" }, { "[title$=z]", "p2" }, { "[title*=' y ']", "p2" }, { "[title=x]", "" },
        { "[lang|=en]", "d1" }, { "[lang|=e]", "" }, { "[data-id='7']", "p3" }, { "[ data-id = 7 ]", "p3" }, { "[DATA-ID=\"7\"]", "p3" }, { "[title^='']", "" },
        { "input[type=checkbox]", "" }, { "input[type=checkbox i]", "i2" }, { "input[name=token][value]", "i1" }, { "[value='t\"1']", "i1" },
        { "li:first-child", "l1" }, { "li:last-child", "l4" }, { "li:nth-child(2)", "l2" }, { "li:nth-child(odd)", "l1 l3" }, { "li:nth-child(even)", "l2 l4" },
        { "li:nth-child(2n+1)", "l1 l3" }, { "li:nth-child(n+3)", "l3 l4" }, { "li:nth-child(-n+2)", "l1 l2" }, { "li:nth-child( 3n - 1 )", "l2" }, { "li:nth-last-child(1)", "l4" },
        { "li:nth-child(n)", "l1 l2 l3 l4" }, { "li:nth-child(0n+2)", "l2" }, { "li:nth-child(5)", "" }, { "p:nth-child(2)", "" }, { "p:nth-of-type(2)", "p2" },
        { "p:first-of-type", "p1" }, { "p:last-of-type", "p3" }, { "span:only-of-type", "s1" }, { "b:only-child", "b" }, { "div p:nth-last-of-type(2)", "p2" },
        { "li:not(.item)", "l4" }, { "li:not(:first-child):not(.last)", "l2 l4" }, { "p:not([title], [data-id])", "p1" }, { "#d1 > :not(p)", "s1" }, { "div:empty", "d2" },
        { "span:empty", "s1" }, { "p:contains('two')", "p2" }, { "p:contains(\"thr\")", "p3" }, { "p:contains(three)", "p3" }, { ":checked", "i2 o2" }, { "option:selected", "o2" },
        { ":disabled", "i3" }, { "input:enabled", "i1 i2 i4" }, { "*:root", "html" }, { "#d1 *", "p1 s1 p2 p3 a1" }, { "#no", "" }, { "a[href*='x#y']", "a1" }, { "nothing", "" },
        { "[title='a,b'], #l1", "l1" }, { "p:not(:contains(','))", "p1 p2 p3" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        lua_pushstring(vm->L, cases[i][0]);
        lua_setglobal(vm->L, "selector");
        const char *ids = run("return found(selector)");
        if (strcmp(ids, cases[i][1]))
            fail_msg("%s finds \"%s\", not \"%s\"", cases[i][0], ids, cases[i][1]);
    }
}

static void refuses(void **state)
{
    static const char *const cases[][2] = {
        { "", "a selector is missing in \"\"" }, { "a,", "a selector is missing in \"a,\"" }, { "a >", "a selector is missing" }, { "> a", "a selector is missing at \"> a\"" },
        { "#", "a name is missing after # in \"#\"" }, { ".1$", "\"$\" is not understood" }, { "[", "the name of an attribute is missing" }, { "[a", "has no operator" },
        { "[a=]", "a value is missing at \"]\"" }, { "[a='x]", "a quote is not closed" }, { "[a=x", "the ] is missing" }, { "[a!=x]", "has no operator like = or ^=" },
        { "a:hover", ":hover is not known" }, { "a::before", "::before is no element of the page" }, { "a:nth-child", ":nth-child needs something in parentheses" },
        { "a:nth-child(x)", "\"x\" is no position; write 3, odd, even or 2n+1" }, { "a:not(b", "a parenthesis is not closed" }, { "a:not(b c)", ":not() takes simple selectors" },
        { "a:has(b)", ":has() is not known" }, { ":first-of-type", ":first-of-type needs an element before it" }, { ":nth-of-type(2)", "needs an element before it" },
        { "a b%", "\"%\" is not understood" }, { "a:", "a name is missing after :" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        lua_pushstring(vm->L, cases[i][0]);
        lua_setglobal(vm->L, "selector");
        const char *text = run("local path, why = css.xpath(selector) return path or why");
        if (!strstr(text, cases[i][1]))
            fail_msg("%s: \"%s\", not \"%s\"", cases[i][0], text, cases[i][1]);
    }
}

static void expect(const char *chunk, const char *expected)
{
    const char *found = run(chunk), *line = found ? strstr(found, "]:1: ") : NULL; /* errors begin with the chunk's */
    found = line ? line + strlen("]:1: ") : found;
    if (!found || strcmp(found, expected))
        fail_msg("%s\n\"%s\", not \"%s\"", chunk, found ? found : "nil", expected);
}

static void reads_nodes(void **state)
{
    expect("return doc:first('h1').text", "Hello big world");
    expect("return doc:first('title').text", "A & B");
    expect("return doc:first('#i1'):attr('VALUE')", "t\"1");
    expect("return tostring(doc:first('#i1'):attr('nothing'))", "nil");
    expect("return tostring(doc:first('#nothing'))", "nil");
    expect("return tostring(doc:first('#ul'))", "<ul>");
    expect("return doc:first('#ul').name", "ul");
    expect("return ids(doc:first('#d1'):all('p'))", "p1 p2 p3");
    expect("return ids(doc:first('#d1'):all('body p'))", "");
    expect("return doc:first('#p3'):first('a'):attr('href')", "https://h.example/x#y");
    expect("return html.pick(doc, '#i1', 'name') .. html.pick(doc, '#p1') .. tostring(html.pick(doc, '#x', 'name'))", "tokenonenil");
}

static void evaluates_xpath(void **state)
{
    expect("return ids(doc:xpath('//li[position() > 2]'))", "l3 l4");
    expect("return doc:xpath('//p/@title')[1].text", "x y z");
    expect("return tostring(doc:xpath('count(//li)'))", "4");
    expect("return doc:xpath('string(//title)')", "A & B");
    expect("return tostring(doc:xpath('//li = \"3\"'))", "true");
    expect("return ids(doc:first('#d1'):xpath('./p[2]'))", "p2");
    expect("local ok, why = pcall(doc.xpath, doc, '//[') return why", "xpath(\"//[\"): the expression is not valid");
    expect("local ok, why = pcall(doc.xpath, doc, 'no()') return why", "xpath(\"no()\"): a function is not known");
}

static void lists_assets(void **state)
{
    expect("return table.concat(html.assets(doc, 'http://h:81/dir/page?q'), ' ')",
           "http://h:81/base/a.css http://cdn.example/i.ico http://h:81/base/s.js?x=1&y=2 http://h:81/base/i.png http://h:81/base/b.gif");
    expect("return table.concat(html.assets(html.parse '<img src=\"x y.png\"><img src=../z.png><img>', 'http://h/a/b'), ' ')", "http://h/a/x%20y.png http://h/z.png");
    expect("return tostring(#html.assets(html.parse 'no page', 'http://h/'))", "0");
}

static void knows_encodings(void **state)
{
    expect("return html.parse('<p>\\195\\164'):first('p').text", "\xc3\xa4");
    expect("return html.parse('<p>\\228', 'text/html; Charset=\"ISO-8859-1\"'):first('p').text", "\xc3\xa4");
    expect("return html.parse('<meta charset=iso-8859-1><p>\\228'):first('p').text", "\xc3\xa4");
}

static void takes_anything(void **state)
{
    expect("return tostring(html.parse(''))", "nil");
    expect("return html.parse('plain < text'):first('body').text:sub(1, 5)", "plain");
    expect("return tostring(#html.parse(('<div>'):rep(5000)):all('div') > 200)", "true");
    expect("return tostring(html.parse('<p>a\\0b</p>') ~= nil)", "true");
}

static void says_what_nodes_have(void **state)
{
    expect("local ok, why = pcall(function() return doc.txt end) return why", "a node has no field `txt`; did you mean `text`?; it has text, name, first, all, xpath, attr");
    expect("local ok, why = pcall(doc.first, 'h1') return why", "first is called with a colon: node:first(...)");
    expect("local ok, why = pcall(doc.first, doc) return why", "node:first takes a CSS selector, not nil");
    expect("local ok, why = pcall(doc.first, doc, 'a', 'b') return why", "node:first takes a CSS selector, not \"b\"");
    expect("local ok, why = pcall(doc.all, doc, 'a:b') return why", "all(\"a:b\"): :b is not known");
}

/* Pages are released with their last node. */
static void lets_go(void **state)
{
    expect("local kept for i = 1, 300 do kept = html.parse(page):first('#p2') end collectgarbage() collectgarbage() return kept.text", "two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),           cmocka_unit_test(refuses),         cmocka_unit_test(reads_nodes),    cmocka_unit_test(evaluates_xpath),
        cmocka_unit_test(lists_assets),    cmocka_unit_test(knows_encodings), cmocka_unit_test(takes_anything), cmocka_unit_test(says_what_nodes_have),
        cmocka_unit_test(lets_go),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
