#include "server/server_errors.h"
#include "base/text.h"

#include <string.h>

const char code_hint_room[] = "make room there, then run the same command again";

/* clang-format off */
#define DOCUMENT(code, name)            {code, CODE_OF_DOCUMENT, STATUS_SERVER, NULL}
#define NOT_ALLOWED(code, name)         {code, CODE_NOT_ALLOWED, STATUS_USAGE, NULL}
#define STATE(code, name, status, hint) {code, CODE_STATE, status, hint}

/* Names are those of the server's own list, src/mongo/base/error_codes.yml; where it has none (from 13,000 on), they are
 * ours. */
static const code_row_t rows[] = {
    DOCUMENT(2, BadValue), /* for example an _id that is an array */
    NOT_ALLOWED(11, UserNotFound),
    NOT_ALLOWED(13, Unauthorized),
    DOCUMENT(15, Overflow), /* nested too deeply */
    NOT_ALLOWED(18, AuthenticationFailed),
    STATE(20, IllegalOperation, STATUS_SERVER, "is the server read-only, or the collection one of its own?"),
    DOCUMENT(52, DollarPrefixedFieldName),
    DOCUMENT(53, InvalidIdField),
    DOCUMENT(61, ShardKeyNotFound), /* also where the key's field is in an array */
    {64, CODE_PASSING, STATUS_SERVER, "are enough members of the replica set up?"}, /* WriteConcernTimeout */
    STATE(73, InvalidNamespace, STATUS_USAGE, "correct /DATABASE.COLLECTION in the URI"),
    STATE(79, UnknownReplWriteConcern, STATUS_USAGE, "correct w= in the URI"),
    STATE(100, UnsatisfiableWriteConcern, STATUS_USAGE,
          "w= in the URI asks for more members than the replica set has"),
    STATE(115, CommandNotSupported, STATUS_USAGE, "the server cannot do this"),
    DOCUMENT(121, DocumentValidationFailure),
    STATE(166, CommandNotSupportedOnView, STATUS_USAGE, "name a collection, not a view"),
    DOCUMENT(171, CannotIndexParallelArrays),
    NOT_ALLOWED(214, AuthenticationRestrictionUnmet),
    STATE(264, TooManyFilesOpen, STATUS_SERVER, "raise the server's limit of open files (ulimit -n)"),
    STATE(322, APIVersionError, STATUS_USAGE, NULL),
    STATE(323, APIStrictError, STATUS_USAGE, NULL),
    NOT_ALLOWED(334, MechanismUnavailable),
    STATE(361, CollectionUUIDMismatch, STATUS_SERVER,
          "the collection was dropped, or made again, or resharded, or given another name while it was "
          "loaded, or the URI names hosts that do not belong together: see what is there; --drop starts over"),
    STATE(371, UserWritesBlocked, STATUS_SERVER, "writes are blocked: setUserWriteBlockMode"),
    NOT_ALLOWED(391, ReauthenticationRequired),
    STATE(8000, AtlasError, STATUS_SERVER, NULL),
    DOCUMENT(10334, BSONObjectTooLarge),
    DOCUMENT(13027, PointOutOf2dIndex), /* a point that is not in a 2d index's bounds */
    STATE(13297, DatabaseDifferCase, STATUS_USAGE,
          "a database of this name in other letters is there: use its spelling"),
    STATE(14031, OutOfDiskSpace, STATUS_SERVER, code_hint_room),
    DOCUMENT(16755, NoGeometryFor2dsphere), /* no geometry, for a 2dsphere index */
    DOCUMENT(16766, ArrayInHashedIndex), /* an array, for a hashed index */
    DOCUMENT(17262, LanguageOfTextIndex), /* a language that a text index does not know */
    DOCUMENT(17280, KeyTooLong),
    DOCUMENT(5894900, ValueForIndex), /* a value that the index cannot hold */
};

/* Another try is worth it, and a write may have happened. The names are in the line before. */
static const int passing[] = {
    /* HostUnreachable, HostNotFound, LockTimeout, CursorNotFound, LockBusy, MaxTimeMSExpired */
    6, 7, 24, 43, 46, 50,
    /* StaleShardVersion, ShardNotFound, ReplicaSetNotFound, NodeNotFound, NoProgressMade */
    63, 70, 71, 74, 82,
    /* RemoteResultsUnavailable, NetworkTimeout, CallbackCanceled, ShutdownInProgress, NotYetInitialized */
    83, 89, 90, 91, 94,
    /* LockFailed, ConfigurationInProgress, WriteConflict, ConflictingOperationInProgress */
    107, 109, 112, 117,
    /* FailedToSatisfyReadPreference, ReadConcernMajorityNotAvailableYet, StaleTerm, PooledConnectionsDropped */
    133, 134, 135, 145,
    /* NoConfigPrimary, StaleEpoch, TransportSessionClosed, QueryPlanKilled, PrimarySteppedDown */
    149, 150, 172, 175, 189,
    /* BalancerInterrupted, ReplicaSetMonitorRemoved, ChunkRangeCleanupPending */
    194, 199, 200,
    /* NetworkInterfaceExceededTimeLimit, ShardingStateNotInitialized, TooManyLocks, StaleClusterTime */
    202, 203, 208, 209,
    /* KeyNotFound, DatabaseDropPending, ElectionInProgress, TransactionTooOld, CursorKilled, SnapshotTooOld */
    211, 215, 216, 225, 237, 239,
    /* BrokenPromise, SnapshotUnavailable, ProducerConsumerQueueBatchTooLarge, StaleDbVersion */
    245, 246, 247, 249,
    /* StaleChunkHistory, NoSuchTransaction, TooManyLogicalSessions, ExceededTimeLimit */
    250, 251, 261, 262,
    /* PreparedTransactionInProgress, MigrationConflict, ClientDisconnect */
    267, 272, 279,
    /* TransactionExceededLifetimeLimitSeconds, SplitHorizonChange, ReadThroughCacheLookupCanceled */
    290, 303, 306,
    /* CurrentConfigNotCommittedYet, ObjectIsBusy, ConnectionPoolExpired, MovePrimaryInProgress */
    308, 314, 317, 319,
    /* CannotDowngrade, ServiceExecutorInShutdown, ReshardCollectionInProgress */
    332, 333, 338,
    /* ReshardingCriticalSectionTimeout, ShardCannotRefreshDueToLocksHeld, InterruptedDueToStorageChange */
    342, 343, 355,
    /* InternalTransactionNotSupported, PlacementVersionRefreshCanceled, RetryableTransactionInProgress */
    358, 360, 363,
    /* TemporarilyUnavailable, CloseConnectionForShutdownCommand, DatabaseMetadataRefreshCanceled */
    365, 372, 379,
    /* RemoteCommandExecutionError, ConnectionError, ResourceExhausted */
    382, 384, 402,
    /* MigrationBlockingOperationCoordinatorCleaningUp, PooledConnectionAcquisitionExceededTimeLimit */
    406, 407,
    /* UpdatesStillPending, AddOrRemoveShardInProgress, AdmissionQueueOverflow */
    412, 414, 433,
    /* DatabaseMetadataRefreshCanceledDueToFCVTransition, RateLimitExceeded */
    445, 449,
    /* PooledConnectionAcquisitionRejected, SocketException, LegacyNotPrimary, NotWritablePrimary */
    450, 9001, 10058, 10107,
    /* InterruptedAtShutdown, Interrupted, InterruptedDueToReplStateChange, StaleConfig */
    11600, 11601, 11602, 13388,
    /* NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary */
    13435, 13436,
};
/* clang-format on */

code_row_t code_row(int code) {
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].code == code)
            return rows[i];
    for (size_t i = 0; i < COUNT(passing); i++)
        if (passing[i] == code)
            return (code_row_t){code, CODE_PASSING, STATUS_SERVER, NULL};
    return (code_row_t){code, CODE_UNKNOWN, STATUS_SERVER, NULL};
}

code_class_t code_class(int code, const char *words) {
    const code_class_t class = code_row(code).class;
    const bool full = words && (strstr(words, "No space left") || strstr(words, "not enough disk space"));
    return class == CODE_UNKNOWN && full ? CODE_STATE : class;
}

bool code_rejects(int code) {
    return code_row(code).class == CODE_OF_DOCUMENT;
}
