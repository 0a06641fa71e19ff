/* Responses and what a client must make of them. The expected values are those of RFC 9110 and RFC 9112 (sections in the names); where these leave a choice, a
 * message that is not well-formed is refused. */
#ifndef LUABENCH_TESTS_UNIT_H1_CASES_H
#define LUABENCH_TESTS_UNIT_H1_CASES_H

#include "base/err.h"

enum ending { STAYS, FIN, RST };

struct response_case {
    const char *name;
    const char *bytes;
    const char *body;   /* NULL: none */
    size_t length;      /* of bytes; 0: strlen */
    size_t max_body;    /* 0: no limit */
    enum ending ending; /* what the peer does after the bytes */
    enum err error;
    int status;         /* 0 with an error */
    bool keep;          /* the connection can be used again */
    bool head;          /* the request is HEAD */
    bool lenient;
};

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define NEXT OK_HEAD "Content-Length: 2\r\n\r\nhi"

static const struct response_case cases[] = {
    /* lengths */
    { "Content-Length", OK_HEAD "Content-Length: 5\r\n\r\nhello", "hello", .status = 200, .keep = true },
    { "Content-Length: 0", OK_HEAD "Content-Length: 0\r\n\r\n", .status = 200, .keep = true },
    { "zero-padded Content-Length", OK_HEAD "Content-Length: 0005\r\n\r\nhello", "hello", .status = 200, .keep = true },
    { "blanks around the value", OK_HEAD "Content-Length: \t  5  \r\n\r\nhello", "hello", .status = 200, .keep = true },
    { "no blank before the value", OK_HEAD "content-length:5\r\n\r\nhello", "hello", .status = 200, .keep = true },
    { "ended by EOF, 9112 6.3", OK_HEAD "\r\nhello", "hello", .ending = FIN, .status = 200 },
    { "ended by EOF, empty", OK_HEAD "\r\n", .ending = FIN, .status = 200 },
    { "ended by EOF with close", OK_HEAD "Connection: close\r\n\r\nhello", "hello", .ending = FIN, .status = 200 },
    { "ended by EOF, but reset", OK_HEAD "\r\nhello", .ending = RST, .error = ERR_RESET },
    { "longer than announced", OK_HEAD "Content-Length: 5\r\n\r\nhello!", "hello", .status = 200 },
    { "two responses", NEXT NEXT, "hi", .status = 200 },
    { "CRLF after the body", NEXT "\r\n", "hi", .status = 200 },
    { "shorter, then FIN, 9112 8", OK_HEAD "Content-Length: 5\r\n\r\nhell", .ending = FIN, .error = ERR_CLOSED },
    { "shorter, then RST", OK_HEAD "Content-Length: 5\r\n\r\nhell", .ending = RST, .error = ERR_RESET },
    { "two equal lengths", OK_HEAD "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "two different lengths, 9112 6.3", OK_HEAD "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", .error = ERR_PROTOCOL },
    { "list of lengths", OK_HEAD "Content-Length: 2, 3\r\n\r\nhi!", .error = ERR_PROTOCOL },
    { "negative length", OK_HEAD "Content-Length: -2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "signed length", OK_HEAD "Content-Length: +2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "hexadecimal length", OK_HEAD "Content-Length: 0x2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "length with letters", OK_HEAD "Content-Length: 2a\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "empty length", OK_HEAD "Content-Length: \r\n\r\nhi", .error = ERR_PROTOCOL },
    { "length of 2^64", OK_HEAD "Content-Length: 18446744073709551616\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "length of 2^64 - 1, limited", OK_HEAD "Content-Length: 18446744073709551615\r\n\r\nhi", .max_body = 1000, .error = ERR_TOO_LARGE },
    { "as large as allowed", OK_HEAD "Content-Length: 5\r\n\r\nhello", "hello", .max_body = 5, .status = 200, .keep = true },
    { "announced larger than allowed", OK_HEAD "Content-Length: 5\r\n\r\nh", .max_body = 4, .error = ERR_TOO_LARGE },
    { "EOF, larger than allowed", OK_HEAD "\r\nhello", .max_body = 4, .ending = FIN, .error = ERR_TOO_LARGE },
    { "EOF, as large as allowed", OK_HEAD "\r\nhello", "hello", .max_body = 5, .ending = FIN, .status = 200 },
    { "205", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", .status = 205, .keep = true },

    /* no body whatever the fields say, 9112 6.3 */
    { "HEAD", OK_HEAD "\r\n", .head = true, .status = 200, .keep = true },
    { "HEAD with Content-Length", OK_HEAD "Content-Length: 1000\r\n\r\n", .head = true, .status = 200, .keep = true },
    { "HEAD with a large Content-Length", OK_HEAD "Content-Length: 1000\r\n\r\n", .max_body = 10, .head = true, .status = 200, .keep = true },
    { "HEAD with chunked", CHUNKED, .head = true, .status = 200, .keep = true },
    { "HEAD with close", OK_HEAD "Connection: close\r\n\r\n", .head = true, .status = 200 },
    { "HEAD with a body all the same", NEXT, .head = true, .status = 200 },
    { "204", "HTTP/1.1 204 No Content\r\n\r\n", .status = 204, .keep = true },
    { "204 with Content-Length", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", .status = 204, .keep = true },
    { "204 with chunked", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", .status = 204, .keep = true },
    { "304", "HTTP/1.1 304 Not Modified\r\n\r\n", .status = 304, .keep = true },
    { "304 with Content-Length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", .status = 304, .keep = true },
    { "304 with chunked", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", .status = 304, .keep = true },

    /* interim responses, 9110 15.2 */
    { "100", "HTTP/1.1 100 Continue\r\n\r\n" NEXT, "hi", .status = 200, .keep = true },
    { "100 twice", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" NEXT, "hi", .status = 200, .keep = true },
    { "100 with Content-Length", "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n" NEXT, "hi", .status = 200, .keep = true },
    { "102, 103", "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" NEXT, "hi", .status = 200, .keep = true },
    { "199", "HTTP/1.1 199 x\r\n\r\n" NEXT, "hi", .status = 200, .keep = true },
    { "100 to HEAD", "HTTP/1.1 100 Continue\r\n\r\n" OK_HEAD "Content-Length: 5\r\n\r\n", .head = true, .status = 200, .keep = true },
    { "100, then FIN", "HTTP/1.1 100 Continue\r\n\r\n", .ending = FIN, .error = ERR_CLOSED },
    { "100, then garbage", "HTTP/1.1 100 Continue\r\n\r\nxyz\r\n", .error = ERR_PROTOCOL },
    { "101 unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc", .error = ERR_PROTOCOL },
    { "101 without fields", "HTTP/1.1 101 Switching Protocols\r\n\r\n" NEXT, .error = ERR_PROTOCOL },

    /* chunked, 9112 7.1 */
    { "chunked", CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", .status = 200, .keep = true },
    { "chunked, empty", CHUNKED "0\r\n\r\n", .status = 200, .keep = true },
    { "chunked, CHUNKED", OK_HEAD "TRANSFER-ENCODING: CHUNKED\r\n\r\n1\r\na\r\n0\r\n\r\n", "a", .status = 200, .keep = true },
    { "chunked after gzip", OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "a", .status = 200, .keep = true },
    { "chunked not last, 9112 6.3", OK_HEAD "Transfer-Encoding: chunked, gzip\r\n\r\nabc", "abc", .ending = FIN, .status = 200 },
    { "unknown transfer coding", OK_HEAD "Transfer-Encoding: foo\r\n\r\nabc", "abc", .ending = FIN, .status = 200 },
    { "extensions", CHUNKED "5;a=b;c\r\nhello\r\n1 ; q=\"x \\\" y\"\r\n!\r\n0;end\r\n\r\n", "hello!", .status = 200, .keep = true },
    { "blanks after the size", CHUNKED "5  \r\nhello\r\n0 \r\n\r\n", "hello", .status = 200, .keep = true },
    { "control character in an extension", CHUNKED "5;a\x01\r\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunked, lines ended by LF, lenient", OK_HEAD "Transfer-Encoding: chunked\n\n5;x\nhello\n1\r\n!\n0\nX: y\n\n", "hello!", .lenient = true, .status = 200, .keep = true },
    { "chunk longer than its size, lenient", CHUNKED "4\nhello\n0\n\n", .lenient = true, .error = ERR_PROTOCOL },
    { "trailer without a name", CHUNKED "2\r\nhi\r\n0\r\n: 1\r\n\r\n", .error = ERR_PROTOCOL },
    { "trailer without a colon", CHUNKED "2\r\nhi\r\n0\r\nnonsense\r\n\r\n", .error = ERR_PROTOCOL },
    { "trailer ended by LF", CHUNKED "2\r\nhi\r\n0\r\nX: y\n\r\n", .error = ERR_PROTOCOL },
    { "last chunk ended by LF", CHUNKED "2\r\nhi\r\n0\r\n\n", .error = ERR_PROTOCOL },
    { "trailers", CHUNKED "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Other:\r\n\r\n", "hello", .status = 200, .keep = true },
    { "Content-Length among the trailers", CHUNKED "2\r\nhi\r\n0\r\nContent-Length: 9\r\n\r\n", "hi", .status = 200, .keep = true },
    { "upper-case and zero-padded sizes", CHUNKED "00A\r\n0123456789\r\n0000b\r\n01234567890\r\n0000\r\n\r\n", "012345678901234567890", .status = 200, .keep = true },
    { "chunked, more than the response", CHUNKED "2\r\nhi\r\n0\r\n\r\nx", "hi", .status = 200 },
    { "chunked, FIN before the last chunk", CHUNKED "5\r\nhello\r\n", .ending = FIN, .error = ERR_CLOSED },
    { "chunked, FIN in the trailers", CHUNKED "5\r\nhello\r\n0\r\nX: 1\r\n", .ending = FIN, .error = ERR_CLOSED },
    { "chunked, RST", CHUNKED "5\r\nhe", .ending = RST, .error = ERR_RESET },
    { "chunk size no number", CHUNKED "xyz\r\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk size missing", CHUNKED "\r\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk size negative", CHUNKED "-5\r\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk size of 2^64", CHUNKED "10000000000000000\r\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk longer than its size", CHUNKED "4\r\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk size ended by LF", CHUNKED "5\nhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk ended by LF", CHUNKED "5\r\nhello\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk size ended by CR and more", CHUNKED "5\rxhello\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunk ended by CR and more", CHUNKED "5\r\nhello\rx0\r\n\r\n", .error = ERR_PROTOCOL },
    { "chunked, larger than allowed", CHUNKED "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", .max_body = 4, .error = ERR_TOO_LARGE },
    { "chunked, as large as allowed", CHUNKED "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello", .max_body = 5, .status = 200, .keep = true },
    { "Content-Length before chunked", OK_HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "Content-Length after chunked", OK_HEAD "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "Content-Length: 0 with chunked", OK_HEAD "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .error = ERR_PROTOCOL },
    { "Content-Length with another coding", OK_HEAD "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello", .error = ERR_PROTOCOL },
    { "chunked in HTTP/1.0, 9112 6.1", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "a", .status = 200 },

    /* connections, 9112 9.3 */
    { "close", OK_HEAD "Connection: close\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200 },
    { "Close", OK_HEAD "Connection: Close\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200 },
    { "close in a list", OK_HEAD "Connection: foo, close\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200 },
    { "closed, a word of its own", OK_HEAD "Connection: closed\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200 },
    { "HTTP/1.0 with keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "HTTP/1.0 with Keep-Alive", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "HTTP/1.0 with keep-alive and EOF", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhi", "hi", .ending = FIN, .status = 200 },
    { "503 keeps the connection", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 503, .keep = true },
    { "FIN at once", "", .ending = FIN, .error = ERR_CLOSED },
    { "RST at once", "", .ending = RST, .error = ERR_RESET },
    { "FIN in the status line", "HTTP/1.1 20", .ending = FIN, .error = ERR_CLOSED },
    { "FIN in the head", OK_HEAD "Content-Length: 5\r\n", .ending = FIN, .error = ERR_CLOSED },

    /* status lines, 9112 4 */
    { "no reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "no reason and no blank", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "long reason", "HTTP/1.1 200 all \t is \xc3\xb6kay \r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "status 100 to 599", "HTTP/1.1 599 x\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 599, .keep = true },
    { "status of one digit", "HTTP/1.1 2 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "status of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "status of four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "status 099", "HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "status 600", "HTTP/1.1 600 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "status with letters", "HTTP/1.1 2x0 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "two blanks", "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "no status", "HTTP/1.1 \r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "HTTP/2.0", "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "HTTP/0.9", "HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "another protocol", "ICY 200 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "lower case", "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "blank line first", "\r\n" NEXT, .error = ERR_PROTOCOL },
    { "a page without a head", "<html>hi</html>", .error = ERR_PROTOCOL },
    { "a banner", "SSH-2.0-OpenSSH_9.2\r\n", .error = ERR_PROTOCOL },
    { "zeros", "\0\0\0\0", .length = 4, .error = ERR_PROTOCOL },
    { "a TLS alert", "\x15\x03\x01\0\x02\x02\x46", .length = 7, .error = ERR_PROTOCOL },

    /* fields, 9112 5, and ends of lines, 9112 2.2 */
    { "LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", .error = ERR_PROTOCOL },
    { "LF alone at the status line", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "LF alone at a field", "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nhi", .error = ERR_PROTOCOL },
    { "LF alone at the end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nhi", .error = ERR_PROTOCOL },
    { "LF alone, lenient", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "hi", .lenient = true, .status = 200, .keep = true },
    { "mixed, lenient", "HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\r\n\nhi", "hi", .lenient = true, .status = 200, .keep = true },
    { "CRLF, lenient", NEXT, "hi", .lenient = true, .status = 200, .keep = true },
    { "garbage, lenient", "xyz\n\n", .lenient = true, .error = ERR_PROTOCOL },
    { "CR alone in the end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\rhi", .error = ERR_PROTOCOL },
    { "CR alone in a value", OK_HEAD "X: a\rb\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "folded, 9112 5.2", OK_HEAD "X: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "NUL in a value", OK_HEAD "X: a\0b\r\nContent-Length: 2\r\n\r\nhi", .length = 17 + 8 + 19 + 2 + 2, .error = ERR_PROTOCOL },
    { "control character in a value", OK_HEAD "X: a\x01\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "bytes above 127 in a value", OK_HEAD "X: \xff\x80\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "empty values", OK_HEAD "X:\r\nY: \r\nZ:\t\r\nContent-Length: 2\r\n\r\nhi", "hi", .status = 200, .keep = true },
    { "empty name", OK_HEAD ": x\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "no colon", OK_HEAD "nonsense\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
    { "blank in a name", OK_HEAD "X Y: z\r\nContent-Length: 2\r\n\r\nhi", .error = ERR_PROTOCOL },
};

#endif
