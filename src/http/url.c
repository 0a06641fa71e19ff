#include "http/url.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* "scheme://": sets url->tls and returns its length; 0 when it is not a scheme of ours. */
static size_t parse_scheme(struct url *url, const char *text, size_t length)
{
    url->tls = length >= 8 && !strncasecmp(text, "https://", 8);
    if (url->tls)
        return 8;
    return length >= 7 && !strncasecmp(text, "http://", 7) ? 7 : 0;
}

static const char *parse_port(struct url *url, const char *text, size_t length)
{
    unsigned long port = 0;
    url->port_given = length > 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return "the port is not a number";
        port = port * 10 + (unsigned)(text[i] - '0');
        if (port > 65535)
            return "the port is larger than 65535";
    }
    if (length && !port)
        return "the port is 0";
    url->port = length ? (uint16_t)port : url->tls ? 443 : 80;
    return NULL;
}

/* "[address]" and what follows it. */
static const char *parse_ipv6(struct url *url, const char *text, size_t length)
{
    const char *end = memchr(text, ']', length);
    char literal[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (!end)
        return "the ']' of the IPv6 address is missing";
    url->ipv6 = true;
    url->host = text + 1;
    url->host_length = (size_t)(end - text) - 1;
    if (url->host_length >= sizeof literal)
        return "the IPv6 address is not valid";
    memcpy(literal, url->host, url->host_length);
    literal[url->host_length] = '\0';
    if (inet_pton(AF_INET6, literal, &address) != 1)
        return "the IPv6 address is not valid";
    size_t rest = length - url->host_length - 2;
    if (rest && end[1] != ':')
        return "the IPv6 address is followed by something that is no port";
    return rest ? parse_port(url, end + 2, rest - 1) : parse_port(url, end, 0);
}

/* What may stand in a host name: RFC 3986's unreserved characters and sub-delims; no percent-encoding, which no resolver undoes. */
static bool host_character(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("-._~!$&'()*+,;=", c));
}

static const char *parse_host(struct url *url, const char *text, size_t length)
{
    if (length && *text == '[')
        return parse_ipv6(url, text, length);
    const char *colon = memchr(text, ':', length);
    url->host = text;
    url->host_length = colon ? (size_t)(colon - text) : length;
    if (!url->host_length)
        return "the host is missing";
    if (url->host_length > 253)
        return "the host name is longer than 253 characters";
    for (size_t i = 0; i < url->host_length; i++) {
        if ((unsigned char)text[i] >= 0x80)
            return "the host name is not ASCII: write it as xn--…";
        if (!host_character((unsigned char)text[i]))
            return "the host name has a character that is not allowed";
    }
    return colon ? parse_port(url, colon + 1, length - url->host_length - 1) : parse_port(url, text, 0);
}

static const char *parse_authority(struct url *url, const char *text, size_t length)
{
    const char *at = memchr(text, '@', length);
    if (!at)
        return parse_host(url, text, length);
    url->userinfo = text;
    url->userinfo_length = (size_t)(at - text);
    return parse_host(url, at + 1, length - url->userinfo_length - 1);
}

static const char *check_characters(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ')
            return "the URL contains a blank (write %20)";
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return "the URL contains a control character";
    }
    return NULL;
}

/* How many bytes of `text` come before the first of `characters`. */
static size_t span_until(const char *text, size_t length, const char *characters)
{
    size_t i = 0;
    while (i < length && !strchr(characters, text[i]))
        i++;
    return i;
}

const char *url_parse(struct url *url, const char *text, size_t length)
{
    *url = (struct url){ 0 };
    const char *why = check_characters(text, length);
    if (why)
        return why;
    size_t start = parse_scheme(url, text, length);
    if (!start)
        return "the URL does not begin with http:// or https://";
    text += start;
    length = span_until(text, length - start, "#");
    size_t authority = span_until(text, length, "/?");
    url->path = text + authority;
    url->path_length = length - authority;
    return parse_authority(url, text, authority);
}
