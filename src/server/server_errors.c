#include "server/server_errors.h"
#include "base/text.h"

#include <string.h>

const char code_hint_room[] = "make room there, then run the same command again";

#define MEMBERS "are enough members of the replica set up?"

/* clang-format off */
#define PASSING(code, name)             {code, CODE_PASSING, STATUS_SERVER, NULL}
#define DOCUMENT(code, name)            {code, CODE_OF_DOCUMENT, STATUS_SERVER, NULL}
#define NOT_ALLOWED(code, name)         {code, CODE_NOT_ALLOWED, STATUS_USAGE, NULL}
#define STATE(code, name, status, hint) {code, CODE_STATE, status, hint}

/* Sorted by code. Names are those of the server's own list, src/mongo/base/error_codes.yml; where it has none (from
 * 13,000 on), they are ours. */
static const code_row_t rows[] = {
    DOCUMENT(2, BadValue), /* for example an _id that is an array */
    PASSING(6, HostUnreachable),
    PASSING(7, HostNotFound),
    NOT_ALLOWED(11, UserNotFound),
    NOT_ALLOWED(13, Unauthorized),
    DOCUMENT(15, Overflow), /* nested too deeply */
    NOT_ALLOWED(18, AuthenticationFailed),
    STATE(20, IllegalOperation, STATUS_SERVER, "is the server read-only, or the collection one of its own?"),
    PASSING(24, LockTimeout),
    PASSING(43, CursorNotFound),
    PASSING(46, LockBusy),
    PASSING(50, MaxTimeMSExpired),
    DOCUMENT(52, DollarPrefixedFieldName),
    DOCUMENT(53, InvalidIdField),
    DOCUMENT(61, ShardKeyNotFound), /* also where the key's field is in an array */
    PASSING(63, StaleShardVersion),
    {64, CODE_PASSING, STATUS_SERVER, MEMBERS}, /* WriteConcernTimeout */
    PASSING(70, ShardNotFound), /* the router reads its list again */
    PASSING(71, ReplicaSetNotFound), /* its monitor has just begun */
    PASSING(74, NodeNotFound),
    STATE(79, UnknownReplWriteConcern, STATUS_USAGE, "correct w= in the URI"),
    PASSING(82, NoProgressMade), /* a router whose map of the chunks was old too often */
    PASSING(83, RemoteResultsUnavailable),
    PASSING(89, NetworkTimeout),
    PASSING(90, CallbackCanceled),
    PASSING(91, ShutdownInProgress),
    PASSING(94, NotYetInitialized),
    STATE(100, UnsatisfiableWriteConcern, STATUS_USAGE,
          "w= in the URI asks for more members than the replica set has"),
    PASSING(107, LockFailed),
    PASSING(109, ConfigurationInProgress),
    PASSING(112, WriteConflict),
    STATE(115, CommandNotSupported, STATUS_USAGE, "the server cannot do this"),
    PASSING(117, ConflictingOperationInProgress),
    DOCUMENT(121, DocumentValidationFailure),
    PASSING(133, FailedToSatisfyReadPreference),
    PASSING(134, ReadConcernMajorityNotAvailableYet),
    PASSING(135, StaleTerm),
    PASSING(145, PooledConnectionsDropped),
    PASSING(149, NoConfigPrimary),
    PASSING(150, StaleEpoch),
    STATE(166, CommandNotSupportedOnView, STATUS_USAGE, "name a collection, not a view"),
    DOCUMENT(171, CannotIndexParallelArrays),
    PASSING(172, TransportSessionClosed),
    PASSING(175, QueryPlanKilled),
    PASSING(189, PrimarySteppedDown),
    PASSING(194, BalancerInterrupted),
    PASSING(199, ReplicaSetMonitorRemoved),
    PASSING(200, ChunkRangeCleanupPending),
    PASSING(202, NetworkInterfaceExceededTimeLimit),
    PASSING(203, ShardingStateNotInitialized), /* the shard has just begun */
    PASSING(208, TooManyLocks),
    PASSING(209, StaleClusterTime),
    PASSING(211, KeyNotFound), /* a member has not read the newest key of the cluster's time yet */
    NOT_ALLOWED(214, AuthenticationRestrictionUnmet),
    PASSING(215, DatabaseDropPending),
    PASSING(216, ElectionInProgress),
    PASSING(225, TransactionTooOld),
    PASSING(237, CursorKilled),
    PASSING(239, SnapshotTooOld),
    PASSING(245, BrokenPromise),
    PASSING(246, SnapshotUnavailable),
    PASSING(247, ProducerConsumerQueueBatchTooLarge), /* a queue between servers */
    PASSING(249, StaleDbVersion),
    PASSING(250, StaleChunkHistory),
    PASSING(251, NoSuchTransaction),
    PASSING(261, TooManyLogicalSessions),
    PASSING(262, ExceededTimeLimit),
    STATE(264, TooManyFilesOpen, STATUS_SERVER, "raise the server's limit of open files (ulimit -n)"),
    PASSING(267, PreparedTransactionInProgress),
    PASSING(272, MigrationConflict),
    PASSING(279, ClientDisconnect),
    PASSING(290, TransactionExceededLifetimeLimitSeconds),
    PASSING(303, SplitHorizonChange),
    PASSING(306, ReadThroughCacheLookupCanceled),
    PASSING(308, CurrentConfigNotCommittedYet),
    PASSING(314, ObjectIsBusy),
    PASSING(317, ConnectionPoolExpired),
    PASSING(319, MovePrimaryInProgress),
    STATE(322, APIVersionError, STATUS_USAGE, NULL),
    STATE(323, APIStrictError, STATUS_USAGE, NULL),
    PASSING(332, CannotDowngrade), /* the cluster is changing its version */
    PASSING(333, ServiceExecutorInShutdown),
    NOT_ALLOWED(334, MechanismUnavailable),
    PASSING(338, ReshardCollectionInProgress),
    PASSING(342, ReshardingCriticalSectionTimeout),
    PASSING(343, ShardCannotRefreshDueToLocksHeld),
    PASSING(355, InterruptedDueToStorageChange),
    PASSING(358, InternalTransactionNotSupported),
    PASSING(360, PlacementVersionRefreshCanceled),
    STATE(361, CollectionUUIDMismatch, STATUS_SERVER,
          "the collection was dropped, or made again, or resharded, or given another name while it was "
          "loaded, or the URI names hosts that do not belong together: see what is there; --drop starts over"),
    PASSING(363, RetryableTransactionInProgress),
    PASSING(365, TemporarilyUnavailable),
    STATE(371, UserWritesBlocked, STATUS_SERVER, "writes are blocked: setUserWriteBlockMode"),
    PASSING(372, CloseConnectionForShutdownCommand),
    PASSING(379, DatabaseMetadataRefreshCanceled),
    PASSING(382, RemoteCommandExecutionError),
    PASSING(384, ConnectionError),
    NOT_ALLOWED(391, ReauthenticationRequired),
    PASSING(402, ResourceExhausted),
    PASSING(406, MigrationBlockingOperationCoordinatorCleaningUp),
    PASSING(407, PooledConnectionAcquisitionExceededTimeLimit),
    PASSING(412, UpdatesStillPending),
    PASSING(414, AddOrRemoveShardInProgress),
    PASSING(433, AdmissionQueueOverflow),
    PASSING(445, DatabaseMetadataRefreshCanceledDueToFCVTransition),
    PASSING(449, RateLimitExceeded),
    PASSING(450, PooledConnectionAcquisitionRejected),
    STATE(8000, AtlasError, STATUS_SERVER, NULL),
    PASSING(9001, SocketException),
    PASSING(10058, LegacyNotPrimary),
    PASSING(10107, NotWritablePrimary),
    DOCUMENT(10334, BSONObjectTooLarge),
    PASSING(11600, InterruptedAtShutdown),
    PASSING(11601, Interrupted),
    PASSING(11602, InterruptedDueToReplStateChange),
    DOCUMENT(13027, PointOutOf2dIndex), /* a point that is not in a 2d index's bounds */
    STATE(13297, DatabaseDifferCase, STATUS_USAGE,
          "a database of this name in other letters is there: use its spelling"),
    PASSING(13388, StaleConfig),
    PASSING(13435, NotPrimaryNoSecondaryOk),
    PASSING(13436, NotPrimaryOrSecondary),
    STATE(14031, OutOfDiskSpace, STATUS_SERVER, code_hint_room),
    DOCUMENT(16755, NoGeometryFor2dsphere), /* no geometry, for a 2dsphere index */
    DOCUMENT(16766, ArrayInHashedIndex), /* an array, for a hashed index */
    DOCUMENT(17262, LanguageOfTextIndex), /* a language that a text index does not know */
    DOCUMENT(17280, KeyTooLong),
    DOCUMENT(5894900, ValueForIndex), /* a value that the index cannot hold */
};
/* clang-format on */

/* Errors whose code says little, found by their words. */
static const struct {
    const char *words;
    code_class_t class;
} telling[] = {
    {"No space left", CODE_STATE},
    {"not enough disk space", CODE_STATE},
    {"not master", CODE_PASSING},
    {"not primary", CODE_PASSING},
    {"node is recovering", CODE_PASSING},
    {"read-only mode", CODE_STATE},
    {"operation was interrupted", CODE_PASSING},
};

const code_row_t *code_row(int code) {
    const size_t at = SEARCH_FIRST(sizeof rows / sizeof *rows, i, rows[i].code < code);
    return at < sizeof rows / sizeof *rows && rows[at].code == code ? &rows[at] : NULL;
}

code_class_t code_class(int code, const char *words) {
    const code_row_t *row = code_row(code);
    if (row)
        return row->class;
    for (size_t i = 0; words && i < sizeof telling / sizeof *telling; i++)
        if (strstr(words, telling[i].words))
            return telling[i].class;
    return CODE_UNKNOWN;
}

bool code_rejects(int code) {
    const code_row_t *row = code_row(code);
    return row && row->class == CODE_OF_DOCUMENT;
}
