package columnstore

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// transientCodes are the errors of ClickHouse after which a retry may succeed. A server, a node of a cluster or
// ClickHouse Keeper is then unavailable, starting or overloaded.
var transientCodes = []proto.Error{
	proto.ErrUnexpectedEndOfFile, proto.ErrAttemptToReadAfterEOF, proto.ErrDNSError, proto.ErrTooManySimultaneousQueries,
	proto.ErrTimeoutExceeded, // also ON CLUSTER, when a node has not answered in time
	proto.ErrSocketTimeout, proto.ErrNetworkError, proto.ErrNoZookeeper, proto.ErrAborted, proto.ErrMemoryLimitExceeded,
	proto.ErrTableIsReadOnly, // a replica that has lost Keeper
	proto.ErrUnexpectedZookeeperError, proto.ErrNoActiveReplicas, proto.ErrAllConnectionTriesFailed, proto.ErrTooFewLiveReplicas,
	proto.ErrUnsatisfiedQuorumForPreviousWrite, proto.ErrUnknownStatusOfInsert, proto.ErrUnfinished, proto.ErrAllReplicasAreStale,
	proto.ErrQueryWasCancelled, proto.ErrAllReplicasLost, proto.ErrDeadlockAvoided,
	proto.ErrCannotAssignAlter, // because of a concurrent ALTER
	proto.ErrNoRemoteShardAvailable, proto.ErrServerOverloaded, proto.ErrKeeperException,
	proto.ErrPocoException, // mostly an error of the network
}

// Transient reports whether a retry may succeed, because the cause of err is the server, a node of its cluster or
// the network. It is false if the cause is the request.
func Transient(err error) bool {
	if stated, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return slices.Contains(transientCodes, proto.Error(stated.Code))
	}
	if answer, ok := errors.AsType[*clickhouse.HTTPError](err); ok { // the reply of a proxy
		return answer.StatusCode >= http.StatusInternalServerError
	}
	if _, network := errors.AsType[net.Error](err); network {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded, clickhouse.ErrAcquireConnTimeout, clickhouse.ErrConnectionClosed},
		func(passing error) bool { return errors.Is(err, passing) })
}
