/* Secrets of this room: URLs that are signed in advance, keys and tokens. They lie in pages of their own, which the kernel
 * leaves out of cores, and are overwritten before these are given back. */
#include "input/remote/transport.h"

#include <string.h>
#include <sys/mman.h>

char *secret_keep(const char *text, size_t length) {
    const size_t size = sizeof(size_t) + length + 1;
    size_t *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, size, MADV_DONTDUMP);
    *pages = size;
    return memcpy(pages + 1, text, length);
}

void secret_free(char *secret) {
    if (!secret)
        return;
    size_t *pages = (size_t *)(void *)secret - 1;
    const size_t size = *pages;
    explicit_bzero(pages, size);
    munmap(pages, size);
}

void secret_free_text(text_t *text) {
    if (text->bytes)
        explicit_bzero(text->bytes, text->room);
    text_free(text);
}
