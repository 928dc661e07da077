/* wire: what the small programs of the bench need to talk to a server on this machine: messages, a
 * connection, a file in memory. Whatever fails ends the program with a line. */
#ifndef TIPPLE_BENCH_WIRE_H
#define TIPPLE_BENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEADER = 16, OP_MSG = 2013, MOST_REPLY = 1 << 20 };

_Noreturn void die(const char *words, ...) __attribute__((format(printf, 1, 2)));
void *need(void *memory); /* the same, or the end */
uint32_t number(const char *text, uint32_t most);
uint8_t *read_file(const char *path, size_t *length);

uint32_t read32(const uint8_t *at);

/* These give where the next byte goes. */
uint8_t *put32(uint8_t *at, uint32_t value);
uint8_t *put_key(uint8_t *at, uint8_t type, const char *key);
uint8_t *put_text(uint8_t *at, const char *key, const char *text);
uint8_t *put_bool(uint8_t *at, const char *key, bool value);
uint8_t *close_document(uint8_t *start, uint8_t *at); /* whose length stands at its start */

int dial(uint16_t port);
bool send_all(int fd, const uint8_t *bytes, size_t length);
size_t receive(int fd, uint8_t *reply); /* a whole message; its length, or 0 */

#endif
