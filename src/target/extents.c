#include "target/extents.h"
#include "target/books.h"

#include <stdlib.h>

typedef struct {
    extent_t extent;
    const catalog_file_t *file;
} stretch_t;

struct extents {
    book_t *books; /* by ordinal */
    size_t book_count;
    stretch_t *stretches; /* by base; extents never overlap */
    size_t stretch_count;
};

static int by_base(const void *a, const void *b) {
    const stretch_t *left = a, *right = b;
    return (left->extent.base > right->extent.base) - (left->extent.base < right->extent.base);
}

static bool collect(extents_t *extents, err_t *err) {
    size_t count = 0;
    for (size_t i = 0; i < extents->book_count; i++)
        count += extents->books[i].file->extent_count;
    if (!(extents->stretches = malloc((count + 1) * sizeof *extents->stretches)))
        return err_memory(err, count * sizeof *extents->stretches);
    for (size_t i = 0; i < extents->book_count; i++) {
        const catalog_file_t *file = extents->books[i].file;
        for (size_t j = 0; j < file->extent_count; j++)
            extents->stretches[extents->stretch_count++] = (stretch_t){file->extents[j], file};
    }
    qsort(extents->stretches, extents->stretch_count, sizeof *extents->stretches, by_base);
    return true;
}

extents_t *extents_read(catalog_t *catalog, err_t *err) {
    extents_t *extents = calloc(1, sizeof *extents);
    if (!extents) {
        err_memory(err, sizeof *extents);
        return NULL;
    }
    if (books_read_files(catalog, &extents->books, &extents->book_count, err) && collect(extents, err))
        return extents;
    extents_free(extents);
    return NULL;
}

void extents_free(extents_t *extents) {
    if (!extents)
        return;
    free(extents->books);
    free(extents->stretches);
    free(extents);
}

size_t extents_files(const extents_t *extents) {
    return extents->book_count;
}

const catalog_file_t *extents_file(const extents_t *extents, uint32_t ordinal) {
    size_t low = 0, high = extents->book_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (extents->books[middle].file->ordinal < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    return low < extents->book_count && extents->books[low].file->ordinal == ordinal
               ? extents->books[low].file
               : NULL;
}

/* Extents are only ever added. */
bool extents_equal(const extents_t *a, const extents_t *b) {
    return a->stretch_count == b->stretch_count;
}

const catalog_file_t *extents_find(const extents_t *extents, uint64_t voff, uint64_t *offset) {
    size_t low = 0, high = extents->stretch_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (extents->stretches[middle].extent.base <= voff)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const stretch_t *stretch = &extents->stretches[low - 1];
    if (voff - stretch->extent.base >= stretch->extent.length)
        return NULL;
    *offset = stretch->extent.start + (voff - stretch->extent.base);
    return stretch->file;
}
