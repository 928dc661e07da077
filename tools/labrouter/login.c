#include "login.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH = SHA256_DIGEST_LENGTH, TEXT = 1024 };

static void sign(const uint8_t *key, const char *words, uint8_t *out) {
    HMAC(EVP_sha256(), key, HASH, (const uint8_t *)words, strlen(words), out, NULL);
}

/* The value of "x=value" in a SCRAM message, which is a list with commas. */
static bool attribute(const char *message, char name, char *value) {
    for (const char *at = message; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (at[0] == name && at[1] == '=') {
            const size_t length = strcspn(at + 2, ",");
            memcpy(value, at + 2, length);
            value[length] = '\0';
            return true;
        }
    }
    return false;
}

/* One step of the conversation; the server's message is in `said`. */
static bool step(login_ask_t ask, void *context, const char *database, bson_t *command, const char *words,
                 int32_t *talk, char *said, problem_t *problem) {
    bson_t reply;
    bson_iter_t iter;
    const uint8_t *payload;
    uint32_t length;
    bson_append_binary(command, "payload", -1, BSON_SUBTYPE_BINARY, (const uint8_t *)words,
                       (uint32_t)strlen(words));
    bool ok = ask(context, database, command, &reply, problem);
    bson_destroy(command);
    if (!ok)
        return false;
    ok = bson_iter_init_find(&iter, &reply, "payload") && BSON_ITER_HOLDS_BINARY(&iter);
    if (ok) {
        bson_iter_binary(&iter, NULL, &length, &payload);
        ok = length < TEXT;
    }
    if (ok) {
        memcpy(said, payload, length);
        said[length] = '\0';
        *talk = bson_iter_init_find(&iter, &reply, "conversationId") ? bson_iter_int32(&iter) : 1;
    } else {
        const bool has_text = bson_iter_init_find(&iter, &reply, "errmsg") && BSON_ITER_HOLDS_UTF8(&iter);
        problem_set(problem, CODE_LOGIN_FAILED, "the login was refused: %s",
                    has_text ? bson_iter_utf8(&iter, NULL) : "no reason given");
    }
    bson_destroy(&reply);
    return ok;
}

static bool salt_password(const char *challenge, const char *password, uint8_t *salted) {
    char salt64[TEXT], rounds[TEXT];
    uint8_t salt[TEXT];
    if (!attribute(challenge, 's', salt64) || !attribute(challenge, 'i', rounds))
        return false;
    int length = EVP_DecodeBlock(salt, (const uint8_t *)salt64, (int)strlen(salt64));
    for (size_t end = strlen(salt64); end && salt64[end - 1] == '='; end--)
        length--;
    return length > 0 && PKCS5_PBKDF2_HMAC(password, (int)strlen(password), salt, length, atoi(rounds),
                                           EVP_sha256(), HASH, salted) == 1;
}

bool login(login_ask_t ask, void *context, const char *user, const char *password, problem_t *problem) {
    /* The cluster's own user, whose password is the key file, lives in another database than people. */
    const char *database = strcmp(user, "__system") == 0 ? "local" : "admin";
    char nonce[64], first[TEXT / 2], words[4 * TEXT], challenge[TEXT], theirs[TEXT], final[2 * TEXT],
        proof64[64];
    uint8_t random[24], salted[HASH], key[HASH], stored[HASH], signature[HASH], proof[HASH];
    int32_t talk = 1;

    RAND_bytes(random, sizeof random);
    EVP_EncodeBlock((uint8_t *)nonce, random, sizeof random);
    snprintf(first, sizeof first, "n=%s,r=%s", user, nonce);
    snprintf(words, sizeof words, "n,,%s", first);
    if (!step(ask, context, database,
              BCON_NEW("saslStart", BCON_INT32(1), "mechanism", "SCRAM-SHA-256", "options", "{",
                       "skipEmptyExchange", BCON_BOOL(true), "}"),
              words, &talk, challenge, problem))
        return false;
    if (!attribute(challenge, 'r', theirs) || strncmp(theirs, nonce, strlen(nonce)) != 0 ||
        !salt_password(challenge, password, salted))
        return problem_set(problem, CODE_LOGIN_FAILED, "the server's login challenge cannot be understood");

    snprintf(final, sizeof final, "c=biws,r=%s", theirs);
    snprintf(words, sizeof words, "%s,%s,%s", first, challenge, final);
    sign(salted, "Client Key", key);
    SHA256(key, HASH, stored);
    sign(stored, words, signature);
    for (int i = 0; i < HASH; i++)
        proof[i] = key[i] ^ signature[i];
    EVP_EncodeBlock((uint8_t *)proof64, proof, HASH);
    snprintf(words, sizeof words, "%s,p=%s", final, proof64);
    return step(ask, context, database,
                BCON_NEW("saslContinue", BCON_INT32(1), "conversationId", BCON_INT32(talk)), words, &talk,
                challenge, problem);
}
