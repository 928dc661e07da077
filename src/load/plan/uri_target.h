/* uri_target: which collection a URI names, before anybody connects. */
#ifndef TIPPLE_LOAD_PLAN_URI_TARGET_H
#define TIPPLE_LOAD_PLAN_URI_TARGET_H

/* "mot.results", which the caller frees. NULL: the URI is bad, which is told where it is used. */
char *uri_target(const char *uri);

#endif
